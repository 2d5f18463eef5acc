"""Chance nodes: every outcome of chance after a move has its own node in the tree.

A hash table for each tree finds the node by its parent, the action and the whole state after
chance. So the outcomes need not be listed, and there may be any number of them.

The alternative is an open loop: one node for all outcomes of a move (Perez et al. 2015, "Open Loop
Search for General Video Game Playing"). It is simpler, but its moves cannot depend on the roll. If
a roll decides who moves next, as in Pig, its means mix the goals of both players. With a node for
each state, every action of a state is a separate bandit. In this setting Kocsis & Szepesvari (2006)
proved that UCT converges to the best action. Van Lishout, Chaslot
& Uiterwijk (2007) search Backgammon in this way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxgbg.games.identity import hash_pair
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import State
from jaxgbg.values.indices import look_up

# A full tree has 2 nodes in a bucket of 8 at most on average: 1 node in 4,000 finds no slot.
_SLOTS = 8
_NODES_PER_BUCKET = 2


class Outcomes(NamedTuple):
    """Hash tables of B trees with R buckets each, and the range of the gains in B searches.

    Attributes:
      keys: uint32[R * B, S] bucket r of tree b is row r * B + b.
      nodes: int32[R * B, S] the node of each key; 0 where the slot is empty.
      low: float32[B] the lowest gain that a search has found so far.
      high: float32[B] the highest one.
    """

    keys: jax.Array
    nodes: jax.Array
    low: jax.Array
    high: jax.Array


class Entry(NamedTuple):
    """Places of B outcomes in their tables, old or new: row int32, slot int32, key uint32."""

    row: jax.Array
    slot: jax.Array
    key: jax.Array


def no_outcomes(batch: int, capacity: int) -> Outcomes:
    """Empty tables for `batch` trees of `capacity` nodes."""
    shape = (num_buckets(capacity) * batch, _SLOTS)
    zeros = jnp.zeros(batch)
    return Outcomes(jnp.zeros(shape, jnp.uint32), jnp.zeros(shape, jnp.int32), zeros, zeros)


def num_buckets(capacity: int) -> int:
    """R: a power of two."""
    return 1 << (-(-capacity // _NODES_PER_BUCKET) - 1).bit_length()


def table_bytes(capacity: int) -> int:
    """Size of the table of one tree of `capacity` nodes."""
    return 8 * _SLOTS * num_buckets(capacity)


def no_entry(batch: int) -> Entry:
    zeros = jnp.zeros(batch, jnp.int32)
    return Entry(zeros, zeros, zeros.astype(jnp.uint32))


def find(
    outcomes: Outcomes, node: jax.Array, action: jax.Array, states: State
) -> tuple[jax.Array, Entry, jax.Array]:
    """(node int32[B] of `states` after `action` of `node`, 0 if new; its entry; room bool[B]).

    Without room a new state cannot be added, because its bucket is full.
    """
    batch = len(node)
    place, key = hash_pair((node, action, states))
    buckets = outcomes.keys.shape[0] // batch
    row = (place & np.uint32(buckets - 1)).astype(jnp.int32) * batch + jnp.arange(batch)
    keys, nodes = look_up(outcomes.keys, row), look_up(outcomes.nodes, row)
    child = jnp.where(keys == key[:, None], nodes, 0).max(1)
    empty = nodes == 0
    entry = Entry(row, empty.argmax(1).astype(jnp.int32), key)
    return child, entry, empty.any(1)


def learn_outcomes(
    outcomes: Outcomes, entry: Entry, made: jax.Array, node: jax.Array, gains: jax.Array
) -> Outcomes:
    """The tables with `node` int32[] at `entry` where it was `made` bool[B].

    The range is extended by `gains` float32[B, N] of all players.
    """
    # An empty slot holds 0, so adding is setting.
    place = (entry.row, entry.slot)
    keys = outcomes.keys.at[place].add(jnp.where(made, entry.key, 0), mode="promise_in_bounds")
    nodes = outcomes.nodes.at[place].add(jnp.where(made, node, 0), mode="promise_in_bounds")
    low, high = gains.min(1), gains.max(1)
    # The first node is made by the first iteration; the range starts there.
    seen = node > 1
    low = jnp.where(seen, jnp.minimum(low, outcomes.low), low)
    high = jnp.where(seen, jnp.maximum(high, outcomes.high), high)
    return Outcomes(keys, nodes, low, high)


def to_unit_range(outcomes: Outcomes, totals: jax.Array, visits: jax.Array) -> jax.Array:
    """`totals` float32[B, A] of `visits` float32[B, A], each gain mapped from the range to [0, 1].

    So the means of a search have the scale that UCT expects, for any rewards (as in MuZero,
    Schrittwieser et al. 2020). Gains that are all equal are mapped to 0.
    """
    width = outcomes.high - outcomes.low
    scale = jnp.where(width > 0, 1 / jnp.where(width > 0, width, 1), 0)
    return (totals - outcomes.low[:, None] * visits) * scale[:, None]
