"""Which action a learner makes, which value its update counts on, what it remembers of the move."""

import dataclasses
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from jaxgbg.games.core import Game
from jaxgbg.learners.selection import action_values, choose_action, uniform
from jaxgbg.learners.state import Choice, Games, Hyperparameters
from jaxgbg.values.core import ValueFunction


class Policy(Protocol):
    """What the tick asks for; frozen and hashable, static under jit."""

    def select(
        self,
        game: Game,
        value: ValueFunction,
        params: Any,
        games: Games,
        words: jax.Array,
        epsilon: jax.Array,
        hyper: Hyperparameters,
    ) -> Choice:
        """The choice in each of B games, drawn by `words` uint32[B, 2]."""
        ...

    def value_of(
        self,
        game: Game,
        value: ValueFunction,
        params: Any,
        games: Games,
        action: jax.Array,
        hyper: Hyperparameters,
    ) -> jax.Array:
        """float32[B]: the value that an update counts on where a partner has made `action`."""
        ...


@dataclasses.dataclass(frozen=True)
class EpsilonGreedy:
    """The action of the greatest value, ties at random, or any action with probability epsilon.

    The update counts on the value of the action chosen or, `counting_on_best` as Q-learning does,
    on the greatest one.
    """

    counting_on_best: bool = False

    def select(
        self,
        game: Game,
        value: ValueFunction,
        params: Any,
        games: Games,
        words: jax.Array,
        epsilon: jax.Array,
        hyper: Hyperparameters,
    ) -> Choice:
        """The choice in each of B games, drawn by `words` uint32[B, 2]."""
        legal = jax.vmap(game.legal_actions)(games.state)
        q, values = action_values(
            game, value, params, games.state, games.features, hyper.zero_terminal
        )
        explored = uniform(words[:, 0]) < epsilon
        q = jnp.where(explored[:, None], 0.0, q)
        action = jax.vmap(choose_action)(q, legal, uniform(words[:, 1]))
        return Choice(action, explored, self.bootstrap(values, legal, action))

    def value_of(
        self,
        game: Game,
        value: ValueFunction,
        params: Any,
        games: Games,
        action: jax.Array,
        hyper: Hyperparameters,
    ) -> jax.Array:
        """float32[B]: the value that an update counts on where a partner has made `action`."""
        _, values = action_values(
            game, value, params, games.state, games.features, hyper.zero_terminal
        )
        return self.bootstrap(values, jax.vmap(game.legal_actions)(games.state), action)

    def bootstrap(self, values: jax.Array, legal: jax.Array, action: jax.Array) -> jax.Array:
        """float32[B]: the value that an update counts on, of the `values` float32[B, A]."""
        if not self.counting_on_best:
            return jax.vmap(lambda row, action: row[action])(values, action)
        best = jnp.where(legal, values, -jnp.inf).max(1)
        # Without a legal action the game is over, and nothing is counted on.
        return jnp.where(legal.any(1), best, 0.0)
