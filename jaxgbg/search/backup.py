"""Backup: the results of a step of a search go up the tree."""

from __future__ import annotations

from functools import partial

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.masks import most_of_lanes
from jaxgbg.search.tree import Leaves, TreePolicy

_OF_THE_WAY = ("rows", "actions", "players", "paid", "slots")


def first_of_each(search: TreePolicy, leaves: Leaves) -> Leaves:
    """Leaves in which only the first of several descents has made the same new child.

    The others have evaluated it again, each with its own draw of chance.
    """
    if search.leaves == 1:
        return leaves
    last = jnp.maximum(leaves.depth - 1, 0)[None]
    way = [leaves.made, *(jnp.take_along_axis(a, last, 0)[0] for a in (leaves.rows, leaves.slots))]
    same = leaves.made.reshape(search.leaves, -1) >= 0
    same = same & np.tri(search.leaves, k=-1, dtype=bool)[..., None]
    for each in way:
        by_turn = each.reshape(search.leaves, -1)
        same &= by_turn == by_turn[:, None]
    return leaves._replace(made=jnp.where(same.any(1).reshape(-1), -1, leaves.made))


def learn_edges(
    search: TreePolicy, edges: jax.Array, leaves: Leaves, gains: jax.Array, node: jax.Array
) -> jax.Array:
    """The edges after a step whose first new node is `node`, with the proofs of its leaves."""
    batch = len(gains) // search.leaves

    def learn(edges: jax.Array, leaves: Leaves, gains: jax.Array, node: jax.Array) -> jax.Array:
        edges = _back_up(search, edges, leaves, gains, node)
        return edges if search.solver is None else search.solver.prove(edges, leaves)

    def learn_of(turn: jax.Array, edges: jax.Array) -> jax.Array:
        take = partial(jax.lax.dynamic_slice_in_dim, start_index=turn * batch, slice_size=batch)
        ways = {name: take(getattr(leaves, name), axis=1) for name in _OF_THE_WAY}
        ends = {name: take(getattr(leaves, name)) for name in ("depth", "made")}
        states = jax.tree.map(take, leaves.states)
        own = Leaves(states=states, entry=None, **ends, **ways)
        return learn(edges, own, take(gains), node + turn)

    if search.leaves == 1:
        return learn(edges, leaves, gains, node)
    return jax.lax.fori_loop(0, search.leaves, learn_of, edges)


def _back_up(
    search: TreePolicy, edges: jax.Array, leaves: Leaves, gains: jax.Array, node: jax.Array
) -> jax.Array:
    """Add gains float32[B, N] to the edges of every descent; a new edge leads to `node`."""
    slots, rest = np.arange(search.width), jnp.zeros((len(gains), search.lines))

    def step(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        ply, edges = carry
        passed = ply < leaves.depth
        gain = (
            jnp.take_along_axis(gains, leaves.players[ply][:, None], 1) - leaves.paid[ply, :, None]
        )
        new = (leaves.made >= 0) & (ply + 1 == leaves.depth)
        there = new[:, None] & (leaves.slots[ply, :, None] == slots)
        parts = [jnp.ones_like(gain), gain, jnp.where(there, node, 0), rest]
        # The rows of shorter descents do not change.
        change = jnp.where(passed[:, None], jnp.concatenate(parts, 1), 0.0)
        place = edges.at[leaves.rows[ply], :, leaves.actions[ply]]
        edges = place.add(change, mode="promise_in_bounds", unique_indices=True)
        return ply + 1, edges

    deepest = most_of_lanes(leaves.depth.max())
    return jax.lax.while_loop(lambda carry: carry[0] < deepest, step, (jnp.int32(0), edges))[1]
