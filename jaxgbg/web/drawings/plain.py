"""A game: its cells with their digits, in the rows of its board or in rows of similar length."""

import math

from jaxgbg.games import Game
from jaxgbg.games.borrowed import Borrowed
from jaxgbg.web.drawings.core import Drawing, grid, square, text


def borrowed(game: Borrowed) -> Drawing:
    """The board in its rows, and extra cells in rows below."""
    return drawing(game, None if game.board is None else game.board[1])


def drawing(game: Game, columns: int | None = None) -> Drawing:
    columns = columns or math.ceil(math.sqrt(game.num_cells))
    rows, side = math.ceil(game.num_cells / columns), 44
    spots = grid(rows, columns, side, 4, 4)[: game.num_cells]
    ground = "".join(
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" class="cell"/>'
        for x, y in spots
    )
    return Drawing(
        width=columns * side + 8,
        height=rows * side + 8,
        ground=ground,
        spots=spots,
        pieces=[text(0, 0, str(digit), "digit") for digit in range(game.num_cell_values)],
        halo=square(side - 8),
        actions=[f"action {action}" for action in range(game.num_actions)],
        spot_names=[f"cell {cell}" for cell in range(game.num_cells)],
        piece_names=[str(digit) for digit in range(game.num_cell_values)],
    )
