"""TD-FARL: values of afterstates, each compared with the next one of the same player.

Stage 0 plays: the mover's last afterstate learns its reward since then and the value of the new
afterstate. Stages 1..N-1 adapt the other players to their final rewards (FARL part 1), stage N
adapts the last mover's terminal afterstate towards 0 (part 2).
Source: Konen & Bagheri 2021, Algorithms 2, 6 and 7.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.learners.core import Learner
from jaxgbg.learners.state import IDLE, Choice, Games, Hyperparameters, Lane, Move, Target
from jaxgbg.learners.traces import at


@dataclasses.dataclass(frozen=True)
class TDLearner(Learner):
    """TD-FARL on one game; the value function is one of states."""

    def _target(
        self, games: Games, next_states: Any, choice: Choice, hyper: Hyperparameters
    ) -> Target:
        players = self.game.num_players
        playing = games.stage == 0
        other = games.stage - 1
        other += (other >= games.mover).astype(jnp.int8)
        adapting = (games.stage > 0) & (games.stage < players)
        subject = jnp.where(adapting, other, games.player)
        # Stages 1..N hold the terminal state, which no action alters.
        gain = at(next_states.rewards, subject) - at(games.last_reward, subject)
        ahead = gain + self._valuation(hyper).discounted(choice.value)
        target = jnp.where(playing & ~next_states.terminal, ahead, gain)
        target = jnp.where(games.stage == players, 0.0, target)
        skipped = choice.explored & ~hyper.learn_from_random
        counted = playing & ~next_states.terminal
        return Target(subject, target, skipped, jnp.where(games.stage == players, 0, gain), counted)

    def _following(self, lane: Lane, move: Move) -> jax.Array | None:
        if not self.value.predicts:
            return None
        # After the end all moves leave the final board, and from there on nothing follows.
        features = self.value.features(lane.params, self._observed(move.afterstates))
        final = lane.games.stage == self.game.num_players
        return jnp.where(final[:, None], -1, features)

    def _next_stage(
        self, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        players = self.game.num_players
        following = stage + 1
        skip_others = (following < players) & ~hyper.final_others
        following = jnp.where(skip_others, jnp.int8(players), following)
        over = (following > players) | ((following == players) & ~hyper.final_zero)
        running = (stage == IDLE) | ((stage == 0) & ~terminal)
        return jnp.where(running, stage, following), over & ~running
