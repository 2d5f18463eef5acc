"""ConnectFour: rows from the top, `......./......./......./...B.../...R.../..RB... R`.

The columns of the moves so far, counted from 1, are read as well: `4443`.
"""

from collections.abc import Sequence

import numpy as np

from jaxgbg.games.connectfour import ConnectFour
from jaxgbg.games.notations.core import Grid, Notation, cells_of, no_more, placed, side_by_count
from jaxgbg.specs import pluralize
from jaxgbg.types import PyTree

_COLUMNS, _ROWS = 7, 6
_NAMES = "RB"
_SIDES = {"R": 0, "B": 1, "X": 0, "O": 1}
_GRID = Grid(_ROWS, _COLUMNS, {"R": 1, "B": 2, ".": 0, "-": 0, "_": 0, "X": 1, "O": 2}, empty=0)


def connectfour(game: ConnectFour) -> Notation:
    def write(state: PyTree) -> str:
        board = cells_of(game, state).reshape(_COLUMNS, _ROWS).T[::-1]
        return f"{_GRID.write(np.where(board == 3, 0, board))} {_NAMES[int(state.player)]}"

    def read(text: str) -> PyTree:
        moves = "".join(text.split())
        if moves.isdigit() and moves.isascii():
            return _after(game, moves)
        board, fields = _GRID.read(text)
        no_more(fields[1:])
        counts = [int((board == stone).sum()) for stone in (1, 2)]
        mover = side_by_count(_NAMES, counts, fields[0] if fields else None, _SIDES)
        if sum(counts) > game.draw_after:
            raise ValueError(
                f"{pluralize(sum(counts), 'stone')}: it is a draw after {game.draw_after}"
            )
        state = placed(game, _orders(_columns(board), 1 - mover))
        if state is None:
            raise ValueError(
                "no game leads to this board: it would have been over before its last move"
            )
        return state

    example = "......./......./......./...B.../...R.../..RB... R"
    board = _GRID.board_text(
        rows=np.arange(game.num_cells).reshape(_COLUMNS, _ROWS).T[::-1].tolist()
    )
    return Notation(example, write, read, numbers=True, board=board)


def _after(game: ConnectFour, moves: str) -> PyTree:
    """The state after moves, each the number of a column from 1."""
    columns = np.array([int(digit) - 1 for digit in moves], np.int32)
    if (wrong := (columns < 0) | (columns >= _COLUMNS)).any():
        at = int(wrong.argmax())
        raise ValueError(f"move {at + 1}: {moves[at]} is no column, these are 1 to {_COLUMNS}")
    state = None if len(columns) > game.max_plies else placed(game, columns[None])
    if state is None:
        at = next(
            at
            for at in range(1, len(columns) + 1)
            if at > game.max_plies or placed(game, columns[None, :at]) is None
        )
        raise ValueError(f"move {at} is not legal there: the column is full, or the game is over")
    return state


def _columns(board: np.ndarray) -> list[list[int]]:
    """The players of the stones of each column, from the bottom; raises ValueError for a gap."""
    columns = []
    for column, cells in enumerate(board.T[:, ::-1]):
        height = int((cells != 0).sum())
        if (cells[height:] != 0).any():
            row = int((cells != 0).nonzero()[0].max())
            raise ValueError(f"row {_ROWS - row}, column {column + 1}: a stone over an empty cell")
        columns.append((cells[:height] - 1).tolist())
    return columns


def _orders(columns: Sequence[Sequence[int]], last: int) -> np.ndarray:
    """int[K, T]: an order of the stones for each one of player `last` that may be the very last.

    Raises ValueError if the stones lie on each other in no order of turns.
    """
    total = sum(map(len, columns))
    if not total:
        return np.zeros((1, 0), np.int32)
    orders = []
    for column, stones in enumerate(columns):
        if stones and stones[-1] == last:
            earlier = [*columns[:column], stones[:-1], *columns[column + 1 :]]
            order = _order(earlier)
            if order is not None:
                orders.append([*order, column])
    if not orders:
        raise ValueError("no game leads to this board: the stones cannot lie there in turn")
    return np.array(orders, np.int32)


def _order(columns: Sequence[Sequence[int]]) -> list[int] | None:
    """The columns of moves in turn that fill the board so, None if there are none.

    A board on the way is known by the heights of its columns, so each is tried once.
    """
    total, moves = sum(map(len, columns)), list[int]()
    seen = {(0,) * len(columns)}
    heights, tried = [0] * len(columns), [0]
    while len(moves) < total:
        for column in range(tried[-1], len(columns)):
            height = heights[column]
            if height < len(columns[column]) and columns[column][height] == len(moves) % 2:
                heights[column] += 1
                if tuple(heights) not in seen:
                    break
                heights[column] -= 1
        else:
            if not moves:
                return None
            tried.pop()
            heights[moves.pop()] -= 1
            continue
        seen.add(tuple(heights))
        tried[-1] = column + 1
        tried.append(0)
        moves.append(column)
    return moves
