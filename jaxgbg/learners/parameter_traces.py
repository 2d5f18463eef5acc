"""Eligibility over the parameters: each player of each game remembers a decaying gradient.

One trace may also be shared by all players of a game, as the words of D'Ambra's Algorithm 1 allow;
values are those of each player's own side, so that it then moves one player's by another's error.
e <- gamma * lambda * e + gradient of V at the state that is updated, theta <- theta + alpha * delta
* e; e is 0 at the start of an episode. It is as large as the network for every player of every
game, so it is for networks and few games.
Source: D'Ambra, "Reinforcement learning techniques in board games", Algorithm 1; Sutton 1988.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.learners.traces import Push
from jaxgbg.values.core import HasGradients


class ParameterTraces(NamedTuple):
    """`gradient` a tree like the network's, leaves [B, T, ...]; `fresh` bool[B, T]: counts as 0.

    T traces a game: one for each player, or 1.
    """

    gradient: Any
    fresh: jax.Array

    def emptied(self, chosen: jax.Array) -> "ParameterTraces":
        """The gradients of games `chosen` bool[B] count as 0."""
        return self._replace(fresh=self.fresh | chosen[:, None])


def no_parameter_traces(
    value: HasGradients, params: Any, batch: int, traces: int
) -> ParameterTraces:
    """So many traces for each of B games before their first episode."""
    gradient = jax.tree.map(
        lambda leaf: jnp.zeros((batch, traces, *leaf.shape), leaf.dtype),
        value.zero_gradient(params),
    )
    return ParameterTraces(gradient, jnp.ones((batch, traces), bool))


def push_gradient(
    params: Any,
    traces: ParameterTraces,
    push: Push,
    decay: jax.Array,
    value: HasGradients,
    alpha: jax.Array,
) -> tuple[Any, ParameterTraces]:
    """Let the new state's gradient join its player's trace, and step along it."""
    number = push.player.astype(jnp.int32) % traces.fresh.shape[1]
    place = (jnp.arange(number.size), number)
    kept = jnp.where(traces.fresh[place], 0.0, decay)
    error = jnp.where(push.live, push.error, 0.0)

    def joined(trace: jax.Array, new: jax.Array) -> tuple[jax.Array, jax.Array]:
        # Only one player's trace of each game is read and written: a scatter in place.
        old = trace.at[place].get(mode="promise_in_bounds")
        games = (-1, *[1] * (new.ndim - 1))
        moved = kept.reshape(games) * old + new
        written = jnp.where(push.live.reshape(games), moved, old)
        return trace.at[place].set(written, mode="promise_in_bounds"), jnp.tensordot(
            error, moved, axes=1
        )

    leaves, tree = jax.tree.flatten(traces.gradient)
    new = jax.tree.leaves(value.gradients(params, push.features, push.player))
    pairs = [joined(trace, leaf) for trace, leaf in zip(leaves, new, strict=True)]
    gradient, uphill = (jax.tree.unflatten(tree, part) for part in zip(*pairs, strict=True))
    theirs = (np.arange(traces.fresh.shape[1]) == number[:, None]) & push.live[:, None]
    params = value.step(params, uphill, push.live, alpha)
    return params, ParameterTraces(gradient, traces.fresh & ~theirs)
