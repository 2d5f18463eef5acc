"""How step sizes fall with the episodes, and how long traces are."""

import jax
import jax.numpy as jnp
import numpy as np


def decay_factors(ratio: float, episodes: int) -> np.ndarray:
    """float32[32]: what 1, 2, 4, ... of so many `episodes` make of 1 if all make `ratio` of it."""
    # What lies beyond the budget is never asked for.
    shares = np.minimum(2.0 ** np.arange(32) / episodes, 1.0)
    return (ratio**shares).astype(np.float32)


def decayed(start: jax.Array, factors: jax.Array, count: jax.Array) -> jax.Array:
    """`start` times those `factors` float32[32] whose bits are set in `count` uint32[].

    The power of a factor, by products alone: XLA rounds exp differently in loops of different
    lengths, and then a lane's last bits would depend on how many lanes and devices there are.
    """
    for bit in range(32):
        start = start * jnp.where((count >> bit) & 1 == 1, factors[bit], np.float32(1))
    return start


def horizon_of(trace_decay: float, cut: float) -> int:
    """Length of the eligibility list: 1 + floor(ln cut / ln lambda), and 1 for lambda = 0."""
    return 1 if trace_decay == 0 else 1 + int(np.floor(np.log(cut) / np.log(trace_decay)))
