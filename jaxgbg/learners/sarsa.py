"""SARSA-FARL and Q-learning: values of actions, compared with the next action of the same player.

Stage 0 plays: before the mover acts, its last state and action learn its reward since then and the
value of the action that it has chosen now. In the terminal state stage 1 adapts the player who
would move, stages 2..N the others (FARL; there is no part 2, for no value of a terminal state is
ever asked for). Q-learning is SARSA that counts on the best action instead of the one chosen.
Source: Konen & Bagheri 2021, Algorithms 3 and 5; van der Ree & Wiering 2013, equation 8.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.games.core import Game
from jaxgbg.learners.core import Learner
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import LearnerSpec
from jaxgbg.learners.state import IDLE, Choice, Games, Hyperparameters, Move, Target
from jaxgbg.learners.traces import at
from jaxgbg.values.core import ValueSpec


@dataclasses.dataclass(frozen=True)
class SarsaLearner(Learner):
    """SARSA-FARL on one game; the value function is one of actions.

    With `replan` the action is chosen anew after the update, as in Algorithm 5; without, the one
    that the update counted on is made, as in the runs of its authors.
    """

    replan: bool = False
    of_afterstates = False
    heeds_exploring = True

    def _target(
        self, games: Games, next_states: Any, choice: Choice, hyper: Hyperparameters
    ) -> Target:
        playing = games.stage == 0
        other = games.stage - 2
        other += (other >= games.mover).astype(jnp.int8)
        subject = jnp.where(games.stage > 1, other, games.player)
        gain = at(next_states.rewards, subject) - at(games.last_reward, subject)
        target = jnp.where(playing, gain + hyper.discount * choice.value, gain)
        explored = at(games.explored, subject)
        return Target(subject, target, explored & ~hyper.learn_from_random)

    def _remember(
        self, games: Games, move: Move, features: jax.Array, start: Any, restart: jax.Array
    ) -> Games:
        # Whether each player's last action was random: it is learned once he acts again.
        explored = jnp.where(games.moving, move.choice.explored[:, None], games.explored)
        games = games._replace(explored=explored)
        return super()._remember(games, move, features, start, restart)

    def _next_stage(
        self, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        following = stage + 1
        last = jnp.where(hyper.final_others, jnp.int8(self.game.num_players), jnp.int8(1))
        running = (stage == IDLE) | ((stage == 0) & ~terminal)
        return jnp.where(running, stage, following), (following > last) & ~running


@dataclasses.dataclass(frozen=True)
class _ActionsSpec(LearnerSpec):
    """What learners of values of actions share."""

    of_actions = True
    # Without values of terminal states there is no part 2 to leave out.
    variants = ("farl", "none")

    def _parts(self, game: Game, value: ValueSpec, schedule: Schedule) -> dict[str, Any]:
        if game.stochastic:
            raise ValueError(
                f"{game.name} is learned on afterstates, before chance has its turn, and"
                f" {self.kind} learns values of actions: use the learner td"
            )
        return super()._parts(game, value, schedule)


@dataclasses.dataclass(frozen=True)
class SarsaSpec(_ActionsSpec):
    """SARSA with Final Adaptation (Konen & Bagheri 2021, Algorithm 5).

    Attributes:
      replan: Choose the action anew after the update, as in Algorithm 5 to the letter.
    """

    replan: bool = False

    kind = "sarsa"

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> SarsaLearner:
        return SarsaLearner(**self._parts(game, value, schedule), replan=self.replan)


@dataclasses.dataclass(frozen=True)
class QSpec(_ActionsSpec):
    """Q-learning with Final Adaptation (Konen & Bagheri 2021, Algorithm 3)."""

    kind = "q"
    counting_on_best = True

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> SarsaLearner:
        return SarsaLearner(**self._parts(game, value, schedule))
