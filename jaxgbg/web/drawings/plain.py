"""Any game without a drawing of its own: discs of the players' colors, or the digits of its cells.

Cells lie in the rows of the board, as far as the game says so, or in rows of similar length.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.borrowed import Borrowed
from jaxgbg.games.grids import grid_shape
from jaxgbg.games.sampling import sample_games
from jaxgbg.web.drawings.core import (
    Drawing,
    cell_names,
    grid,
    grid_coordinates,
    side_colours,
    square,
    text,
)

_SIDE, _MARGIN = 44, 24


def borrowed(game: Borrowed) -> Drawing:
    """The board in its rows, and extra cells in rows below."""
    size = game.num_cells if game.board is None else math.prod(game.board)
    # A placing game of another package numbers the cells; more actions are passes and the like.
    places = size if size <= game.num_actions <= size + 1 else 0
    cells = [action if action < places else -1 for action in range(game.num_actions)]
    return _drawing(game, game.board, size, game.digit_owners, cells)


def drawing(game: Game) -> Drawing:
    """The board of a game of pieces, or of any other game the digits of its cells."""
    owners: tuple[int, ...] = ()
    if game.piece_digits is not None and type(game).display_cells is Game.display_cells:
        digits = range(game.num_cell_values)
        seats = {digit: seat for seat, digit in enumerate(game.piece_digits)}
        owners = tuple(seats.get(digit, -1) for digit in digits)
    return _drawing(game, grid_shape(game), game.num_cells, owners, cells_of_actions(game))


@lru_cache(maxsize=16)
def cells_of_actions(game: Game) -> tuple[int, ...]:
    """int[A]: the cell that each action names, -1 for none.

    It is the cell that has changed whenever the action was played in random games; in a game of
    pieces, from empty to a piece. If two actions would name one cell, none names any.
    """
    none = (-1,) * game.num_actions
    if type(game).display_cells is not Game.display_cells:
        return none
    try:
        sample = sample_games(game)
    except Exception:
        # Commands report errors of the rules; the board can be shown without them.
        return none
    played = ~sample.terminal[:-1]
    before, after = sample.cells[:-1][played], sample.cells[1:][played]
    changed = before != after
    if game.piece_digits is not None:
        pieces = [*game.piece_digits]
        changed &= ~np.isin(before, pieces) & np.isin(after, pieces)
    # The last ply of a game has no position after it in the sample.
    actions = sample.actions[:-1][played]
    always = np.zeros((game.num_actions, game.num_cells), bool)
    for action in np.unique(actions):
        always[action] = changed[actions == action].all(0)
    found = [_cell_of(action, row) for action, row in enumerate(always)]
    named = [cell for cell in found if cell >= 0]
    return tuple(found) if len({*named}) == len(named) else none


def _cell_of(action: int, cells: np.ndarray) -> int:
    """The cell of an action among bool[C] that always change: of its number, or the only one."""
    if action < len(cells) and cells[action]:
        return action
    return int(cells.argmax()) if cells.sum() == 1 else -1


def _drawing(
    game: Game,
    shape: tuple[int, int] | None,
    size: int,
    owners: Sequence[int],
    cells: Sequence[int],
) -> Drawing:
    """A board of `size` cells and any others below it; `owners` has the seat of each digit."""
    columns = shape[1] if shape else math.ceil(math.sqrt(game.num_cells))
    rows = math.ceil(game.num_cells / columns)
    margin = _MARGIN if shape else 4
    spots = grid(rows, columns, _SIDE, margin, margin)[: game.num_cells]
    names = [f"cell {cell}" for cell in range(game.num_cells)]
    if shape:
        names[:size] = cell_names(*shape)
    ground = "".join(
        f'<rect x="{x - _SIDE / 2}" y="{y - _SIDE / 2}" width="{_SIDE}" height="{_SIDE}"'
        ' class="cell"/>'
        for x, y in spots
    )
    digits = [text(0, 0, str(digit), "digit") for digit in range(game.num_cell_values)]
    plain = Drawing(
        width=columns * _SIDE + 2 * margin,
        height=rows * _SIDE + 2 * margin,
        ground=ground + (grid_coordinates(*shape, _SIDE, margin) if shape else ""),
        spots=spots,
        pieces=digits,
        halo=square(_SIDE - 8),
        actions=[
            names[cell] if cell >= 0 else f"action {action}" for action, cell in enumerate(cells)
        ],
        spot_of=_table(cells),
        spot_names=names,
        piece_names=[str(digit) for digit in range(game.num_cell_values)],
    )
    return _with_discs(plain, game, size, owners) if owners else plain


def _table(cells: Sequence[int]) -> Callable[[np.ndarray, int], int]:
    table = np.array(cells, np.int32)
    return lambda board, action: table[action]


def _with_discs(plain: Drawing, game: Game, size: int, owners: Sequence[int]) -> Drawing:
    """The drawing with a disc for each digit that has an owner and nothing for all others.

    If a player has several kinds of pieces, each shows its number. Cells beyond the board still
    show digits.
    """
    colours = side_colours(game.sides)
    pieces, words, counts = [], [], [0] * game.num_players
    several = max(list(owners).count(seat) for seat in range(game.num_players)) > 1
    for owner in owners:
        if owner < 0:
            pieces.append("")
            words.append("empty")
            continue
        counts[owner] += 1
        kind = str(counts[owner]) if several else ""
        disc = f'<circle r="16" class="piece" style="fill:{colours[owner]}"/>'
        number = f'<text class="digit" style="fill:var(--back)">{kind}</text>'
        pieces.append(disc + (number if several else ""))
        words.append(f"{game.sides[owner]} {kind}".strip())
    beyond = range(size, game.num_cells)
    kinds = len(owners)
    return dataclasses.replace(
        plain,
        pieces=[*pieces, *(plain.pieces if beyond else ())],
        piece_names=[*words, *(plain.piece_names if beyond else ())],
        kinds=lambda board: [*board[:size], *(board[cell] + kinds for cell in beyond)],
        colours=colours,
    )
