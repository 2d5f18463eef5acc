"""ConnectFour: discs in the holes of a frame."""

import numpy as np

from jaxgbg.games import ConnectFour
from jaxgbg.web.drawings.core import Drawing, disc, text


def drawing(game: ConnectFour) -> Drawing:
    del game
    side, top = 46, 24
    # The cells of the game go up the columns.
    spots = [
        ((column + 0.5) * side + 4, top + (5.5 - row) * side + 4)
        for column in range(7)
        for row in range(6)
    ]
    holes = "".join(f'<circle cx="{x}" cy="{y}" r="19" class="hole"/>' for x, y in spots)
    frame = f'<rect x="2" y="{top}" width="{7 * side + 4}" height="{6 * side + 8}" rx="8"'
    names = "".join(text((c + 0.5) * side + 4, top - 8, str(c + 1)) for c in range(7))

    def landing(board: np.ndarray, action: int) -> int:
        return 6 * action + (board[6 * action : 6 * action + 6] == 3).argmax()

    return Drawing(
        width=7 * side + 8,
        height=top + 6 * side + 12,
        ground=f'{frame} class="frame"/>{holes}{names}',
        spots=spots,
        pieces=("", disc("first", 19), disc("second", 19), ""),
        halo='<circle r="18"/>',
        actions=[f"column {column + 1}" for column in range(7)],
        spot_of=landing,
        spot_names=[f"column {c + 1}, row {r + 1}" for c in range(7) for r in range(6)],
        piece_names=("empty", "red", "blue", "empty"),
        colours=("var(--first)", "var(--second)"),
        touched_by=lambda board, action: range(6 * action, 6 * action + 6),
    )
