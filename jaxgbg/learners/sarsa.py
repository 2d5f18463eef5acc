"""SARSA-FARL: values of actions, each compared with the next action of the same player.

Stage 0 plays: before the mover acts, its last state and action learn its reward since then and the
value of the action that it has chosen now. In the terminal state stage 1 adapts the player who
would move, stages 2..N the others (FARL; there is no part 2, for no value of a terminal state is
ever asked for).
Source: Konen & Bagheri 2021, Algorithm 5.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.learners.core import Learner
from jaxgbg.learners.state import IDLE, Choice, Games, Hyperparameters, Task
from jaxgbg.learners.traces import at


@dataclasses.dataclass(frozen=True)
class SarsaLearner(Learner):
    """SARSA-FARL on one game; the value function is one of actions.

    With `replan` the action is chosen anew after the update, as in Algorithm 5; without, the one
    that the update counted on is made, as in the runs of its authors.
    """

    replan: bool = False
    of_afterstates = False

    def _task(
        self, games: Games, seen: Any, choice: Choice, player: jax.Array, hyper: Hyperparameters
    ) -> Task:
        playing = games.stage == 0
        other = games.stage - 2
        other += (other >= games.mover).astype(jnp.int8)
        subject = jnp.where(games.stage > 1, other, player)
        gain = at(seen.rewards, subject) - at(games.last_reward, subject)
        target = jnp.where(playing, gain + hyper.discount * choice.value, gain)
        explored = at(games.last_explored, subject)
        return Task(subject, target, explored & ~hyper.learn_from_random)

    def _next_stage(
        self, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        following = stage + 1
        last = jnp.where(hyper.final_others, jnp.int8(self.game.num_players), jnp.int8(1))
        running = (stage == IDLE) | ((stage == 0) & ~terminal)
        return jnp.where(running, stage, following), (following > last) & ~running
