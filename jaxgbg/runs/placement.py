"""Placement of lanes: which are trained at once, which in turn, and on which device."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.learners import Learner
from jaxgbg.search.devices import mesh_of
from jaxgbg.types import PyTree
from jaxgbg.values import HasGradients
from jaxgbg.xla import FEW, on_accelerator

GAMES_AT_ONCE = 64
"""The number of games that a CPU core plays at once, in one or more lanes.

More games are no faster, and the tables of few lanes stay in its caches: lane by lane, ConnectFour
and 2048 train 1.6 and 1.8 times as fast as with eight lanes at once.
"""

SERIAL_LANES_AT_ONCE = 8
"""The number of lanes with one game each, if kernel launches take most of a tick."""

BUSY = 100
"""The number of rows of a board from which one game keeps a core busy."""


def lanes_at_once(learner: Learner, lanes: int) -> int:
    """The number of `lanes` lanes that one device trains at once.

    On an accelerator, all of them. On a CPU, all lanes of networks, because the last bits of their
    matrix products depend on this number; but one by one with traces over their parameters, which
    every tick moves as a whole.
    """
    if on_accelerator():
        return lanes
    if learner.parameter_traces:
        return 1
    if isinstance(learner.value, HasGradients):
        return lanes
    if learner.batch > 1:
        return max(1, GAMES_AT_ONCE // learner.batch)
    # With few rows the program of one lane is one kernel.
    waits = FEW < learner.value.num_features < BUSY
    return SERIAL_LANES_AT_ONCE if waits else 1


def lane_mesh(num_lanes: int) -> Mesh:
    """The devices that share `num_lanes` lanes."""
    return mesh_of(num_lanes, "lanes")


class LanePlacement:
    """Place `lanes` lanes on the devices, as evenly as possible.

    Each device trains `at_once` of its lanes together (fewer if that does not divide them), then
    the next ones: in groups of one shape, [S, ...] for S lanes on all devices. If there are too few
    lanes for the last device, copies of the first lane, which never start an episode, fill up.
    """

    def __init__(self, lanes: int, at_once: int, mesh: Mesh | None = None) -> None:
        self.lanes = lanes
        self.mesh = mesh or lane_mesh(lanes)
        each = -(-lanes // self.mesh.size)
        self.at_once = max(few for few in range(1, min(at_once, each) + 1) if each % few == 0)
        self.size = self.at_once * self.mesh.size
        """S: the lanes of a group."""
        every = np.arange(each * self.mesh.size).reshape(self.mesh.size, -1, self.at_once)
        self._numbers = every.swapaxes(0, 1).reshape(-1, self.size)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self._numbers)

    @property
    def sharding(self) -> NamedSharding:
        """The sharding of arrays with a leading axis over the lanes of a group, or over all."""
        return NamedSharding(self.mesh, PartitionSpec("lanes"))

    def live(self, group: int) -> np.ndarray:
        """bool[S]: the places of lanes, not of copies."""
        return self._numbers[group] < self.lanes

    def members(self, group: int) -> np.ndarray:
        """int[S]: the lane in each place of a group, 0 for a copy."""
        return np.where(self.live(group), self._numbers[group], 0)

    def by_lane(self, groups: Sequence[PyTree]) -> np.ndarray:
        """An entry of each lane, [L, ...], from those of all groups, arrays [S, ...]."""
        entries = np.concatenate([np.asarray(each) for each in groups])
        return entries[np.argsort(self._numbers, axis=None)[: self.lanes]]

    def lane_of(self, groups: Sequence[PyTree], lane: int) -> PyTree:
        """The part of one lane, on the host, of what the groups have: trees of arrays [S, ...]."""
        group, place = (int(one) for one in np.argwhere(self._numbers == lane)[0])
        device, own = divmod(place, self.at_once)

        def part(leaf: jax.Array) -> np.ndarray:
            if isinstance(leaf, jax.Array):
                # One device only: nothing is gathered, and on the CPU nothing is copied.
                return np.asarray(leaf.addressable_shards[device].data)[own]
            return np.asarray(leaf)[place]

        return jax.tree.map(part, groups[group])

    def joined(self, groups: Sequence[PyTree]) -> PyTree:
        """Join the groups, trees of arrays [S, ...], into one: all lanes, copies last."""
        return groups[0] if len(groups) == 1 else _join_program(self.mesh, len(groups))(*groups)


@lru_cache(maxsize=8)
def _join_program(mesh: Mesh, groups: int) -> Callable[..., PyTree]:
    """The compiled program: each device joins its own parts."""
    one = PartitionSpec("lanes")
    concatenated = jax.shard_map(
        lambda *trees: jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees),
        mesh=mesh,
        in_specs=(one,) * groups,
        out_specs=one,
        check_vma=False,
    )
    return jax.jit(concatenated, out_shardings=NamedSharding(mesh, one))
