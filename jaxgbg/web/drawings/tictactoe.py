"""TicTacToe: noughts and crosses between four lines."""

from jaxgbg.games import TicTacToe
from jaxgbg.web.drawings.core import Drawing, coordinates, grid, named_squares, square


def drawing(game: TicTacToe) -> Drawing:
    del game
    margin, side = 24, 64
    lines = "".join(
        f'<path class="line" d="M{margin + at * side} {margin}v{3 * side}'
        f'M{margin} {margin + at * side}h{3 * side}"/>'
        for at in (1, 2)
    )
    nought = '<circle r="19" class="stroke second"/>'
    cross = '<path d="M-17-17L17 17M-17 17L17-17" class="stroke first"/>'
    return Drawing(
        width=2 * margin + 3 * side,
        height=2 * margin + 3 * side,
        ground=lines + coordinates(3, side, margin),
        spots=grid(3, 3, side, margin, margin),
        pieces=(nought, "", cross),
        halo=square(side - 12),
        actions=named_squares(3),
        spot_of=lambda board, action: action,
        spot_names=named_squares(3),
        piece_names=("O", "empty", "X"),
        colours=("var(--first)", "var(--second)"),
        turns=True,
    )
