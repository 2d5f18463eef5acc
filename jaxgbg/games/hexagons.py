"""Boards of hexagonal cells as bits: one word uint32 for each row of cells.

Cells are numbered row by row, from the left. Bit `column` of word `row` is the cell

    (row - 1, column)  (row - 1, column + 1)
  (row, column - 1)  .  (row, column + 1)
    (row + 1, column - 1)  (row + 1, column)

has as its neighbors. A line of cells that leaves a board never comes back to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from jaxgbg.lazy import jax, jnp

STEPS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
"""(rows down, columns right) of each direction."""
DIRECTIONS = ("up-left", "up-right", "left", "right", "down-left", "down-right")


class HexCells:
    """The cells of a board, given as (rows down, columns right) of the center.

    `rows` and `columns` int32[C] are the word and the bit of each cell.
    """

    def __init__(self, cells: list[tuple[int, int]]) -> None:
        self._axes = np.array([(row, column, -row - column) for row, column in sorted(cells)])
        self.rows, self.columns, _ = (self._axes - self._axes.min(0)).astype(np.int32).T
        self.num_cells = len(cells)

    @cached_property
    def all(self) -> np.ndarray:
        """uint32[R]: the words of all cells."""
        return self.words(np.ones(self.num_cells, bool))

    def words(self, cells: np.ndarray) -> np.ndarray:
        """uint32[R]: the words of cells bool[C]."""
        words = np.zeros(self.rows.max() + 1, np.uint32)
        bits = np.uint32(1) << self.columns[cells].astype(np.uint32)
        np.bitwise_or.at(words, self.rows[cells], bits)
        return words

    def numbers(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """int32[...]: the cells at these rows and columns; `num_cells` off the board."""
        table = np.full((len(self.all) + 2, 34), self.num_cells, np.int32)
        table[self.rows + 1, self.columns + 1] = np.arange(self.num_cells)
        return table[np.clip(rows + 1, 0, len(self.all) + 1), np.clip(columns + 1, 0, 33)]

    def neighbours(self, steps: int = 1) -> np.ndarray:
        """int32[C, 6]: the cell `steps` away in each direction; `num_cells` off the board."""
        down, right = steps * np.array(STEPS).T
        return self.numbers(self.rows[:, None] + down, self.columns[:, None] + right)

    @property
    def adjacency(self) -> np.ndarray:
        """bool[C, C]: which cells are neighbors."""
        return (self.neighbours()[:, :, None] == np.arange(self.num_cells)).any(1)

    def lines(self, length: int) -> np.ndarray:
        """int32[Q, length]: all straight lines of this many cells."""
        lines = np.stack([self.neighbours(step)[:, [3, 4, 5]] for step in range(length)], -1)
        lines = lines.reshape(-1, length)
        return lines[(lines < self.num_cells).all(1)]

    def image(self, axes: Sequence[int], sign: int = 1) -> np.ndarray:
        """int32[C]: the cells where the three coordinates, which add up to 0, change places."""
        at = sign * self._axes[:, list(axes)] - self._axes.min(0)
        return self.numbers(at[:, 0], at[:, 1])

    def images(self) -> np.ndarray:
        """int32[12, C]: turns and reflections of a hexagon, the identity first."""
        axes = list(itertools.permutations(range(3)))
        return np.stack([self.image(each, sign) for sign in (1, -1) for each in axes])

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """uint32[C + 1] twice: word and bit of each cell, at the end those of none."""
        return np.append(self.rows, 0).astype(np.uint32), np.append(self.columns, 31).astype(
            np.uint32
        )

    def bit(self, cell: jax.Array) -> jax.Array:
        """uint32[R]: the words of one cell, 0 for `num_cells`."""
        row, column = (jnp.asarray(places)[cell] for places in self._places)
        word = jnp.where(cell == self.num_cells, 0, jnp.uint32(1) << column)
        return jnp.where(np.arange(len(self.all)) == row, word, 0)

    def has(self, words: jax.Array, cells: jax.Array) -> jax.Array:
        """bool[...]: whether words uint32[R] have these cells; not, for `num_cells`."""
        rows, columns = (jnp.asarray(places)[cells] for places in self._places)
        return (words[rows] >> columns) & 1 == 1

    def of_words(self, words: jax.Array) -> jax.Array:
        """uint32[..., C] of 0 and 1: the cells of words uint32[..., R]."""
        return (words[..., self.rows] >> self.columns.astype(np.uint32)) & 1


@lru_cache(maxsize=16)
def hexagon(side: int) -> HexCells:
    """The regular hexagon with `side` cells on each of its sides."""
    span = range(1 - side, side)
    return HexCells([(row, column) for row in span for column in span if abs(row + column) < side])


@lru_cache(maxsize=16)
def star(rows: int) -> HexCells:
    """The star of a hexagon and six triangles with `rows` rows of cells."""
    span = range(-2 * rows, 2 * rows + 1)
    axes = [(row, column, -row - column) for row in span for column in span]
    return HexCells([each[:2] for each in axes if max(each) <= rows or min(each) >= -rows])


def shifted(words: jax.Array, down: int, right: int) -> jax.Array:
    """The cells `down` rows and `right` columns from those of words uint32[..., R].

    What goes beyond a row is not on the board, but may be a bit of the word.
    """
    words = words << right if right > 0 else words >> -right
    rows = words.shape[-1]
    none = [(0, 0)] * (words.ndim - 1)
    if down > 0:
        return jnp.pad(words, [*none, (down, 0)])[..., :rows]
    return jnp.pad(words, [*none, (0, -down)])[..., -down:]
