"""Expectimax without an evaluation: the expected rewards of the next few moves."""

from __future__ import annotations

import dataclasses
from functools import cached_property

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import UNDISCOUNTED, BootstrapRule
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.search.lookahead import PLIES, LookAhead, LookAheadSpec
from jaxgbg.search.spec import SearchSpec
from jaxgbg.specs import setting
from jaxgbg.types import Params, State
from jaxgbg.values.constant import Zero
from jaxgbg.values.core import ValueFunction


@dataclasses.dataclass(frozen=True)
class ExpectimaxSpec(SearchSpec):
    """Expectimax by the rewards of the next moves, a player without an agent.

    Attributes:
      plies: Number of moves to look ahead, of all players, including the first one.
    """

    plies: int = setting(2, **PLIES)

    kind = "expectimax"
    strength = "plies"
    with_agent = False
    alone = True

    def build(self, game: Game, value: ValueFunction) -> Expectimax:
        return Expectimax(game, self)


@dataclasses.dataclass(frozen=True)
class Expectimax:
    """Plays for the greatest expected reward of the next `plies` moves, ties at random.

    Michie (1966): the value of a chance node is the mean of its outcomes, weighted by their
    probabilities; players maximise their own reward (Max-N). It is `search.LookAhead` where every
    position at the end of the look-ahead is worth 0. Outcomes of chance that the game lists are all
    looked at, up to 64 of them; otherwise 16 are drawn. Where nothing is paid within `plies` moves
    all moves are equal.
    """

    game: Game
    settings: ExpectimaxSpec = ExpectimaxSpec()

    traceable = True

    def __post_init__(self) -> None:
        _ = self._search

    @cached_property
    def _search(self) -> LookAhead:
        return LookAhead(self.game, Zero(), LookAheadSpec(self.settings.plies))

    def choose(
        self,
        states: State,
        key: jax.Array,
        params: Params = (),
        bootstrap: BootstrapRule = UNDISCOUNTED,
    ) -> jax.Array:
        """See `spec.Search`; a terminal state gives 0."""
        del params, bootstrap
        chance, choice = jax.random.split(key)
        values = self.action_values(states, chance)
        legal = jax.vmap(self.game.legal_actions)(states)
        best = legal & (values == jnp.where(legal, values, -jnp.inf).max(1, keepdims=True))
        return choose_uniformly(best, choice)

    def action_values(self, states: State, key: jax.Array) -> jax.Array:
        """states[B] -> float32[B, A]: expected rewards of the mover; -inf for illegal actions."""
        return self._search.action_values((), states, key)
