"""Search the positions of a batch in chunks, so that trees of few of them are in memory at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.masks import most_of_lanes
from jaxgbg.types import PyTree, State

SearchChunk: TypeAlias = "Callable[[State, jax.Array, jax.Array, PyTree], tuple[PyTree, PyTree]]"


def map_in_chunks(
    states: State, size: int, nothing: PyTree, search: SearchChunk, carried: PyTree = ()
) -> tuple[PyTree, PyTree]:
    """Return what `search` finds for each of states[B], and `nothing` for terminal ones.

    `search(roots[size], lanes int32[size], place int32[size], carried) -> (found, carried)` gets
    `size` states at a time: `lanes` are their numbers in the batch, `place` the same, but B for
    states that only fill the last chunk. Returns (found [B], carried).
    """
    batch = states.terminal.shape[0]
    order = jnp.argsort(states.terminal)
    live = (~states.terminal).sum()
    most = most_of_lanes(live)

    def chunk(carry: tuple[jax.Array, PyTree, PyTree]) -> tuple[jax.Array, PyTree, PyTree]:
        first, found, carried = carry
        number = first + jnp.arange(size)
        lanes = order[jnp.minimum(number, batch - 1)]
        roots = jax.tree.map(lambda leaf: leaf[lanes], states)
        roots = roots._replace(terminal=roots.terminal | (number >= live))
        place = jnp.where(number < live, lanes, batch)
        new, carried = search(roots, lanes, place, carried)
        found = jax.tree.map(lambda all_, new: all_.at[place].set(new, mode="drop"), found, new)
        return first + size, found, carried

    start = (jnp.int32(0), nothing, carried)
    return jax.lax.while_loop(lambda carry: carry[0] < most, chunk, start)[1:]
