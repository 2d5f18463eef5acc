"""Learners that choose moves by a search, and use its results as targets.

The tick and its stages are those of the learner (`learners.td`, `learners.sarsa`). Before a move
that is neither random nor imposed, a search such as `search.puct` starts from the position, with
the values of this tick. The player makes the most visited move, ties by the best mean. The target
of its last afterstate (or state and action) is its reward since then plus the mean value that the
search found below the move (Q-learning: below its best move). A random move, or one of a training
partner, uses values as without a search. The end of the game and Final Adaptation are those of the
learner.

Source: Scheiermann & Konen 2022 (arXiv 2204.13307) use such searches at play time. The use in
training, with the mean below the move as target, is our addition.
"""

from __future__ import annotations

import dataclasses
from typing import cast

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import BootstrapRule, action_values
from jaxgbg.learners.auxiliary import with_auxiliary
from jaxgbg.learners.policy import EpsilonGreedy, Exploration, of_action
from jaxgbg.learners.sarsa import QSpec, SarsaSpec
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import LearnerParts, LearnerSpec
from jaxgbg.learners.state import Choice, Games
from jaxgbg.learners.td import TD, AfterstatesSpec
from jaxgbg.learners.tick import Learner
from jaxgbg.search.spec import TrainingSearch, parse_for_agent
from jaxgbg.search.tree import RootStatistics
from jaxgbg.specs import setting
from jaxgbg.types import Params, State
from jaxgbg.values.core import ValueFunction, ValueSpec

# Up to here float32 counts exactly.
_LARGEST = 2**24


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeSearch(EpsilonGreedy):
    """The most visited action of `search`, or a random one; the target is what the search found."""

    search: TrainingSearch

    def select(
        self,
        game: Game,
        value: ValueFunction,
        params: Params,
        games: Games,
        bootstrap: BootstrapRule,
        exploration: Exploration,
    ) -> Choice:
        """See `EpsilonGreedy.select`; the value is the mean below the move.

        It does not include the move's reward, except for values of actions.
        """
        states = games.state
        legal = jax.vmap(game.legal_actions)(states)
        found = self._search(params, states, exploration, bootstrap)
        order = _order(found)
        action, explored = self.choose(order, legal, exploration)
        alone = legal & (jnp.arange(legal.shape[1]) == action[:, None])
        ahead = action_values(game, value, params, states, games.features, bootstrap, alone)
        counted = order.argmax(1) if self.off_policy else action
        visits, mean = (of_action(counted, each) for each in (found.visits, found.values))
        if value.num_actions == 1:
            paid = jax.vmap(game.afterstate)(states, action).rewards - states.rewards
            mean -= jnp.take_along_axis(paid, states.player[:, None].astype(jnp.int32), 1)[:, 0]
        # For a move that the search has not tried, the learner's own value.
        own = of_action(self.bootstrap_action(ahead[1], legal, action), ahead[1])
        return Choice(action, explored, jnp.where(visits > 0, mean, own), counted)

    def _search(
        self, params: Params, states: State, exploration: Exploration, bootstrap: BootstrapRule
    ) -> RootStatistics:
        """Search from states[B], but not where the move is decided without a search."""
        roots = states._replace(terminal=states.terminal | exploration.decided)
        # Words of the tick draw chance in the search.
        key = jax.random.wrap_key_data(exploration.words[0])
        return self.search.statistics(roots, key, params, bootstrap)


def _order(found: RootStatistics) -> jax.Array:
    """float32[B, A] in the order of the visits, ties by the means."""
    means = jnp.where(found.visits > 0, found.values, -jnp.inf)
    smaller = (means[:, None] < means[:, :, None]).sum(2)
    return (found.visits * means.shape[1] + smaller).astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class _SearchSpec(LearnerSpec):
    """Settings and parts that learners that search in training share."""

    search: str = setting("puct-100", short="train_search")

    def __post_init__(self) -> None:
        super().__post_init__()
        settings = parse_for_agent(self.search, trains=True)
        for name in settings.play_only:
            if getattr(settings, name):
                raise ValueError(f"train_search: {name} is for play alone, leave it out")
        if self.temperature:
            raise ValueError("a search chooses by its visits: leave out temperature")
        if self.discount != 1:
            raise ValueError("a search sums undiscounted rewards: set discount 1")

    def parts(self, game: Game, value: ValueSpec, schedule: Schedule) -> LearnerParts:
        parts, settings = super().parts(game, value, schedule), parse_for_agent(self.search)
        most = _LARGEST // game.num_actions
        if settings.number > most:
            raise ValueError(f"train_search: {most:,} {settings.strength} at most in {game.name}")
        search = cast(TrainingSearch, settings.build(game, parts["value"]))
        return parts | {"policy": TreeSearch(self.off_policy, self.ranks, search=search)}


@dataclasses.dataclass(frozen=True)
class TDSearchSpec(_SearchSpec, AfterstatesSpec):
    """TD(lambda) with Final Adaptation, moves and targets by tree search (`search.in_training`).

    Attributes:
      search: The search that training makes before each move, as NAME-N,key=value: puct-100.
    """

    kind = "td-search"
    learns_auxiliary = True

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        parts = self.parts(game, value, schedule)
        return Learner(**parts, rule=with_auxiliary(TD, parts["value"]))


@dataclasses.dataclass(frozen=True)
class SarsaSearchSpec(_SearchSpec, SarsaSpec):
    """SARSA with Final Adaptation, moves and targets by tree search (`search.in_training`)."""

    kind = "sarsa-search"


@dataclasses.dataclass(frozen=True)
class QSearchSpec(_SearchSpec, QSpec):
    """Q-learning with Final Adaptation, moves and targets by tree search (`search.in_training`)."""

    kind = "q-search"
