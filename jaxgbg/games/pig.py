"""Pig: roll as often as you dare, then hold; for two to six players."""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.dice import face_probabilities, rolled, winner_takes
from jaxgbg.games.rotations import SeatRotations, rotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

ROLL, HOLD = 0, 1
_MOST_ROWS = 2**24


class PigState(NamedTuple):
    """`scores` int8[N], `turn` int8[] the points of this turn, `rolling` bool[] whether a roll is
    due, `plies` int16[] the actions so far.
    """

    scores: jax.Array
    turn: jax.Array
    rolling: jax.Array
    plies: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Pig(Game[PigState]):
    """Action 0 rolls, 1 holds. Who has `target` points first wins.

    A 1 loses the points of the turn and ends it; any other face adds to them, and the player
    decides again. To hold adds them to the score, and the next player is to move. With enough
    points to win a player can only hold. After `horizon` actions nobody wins.

    Cells: the N scores, then the points of the turn, plus 1 while a roll is due: so an afterstate
    shows whether its player goes on. Points beyond `target` count as `target`.
    """

    players: int = setting(2, low=2, high=6)
    target: int = setting(100, low=5, high=126)
    faces: int = setting(6, low=2, high=20)
    horizon: int = setting(1000, low=1, high=5000)

    name = "pig"
    num_actions = 2
    spawn_words = 1

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def num_cells(self) -> int:
        return self.players + 1

    @property
    def num_cell_values(self) -> int:
        return self.target + 1

    @property
    def max_plies(self) -> int:
        return self.horizon

    @property
    def num_spawns(self) -> int:  # type: ignore[override]
        return self.faces

    @property
    def reward_range(self) -> tuple[float, float]:
        return (-1 / (self.players - 1), 1.0)

    @property
    def own_tuples(self) -> tuple[tuple[int, ...], ...]:
        """All cells in one, or the scores of two players and the turn where a table had no room."""
        if self.num_cell_values**self.num_cells <= _MOST_ROWS:
            return (tuple(range(self.num_cells)),)
        pairs = itertools.combinations(range(self.players), 2)
        return tuple((*pair, self.players) for pair in pairs)

    @property
    def seat_rotations(self) -> SeatRotations:
        seats = np.arange(self.players)
        scores = (seats[:, None] + seats) % self.players
        turn = np.full((self.players, 1), self.players)
        return rotations(self, cells=np.concatenate([scores, turn], 1))

    def init(self, key: jax.Array) -> PigState:
        return PigState(
            jnp.zeros(self.players, jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.int16(0),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(self.players, jnp.float32),
        )

    def _banked(self, state: PigState) -> jax.Array:
        """int32[]: what the player would have after it holds."""
        total = state.scores[state.player].astype(jnp.int32) + state.turn
        return jnp.minimum(total, self.target)

    def legal_actions(self, state: PigState) -> jax.Array:
        may_roll = self._banked(state) < self.target
        return jnp.stack([may_roll, jnp.bool_(True)]) & ~state.rolling & ~state.terminal

    def afterstate(self, state: PigState, action: jax.Array) -> PigState:
        banked, rolls = self._banked(state), action == ROLL
        won = ~rolls & (banked == self.target)
        over = state.plies + 1 >= self.horizon
        mine = jnp.arange(self.players) == state.player
        moved = PigState(
            scores=jnp.where(mine & ~rolls, banked, state.scores),
            turn=jnp.where(rolls, state.turn, 0),
            rolling=rolls & ~over,
            plies=state.plies + 1,
            player=jnp.where(rolls, state.player, self._following(state.player)),
            terminal=won | over,
            rewards=jnp.where(won, winner_takes(state.player, self.players), jnp.float32(0)),
        )
        may_roll = banked < self.target
        legal = self.in_range(action) & (may_roll | ~rolls) & ~state.rolling & ~state.terminal
        return keep_if(legal, moved, state)

    def _following(self, player: jax.Array) -> jax.Array:
        return jnp.where(player == self.players - 1, 0, player + 1)

    def spawn(self, state: PigState, key: jax.Array) -> PigState:
        return self.spawn_from(state, jax.random.bits(key, (self.spawn_words,), jnp.uint32))

    def spawn_from(self, state: PigState, words: jax.Array) -> PigState:
        return self.spawn_outcome(state, rolled(words[0], self.faces))

    def spawn_probabilities(self, state: PigState) -> jax.Array:
        return face_probabilities(state.rolling, self.faces)

    def spawn_outcome(self, state: PigState, number: jax.Array) -> PigState:
        lost = number == 0
        total = jnp.minimum(state.turn.astype(jnp.int32) + number + 1, self.target)
        after = state._replace(
            turn=jnp.where(lost, 0, total),
            rolling=jnp.bool_(False),
            player=jnp.where(lost, self._following(state.player), state.player),
        )
        return keep_if(state.rolling, after, state)

    def cells(self, state: PigState) -> jax.Array:
        # While a roll is due the player lacks at least one point.
        return jnp.append(state.scores, state.turn + state.rolling).astype(jnp.int8)
