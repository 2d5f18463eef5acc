"""The player that any learner must beat."""

import dataclasses
from typing import Any

import jax

from jaxgbg.games import Game
from jaxgbg.players.core import Opponent, UniformPlayer


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class RandomPlayer(UniformPlayer):
    """Plays a uniformly random legal action, in any game."""

    game: Game
    name = "random"

    def best_actions(self, states: Any) -> jax.Array:
        return jax.vmap(self.game.legal_actions)(states)


OPPONENTS = {"random": Opponent("any game", RandomPlayer)}
