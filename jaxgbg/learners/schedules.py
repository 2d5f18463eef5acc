"""Schedules: the budget of a run, and the decay of step sizes and exploration rates."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import Spec, setting

# Their ratio is a float32 too.
_LEAST_STEP, _GREATEST_STEP = 1e-9, 1_000_000


@dataclasses.dataclass(frozen=True)
class Schedule(Spec):
    """The budget, step size and exploration of each agent.

    Attributes:
      episodes: Budget of each agent.
      batch: Games in lockstep for each agent; 1 is the serial algorithm.
      alpha: First step size.
      alpha_end: Last step size, the same as the first if not given.
      alpha_decay: How the step size gets there: by the same factor in every episode (geometric), or
        by the same amount (linear).
      epsilon: First exploration rate.
      epsilon_end: Last exploration rate; falls linearly, the same as the first if not given.
      epsilon_share: Share of the budget after which epsilon_end is reached.
      opening_plies: Random plies before some of the episodes.
      opening_share: Share of the episodes that begin with these random plies.
      opening_cycle: Instead of random plies, begin at each position that is opening_plies from the
        start, in turn, as often as there are players.
    """

    episodes: int = setting(10_000, low=1, high=2**31)
    batch: int = setting(64, low=1, high=2**20)
    alpha: float = setting(1.0, low=_LEAST_STEP, high=_GREATEST_STEP)
    alpha_end: float | None = setting(None, low=_LEAST_STEP, high=_GREATEST_STEP)
    alpha_decay: str = setting("geometric", choices=("geometric", "linear"))
    epsilon: float = setting(0.1, low=0, high=1)
    epsilon_end: float | None = setting(None, low=0, high=1)
    epsilon_share: float = setting(1.0, above=0, high=1)
    opening_plies: int = setting(0, low=0, high=10_000)
    opening_share: float = setting(0.5, above=0, high=1)
    opening_cycle: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opening_cycle and not (self.opening_plies and self.opening_share == 1):
            raise ValueError(
                "opening_cycle goes before every episode: set opening_plies, and opening_share 1"
            )

    @property
    def last_alpha(self) -> float:
        """The step size at the end of the budget."""
        return self.alpha if self.alpha_end is None else self.alpha_end

    @property
    def last_epsilon(self) -> float:
        """The exploration rate at the end of the budget."""
        return self.epsilon if self.epsilon_end is None else self.epsilon_end

    @property
    def alpha_factors(self) -> np.ndarray:
        """float32[32]: the change of alpha after 1, 2, 4, ... episodes, for `decayed`."""
        # What lies beyond the budget is never asked for.
        shares = np.minimum(2.0 ** np.arange(32) / self.episodes, 1.0)
        ratio = self.last_alpha / self.alpha
        factors = (ratio - 1) * shares if self.alpha_decay == "linear" else ratio**shares
        return factors.astype(np.float32)


def decayed(
    start: jax.Array, factors: jax.Array, count: jax.Array, linear: bool = False
) -> jax.Array:
    """Return the step size after `count` uint32[] episodes, from `start` at the first.

    The `factors` float32[32] whose bits are set in `count` multiply `start` or, if `linear`, are
    added to 1 before. Products or sums alone: XLA rounds exp differently in loops of different
    lengths, and then a lane's last bits would depend on how many lanes and devices there are.
    """
    if linear:
        total = jnp.float32(1)
        for bit in range(32):
            total = total + jnp.where((count >> bit) & 1 == 1, factors[bit], np.float32(0))
        return start * total
    for bit in range(32):
        start = start * jnp.where((count >> bit) & 1 == 1, factors[bit], np.float32(1))
    return start
