"""SARSA-FARL and Q-learning: values of actions, updated towards the same player's next action.

Stage 0 plays: before the mover acts, the target of its last state and action is its reward since
then plus the value of the action that it has chosen now. In the terminal state stage 1 adapts the
player who would move, stages 2..N the others (FARL; there is no part 2, because values of terminal
states are never used). Q-learning is SARSA whose target uses the best action instead of the chosen
one. In a game of chance the values are those of actions in the states after chance, where actions
are chosen (appendix A.2), not of afterstates.
Source: Konen & Bagheri 2021, Algorithms 3 and 5; van der Ree & Wiering 2013, equation 8.
"""

from __future__ import annotations

import dataclasses

from jaxgbg.games.core import Game, of_player
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.rule import Rule, no_exploration
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import RANDOM_TESTS, LearnerSpec
from jaxgbg.learners.state import IDLE, Games, Hyperparameters, Move, NextBoards, Target
from jaxgbg.learners.tick import Learner
from jaxgbg.specs import setting
from jaxgbg.values.core import ValueSpec


def _target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    playing = games.stage == 0
    other = games.stage - 2
    other += (other >= games.mover).astype(jnp.int8)
    subject = jnp.where(games.stage > 1, other, games.player)
    gain = of_player(games.state.rewards, subject) - of_player(games.last_reward, subject)
    target = jnp.where(playing, gain + hyper.discount * move.choice.value, gain)
    test = learner.rule.settings
    explored = move.choice.explored if test == "current" else of_player(games.rule, subject)
    tested = explored if test == "letter" else playing & explored
    return Target(subject, target, tested & ~hyper.learn_from_random)


def _next_stage(
    learner: Learner, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
) -> tuple[jax.Array, jax.Array]:
    following = stage + 1
    last = jnp.where(hyper.final_others, jnp.int8(learner.game.num_players), jnp.int8(1))
    running = (stage == IDLE) | ((stage == 0) & ~terminal)
    return jnp.where(running, stage, following), (following > last) & ~running


def _remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Remember the state and the action, and whether it was random: they are learned later."""
    begins, mine, action = boards.restart[:, None], games.moving, move.choice.action
    memory = learner.value.of_action(games.features, action)
    last_reward = jnp.where(begins, 0.0, games.state.rewards)
    return games._replace(
        mover=jnp.where(games.stage == 0, move.next_states.player, games.player),
        last=jnp.where(mine[..., None], memory[:, None], games.last),
        has_last=~begins & (games.has_last | mine),
        last_reward=jnp.where(mine | begins, last_reward, games.last_reward),
        rule=jnp.where(mine, move.choice.explored[:, None], games.rule),
    )


SARSA = Rule(
    target=_target,
    next_stage=_next_stage,
    remember=_remember,
    init=no_exploration,
    of_actions=True,
    settings="adapted",
)
"""SARSA-FARL on a value function of actions; with an off-policy policy Q-learning.

`settings` is the test for random moves: see `SarsaSpec.random_test`.
With `replan` the action is chosen again after the update, as in Algorithm 5. Without it, the action
of the update's target is made, as in the runs of its authors.
"""


@dataclasses.dataclass(frozen=True)
class ActionsSpec(LearnerSpec):
    """Settings and parts that learners of values of actions share.

    Attributes:
      random_test: Which updates to skip around random moves, without learn_from_random; see the
        page How we read the papers. current: the one whose new move is random. adapted: the one
        after a random move. letter: as adapted, in Final Adaptation too (Algorithm 7). gbg: as the
        program GBG, current for td, adapted for sarsa and q.
    """

    random_test: str = setting("gbg", choices=RANDOM_TESTS)

    of_actions = True
    # Without values of terminal states there is no part 2 to leave out.
    variants = ("farl", "none")

    @property
    def rule(self) -> Rule:
        """SARSA with the test for random moves."""
        test = self.random_test
        return dataclasses.replace(SARSA, settings="adapted" if test == "gbg" else test)


@dataclasses.dataclass(frozen=True)
class SarsaSpec(ActionsSpec):
    """SARSA with Final Adaptation (Konen & Bagheri 2021, Algorithm 5).

    Attributes:
      replan: Choose the action again after the update, exactly as Algorithm 5 does.
    """

    replan: bool = False

    kind = "sarsa"

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        rule = dataclasses.replace(self.rule, replan=self.replan)
        return Learner(**self.parts(game, value, schedule), rule=rule)


@dataclasses.dataclass(frozen=True)
class QSpec(ActionsSpec):
    """Q-learning with Final Adaptation (Konen & Bagheri 2021, Algorithm 3)."""

    kind = "q"
    off_policy = True

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        return Learner(**self.parts(game, value, schedule), rule=self.rule)
