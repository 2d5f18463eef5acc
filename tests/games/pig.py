"""Pig, a small dice game for two, and its exact values by value iteration in float64."""

import dataclasses
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, keep_if, zero_sum
from jaxgbg.specs import setting

ROLL, HOLD = 0, 1


class PigState(NamedTuple):
    """`scores` int8[2] of both players, `turn` int8[] points that are not banked yet, `rolling`
    bool[] whether a roll is due.
    """

    scores: jax.Array
    turn: jax.Array
    rolling: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Pig(Game):
    """Roll as often as you like, then hold to bank the points; a 1 ends the turn with nothing.

    Who banks `goal` points wins. Nobody may hold without points, or roll with enough of them.
    """

    goal: int = setting(10, low=2, high=100)
    faces: int = setting(2, low=2, high=6)

    name = "small_pig"
    num_players = 2
    num_actions = 2
    num_cells = 3
    # Random play is longer once in 10^30 games.
    max_plies = 1000
    init_words = 0
    spawn_words = 1

    @property
    def num_spawns(self):
        return self.faces

    @property
    def num_cell_values(self):
        return self.goal + self.faces

    def init(self, key):
        return PigState(
            jnp.zeros(2, jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(2, jnp.float32),
        )

    def _enough(self, state):
        return state.scores[state.player] + state.turn >= self.goal

    def legal_actions(self, state):
        may = jnp.stack([~self._enough(state), state.turn > 0])
        return may & ~state.terminal & ~state.rolling

    def afterstate(self, state, action):
        legal = self.in_range(action) & self.legal_actions(state)[jnp.clip(action, 0, 1)]
        mine = jnp.arange(2) == state.player
        held = state._replace(
            scores=state.scores + jnp.where(mine, state.turn, jnp.int8(0)),
            turn=jnp.int8(0),
            player=1 - state.player,
            terminal=self._enough(state),
            rewards=zero_sum(state.player, self._enough(state).astype(jnp.float32)),
        )
        rolls = keep_if(action == ROLL, state._replace(rolling=jnp.bool_(True)), held)
        return keep_if(legal, rolls, state)

    def spawn(self, state, key):
        return self.spawn_from(state, jax.random.bits(key, (1,)))

    def spawn_from(self, state, words):
        return self.spawn_outcome(state, (((words[0] >> 16) * self.faces) >> 16).astype(jnp.int32))

    def spawn_probabilities(self, state):
        faces = jnp.arange(self.faces)
        return jnp.where(state.rolling, 1 / self.faces, faces == 0).astype(jnp.float32)

    def spawn_outcome(self, state, number):
        lost = number == 0
        rolled = state._replace(
            turn=jnp.where(lost, 0, state.turn + 1 + number).astype(jnp.int8),
            player=jnp.where(lost, 1 - state.player, state.player).astype(jnp.int8),
            rolling=jnp.bool_(False),
        )
        return keep_if(state.rolling, rolled, state)

    def cells(self, state):
        return jnp.append(state.scores, state.turn)


@dataclasses.dataclass(frozen=True)
class UnlistedPig(Pig):
    """Pig as its author would write it who lists no outcomes."""

    name = "unlisted_pig"

    @property
    def num_spawns(self):
        return 0


@cache
def wins(goal: int, faces: int) -> np.ndarray:
    """float64[goal, goal, goal + faces, 2]: the mover's chance to win by rolling and by holding.

    By his score, the other's score and the points of this turn; NaN where the move is not legal.
    """
    best = np.zeros((goal, goal, goal + faces))
    own, other, turn = np.indices(best.shape)
    enough = own + turn >= goal
    for _ in range(10_000):
        lost = 1 - best[other, own, 0]
        held = np.where(enough, 1, 1 - best[other, np.minimum(own + turn, goal - 1), 0])
        points = np.minimum(turn[..., None] + np.arange(2, faces + 1), goal + faces - 1)
        rolled = (lost + best[own[..., None], other[..., None], points].sum(-1)) / faces
        moves = np.stack([np.where(enough, np.nan, rolled), np.where(turn, held, np.nan)], -1)
        before, best = best, np.nanmax(moves, -1)
        if np.abs(best - before).max() < 1e-13:
            return moves
    raise AssertionError("the values do not settle")


def positions(game: Pig, player: int = 0) -> tuple[PigState, np.ndarray]:
    """All states[B] that have two legal moves, `player` to move, and `wins` float64[B, 2] there."""
    moves = wins(game.goal, game.faces)
    own, other, turn = np.nonzero(~np.isnan(moves).any(-1))
    scores = np.stack([own, other] if player == 0 else [other, own], 1)
    count = len(own)
    states = PigState(
        jnp.asarray(scores, jnp.int8),
        jnp.asarray(turn, jnp.int8),
        jnp.zeros(count, bool),
        jnp.full(count, player, jnp.int8),
        jnp.zeros(count, bool),
        jnp.zeros((count, 2), jnp.float32),
    )
    return states, moves[own, other, turn]
