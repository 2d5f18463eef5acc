"""Boards of up to 8x8 squares as bits, for games in which stones move along lines.

A board is two words uint32[]: bit `8 * row + column`, counted from the top left, rows 0 to 3 in
word 0 and rows 4 to 7 in word 1. A smaller board lies in the upper left corner. All functions work
on words of any shape, element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from jaxgbg.lazy import jax, jit, jnp

Board: TypeAlias = "tuple[jax.Array, jax.Array]"
"""The two words of a bitboard, uint32[...] each."""

_ROW, _COLUMN = np.divmod(np.arange(64), 8)
# The counts of a line that matter: on a line of eight stones nothing can move.
_PLANES = 3


def words(squares: np.ndarray) -> np.ndarray:
    """uint32[..., 2]: the words of boards bool[..., rows, columns]."""
    rows, columns = squares.shape[-2:]
    bits = (np.arange(rows)[:, None] * 8 + np.arange(columns)) % 32
    weighed = squares * (np.uint64(1) << bits.astype(np.uint64))
    halves = weighed[..., :4, :].sum((-2, -1)), weighed[..., 4:, :].sum((-2, -1))
    return np.stack(halves, -1).astype(np.uint32)


def squares(board: jax.Array, size: int) -> jax.Array:
    """uint32[..., size, size] of 0 and 1: the squares of boards uint32[..., 2]."""
    bits = (board[..., None] >> np.arange(32, dtype=np.uint32)) & 1
    return bits.reshape(*board.shape[:-1], 8, 8)[..., :size, :size]


def shift(board: Board, down: int, right: int) -> Board:
    """Every stone one step further, `down` and `right` of -1, 0 or 1; off the edges it is lost."""
    low, high = board
    bits = 8 * down + right
    if bits > 0:
        moved = low << bits, (high << bits) | (low >> (32 - bits))
    else:
        moved = (low >> -bits) | (high << (32 + bits)), high >> -bits
    if not down:
        # Within a row nothing goes from word to word.
        moved = (low << 1, high << 1) if right > 0 else (low >> 1, high >> 1)
    if not right:
        return moved
    open_columns = np.uint32(0xFEFEFEFE if right > 0 else 0x7F7F7F7F)
    return moved[0] & open_columns, moved[1] & open_columns


def unless(condition: jax.Array, board: Board) -> Board:
    """The board, empty where `condition` bool[...]."""
    return jnp.where(condition, 0, board[0]), jnp.where(condition, 0, board[1])


def diagonals(sign: int) -> list[tuple[int, tuple[np.uint32, np.uint32]]]:
    """All squares on which row + `sign` * column is some number, each with that number."""
    numbers = _ROW + sign * _COLUMN
    return [
        (int(number), tuple(words((numbers == number).reshape(8, 8))))
        for number in np.unique(numbers)
    ]


def grown(seed: Board, within: Board) -> Board:
    """`seed` and its eight neighbours, as far as they are `within`."""
    low, high = (
        word | ((word << 1) & np.uint32(0xFEFEFEFE)) | ((word >> 1) & np.uint32(0x7F7F7F7F))
        for word in seed
    )
    return (
        (low | (low << 8) | (low >> 8) | (high << 24)) & within[0],
        (high | (high << 8) | (high >> 8) | (low >> 24)) & within[1],
    )


def first(stones: Board) -> Board:
    """The first stone alone; none where there is none."""
    low, high = stones
    return low & -low, jnp.where(low == 0, high & -high, 0)


@partial(jit, static_argnums=1)
def group(stones: Board, steps: int) -> Board:
    """The group of the first stone, grown `steps` times: whole if it has `steps` + 1 at most."""
    seed = first(stones)
    for _ in range(steps):
        seed = grown(seed, stones)
    return seed


def connected(stones: Board, steps: int) -> jax.Array:
    """bool[...]: whether all stones are one group; none are one too. See `group`."""
    return same(group(stones, steps), stones)


def same(one: Board, other: Board) -> jax.Array:
    """bool[...]: whether two boards have the same stones."""
    return (one[0] == other[0]) & (one[1] == other[1])


def largest_group(stones: Board) -> jax.Array:
    """int32[...]: the stones of the largest group."""

    def next_group(carry: tuple[Board, jax.Array]) -> tuple[Board, jax.Array]:
        left, largest = carry
        seed = first(left)
        # Most groups are small: here it pays to look whether any still grows.
        _, one = jax.lax.while_loop(
            lambda seeds: ~same(*seeds).all(),
            lambda seeds: (seeds[1], grown(seeds[1], left)),
            (seed, grown(seed, left)),
        )
        return (left[0] & ~one[0], left[1] & ~one[1]), jnp.maximum(largest, count(one))

    def larger_left(carry: tuple[Board, jax.Array]) -> jax.Array:
        return (count(carry[0]) > carry[1]).any()

    return jax.lax.while_loop(larger_left, next_group, (stones, jnp.zeros_like(count(stones))))[1]


def count(board: Board) -> jax.Array:
    """int32[...]: the stones of a board."""
    low, high = (jax.lax.population_count(word).astype(jnp.int32) for word in board)
    return low + high


def union(one: Board, other: Board) -> Board:
    """The stones of two boards."""
    return one[0] | other[0], one[1] | other[1]


def line_counts(stones: Board) -> tuple[list[Board], ...]:
    """The number of stones on the lines through each square, as three bit planes, lowest first.

    One list for each axis: columns, rising diagonals, rows, falling diagonals. Eight count as none.
    """
    # Turned by its number of columns, a row has each diagonal in one column; those that the turn
    # takes around the edge share a column with another diagonal, and are counted apart.
    rising, falling = (_diagonal_counts(stones, turn) for turn in (1, -1))
    return _column_counts(stones), rising, _row_counts(stones), falling


def of_count(planes: Sequence[Board], number: int) -> Board:
    """The squares whose count is `number`, 1 to 7."""
    chosen = [
        [word if number >> bit & 1 else ~word for word in plane] for bit, plane in enumerate(planes)
    ]
    low, high = zip(*chosen, strict=True)
    return low[0] & low[1] & low[2], high[0] & high[1] & high[2]


def _turned(board: Board, columns: int) -> Board:
    """Rows turned to the right around the edges."""
    columns %= 8
    left, right = (
        np.uint32(part * 0x01010101) for part in (0xFF >> (8 - columns), 0xFF >> columns)
    )
    low, high = (((word & right) << columns) | ((word >> (8 - columns)) & left) for word in board)
    return low, high


def _row_counts(stones: Board) -> list[Board]:
    planes = [stones]
    for columns in (1, 2, 4):
        planes = _sum(planes, [_turned(plane, columns) for plane in planes])
    return planes


def _column_counts(stones: Board) -> list[Board]:
    planes = [stones]
    for bits in (8, 16):
        back = 32 - bits
        turned = [((a << bits) | (b >> back), (b << bits) | (a >> back)) for a, b in planes]
        planes = _sum(planes, turned)
    return _sum(planes, [(high, low) for low, high in planes])


def _diagonal_counts(stones: Board, turn: int) -> list[Board]:
    """Counts of the lines on which the column falls by `turn` from row to row."""
    column = _COLUMN + turn * _ROW
    inside = (column >= 0) & (column < 8)
    columns = np.zeros(64, bool)
    columns[8 * _ROW + column % 8] = inside
    low, high = words(columns.reshape(8, 8))
    skewed = _skewed(stones, turn)
    parts = [
        _column_counts((skewed[0] & low, skewed[1] & high)),
        _column_counts((skewed[0] & ~low, skewed[1] & ~high)),
    ]
    joined = [
        ((one[0] & low) | (other[0] & ~low), (one[1] & high) | (other[1] & ~high))
        for one, other in zip(*parts, strict=True)
    ]
    return [_skewed(plane, -turn) for plane in joined]


def _skewed(board: Board, turn: int) -> Board:
    """Row r turned by r columns to the right, or left if `turn` is -1."""
    for step, rows in ((1, 0xFF00FF00), (2, 0xFFFF0000)):
        turned, mask = _turned(board, turn * step), np.uint32(rows)
        low, high = ((new & mask) | (old & ~mask) for new, old in zip(turned, board, strict=True))
        board = low, high
    return board[0], _turned(board, turn * 4)[1]


def _sum(one: Sequence[Board], other: Sequence[Board]) -> list[Board]:
    """The sums of numbers in bit planes, modulo eight."""
    low, high = (
        _sum_words([plane[word] for plane in one], [plane[word] for plane in other])
        for word in (0, 1)
    )
    return list(zip(low, high, strict=True))


def _sum_words(one: list[jax.Array], other: list[jax.Array]) -> list[jax.Array]:
    total = [one[0] ^ other[0]]
    carry = one[0] & other[0]
    for a, b in zip(one[1:], other[1:], strict=True):
        total.append(a ^ b ^ carry)
        carry = (a & b) | (carry & (a ^ b))
    return [*total, carry][:_PLANES]
