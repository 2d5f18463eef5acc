"""The player that any learner must beat."""

import dataclasses

import jax

from jaxgbg.games import Game
from jaxgbg.players.core import UniformPlayer
from jaxgbg.types import State


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class RandomPlayer(UniformPlayer):
    """Plays a uniformly random legal action, in any game."""

    game: Game
    name = "random"

    def best_actions(self, states: State) -> jax.Array:
        return jax.vmap(self.game.legal_actions)(states)
