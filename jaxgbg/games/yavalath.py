"""Yavalath: four in a row win, three in a row lose.

Source of the rules: Browne, "Yavalath", World of Abstract Games; for the forced block with three
players the same page.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import keep_if
from jaxgbg.games.hexagons import HexCells, hexagon, shifted
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.games.seats import EliminationGame, Standing, after_move, next_seat
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

# Along a row, along a column and along the third axis.
_AXES = ((0, 1), (1, 0), (1, -1))


class YavalathState(NamedTuple):
    """`stones` uint32[N, R]: the rows of each player. `out` bool[N]: who made three in a row."""

    stones: jax.Array
    out: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Yavalath(EliminationGame[YavalathState]):
    """Action = cell of a hexagon with `size` cells a side, row by row.

    Four or more own stones in a row win, whatever else the stone makes; three without four lose:
    with more than two players the loser is out, its stones stay, and the last one left wins. A full
    board is a draw among those still in. Four players need size 5 or 6.

    `block`, of three and four players: who could be won against by the next player's move "must"
    take one of that player's winning cells, "must_or_win" allows cells that win at once as well,
    "free" any cell. `swap`, of two players: the second one may take over the first stone, by the
    action of its cell. `reward`: the "winner" gets 1, others -1, and a draw is 0; with "ranks" the
    first one out has the last rank, a winner rank 1, and others share the ranks left; rank r of N
    pays 1 - 2 (r - 1) / (N - 1). Digits: 0 empty, 1 + player.
    """

    size: int = setting(5, low=3, high=6)
    players: int = setting(2, low=2, high=4)
    swap: bool = False
    block: str = setting("must", choices=("must", "must_or_win", "free"))
    reward: str = setting("winner", choices=("winner", "ranks"))

    name = "yavalath"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.players == 4 and self.size < 5:
            raise ValueError(f"yavalath: players=4 needs size 5 or 6, not {self.size}")
        if self.players > 2 and self.swap:
            raise ValueError(f"yavalath: swap is for players=2, not {self.players}")
        if self.players == 2 and self.block != "must":
            raise ValueError("yavalath: block is for players=3 and 4; leave it out with players=2")

    @property
    def board(self) -> HexCells:
        """The cells of the board."""
        return hexagon(self.size)

    @property
    def num_actions(self) -> int:
        return self.num_cells

    @property
    def num_cells(self) -> int:
        return 3 * self.size * (self.size - 1) + 1

    @property
    def num_cell_values(self) -> int:
        return 1 + self.players

    @property
    def max_plies(self) -> int:
        return self.num_cells + self.swap

    @property
    def symmetries(self) -> np.ndarray:
        return self.board.images()

    @property
    def action_symmetries(self) -> np.ndarray:
        return np.argsort(self.symmetries, axis=1).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations | None:
        if self.swap:
            # Cells do not show whether the swap is still open.
            return None
        return rotations(self, digits=exchanged(self.piece_digits, self.num_cell_values))

    @property
    def adjacency(self) -> np.ndarray:
        return self.board.adjacency

    @property
    def lines(self) -> np.ndarray:
        return self.board.lines(4)

    @property
    def piece_digits(self) -> tuple[int, ...]:
        return tuple(range(1, 1 + self.players))

    @property
    def stone_digits(self) -> tuple[int, ...] | None:
        return None if self.swap else self.piece_digits

    @property
    def change_patterns(self) -> tuple[np.ndarray, np.ndarray] | None:
        if not self.swap:
            return None
        # A stone of player 0, or one that it loses; then one of player 1.
        cell = np.arange(self.num_cells)
        return (
            np.concatenate([[0], cell, cell])[:, None],
            np.repeat([0, 1, 2], [1, self.num_cells, self.num_cells])[:, None],
        )

    def change(self, state: YavalathState, action: jax.Array) -> jax.Array:
        cell = jnp.clip(action, 0, self.num_cells - 1)
        bit = self.board.bit(cell)
        legal = (cell == action) & (self._legal(state) & bit != 0).any()
        two = (state.player == 1) & (_all(state) & bit == 0).all()
        return jnp.where(legal, 1 + cell + self.num_cells * two, 0)

    def init(self, key: jax.Array) -> YavalathState:
        stones = jnp.zeros((self.players, 2 * self.size - 1), jnp.uint32)
        return YavalathState(stones, *self.first_standing())

    def _legal(self, state: YavalathState) -> jax.Array:
        """uint32[R]: the cells that may be taken."""
        stones = _all(state)
        free = jnp.asarray(self.board.all) & ~stones
        if self.swap:
            first = jax.lax.population_count(stones).sum() == 1
            free |= jnp.where(first & (state.player == 1), stones, 0)
        elif self.players > 2 and self.block != "free":
            winning = _rows_through(state.stones[next_seat(state.player, state.out)])[0] & free
            allowed = winning
            if self.block == "must_or_win":
                allowed |= _rows_through(state.stones[state.player])[0] & free
            free = jnp.where((winning != 0).any(), allowed, free)
        return jnp.where(state.terminal, 0, free)

    def legal_actions(self, state: YavalathState) -> jax.Array:
        legal = self._legal(state)
        return self.board.of_words(legal) == 1

    def _standing(
        self, state: YavalathState, wins: jax.Array, three: jax.Array, full: jax.Array
    ) -> Standing:
        return after_move(state, wins, three & ~wins, full, self.reward == "ranks")

    def afterstate(self, state: YavalathState, action: jax.Array) -> YavalathState:
        cell = jnp.clip(action, 0, self.num_cells - 1)
        bit = self.board.bit(cell)
        legal = (cell == action) & (self._legal(state) & bit != 0).any()
        rows = _rows_through(state.stones[state.player])
        four, three = ((each & bit != 0).any() for each in rows)
        mover = np.arange(self.players) == state.player
        stones = jnp.where(mover[:, None], state.stones | bit, state.stones & ~bit)
        full = (jnp.bitwise_or.reduce(stones) == self.board.all).all()
        return keep_if(
            legal, YavalathState(stones, *self._standing(state, four, three, full)), state
        )

    def outcomes(self, state: YavalathState) -> tuple[jax.Array, jax.Array]:
        rows = jnp.stack([self._legal(state), *_rows_through(state.stones[state.player])])
        legal, four, three = self.board.of_words(rows) == 1
        last = jax.lax.population_count(_all(state)).sum() == self.num_cells - 1
        after = jax.vmap(partial(self._standing, state), (0, 0, None))(four, three, last)
        gain = (after.rewards - state.rewards)[:, state.player]
        return jnp.where(legal, gain, 0), (legal & after.terminal) | state.terminal

    def cells(self, state: YavalathState) -> jax.Array:
        stones = self.board.of_words(state.stones)
        digits = np.arange(1, 1 + self.players, dtype=np.uint32)[:, None]
        return (stones * digits).sum(0).astype(jnp.int8)


def _all(state: YavalathState) -> jax.Array:
    """uint32[R]: the stones of all players."""
    return jnp.bitwise_or.reduce(state.stones)


def _rows_through(stones: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(four or more, three or more) uint32[R]: the cells where one more stone makes such a row."""
    four = three = jnp.zeros_like(stones)
    for down, right in _AXES:
        before, after = (
            [shifted(stones, step * sign * down, step * sign * right) for step in (1, 2, 3)]
            for sign in (1, -1)
        )
        for side in (before, after):
            side[1] &= side[0]
            side[2] &= side[1]
        four |= before[2] | after[2] | (before[1] & after[0]) | (before[0] & after[1])
        three |= before[1] | after[1] | (before[0] & after[0])
    return four, three
