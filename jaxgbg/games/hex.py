"""Hex on a rhombus of size x size cells, without the swap rule.

Cell `size * i + j` has the six neighbours

    (i-1, j)  (i-1, j+1)
  (i, j-1)  .  (i, j+1)
    (i+1, j-1)  (i+1, j)

Connected stones of one player form a group. Each stone stores its group and which of its player's
two edges the group reaches, so the neighbours alone decide whether a move wins.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if, scrambled, zero_sum
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting
from jaxgbg.xla import materialize

_NEIGHBOURS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


class HexState(NamedTuple):
    """`stones` int8[C]: 0 empty, 1 player 0, 2 player 1. `groups` int8[C]: 1 + the lowest cell of
    a stone's group, 0 where there is none. `edges` int8[C]: bit 0 and bit 1 say that its group
    reaches the first (top or left) and the second (bottom or right) edge of its player.
    """

    stones: jax.Array
    groups: jax.Array
    edges: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Hex(Game[HexState]):
    """Action = cell; player 0 joins top and bottom (i = 0 and size - 1), player 1 left and right.

    A win pays +1, a loss -1; there is no draw. With `misere` (Rex) a player who joins its edges
    loses.
    Digits: 0 empty, 1 player 0, 2 player 1.
    """

    size: int = setting(6, low=2, high=11)
    misere: bool = False

    name = "hex"
    num_players = 2
    sides = ("red", "blue")
    piece_digits = (1, 2)
    num_cell_values = 3

    @property
    def num_actions(self) -> int:
        return self.size**2

    @property
    def num_cells(self) -> int:
        return self.size**2

    @property
    def max_plies(self) -> int:
        return self.size**2

    @property
    def symmetries(self) -> np.ndarray:
        identity = np.arange(self.num_cells, dtype=np.int32)
        return np.stack([identity, identity[::-1]])

    @property
    def action_symmetries(self) -> np.ndarray:
        return self.symmetries

    @property
    def seat_rotations(self) -> SeatRotations:
        # The transposed board has the edges of the other player.
        board = np.arange(self.num_cells).reshape(self.size, self.size)
        views = np.stack([board.ravel(), board.T.ravel()])
        return rotations(
            self,
            cells=views,
            digits=exchanged(self.piece_digits, self.num_cell_values),
            actions=views,
        )

    @property
    def _for_joining(self) -> np.float32:
        """The reward of a player who joins its edges; the other gets the opposite."""
        return np.float32(-1 if self.misere else 1)

    @cached_property
    def _around(self) -> np.ndarray:
        """int32[C, 6]: the neighbours of a cell; num_cells stands for those outside the board."""
        row, column = np.divmod(np.arange(self.num_cells)[:, None], self.size)
        rows, columns = row + np.array(_NEIGHBOURS)[:, 0], column + np.array(_NEIGHBOURS)[:, 1]
        inside = (rows >= 0) & (rows < self.size) & (columns >= 0) & (columns < self.size)
        return np.where(inside, self.size * rows + columns, self.num_cells).astype(np.int32)

    @cached_property
    def _on_edge(self) -> np.ndarray:
        """int8[2, C]: bit 0 and bit 1 where a player's first and second edge run."""
        row, column = np.divmod(np.arange(self.num_cells), self.size)
        along = np.stack([row, column])
        return ((along == 0) + 2 * (along == self.size - 1)).astype(np.int8)

    @property
    def adjacency(self) -> np.ndarray:
        return (self._around[:, :, None] == np.arange(self.num_cells)).any(1)

    @property
    def stone_digits(self) -> tuple[int, ...]:
        return (1, 2)

    def init(self, key: jax.Array) -> HexState:
        empty = jnp.zeros(self.num_cells, jnp.int8)
        return HexState(
            empty, empty, empty, jnp.int8(0), jnp.bool_(False), jnp.zeros(2, jnp.float32)
        )

    def legal_actions(self, state: HexState) -> jax.Array:
        return (state.stones == 0) & ~state.terminal

    def _reached(self, state: HexState) -> jax.Array:
        """int8[C]: the edges that the mover's stone on each cell would be joined to."""
        own = state.stones == 1 + state.player
        beside = jnp.append(jnp.where(own, state.edges, 0), jnp.int8(0))
        reached = jnp.where(state.player == 0, self._on_edge[0], self._on_edge[1])
        for direction in range(6):
            reached |= beside[self._around[:, direction]]
        return reached

    def afterstate(self, state: HexState, action: jax.Array) -> HexState:
        cell = jnp.clip(action, 0, self.num_cells - 1)
        legal = (cell == action) & (state.stones[cell] == 0) & ~state.terminal
        place = jnp.arange(self.num_cells, dtype=jnp.int32) == cell
        own = state.stones == 1 + state.player
        beside = jnp.append(jnp.where(own, state.groups, 0), jnp.int8(0))
        touched = beside[jnp.asarray(self._around)[cell]]
        edges = jnp.append(state.edges, jnp.int8(0))[jnp.asarray(self._around)[cell]]
        reached = jnp.asarray(self._on_edge)[state.player, cell]
        joined, lowest = place, (cell + 1).astype(jnp.int8)
        for direction in range(6):
            group = touched[direction]
            joined |= (group > 0) & (state.groups == group)
            lowest = jnp.where(group > 0, jnp.minimum(lowest, group), lowest)
            reached |= jnp.where(group > 0, edges[direction], 0)
        won = reached == 3
        gain = jnp.where(won, self._for_joining, jnp.float32(0))
        moved = HexState(
            stones=jnp.where(place, 1 + state.player, state.stones),
            groups=jnp.where(joined, lowest, state.groups),
            edges=jnp.where(joined, reached, state.edges),
            player=1 - state.player,
            terminal=won,
            rewards=zero_sum(state.player, gain),
        )
        return keep_if(legal, moved, state)

    def outcomes(self, state: HexState) -> tuple[jax.Array, jax.Array]:
        won = (self._reached(state) == 3) & self.legal_actions(state)
        return jnp.where(won, self._for_joining, jnp.float32(0)), won | state.terminal

    def playout(self, state: HexState, words: jax.Array) -> jax.Array:
        """float32[2]: the rewards at the end of uniformly random play, drawn by uint32[2] `words`.

        On a full board exactly one player is connected, and it is the one who was when play ended;
        so the empty cells are shared out at random and only the full board is looked at.
        """
        empty = state.stones == 0
        draws = scrambled(words, self.num_cells) >> 16
        left = empty.sum(dtype=jnp.uint32)
        # The mover makes the first of the moves left and every other one after it.
        wanted = jnp.where(state.player == 0, left + 1, left) >> 1
        rows = []
        for row in range(self.size):
            bits = jnp.uint32(0)
            for column in range(self.size):
                cell = self.size * row + column
                # Player 0 gets this cell with probability wanted / left: every share of the empty
                # cells is equally likely.
                taken = empty[cell] & ((draws[cell] * left) >> 16 < wanted)
                bits |= (taken | (state.stones[cell] == 1)).astype(jnp.uint32) << column
                wanted, left = wanted - taken, left - empty[cell]
            rows.append(bits)
        joined = self._connected(jnp.stack(materialize(*rows)))
        win = jnp.where(joined, self._for_joining, -self._for_joining)
        return jnp.where(state.terminal, state.rewards, jnp.stack([win, -win]))

    def _connected(self, rows: jax.Array) -> jax.Array:
        """bool[]: whether stones join top and bottom; uint32[size] rows of bits."""
        steps = [1 << step for step in range((self.size - 1).bit_length())]

        def along(row: jax.Array, reached: jax.Array) -> jax.Array:
            """All stones of a row that are connected to reached ones."""
            reached &= row
            up = down = row
            for step in steps:
                reached |= (up & (reached << step)) | (down & (reached >> step))
                up, down = up & (up << step), down & (down >> step)
            return reached

        def sweep(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            reached = [carry[1][row] for row in range(self.size)]
            for row in range(1, self.size):
                above = reached[row - 1]
                reached[row] = along(rows[row], reached[row] | above | (above >> 1))
            for row in range(self.size - 2, -1, -1):
                below = reached[row + 1]
                reached[row] = along(rows[row], reached[row] | below | (below << 1))
            return carry[1], jnp.stack(reached)

        def moving(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
            return (carry[0] != carry[1]).any()

        first = jnp.zeros_like(rows).at[0].set(rows[0])
        return jax.lax.while_loop(moving, sweep, (jnp.zeros_like(rows), first))[1][-1] != 0

    def cells(self, state: HexState) -> jax.Array:
        return state.stones
