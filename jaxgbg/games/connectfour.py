"""ConnectFour on the 7x6 board.

A bitboard keeps one bit a cell and a seventh, always empty bit on top of every column, so that a
shift never joins two columns:

    6 13 20 27 |  6 13 20      the empty guard row
    5 12 19 26 |  5 12 19
    ...                        column c, row r: bit 7 * c + r,
    1  8 15 22 |  1  8 15      columns 0-3 in word 0 and columns 4-6 in word 1,
    0  7 14 21 |  0  7 14      because JAX has no 64-bit integers by default
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if, zero_sum
from jaxgbg.games.grids import grid_adjacency, grid_lines
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

_COLUMNS, _ROWS, _WORD_BITS = 7, 6, 28
_SHORTEST_WIN = 7
_WORD_MASK = np.uint32((1 << _WORD_BITS) - 1)


def _words(column: int, bits: int) -> tuple[int, int]:
    shifted = bits << (7 * (column % 4))
    return (shifted, 0) if column < 4 else (0, shifted)


_BOTTOM = np.array([_words(c, 1) for c in range(_COLUMNS)], np.uint32)
_COLUMN = np.array([_words(c, 0b111111) for c in range(_COLUMNS)], np.uint32)
_ALL_BOTTOMS, _BOARD = _BOTTOM.sum(0, dtype=np.uint32), _COLUMN.sum(0, dtype=np.uint32)
_CELL_WORD = np.arange(42) // 24
_CELL_SHIFT = (7 * (np.arange(42) // 6 % 4) + np.arange(42) % 6).astype(np.uint32)
_MIRROR = np.arange(42).reshape(7, 6)[::-1].ravel()


def _shift_down(board: jax.Array, bits: int) -> jax.Array:
    """Shift the 49-bit number in uint32[2] right by `bits` < 28."""
    low = (board[0] >> bits) | ((board[1] << (_WORD_BITS - bits)) & _WORD_MASK)
    return jnp.stack([low, board[1] >> bits])


def _four_in_line(stones: jax.Array) -> jax.Array:
    """Whether uint32[2] stones hold four in a line: pairs, then pairs of pairs."""
    won = jnp.bool_(False)
    for direction in (1, 6, 7, 8):
        pairs = stones & _shift_down(stones, direction)
        won |= (pairs & _shift_down(pairs, 2 * direction) != 0).any()
    return won


class ConnectFourState(NamedTuple):
    """`stones` uint32[2, 2]: the two words of each player's bitboard."""

    stones: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class ConnectFour(Game[ConnectFourState]):
    """Action = column 0..6; a win pays +1, a loss -1, a draw 0.

    After `draw_after` plies without four in a line, by default on the full board, it is a draw.
    Cells are column-major, 6 * column + row with row 0 at the bottom. Digits: 0 empty and not
    reachable, 1 player 0, 2 player 1, 3 empty and reachable (the lowest free cell of a column).
    """

    draw_after: int = setting(_COLUMNS * _ROWS, low=_SHORTEST_WIN, high=_COLUMNS * _ROWS)

    name = "connectfour"
    title = "ConnectFour"
    num_players = 2
    sides = ("red", "blue")
    piece_digits = (1, 2)
    num_actions = _COLUMNS
    num_cells = _COLUMNS * _ROWS
    num_cell_values = 4

    @property
    def max_plies(self) -> int:
        return self.draw_after

    @property
    def symmetries(self) -> np.ndarray:
        return np.stack([np.arange(42), _MIRROR]).astype(np.int32)

    @property
    def action_symmetries(self) -> np.ndarray:
        return np.stack([np.arange(7), np.arange(7)[::-1]]).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations:
        return rotations(self, digits=exchanged(self.piece_digits, self.num_cell_values))

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(_COLUMNS, _ROWS, diagonal=True)

    @property
    def lines(self) -> np.ndarray:
        return grid_lines(_COLUMNS, _ROWS, 4)

    def init(self, key: jax.Array) -> ConnectFourState:
        return ConnectFourState(
            jnp.zeros((2, 2), jnp.uint32),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(2, jnp.float32),
        )

    def legal_actions(self, state: ConnectFourState) -> jax.Array:
        occupied = state.stones[0] | state.stones[1]
        return (occupied & _COLUMN != _COLUMN).any(-1) & ~state.terminal

    def afterstate(self, state: ConnectFourState, action: jax.Array) -> ConnectFourState:
        occupied = state.stones[0] | state.stones[1]
        # Adding the bottom bit carries through the stones of the column to its lowest free cell.
        stone = (occupied + jnp.asarray(_BOTTOM)[action]) & jnp.asarray(_COLUMN)[action]
        legal = self.in_range(action) & (stone != 0).any() & ~state.terminal
        own = jnp.where(state.player == 0, state.stones[0], state.stones[1]) | stone
        won = _four_in_line(own)
        moved = ConnectFourState(
            stones=jnp.where(jnp.arange(2)[:, None] == state.player, own, state.stones),
            player=1 - state.player,
            terminal=won | self._at_the_end(occupied | stone),
            rewards=zero_sum(state.player, won.astype(jnp.float32)),
        )
        return keep_if(legal, moved, state)

    def _at_the_end(self, occupied: jax.Array) -> jax.Array:
        """bool[]: whether a board with stones on uint32[2] `occupied` allows no further ply."""
        if self.draw_after == self.num_cells:
            return (occupied == _BOARD).all()
        return jax.lax.population_count(occupied).sum() >= self.draw_after

    def cells(self, state: ConnectFourState) -> jax.Array:
        occupied = state.stones[0] | state.stones[1]
        reachable = (occupied + _ALL_BOTTOMS) & ~occupied & _BOARD
        boards = jnp.stack([state.stones[0], state.stones[1], reachable])
        bits = (boards[:, _CELL_WORD] >> _CELL_SHIFT) & 1
        return (bits[0] + 2 * bits[1] + 3 * bits[2]).astype(jnp.int8)

    @property
    def change_patterns(self) -> tuple[np.ndarray, np.ndarray]:
        # A stone falls on a reachable cell (3 -> 1 or 2) and opens the one above it (0 -> 3).
        cell = np.arange(42)
        opened = np.where(cell % _ROWS < _ROWS - 1, 3, 0)
        above = np.minimum(cell + 1, 41)
        cells = np.stack([np.tile(cell, 2), np.tile(above, 2)], 1)
        differences = np.stack([np.repeat([-2, -1], 42), np.tile(opened, 2)], 1)
        nothing = np.zeros((1, 2), int)
        return np.concatenate([nothing, cells]), np.concatenate([nothing, differences])

    def change(self, state: ConnectFourState, action: jax.Array) -> jax.Array:
        column = (state.stones[0] | state.stones[1]) & jnp.asarray(_COLUMN)[action]
        height = jax.lax.population_count(column).sum().astype(jnp.int32)
        legal = self.in_range(action) & (height < _ROWS) & ~state.terminal
        cell = _ROWS * action + height
        return jnp.where(legal, 1 + 42 * state.player.astype(jnp.int32) + cell, 0)
