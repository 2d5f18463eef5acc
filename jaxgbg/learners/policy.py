"""Policies: which action a learner makes, and which value its update bootstraps from."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import NamedTuple

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import BootstrapRule, action_values, leaves_out
from jaxgbg.learners.selection import (
    choose_actions,
    choose_ranked,
    choose_softly,
    uniform,
    with_rank,
)
from jaxgbg.learners.state import Choice, Games
from jaxgbg.types import Params
from jaxgbg.values.core import ValueFunction


class Exploration(NamedTuple):
    """Randomness and imposed actions in the choice of moves of B games.

    `words` uint32[B, 2] draw whether a move is random, with probability `epsilon`, and break ties.
    `imposed` int32[B] are the actions of a training partner, which are made regardless of their
    values: -1 where it does not move, None without a partner. `allowed` bool[B] says which players
    may explore, None for all.
    """

    words: jax.Array
    epsilon: jax.Array
    imposed: jax.Array | None = None
    allowed: jax.Array | None = None

    @property
    def random(self) -> jax.Array:
        """bool[B]: whether the move is random, unless it is imposed."""
        drawn = uniform(self.words[:, 0]) < self.epsilon
        return drawn if self.allowed is None else drawn & self.allowed

    def where_allowed(self, action: jax.Array, best: jax.Array) -> jax.Array:
        """int32[B]: `action` where exploring is allowed and the move is not random, else `best`."""
        chosen = jnp.where(self.random, best, action)
        return chosen if self.allowed is None else jnp.where(self.allowed, chosen, best)

    @property
    def decided(self) -> jax.Array:
        """bool[B]: where the move does not depend on values."""
        return self.random if self.imposed is None else self.random | (self.imposed >= 0)


@dataclasses.dataclass(frozen=True)
class EpsilonGreedy:
    """The action of the greatest value, ties at random, or any action with probability epsilon.

    With `ranks` or a `temperature` it may choose another action: see `choose_ranked` and
    `choose_softly`. The update bootstraps from the value of the chosen action or, if `off_policy`
    as in Q-learning, from the greatest value. Frozen and hashable, static under jit; other policies
    are derived from it.
    """

    off_policy: bool = False
    ranks: tuple[float, ...] = ()
    temperature: float = 0.0

    def select(
        self,
        game: Game,
        value: ValueFunction,
        params: Params,
        games: Games,
        bootstrap: BootstrapRule,
        exploration: Exploration,
    ) -> Choice:
        """Return the choice in each of B games."""
        legal = asked = jax.vmap(game.legal_actions)(games.state)
        if leaves_out(game, value) and not self.off_policy:
            asked = _asked(legal, exploration)
        q, values = action_values(
            game, value, params, games.state, games.features, bootstrap, asked
        )
        action, explored = self.choose(q, legal, exploration)
        counted = self.bootstrap_action(q, legal, action)
        return Choice(action, explored, of_action(counted, values), counted)

    def choose(
        self, q: jax.Array, legal: jax.Array, exploration: Exploration
    ) -> tuple[jax.Array, jax.Array]:
        """The actions int32[B] by their values `q` float32[B, A], and which explore, bool[B]."""
        words, imposed, explored = exploration.words, exploration.imposed, exploration.random
        tied = jnp.where(explored[:, None], 0.0, q)
        action = choose_actions(tied, legal, uniform(words[:, 1]))
        if self.ranks:
            choose = jax.vmap(partial(choose_ranked, ranks=self.ranks))
            ranked = choose(q, with_rank(q, legal), words)
            action = exploration.where_allowed(ranked, action)
        elif self.temperature:
            soft = jax.vmap(partial(choose_softly, temperature=self.temperature))(q, legal, words)
            action = exploration.where_allowed(soft, action)
            # A move without the greatest value counts as exploring, like a random one.
            explored |= of_action(action, q) < jnp.where(legal, q, -jnp.inf).max(1)
        if imposed is not None:
            action, explored = jnp.where(imposed < 0, action, imposed), explored & (imposed < 0)
        return action, explored

    def bootstrap_action(self, q: jax.Array, legal: jax.Array, action: jax.Array) -> jax.Array:
        """int32[B]: the action to bootstrap from, by `q` float32[B, A]; of ties the one made."""
        if not self.off_policy:
            return action
        q = jnp.where(legal, q, -jnp.inf)
        return jnp.where(of_action(action, q) < q.max(1), q.argmax(1), action)


def of_action(action: jax.Array, each: jax.Array) -> jax.Array:
    """Entries [B] of rows [B, A], those of `action` int32[B]."""
    return jax.vmap(lambda row, action: row[action])(each, action)


def _asked(legal: jax.Array, exploration: Exploration) -> jax.Array:
    """bool[B, A]: the legal actions whose values are needed; only one if values do not decide."""
    # Chosen by values that are all the same.
    action, _ = EpsilonGreedy().choose(jnp.zeros(legal.shape), legal, exploration)
    alone = jnp.arange(legal.shape[1]) == action[:, None]
    return legal & (alone | ~exploration.decided[:, None])
