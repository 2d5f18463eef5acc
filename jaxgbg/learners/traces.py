"""Eligibility: how the error of one update also reaches the player's states before it.

An update of player p with error d changes the state that was p's last afterstate k own updates
ago by lambda**k * g' * d, for k = 0 .. horizon - 1. g' is the slope of that state when it was
pushed. With a discount gamma below 1, gamma * lambda replaces lambda. The list of a player
continues from episode to episode.

Both kinds give every state the same errors and the TCL counters the same sums:
- immediate: each update goes through the list, newest state first;
- delayed: a state accumulates its errors and is updated once, when it leaves the list. That is
  `horizon` times less work in the tables, and the weights lag by `horizon` own moves.
Source: Konen & Bagheri 2021, appendix A.3 (eligibility with a horizon, Jaskowski 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import of_player
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import Params
from jaxgbg.values.core import Updates


class Push(NamedTuple):
    """One update for each game: the player, and the state to push; leading axis B everywhere.

    `features` int32[B, F], `player` int8[B], `error` float32[B] = target - V, `slope` float32[B],
    `live` bool[B]; error and slope are 0 where not live.
    """

    features: jax.Array
    player: jax.Array
    error: jax.Array
    slope: jax.Array
    live: jax.Array


class Traces(NamedTuple):
    """The lists of B games: for each of N players its last H = horizon - 1 states.

    `features` int32[B, N, H, F]; `slope` float32[B, N, H], 0 where there is no state. Immediate:
    newest first, and the other arrays are empty. Delayed: a ring buffer, where `oldest` int8[B, N]
    leaves next; `decay` float32[B, N, H] is a state's share of the next error, `change` the sum of
    its errors so far, and `size` the sum of their absolute values.
    """

    features: jax.Array
    slope: jax.Array
    decay: jax.Array
    change: jax.Array
    size: jax.Array
    oldest: jax.Array

    def emptied(self, chosen: jax.Array) -> Traces:
        """Close the lists of games `chosen` bool[B]; accumulated errors still count."""
        closed = chosen[:, None, None]
        if self.decay.shape[2]:
            return self._replace(decay=jnp.where(closed, 0.0, self.decay))
        return self._replace(slope=jnp.where(closed, 0.0, self.slope))


Update = Callable[[Params, Updates], Params]
"""(params, updates) -> the parameters after them."""


def no_traces(batch: int, players: int, length: int, features: int, delayed: bool) -> Traces:
    """Return empty lists of `length` states."""
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
    """Update the new state and all states on the list: (parameters, traces).

    If `one_by_one`, each update reads the weights after the previous one, as in the serial
    algorithm for n-tuples. Otherwise they are combined like all updates of a tick.
    """
    lists = [_list_of(leaf, push.player) for leaf in (traces.features, traces.slope)]
    features = jnp.concatenate([push.features[:, None], lists[0]], 1)
    slope = jnp.concatenate([push.slope[:, None], lists[1]], 1)
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
    # The writes depend on the reads, or XLA would copy the lists to keep the old ones.
    pushed = jnp.where(push.live[:, None, None], features[:, :-1], lists[0])
    pushed_slope = jnp.where(push.live[:, None], slope[:, :-1], lists[1])
    return params, traces._replace(
        features=_with_list(traces.features, push.player, pushed),
        slope=_with_list(traces.slope, push.player, pushed_slope),
    )


def _list_of(array: jax.Array, player: jax.Array) -> jax.Array:
    """The part [B, ...] of player int8[B] in `array` [B, N, ...].

    Of many games by a gather, which reads less; of one by selection, with which a loop is one
    kernel.
    """
    if len(player) == 1:
        return of_player(array, player)
    place = jnp.arange(len(player)), player.astype(jnp.int32)
    return array.at[place].get(mode="promise_in_bounds")


def _with_list(array: jax.Array, player: jax.Array, new: jax.Array) -> jax.Array:
    """`array` [B, N, ...] with `new` [B, ...] as the part of player int8[B]."""
    if len(player) == 1:
        mine = np.arange(array.shape[1]) == player[:, None]
        return jnp.where(mine.reshape(*mine.shape, *[1] * (array.ndim - 2)), new[:, None], array)
    place = jnp.arange(len(player)), player.astype(jnp.int32)
    return array.at[place].set(new, mode="promise_in_bounds")


def push_delayed(
    params: Params, traces: Traces, push: Push, trace_decay: jax.Array, update: Update
) -> tuple[Params, Traces]:
    """Add each state's share to its sum; update the state that the new one replaces."""
    game = jnp.arange(push.player.shape[0])
    oldest = of_player(traces.oldest, push.player)
    length = traces.slope.shape[2]
    leaving = (oldest[:, None] == np.arange(length)) & push.live[:, None]
    slope, decay = of_player(traces.slope, push.player), of_player(traces.decay, push.player)
    gain = push.error[:, None] * decay * slope
    change = of_player(traces.change, push.player) + gain
    size = of_player(traces.size, push.player) + jnp.abs(gain)

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
    """bool[B, N]: the player whose list is updated."""
    players = np.arange(traces.slope.shape[1])
    return (players == push.player[:, None]) & push.live[:, None]
