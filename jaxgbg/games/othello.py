"""Othello on 4x4, 6x6 or 8x8 squares.

A position is two bitboards, the discs of each player: bit `size * row + column`, counted from the
top left, the upper half of the board in word 0 and the lower in word 1, because JAX has no 64-bit
integers by default. Discs are followed in all eight directions at once by shifting whole boards.

What a tick asks for several times is a `jax.jit` of its own, so that it is traced once.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from jaxgbg.games.core import Game, keep_if, zero_sum
from jaxgbg.games.grids import grid_adjacency, grid_symmetries
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.specs import setting
from jaxgbg.xla import materialize

Board: TypeAlias = "tuple[jax.Array, jax.Array]"
"""The two words of a bitboard, uint32[] each."""


class OthelloState(NamedTuple):
    """`discs` uint32[2, 2]: the two words of each player's discs. `moves` uint32[2]: where the
    player to move may play, none once the game is over.
    """

    discs: jax.Array
    moves: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Othello(Game[OthelloState]):
    """Action = cell, row-major; more discs at the end pay +1, fewer -1, as many 0.

    Player 0 is black. There is no action to pass: if a player cannot move, the other moves
    again. When neither can move the game is over, empty squares or not. Digits: 0 black,
    1 white, 2 empty, 3 empty and legal for the player to move.
    """

    size: int = setting(8, choices=(4, 6, 8))

    name = "othello"
    num_players = 2
    sides = ("black", "white")
    piece_digits = (0, 1)
    num_cell_values = 4

    @property
    def num_actions(self) -> int:
        return self.size**2

    @property
    def num_cells(self) -> int:
        return self.size**2

    @property
    def max_plies(self) -> int:
        return self.size**2 - 4

    @property
    def symmetries(self) -> np.ndarray:
        return grid_symmetries(self.size, self.size)

    @property
    def action_symmetries(self) -> np.ndarray:
        # Image j shows cell symmetries[j, i] at place i: the disc of cell c moves to its place.
        return np.argsort(self.symmetries, axis=1).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations:
        return rotations(self, digits=exchanged(self.piece_digits, self.num_cell_values))

    def rotated_start(self, state: OthelloState, player: int) -> OthelloState:
        return super().rotated_start(state, player)._replace(discs=jnp.roll(state.discs, player, 0))

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(self.size, self.size, diagonal=True)

    @property
    def _half(self) -> int:
        """Bits of one word."""
        return self.num_cells // 2

    def _words(self, cells: np.ndarray) -> np.ndarray:
        """uint32[2]: the bitboard of a bool[C]."""
        halves = cells.reshape(2, self._half).astype(np.uint64)
        return (halves << np.arange(self._half, dtype=np.uint64)).sum(1).astype(np.uint32)

    def _shift(self, board: Board, bits: int) -> Board:
        """Move every disc `bits` cells on (back if negative), off the board at its ends."""
        full = np.uint32((1 << self._half) - 1)
        low, high = board
        if bits > 0:
            return (low << bits) & full, ((high << bits) | (low >> (self._half - bits))) & full
        back = -bits
        return (low >> back) | ((high << (self._half - back)) & full), high >> back

    def _inner(self, columns: bool) -> np.ndarray:
        """uint32[2]: all cells, or those of the inner columns: lines there do not wrap around."""
        column = np.arange(self.num_cells) % self.size
        inner = (column > 0) & (column < self.size - 1)
        return self._words(inner if columns else np.ones_like(inner))

    @property
    def _directions(self) -> list[tuple[int, np.ndarray]]:
        """(step in cells, cells through which a line in that direction may run on)."""
        sideways, upright = self._inner(columns=True), self._inner(columns=False)
        return [
            (sign * step, upright if step == self.size else sideways)
            for sign in (1, -1)
            for step in (1, self.size - 1, self.size, self.size + 1)
        ]

    @partial(jit, static_argnums=(0, 3))
    def _run(self, start: Board, through: Board, step: int) -> Board:
        """The cells of `through` in an unbroken line from `start`, `step` by `step`."""
        line = (jnp.zeros_like(start[0]), jnp.zeros_like(start[1]))
        ahead = start
        for _ in range(self.size - 2):
            ahead = self._shift(ahead, step)
            ahead = (ahead[0] & through[0], ahead[1] & through[1])
            line = (line[0] | ahead[0], line[1] | ahead[1])
        return line

    @partial(jit, static_argnums=0)
    def _mobility(self, own: Board, other: Board) -> Board:
        """The squares where the player of `own` may put a disc."""
        mobility = (jnp.zeros_like(own[0]), jnp.zeros_like(own[1]))
        for step, inner in self._directions:
            line = self._run(own, (other[0] & inner[0], other[1] & inner[1]), step)
            beyond = self._shift(line, step)
            mobility = (mobility[0] | beyond[0], mobility[1] | beyond[1])
        empty = [~(own[w] | other[w]) & np.uint32((1 << self._half) - 1) for w in (0, 1)]
        return mobility[0] & empty[0], mobility[1] & empty[1]

    @partial(jit, static_argnums=0)
    def _flipped(self, disc: Board, own: Board, other: Board) -> Board:
        """The discs of `other` that a new `disc` of `own` turns over."""
        flipped = (jnp.zeros_like(own[0]), jnp.zeros_like(own[1]))
        for step, inner in self._directions:
            line = self._run(disc, (other[0] & inner[0], other[1] & inner[1]), step)
            end = self._shift(line, step)
            closed = ((end[0] & own[0]) | (end[1] & own[1])) != 0
            flipped = (
                jnp.where(closed, flipped[0] | line[0], flipped[0]),
                jnp.where(closed, flipped[1] | line[1], flipped[1]),
            )
        return flipped

    def init(self, key: jax.Array) -> OthelloState:
        lower = self.size // 2
        black, white = np.zeros((2, self.size, self.size), bool)
        black[lower - 1, lower] = black[lower, lower - 1] = True
        white[lower - 1, lower - 1] = white[lower, lower] = True
        discs = jnp.asarray(np.stack([self._words(black.ravel()), self._words(white.ravel())]))
        moves = self._mobility((discs[0, 0], discs[0, 1]), (discs[1, 0], discs[1, 1]))
        return OthelloState(
            discs, jnp.stack(moves), jnp.int8(0), jnp.bool_(False), jnp.zeros(2, jnp.float32)
        )

    def legal_actions(self, state: OthelloState) -> jax.Array:
        return self._bits(state.moves) == 1

    def _bits(self, words: jax.Array) -> jax.Array:
        """uint32[..., C] of 0 and 1: the cells of bitboards uint32[..., 2]."""
        # Each word by itself: to pick one for every cell would be a gather, which is slow.
        bits = (words[..., None] >> np.arange(self._half, dtype=np.uint32)) & 1
        return bits.reshape(*words.shape[:-1], self.num_cells)

    def afterstate(self, state: OthelloState, action: jax.Array) -> OthelloState:
        first = state.player == 0
        own = (
            jnp.where(first, state.discs[0, 0], state.discs[1, 0]),
            jnp.where(first, state.discs[0, 1], state.discs[1, 1]),
        )
        other = (
            jnp.where(first, state.discs[1, 0], state.discs[0, 0]),
            jnp.where(first, state.discs[1, 1], state.discs[0, 1]),
        )
        cell = jnp.clip(action, 0, self.num_cells - 1).astype(jnp.uint32)
        bit = jnp.uint32(1) << (cell % self._half)
        disc = (jnp.where(cell < self._half, bit, 0), jnp.where(cell < self._half, 0, bit))
        legal = self.in_range(action) & (
            ((disc[0] & state.moves[0]) | (disc[1] & state.moves[1])) != 0
        )
        flipped = materialize(*self._flipped(disc, own, other))
        own = (own[0] | disc[0] | flipped[0], own[1] | disc[1] | flipped[1])
        other = (other[0] & ~flipped[0], other[1] & ~flipped[1])
        replies, again = (
            materialize(*self._mobility(other, own)),
            materialize(*self._mobility(own, other)),
        )
        reply, repeat = (replies[0] | replies[1]) != 0, (again[0] | again[1]) != 0
        terminal = ~reply & ~repeat
        count = [
            sum(jax.lax.population_count(w).astype(jnp.int32) for w in b) for b in (own, other)
        ]
        lead = jnp.where(terminal, jnp.sign(count[0] - count[1]).astype(jnp.float32), 0)
        mine, theirs = jnp.stack(own), jnp.stack(other)
        moved = OthelloState(
            discs=jnp.stack([jnp.where(first, mine, theirs), jnp.where(first, theirs, mine)]),
            moves=jnp.where(reply, jnp.stack(replies), jnp.stack(again)),
            player=jnp.where(reply | terminal, 1 - state.player, state.player),
            terminal=terminal,
            rewards=zero_sum(state.player, lead),
        )
        return keep_if(legal, moved, state)

    def discs(self, state: OthelloState) -> jax.Array:
        """uint32[2, C]: 1 where a disc of each player lies, 0 elsewhere."""
        return self._bits(state.discs)

    def cells(self, state: OthelloState) -> jax.Array:
        black, white = self.discs(state)
        return (2 - 2 * black - white + self._bits(state.moves)).astype(jnp.int8)
