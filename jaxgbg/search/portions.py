"""Searches of a batch, some of them at a time."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxgbg.learners.selection import most_of_lanes
from jaxgbg.types import PyTree, State

Some = Callable[[State, jax.Array, jax.Array, PyTree], tuple[PyTree, PyTree]]


def in_portions(
    states: State, size: int, nothing: PyTree, some: Some, carried: PyTree = ()
) -> tuple[PyTree, PyTree]:
    """What `some` finds for states[B] that are not over, `size` of them at a time; else `nothing`.

    `some(roots[size], lanes int32[size], place int32[size], carried) -> (found, carried)`: `lanes`
    are their numbers in the batch, `place` the same, but B for those that are there to fill up.
    Returns (found [B], carried).
    """
    batch = states.terminal.shape[0]
    order = jnp.argsort(states.terminal)
    live = (~states.terminal).sum()
    most = most_of_lanes(live)

    def portion(carry: tuple[jax.Array, PyTree, PyTree]) -> tuple[jax.Array, PyTree, PyTree]:
        first, found, carried = carry
        number = first + jnp.arange(size)
        lanes = order[jnp.minimum(number, batch - 1)]
        roots = jax.tree.map(lambda leaf: leaf[lanes], states)
        roots = roots._replace(terminal=roots.terminal | (number >= live))
        place = jnp.where(number < live, lanes, batch)
        new, carried = some(roots, lanes, place, carried)
        found = jax.tree.map(lambda all_, new: all_.at[place].set(new, mode="drop"), found, new)
        return first + size, found, carried

    start = (jnp.int32(0), nothing, carried)
    return jax.lax.while_loop(lambda carry: carry[0] < most, portion, start)[1:]
