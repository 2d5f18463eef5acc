"""The player that any learner must beat."""

import dataclasses
from functools import partial
from typing import Any

import jax

from jaxgbg.games import Game
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players.core import History, Opponent, PlayerBase


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class RandomPlayer(PlayerBase):
    """Plays a uniformly random legal action, in any game."""

    game: Game
    name = "random"
    traceable = True

    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self.game, states, key)


@partial(jax.jit, static_argnums=0)
def _act(game: Game, states: Any, key: jax.Array) -> jax.Array:
    return choose_uniformly(jax.vmap(game.legal_actions)(states), key)


OPPONENTS = {"random": Opponent("any game", RandomPlayer)}
