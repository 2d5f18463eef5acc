"""A player: it takes the first legal action."""

import dataclasses

import jax
import jax.numpy as jnp

import jaxgbg
from jaxgbg.players import PlayerBase


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class FirstLegal(PlayerBase):
    """Plays the legal action with the lowest number, in any game."""

    game: jaxgbg.Game

    name = "first-legal"
    traceable = True

    def act(self, states, key, history=None):
        """int32[B]: the first legal action in each of states[B]."""
        legal = jax.vmap(self.game.legal_actions)(states)
        return jnp.argmax(legal, axis=1).astype(jnp.int32)


jaxgbg.register_player("first-legal", FirstLegal)
