"""TicTacToe: three in a row on a 3x3 board."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if, zero_sum
from jaxgbg.games.grids import grid_adjacency, grid_lines, grid_symmetries
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.lazy import jax, jnp

_FULL = 0b111_111_111
_LINES = (1 << grid_lines(3, 3, 3)).sum(1, dtype=np.int32)


class TicTacToeState(NamedTuple):
    """`stones` int32[2]: one bit a cell, row-major, for each player."""

    stones: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class TicTacToe(Game[TicTacToeState]):
    """Action = cell 0..8, row-major; a win pays +1, a loss -1, a draw 0.

    Digits: 0 a stone of player 1 (O), 1 empty, 2 a stone of player 0 (X).
    """

    name = "tictactoe"
    title = "TicTacToe"
    num_players = 2
    sides = ("X", "O")
    piece_digits = (2, 0)
    num_actions = 9
    num_cells = 9
    num_cell_values = 3
    max_plies = 9

    @property
    def symmetries(self) -> np.ndarray:
        return grid_symmetries(3, 3)

    @property
    def action_symmetries(self) -> np.ndarray:
        # Image j shows at cell i what stood at symmetries[j, i]: an action moves the other way.
        return np.argsort(self.symmetries, axis=1).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations:
        return rotations(self, digits=exchanged(self.piece_digits, self.num_cell_values))

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(3, 3, diagonal=False)

    @property
    def lines(self) -> np.ndarray:
        return grid_lines(3, 3, 3)

    def init(self, key: jax.Array) -> TicTacToeState:
        return TicTacToeState(
            jnp.zeros(2, jnp.int32), jnp.int8(0), jnp.bool_(False), jnp.zeros(2, jnp.float32)
        )

    def legal_actions(self, state: TicTacToeState) -> jax.Array:
        occupied = state.stones[0] | state.stones[1]
        return ((occupied >> np.arange(9)) & 1 == 0) & ~state.terminal

    def afterstate(self, state: TicTacToeState, action: jax.Array) -> TicTacToeState:
        occupied = state.stones[0] | state.stones[1]
        stone = 1 << action
        legal = self.in_range(action) & (occupied & stone == 0) & ~state.terminal
        own = jnp.where(state.player == 0, state.stones[0], state.stones[1]) | stone
        won = (own & _LINES == _LINES).any()
        moved = TicTacToeState(
            stones=jnp.where(jnp.arange(2) == state.player, own, state.stones),
            player=1 - state.player,
            terminal=won | (occupied | stone == _FULL),
            rewards=zero_sum(state.player, won.astype(jnp.float32)),
        )
        return keep_if(legal, moved, state)

    def cells(self, state: TicTacToeState) -> jax.Array:
        bits = (state.stones[:, None] >> np.arange(9)) & 1
        return (1 + bits[0] - bits[1]).astype(jnp.int8)

    @property
    def change_patterns(self) -> tuple[np.ndarray, np.ndarray]:
        cells = np.array([0, *range(9), *range(9)])
        return cells[:, None], np.repeat([0, 1, -1], [1, 9, 9])[:, None]

    def change(self, state: TicTacToeState, action: jax.Array) -> jax.Array:
        legal = self.in_range(action) & self.legal_actions(state)[action]
        return jnp.where(legal, 1 + 9 * state.player.astype(jnp.int32) + action, 0)
