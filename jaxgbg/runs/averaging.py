"""The mean of an agent's weights over a part of its training, taken between two chunks.

Source: Polyak & Juditsky 1992, "Acceleration of stochastic approximation by averaging"; of the last
part alone: Rakhlin, Shamir & Sridharan 2012 (suffix averaging).
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.specs import Spec, setting
from jaxgbg.types import Params
from jaxgbg.values import ValueFunction

if TYPE_CHECKING:
    from jax.sharding import NamedSharding

NEVER = np.uint32(2**32 - 1)
"""No budget has so many episodes."""
_STARTS = {"tail": 2 / 3, "exponential": 0.0}
"""From which share of the budget on weights are averaged where nothing is said."""


@dataclasses.dataclass(frozen=True)
class Averaging(Spec):
    """Which mean of the weights becomes a second agent, in addition to the last weights.

    Samples are spread evenly over the rest of the budget; the last one is at its end. A sample is
    taken after the first block of ticks in which the required number of episodes is finished.

    Attributes:
      rule: Also keep an agent with averaged weights: tail weighs all samples equally, exponential
        gives late ones more weight.
      start: Share of the budget after which samples are taken; 2/3 for tail and 0 for exponential
        if not given.
      samples: Number of samples of the weights in the mean.
      decay: exponential: weight of a sample relative to the next one.
    """

    rule: str = setting("none", choices=("none", *_STARTS), short="averaging")
    start: float | None = setting(None, low=0, below=1, short="averaging_from")
    samples: int = setting(100, low=1, high=100_000, short="averaging_samples")
    decay: float = setting(0.9, low=0, below=1, short="averaging_decay")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.changed():
            rules = {"decay": ("exponential",), "rule": ("none", *_STARTS)}.get(name, (*_STARTS,))
            if self.rule not in rules:
                short = self.__dataclass_fields__[name].metadata["short"]
                raise ValueError(
                    f"{short} is for averaging {' or '.join(rules)}: choose that, or leave it out"
                )

    @property
    def on(self) -> bool:
        """Whether there is a mean at all."""
        return self.rule != "none"

    def points(self, episodes: int) -> np.ndarray:
        """uint32[K]: after how many of so many `episodes` samples are taken, ascending."""
        if not self.on:
            return np.zeros(0, np.uint32)
        start = round(episodes * (_STARTS[self.rule] if self.start is None else self.start))
        steps = np.arange(1, self.samples + 1, dtype=np.int64)
        # Rounded up: a sample of the very start is none of the training.
        points = start - (start - episodes) * steps // self.samples
        return np.unique(points).astype(np.uint32)

    def rates(self, count: np.ndarray) -> np.ndarray:
        """float32[...]: by how much the n-th sample, n = `count`, moves the mean towards itself.

        1 / n for tail; (1 - d) / (1 - d**n) for exponential, so that no start of zeros is left in.
        """
        n = np.maximum(count, 1).astype(np.float64)
        if self.rule == "tail":
            return (1 / n).astype(np.float32)
        return ((1 - self.decay) / (1 - self.decay**n)).astype(np.float32)


class Mean(NamedTuple):
    """`params` [L, ...]: what a player needs of each lane, averaged; `samples` uint32[L] so far."""

    params: Params
    samples: np.ndarray


def begin_mean(value: ValueFunction, params: Params, sharding: NamedSharding) -> Mean:
    """The mean of no samples, for the parameters [L, ...] of all lanes."""
    shapes = jax.eval_shape(value.for_player, params)
    make = jax.jit(
        lambda: jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes),
        out_shardings=sharding,
    )
    return Mean(make(), np.zeros(jax.tree.leaves(shapes)[0].shape[0], np.uint32))


def add_sample(
    value: ValueFunction, mean: Mean, params: Params, due: np.ndarray, averaging: Averaging
) -> Mean:
    """The mean with one more sample of the lanes that are `due` bool[L]; the old one is used up."""
    count = mean.samples + due.astype(np.uint32)
    rates = np.where(due, averaging.rates(count), np.float32(0))
    return Mean(move_towards(value, mean.params, params, rates), count)


@partial(jit, static_argnums=0, donate_argnums=1)
def move_towards(value: ValueFunction, mean: Params, params: Params, rates: jax.Array) -> Params:
    """`mean` moved towards what a player needs of `params` by `rates` float32[L], in place."""

    def moved(old: jax.Array, new: jax.Array) -> jax.Array:
        rate = rates.reshape(-1, *[1] * (new.ndim - 1))
        # Numbers that no training moves, such as the cells of n-tuples, are no weights.
        step = rate * (new - old) if jnp.issubdtype(new.dtype, jnp.floating) else new - old
        return jnp.where(rate > 0, old + step, old)

    return jax.tree.map(moved, mean, value.for_player(params))
