"""TD-FARL of best play: values are those of the best moves, with any exploration.

The tick and its stages are those of TD-FARL (`learners.td`), with two differences. The target of a
player's last afterstate uses its best move, whether it makes that move or explores. There is no
update where another player has explored since then, neither from that player's move nor at the end
of the episode, because the outcome of that player's best move is unknown. So values
are those of best play with any amount of exploration, and a won position has the value of a win.

This is Q-learning (Watkins 1989) on the afterstates of Konen & Bagheri 2021, Algorithms 2 and 6;
skipping updates after other players' exploring moves is our addition. There are no traces, because
they would pass moves that were not the best.
"""

from __future__ import annotations

import dataclasses

from jaxgbg.games.core import Game, of_player
from jaxgbg.games.rollout import select
from jaxgbg.lazy import jax
from jaxgbg.learners import td
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.rule import Rule, no_exploration
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.state import Games, Hyperparameters, Move, NextBoards, Target
from jaxgbg.learners.tick import Learner
from jaxgbg.specs import setting
from jaxgbg.values.core import ValueSpec


def _bootstrap(learner: Learner, hyper: Hyperparameters) -> BootstrapRule:
    """Return the rule with a separate discount for values below 0: the rule's settings."""
    return hyper.bootstrap._replace(loss_discount=learner.rule.settings)


def _target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    """Bootstrap from the best move; skip if another player has explored (`games.rule`)."""
    choice = move.choice
    best = jax.vmap(learner.game.afterstate)(games.state, choice.bootstrap_action)
    # If the best move was made, the outcome of chance after it is known.
    better = (games.stage == 0) & (choice.bootstrap_action != choice.action)
    states = select(better, best, move.next_states)
    target = td.target_of(learner, games, states, choice, hyper)
    return target._replace(skipped=target.skipped | of_player(games.rule, target.player))


def _remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Also remember whether another player has explored since each player's last move."""
    explored = (games.stage == 0) & move.choice.explored
    explored = ~games.moving & (games.rule | explored[:, None])
    games = games._replace(rule=explored & ~boards.restart[:, None])
    return td.remember(learner, games, move, boards)


def td_off_policy(loss_discount: float | None = None) -> Rule:
    """Return the rule of an off-policy policy; `loss_discount` as in `BootstrapRule`."""
    return dataclasses.replace(
        td.TD,
        target=_target,
        remember=_remember,
        init=no_exploration,
        bootstrap=_bootstrap,
        settings=loss_discount,
    )


@dataclasses.dataclass(frozen=True)
class TDOffPolicySpec(td.AfterstatesSpec):
    """TD with Final Adaptation that learns the values of best play, with any exploration.

    Attributes:
      loss_discount: Gamma of values below 0, by default the same as discount; a smaller one makes
        agents delay a loss.
    """

    loss_discount: float | None = setting(None, low=0, high=1)

    kind = "td-off-policy"
    off_policy = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parameter_traces or self.horizon > 1:
            raise ValueError("best play is learned without traces: set trace_decay 0")
        if self.ranks:
            raise ValueError("moves by rank do not count as exploring: choose a temperature")

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        parts = self.parts(game, value, schedule)
        return Learner(**parts, rule=td_off_policy(self.loss_discount))

    @property
    def bootstrap(self) -> BootstrapRule:
        return super().bootstrap._replace(loss_discount=self.loss_discount)
