"""The player that any learner must beat."""

import dataclasses
from functools import partial
from typing import Any

import jax

from jaxgbg.games import Game
from jaxgbg.players.core import choose_uniformly


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class RandomPlayer:
    """Plays a uniformly random legal action, in any game."""

    game: Game
    name = "random"
    traceable = True

    def act(self, states: Any, key: jax.Array) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self.game, states, key)


@partial(jax.jit, static_argnums=0)
def _act(game: Game, states: Any, key: jax.Array) -> jax.Array:
    return choose_uniformly(jax.vmap(game.legal_actions)(states), key)
