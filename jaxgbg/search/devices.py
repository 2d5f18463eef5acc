"""Searches shared by the devices of this machine, started and collected by the host."""

from collections.abc import Callable, Hashable
from functools import lru_cache, partial

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, PartitionSpec
from jax.typing import ArrayLike

from jaxgbg.types import PyTree, State

_ONE, _EVERY = PartitionSpec("searches"), PartitionSpec()

# As `simulation.simulate`: (search, parameters, roots[B], lanes uint32[B], iterations, key).
Simulate = Callable[..., PyTree]


def mesh_of(most: int, axis: str = "searches") -> Mesh:
    """A mesh of at most `most` devices for an axis of searches, or of other things."""
    devices = jax.devices()[: max(1, most)]
    return jax.make_mesh((len(devices),), (axis,), (AxisType.Auto,), devices=devices)


def on_devices(
    simulate: Simulate,
    search: Hashable,
    given: PyTree,
    states: State,
    nothing: PyTree,
    sizes: Callable[[int], int],
    iterations: ArrayLike,
    key: jax.Array,
    mesh: Mesh,
) -> PyTree:
    """The results of `simulate` for states[B], and `nothing` for terminal ones, as host arrays.

    `sizes` gives the number of lanes for the remaining searches: few different numbers, because
    each is compiled, and multiples of the devices. A search depends on the key and its place in the
    batch, not on the other states.
    """
    states = jax.tree.map(np.asarray, states)
    live = np.flatnonzero(~states.terminal)
    found = jax.tree.map(np.array, nothing)
    program = _compile(simulate, search, mesh)
    while len(live):
        size = sizes(len(live))
        some, live = live[:size], live[size:]
        lanes = np.resize(some, size).astype(np.uint32)
        roots = jax.tree.map(lambda leaf, lanes=lanes: leaf[lanes], states)
        # Lanes beyond the last search are terminal, so they do nothing.
        roots = roots._replace(terminal=roots.terminal | (np.arange(size) >= len(some)))
        new = jax.device_get(program(given, roots, lanes, iterations, key))
        for all_, part in zip(jax.tree.leaves(found), jax.tree.leaves(new), strict=True):
            all_[some] = part[: len(some)]
    return found


@lru_cache(maxsize=64)
def _compile(simulate: Simulate, search: Hashable, mesh: Mesh) -> Callable[..., PyTree]:
    """The compiled search: (given, roots[B], lanes uint32[B], iterations, key) -> statistics."""
    sharded = jax.shard_map(
        partial(simulate, search),
        mesh=mesh,
        in_specs=(_EVERY, _ONE, _ONE, _EVERY, _EVERY),
        out_specs=_ONE,
        check_vma=False,
    )
    return jax.jit(sharded)
