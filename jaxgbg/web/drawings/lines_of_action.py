"""Lines of Action: discs that go from square to square; rows are numbered from the bottom."""

import numpy as np

from jaxgbg.games import LinesOfAction
from jaxgbg.games.line_moves import DIRECTIONS, STEPS
from jaxgbg.types import AnyArray
from jaxgbg.web.drawings.core import Drawing, coordinates, disc, grid, named_squares, square


def drawing(game: LinesOfAction) -> Drawing:
    size, side, margin = game.size, 42, 24
    spots = grid(size, size, side, margin, margin)
    cells = "".join(
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" class="cell"/>'
        for x, y in spots
    )
    squares = named_squares(size, from_top=False)
    passes, nothing = game.num_actions - 1, game.num_cells

    def target(board: AnyArray, action: int) -> int:
        return -1 if action == passes else action % game.num_cells

    def origin(board: AnyArray, action: int) -> AnyArray | int:
        """As far back as there are stones on the line of the target."""
        if action == passes:
            return -1
        down, right = STEPS[action // game.num_cells]
        row, column = divmod(action % game.num_cells, size)
        line = [
            size * (row + at * down) + column + at * right
            for at in range(-size, size)
            if 0 <= row + at * down < size and 0 <= column + at * right < size
        ]
        steps = 1 * (board[np.array(line)] < 2).sum()
        return size * (row - steps * down) + column - steps * right

    def name(board: AnyArray, action: int) -> list[AnyArray | int]:
        if action == passes:
            return [nothing, nothing + 3, nothing]
        end = action % game.num_cells
        return [origin(board, action), nothing + 1 + (board[end] < 2), end]

    return Drawing(
        width=size * side + margin + 6,
        height=size * side + margin + 6,
        ground=cells + coordinates(size, side, margin, from_top=False),
        spots=spots,
        pieces=(disc("black", 16.5), disc("white", 16.5), ""),
        halo=square(side - 4),
        actions=[f"{way} to {end}" for way in DIRECTIONS for end in squares] + ["pass"],
        spot_of=target,
        origin_of=origin,
        spot_names=squares,
        piece_names=("black", "white", "empty"),
        colours=("var(--black)", "var(--white)"),
        turns=True,
        words=[*squares, "", "-", "x", "pass"],
        name_of=name,
    )
