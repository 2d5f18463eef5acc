"""Eligibility over the parameters: each player of each game remembers a decaying gradient.

One trace may also be shared by all players of a game, as the words of D'Ambra's Algorithm 1 allow;
values are those of each player's own side, so that it then moves one player's by another's error.
e <- gamma * lambda * e + gradient of V at the state that is updated, theta <- theta + alpha * delta
* e; e is 0 at the start of an episode. It is as large as the network for every player of every
game, so it is for networks and few games.
Source: D'Ambra, "Reinforcement learning techniques in board games", Algorithm 1; Sutton 1988.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.learners.traces import Push
from jaxgbg.types import Gradients, Params
from jaxgbg.values.core import HasGradients
from jaxgbg.xla import order_after


class ParameterTraces(NamedTuple):
    """`gradient` a tree like the network's, leaves [B, T, ...]; `fresh` bool[B, T]: counts as 0.

    T traces a game: one for each player, or 1.
    """

    gradient: Gradients
    fresh: jax.Array

    def emptied(self, chosen: jax.Array) -> "ParameterTraces":
        """The gradients of games `chosen` bool[B] count as 0."""
        return self._replace(fresh=self.fresh | chosen[:, None])


def no_parameter_traces(
    value: HasGradients, params: Params, batch: int, traces: int
) -> ParameterTraces:
    """So many traces for each of B games before their first episode."""
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
    """Let the new state's gradient join its player's trace, and step along it."""
    number = push.player.astype(jnp.int32) % traces.fresh.shape[1]
    place = (jnp.arange(number.size), number)
    leaves, tree = jax.tree.flatten(traces.gradient)
    new = jax.tree.leaves(value.gradients(params, push.features, push.player))
    kept = jnp.where(traces.fresh[place], 0.0, decay)
    # Told in this order XLA writes weights and traces in place: all that asks for the old weights
    # comes before the new ones, and what asks for the old traces before the new traces. (Where one
    # trace is shared by all it makes a new one each time, as that is the whole array.)
    error = order_after(jnp.where(push.live, push.error, 0.0), *new)

    def moved(trace: jax.Array, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The players' traces, before and with the new gradient: worked out twice, never kept."""
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
