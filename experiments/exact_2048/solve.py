"""Small boards of 2048 solved exactly, and the exact expected score of a policy.

The rules are written again here, with NumPy. Positions before a move are listed in layers of equal
tile sum, one of all images of a board; a move keeps the sum and a new tile adds 2 or 4, so values
follow from the last layer back to the start.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator

import numpy as np

_BITS = 4
"""Bits of a cell in the code of a board; tiles stay below 2**16 up to 3x3 cells."""

Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Boards int8[n, C], legal bool[n, 4] -> how often K agents make each move, float64[n, K, 4]."""


@dataclasses.dataclass(frozen=True)
class Moves:
    """All moves in a layer: `boards` int8[n, C] before them, then [n, 4] for each action.

    `after` int8[n, 4, C] are the slid boards, `gains` their points, `legal` whether they differ.
    """

    boards: np.ndarray
    after: np.ndarray
    gains: np.ndarray
    legal: np.ndarray


class Board:
    """The rules on `rows` x `columns` cells: actions 0 left, 1 up, 2 right, 3 down."""

    def __init__(self, rows: int, columns: int) -> None:
        self.cells = rows * columns
        grid = np.arange(self.cells).reshape(rows, columns)
        self._walls = [grid, grid.T, grid[:, ::-1], grid.T[:, ::-1]]
        flips = [grid, grid[::-1], grid[:, ::-1], grid[::-1, ::-1]]
        flips += [flip.T for flip in flips] * (rows == columns)
        self._images = np.unique([flip.ravel() for flip in flips], axis=0)
        self._powers = np.int64(1) << (_BITS * np.arange(self.cells, dtype=np.int64))

    def codes(self, boards: np.ndarray) -> np.ndarray:
        """int64[...]: the least code of all images of boards int8[..., C]."""
        return np.min([boards[..., image] @ self._powers for image in self._images], axis=0)

    def boards(self, codes: np.ndarray) -> np.ndarray:
        """int8[..., C]: the boards of codes."""
        shifts = _BITS * np.arange(self.cells)
        return ((codes[..., None] >> shifts) & (2**_BITS - 1)).astype(np.int8)

    def moves(self, boards: np.ndarray) -> Moves:
        """Slide boards int8[n, C] to all sides."""
        after = np.repeat(boards[:, None], 4, axis=1)
        gains = np.zeros((len(boards), 4))
        for action, walls in enumerate(self._walls):
            for line in walls:
                after[:, action, line], points = slide(boards[:, line])
                gains[:, action] += points
        return Moves(boards, after, gains, (after != boards[:, None]).any(2))


def slide(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slide lines int8[n, k] to their first cell: (the lines, the points)."""
    rows = np.arange(len(lines))
    out, points = np.zeros_like(lines), np.zeros(len(lines))
    place, merged = np.zeros(len(lines), int), np.ones(len(lines), bool)
    for tile in lines.T:
        here = tile > 0
        last = out[rows, np.maximum(place - 1, 0)]
        merges = here & ~merged & (last == tile)
        out[rows[merges], place[merges] - 1] += 1
        points += np.where(merges, 2.0 ** (tile + 1.0), 0)
        moves = here & ~merges
        out[rows[moves], place[moves]] = tile[moves]
        place += moves
        merged = np.where(here, merges, merged)
    return out, points


def placed(board: Board, after: np.ndarray, exponent: int) -> Iterator[tuple[np.ndarray, ...]]:
    """For each cell: (bool[n] where it is empty, the codes of those boards with a tile there)."""
    for cell in range(board.cells):
        empty = after[:, cell] == 0
        new = after[empty]
        new[:, cell] = exponent
        yield empty, board.codes(new)


@functools.cache
def layers(board: Board) -> dict[int, np.ndarray]:
    """Tile sum -> sorted codes of the positions before a move that a game can reach."""
    start = np.zeros((board.cells, board.cells), np.int8)
    found: dict[int, list[np.ndarray]] = {}
    for first in (1, 2):
        np.fill_diagonal(start, first)
        for second in (1, 2):
            for _, codes in placed(board, start, second):
                found.setdefault(2**first + 2**second, []).append(codes)
    whole = {}
    while found:
        total = min(found)
        codes = whole[total] = np.unique(np.concatenate(found.pop(total)))
        moves = board.moves(board.boards(codes))
        after = board.boards(np.unique(board.codes(moves.after[moves.legal])))
        if len(after):
            for exponent in (1, 2):
                for _, new in placed(board, after, exponent):
                    found.setdefault(total + 2**exponent, []).append(np.unique(new))
    return whole


def expected(board: Board, choose: Choose | None) -> tuple[np.ndarray, int]:
    """(expected score float64[K] from the start, number of positions).

    Without `choose` it is the score of best play, K = 1.
    """
    known = layers(board)
    values: dict[int, np.ndarray] = {}
    for total in sorted(known, reverse=True):
        moves = board.moves(board.boards(known[total]))
        future = _after_chance(board, moves, total, known, values)
        worth = moves.gains[:, None] + future
        if choose is None:
            best = np.where(moves.legal[:, None], worth, -np.inf).max(2)
            values[total] = np.where(np.isfinite(best), best, 0.0)
        else:
            values[total] = (choose(moves.boards, moves.legal) * worth).sum(2)
    empty = np.zeros((1, board.cells), np.int8)
    total_score: np.ndarray = np.zeros(1)
    for exponent, share in ((1, 0.9), (2, 0.1)):
        for where, codes in placed(board, empty, exponent):
            second = board.boards(codes)
            score = _chance(board, second, 2**exponent, known, values)
            total_score = total_score + share * where.sum() * score[0] / board.cells
    return total_score, sum(map(len, known.values()))


def _after_chance(
    board: Board,
    moves: Moves,
    total: int,
    known: dict[int, np.ndarray],
    values: dict[int, np.ndarray],
) -> np.ndarray:
    """float64[n, K, 4]: the expected score after each move; 0 where it is illegal."""
    agents = next(iter(values.values())).shape[1] if values else 1
    future = np.zeros((*moves.legal.shape, agents))
    if moves.legal.any():
        slid, back = np.unique(board.codes(moves.after[moves.legal]), return_inverse=True)
        future[moves.legal] = _chance(board, board.boards(slid), total, known, values)[back]
    return np.moveaxis(future, 2, 1)


def _chance(
    board: Board,
    after: np.ndarray,
    total: int,
    known: dict[int, np.ndarray],
    values: dict[int, np.ndarray],
) -> np.ndarray:
    """float64[n, K]: the mean value over the new tile on boards int8[n, C] of that tile sum."""
    sums: np.ndarray = np.zeros((len(after), 1))
    for exponent, share in ((1, 0.9), (2, 0.1)):
        following = total + 2**exponent
        for empty, codes in placed(board, after, exponent):
            if len(codes):
                worth = values[following][np.searchsorted(known[following], codes)]
                grown = np.zeros((len(after), worth.shape[1]))
                grown[empty] = share * worth
                sums = sums + grown
    return sums / (after == 0).sum(1, keepdims=True)
