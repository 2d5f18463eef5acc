"""TD-FARL of best play: whatever is explored, values are those of the best moves.

The tick and its stages are those of TD-FARL (`learners.td`), but for two things. A player's last
afterstate counts on his best move, whether he makes it or explores. And it learns nothing where
another player has explored since then, neither from that player's move nor, at the end, from what
came of it: what would have followed his best move nobody knows. So one may explore as much as one
likes, and a won position is worth a win.

It is Q-learning (Watkins 1989) on the afterstates of Konen & Bagheri 2021, Algorithms 2 and 6; what
is done about the others' exploring moves is ours. There are no traces: they would lead past moves
that were not the best.
"""

import dataclasses
from typing import Any

import jax

from jaxgbg.games.core import Game
from jaxgbg.games.rollout import select
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.selection import Valuation
from jaxgbg.learners.spec import LearnerSpec
from jaxgbg.learners.state import Choice, Games, Hyperparameters, Lane, Move, Target
from jaxgbg.learners.td import TDLearner
from jaxgbg.learners.traces import at
from jaxgbg.specs import setting
from jaxgbg.values.core import ValueSpec


@dataclasses.dataclass(frozen=True)
class OffPolicyTDLearner(TDLearner):
    """TD-FARL that counts on best moves; its policy is one that does so too.

    `loss_discount` is that of a `Valuation`.
    """

    loss_discount: float | None = None

    heeds_exploring = True

    def _valuation(self, hyper: Hyperparameters) -> Valuation:
        return hyper.valuation._replace(loss_discount=self.loss_discount)

    def _target(
        self, games: Games, next_states: Any, choice: Choice, hyper: Hyperparameters
    ) -> Target:
        assert choice.counted is not None
        best = jax.vmap(self.game.afterstate)(games.state, choice.counted)
        # What chance made of the best move is known where it was made.
        better = (games.stage == 0) & (choice.counted != choice.action)
        return super()._target(games, select(better, best, next_states), choice, hyper)

    def _live(
        self, lane: Lane, target: Target, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        live, skipped = super()._live(lane, target, hyper)
        return live & ~at(lane.games.explored, target.player), skipped

    def _remember(
        self, games: Games, move: Move, features: jax.Array, start: Any, restart: jax.Array
    ) -> Games:
        # Whether another player has explored since each player's last move.
        explored = (games.stage == 0) & move.choice.explored
        explored = ~games.moving & (games.explored | explored[:, None])
        games = games._replace(explored=explored & ~restart[:, None])
        return super()._remember(games, move, features, start, restart)


@dataclasses.dataclass(frozen=True)
class TDOffPolicySpec(LearnerSpec):
    """TD with Final Adaptation that learns best play, whatever is explored (`td_off_policy`).

    Attributes:
      loss_discount: Gamma of values below 0, by default that of others; a smaller one makes who
        is lost put the end off.
    """

    loss_discount: float | None = setting(None, low=0, high=1)

    kind = "td-off-policy"
    counting_on_best = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parameter_traces or self.horizon > 1:
            raise ValueError("best play is learned without traces: set trace_decay 0")
        if self.ranks:
            raise ValueError("moves by rank are no exploring moves: choose a temperature")

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> OffPolicyTDLearner:
        parts = self._parts(game, value, schedule)
        if parts["value"].predicts:
            raise ValueError(
                "extras as outputs are foretold of the moves made, not of the best: choose"
                " extras_as inputs, or the learner td"
            )
        return OffPolicyTDLearner(**parts, loss_discount=self.loss_discount)

    @property
    def valuation(self) -> Valuation:
        return super().valuation._replace(loss_discount=self.loss_discount)
