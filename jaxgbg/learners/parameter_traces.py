"""Eligibility over the parameters: each player of each game remembers a decaying gradient.

    e <- gamma * lambda * e + gradient of V at the updated state
    theta <- theta + alpha * delta * e

e is 0 at the start of an episode. All players of a game may also share one trace, as the text of
D'Ambra's Algorithm 1 allows. Values are from each player's own side, so a shared trace moves one
player's values by another's error. A trace is as large as the network, for every player of every
game, so this is for networks and few games.
Source: D'Ambra, "Reinforcement learning techniques in board games", Algorithm 1; Sutton 1988.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.traces import Push
from jaxgbg.types import Gradients, Params
from jaxgbg.values.core import HasGradients
from jaxgbg.xla import order_after


class ParameterTraces(NamedTuple):
    """`gradient` a tree like the network's, leaves [B, T, ...]; `fresh` bool[B, T]: counts as 0.

    Each game has T traces: one for each player, or 1.
    """

    gradient: Gradients
    fresh: jax.Array

    def emptied(self, chosen: jax.Array) -> ParameterTraces:
        """The gradients of games `chosen` bool[B] count as 0."""
        return self._replace(fresh=self.fresh | chosen[:, None])


def no_parameter_traces(
    value: HasGradients, params: Params, batch: int, traces: int
) -> ParameterTraces:
    """Return `traces` traces for each of B games before their first episode."""
    gradient = jax.tree.map(
        lambda leaf: jnp.zeros((batch, traces, *leaf.shape), leaf.dtype),
        value.zero_gradient(params),
    )
    return ParameterTraces(gradient, jnp.ones((batch, traces), bool))


def push_gradient(
    params: Params,
    traces: ParameterTraces,
    push: Push,
    decay: jax.Array,
    value: HasGradients,
    alpha: jax.Array,
) -> tuple[Params, ParameterTraces]:
    """Add the new state's gradient to its player's trace, and make a step along it."""
    number = push.player.astype(jnp.int32) % traces.fresh.shape[1]
    place = (jnp.arange(number.size), number)
    leaves, tree = jax.tree.flatten(traces.gradient)
    new = jax.tree.leaves(value.gradients(params, push.features, push.player))
    kept = jnp.where(traces.fresh[place], 0.0, decay)
    # In this order XLA writes weights and traces in place: everything that reads the old weights
    # comes before the new ones, and everything that reads the old traces before the new traces.
    # (A trace that all players share is the whole array, so XLA makes a new one each time.)
    error = order_after(jnp.where(push.live, push.error, 0.0), *new)

    def moved(trace: jax.Array, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The players' traces before and with the new gradient: computed twice, never stored."""
        old = trace.at[place].get(mode="promise_in_bounds")
        return old, _by_game(kept, old) * old + gradient

    pairs = list(zip(leaves, new, strict=True))
    uphill = [jnp.tensordot(error, moved(*pair)[1], axes=1) for pair in pairs]
    params = value.step(params, jax.tree.unflatten(tree, uphill), push.live, alpha)
    live = order_after(push.live.astype(jnp.int32), *jax.tree.leaves(params)) > 0

    def written(trace: jax.Array, gradient: jax.Array) -> jax.Array:
        # Only one player's trace of each game is read and written: a scatter in place.
        old, joined = moved(trace, gradient)
        joined = jnp.where(_by_game(live, old), joined, old)
        return trace.at[place].set(joined, mode="promise_in_bounds")

    gradient = jax.tree.unflatten(tree, [written(*pair) for pair in pairs])
    theirs = (np.arange(traces.fresh.shape[1]) == number[:, None]) & push.live[:, None]
    return params, ParameterTraces(gradient, traces.fresh & ~theirs)


def _by_game(numbers: jax.Array, leaf: jax.Array) -> jax.Array:
    """`numbers` [B], one for each game of a leaf [B, ...]."""
    return numbers.reshape(-1, *[1] * (leaf.ndim - 1))
