"""Boards that are row-major grids: neighbours, symmetries and lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxgbg.games.core import Game


def grid_symmetries(rows: int, columns: int) -> np.ndarray:
    """int32[S, C]: turns and reflections of a row-major grid, the identity first; 8 of a square."""
    grid = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    turned = [np.rot90(grid, quarter) for quarter in range(4)]
    images = [image for board in turned for image in (board, board.T)]
    return np.stack([image.ravel() for image in images if image.shape == grid.shape])


def grid_adjacency(rows: int, columns: int, diagonal: bool) -> np.ndarray:
    """bool[C, C]: neighbours on a row-major grid, four of them or, with `diagonal`, eight."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    d_row = np.abs(row[:, None] - row[None])
    d_column = np.abs(column[:, None] - column[None])
    if diagonal:
        return np.maximum(d_row, d_column) == 1
    return d_row + d_column == 1


def grid_shape(game: Game) -> tuple[int, int] | None:
    """(rows, columns) of a board whose cells are a row-major grid; None if nothing says so.

    Its neighbors are those of a grid, or it has pieces on as many cells as a square has.
    """
    count, adjacency = game.num_cells, game.adjacency
    if adjacency.sum() != count * (count - 1):
        for rows in range(1, count + 1):
            shape = rows, count // rows
            for diagonal in (False, True):
                if count % rows == 0 and np.array_equal(
                    adjacency, grid_adjacency(*shape, diagonal)
                ):
                    return shape
    side = math.isqrt(count)
    return (side, side) if game.piece_digits is not None and 4 <= side**2 == count else None


def grid_lines(rows: int, columns: int, length: int) -> np.ndarray:
    """int32[Q, length]: all straight lines of cells, along rows, columns and both diagonals."""
    board = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    reach = length - 1
    lines = [
        [board[row + step * down, column + step * across] for step in range(length)]
        for down, across in ((0, 1), (1, 0), (1, 1), (1, -1))
        for row in range(rows - reach * down)
        for column in range(columns)
        if 0 <= column + reach * across < columns
    ]
    return np.array(lines, np.int32).reshape(-1, length)
