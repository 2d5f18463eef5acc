"""Eligibility: how the error of one update also reaches the player's states before it.

An update of player p with error d changes the state that was p's last afterstate k own updates
ago by lambda**k * g' * d, for k = 0 .. horizon - 1; g' is the slope that state had when it was
pushed; with a discount gamma below 1, lambda stands for gamma * lambda. The list of a player goes
on from episode to episode.

Two ways, which give every state the same errors and the TCL counters the same sums:
- immediate: each update walks the list, newest first;
- delayed: a state gathers the errors that reach it and is updated once, when it leaves the list.
  That is `horizon` times less work in the tables, and the weights lag by `horizon` own moves.
Source: Konen & Bagheri 2021, appendix A.3 (eligibility with a horizon, Jaskowski 2018).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.types import Params
from jaxgbg.values.core import Updates


class Push(NamedTuple):
    """One update a game: whose list, and the state that goes on it; leading axis B everywhere.

    `features` int32[B, F], `player` int8[B], `error` float32[B] = target - V, `slope` float32[B],
    `live` bool[B]; error and slope are 0 where not live.
    """

    features: jax.Array
    player: jax.Array
    error: jax.Array
    slope: jax.Array
    live: jax.Array


class Traces(NamedTuple):
    """What B games remember for each of N players of H = horizon - 1 states.

    `features` int32[B, N, H, F]; `slope` float32[B, N, H], 0 where there is no state. Immediate:
    newest first, and the other arrays are empty. Delayed: a ring whose `oldest` int8[B, N] is next
    to leave; `decay` float32[B, N, H] is the share of the next error that a state takes, `change`
    and `size` what it has gathered, and the sum of the absolute values of that.
    """

    features: jax.Array
    slope: jax.Array
    decay: jax.Array
    change: jax.Array
    size: jax.Array
    oldest: jax.Array

    def emptied(self, chosen: jax.Array) -> "Traces":
        """Lists of games `chosen` bool[B] take no more errors; what they gathered still counts."""
        closed = chosen[:, None, None]
        if self.decay.shape[2]:
            return self._replace(decay=jnp.where(closed, 0.0, self.decay))
        return self._replace(slope=jnp.where(closed, 0.0, self.slope))


Update = Callable[[Params, Updates], Params]
"""(params, updates) -> the parameters after them."""


def no_traces(batch: int, players: int, length: int, features: int, delayed: bool) -> Traces:
    """Empty lists of `length` states."""
    shape = (batch, players, length)
    gathered = shape if delayed else (batch, players, 0)
    return Traces(
        features=jnp.zeros((*shape, features), jnp.int32),
        slope=jnp.zeros(shape, jnp.float32),
        decay=jnp.zeros(gathered, jnp.float32),
        change=jnp.zeros(gathered, jnp.float32),
        size=jnp.zeros(gathered, jnp.float32),
        oldest=jnp.zeros((batch, players), jnp.int8),
    )


def push_immediate(
    params: Params,
    traces: Traces,
    push: Push,
    trace_decay: jax.Array,
    update: Update,
    one_by_one: bool,
) -> tuple[Params, Traces]:
    """Update the new state and all that the list holds: (parameters, traces).

    `one_by_one` each update sees what the one before has left, as in the serial algorithm for
    n-tuples. Otherwise they are joined like all updates of a tick.
    """
    features = jnp.concatenate([push.features[:, None], at(traces.features, push.player)], 1)
    slope = jnp.concatenate([push.slope[:, None], at(traces.slope, push.player)], 1)
    batch, length = slope.shape
    decay = trace_decay ** np.arange(length, dtype=np.float32)
    change = push.error[:, None] * decay * slope
    live = push.live[:, None] & ((slope > 0) | (np.arange(length) == 0))
    player = jnp.broadcast_to(push.player[:, None], slope.shape)
    updates = Updates(features, player, change, jnp.abs(change), live)
    if one_by_one:
        for k in range(length):
            params = update(params, jax.tree.map(lambda part, k=k: part[:, k], updates))
    else:
        joined = (batch * length,)
        params = update(
            params, jax.tree.map(lambda part: part.reshape(*joined, *part.shape[2:]), updates)
        )
    pushed, pushed_slope = features[:, :-1], slope[:, :-1]
    theirs = _theirs(traces, push)
    return params, traces._replace(
        features=jnp.where(theirs[..., None, None], pushed[:, None], traces.features),
        slope=jnp.where(theirs[..., None], pushed_slope[:, None], traces.slope),
    )


def push_delayed(
    params: Params, traces: Traces, push: Push, trace_decay: jax.Array, update: Update
) -> tuple[Params, Traces]:
    """Let every state of the list gather its share; update the one that the new state displaces."""
    game = jnp.arange(push.player.shape[0])
    oldest = at(traces.oldest, push.player)
    length = traces.slope.shape[2]
    leaving = (oldest[:, None] == np.arange(length)) & push.live[:, None]
    slope, decay = at(traces.slope, push.player), at(traces.decay, push.player)
    gain = push.error[:, None] * decay * slope
    change = at(traces.change, push.player) + gain
    size = at(traces.size, push.player) + jnp.abs(gain)

    place = (game, push.player.astype(jnp.int32), oldest.astype(jnp.int32))
    features = traces.features.at[place].get(mode="promise_in_bounds")
    last_slope = jnp.where(leaving, slope, 0).sum(1)
    updates = Updates(
        features,
        push.player,
        jnp.where(leaving, change, 0).sum(1),
        jnp.where(leaving, size, 0).sum(1),
        push.live & (last_slope > 0),
    )
    params = update(params, updates)
    # The write depends on the read, or XLA would copy the whole list to keep the old one.
    written = jnp.where(push.live[:, None] & (features >= 0), push.features, features)

    def replaced(new: jax.Array, kept: jax.Array, old: jax.Array) -> jax.Array:
        mine = jnp.where(leaving, new[:, None], kept)
        return jnp.where(_theirs(traces, push)[..., None], mine[:, None], old)

    first = push.error * push.slope
    following = jnp.where(oldest == length - 1, 0, oldest + 1).astype(jnp.int8)
    return params, Traces(
        features=traces.features.at[place].set(written, mode="promise_in_bounds"),
        slope=replaced(push.slope, slope, traces.slope),
        decay=replaced(jnp.full_like(push.error, trace_decay), decay * trace_decay, traces.decay),
        change=replaced(first, change, traces.change),
        size=replaced(jnp.abs(first), size, traces.size),
        oldest=jnp.where(_theirs(traces, push), following[:, None], traces.oldest),
    )


def _theirs(traces: Traces, push: Push) -> jax.Array:
    """bool[B, N]: whose list it is."""
    players = np.arange(traces.slope.shape[1])
    return (players == push.player[:, None]) & push.live[:, None]


def at(array: jax.Array, player: jax.Array) -> jax.Array:
    """`array` [B, N, ...] at each game's player int[B] -> [B, ...], by selection, not by gather."""
    chosen = array[:, 0]
    for n in range(1, array.shape[1]):
        mine = (player == n).reshape(-1, *([1] * (array.ndim - 2)))
        chosen = jnp.where(mine, array[:, n], chosen)
    return chosen
