"""Q-learning with FARL: SARSA that counts on the best action instead of the one chosen.

Source: Konen & Bagheri 2021, Algorithm 3; van der Ree & Wiering 2013, equation 8.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxgbg.learners.sarsa import SarsaLearner


@dataclasses.dataclass(frozen=True)
class QLearner(SarsaLearner):
    """Q-learning with FARL on one game; the value function is one of actions."""

    def _worth(self, values: jax.Array, legal: jax.Array, action: jax.Array) -> jax.Array:
        del action
        best = jnp.where(legal, values, -jnp.inf).max(1)
        # Without a legal action the game is over, and nothing is counted on.
        return jnp.where(legal.any(1), best, 0.0)
