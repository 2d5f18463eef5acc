"""Where the lanes of a training are: which are trained at once, which in turn, on which device."""

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
"""How many games a CPU core plays at once, in as many lanes as that takes.

With more it is no faster, and the tables of few lanes stay in its caches: ConnectFour and 2048 are
trained 1.6 and 1.8 times as fast lane by lane as with eight lanes at once.
"""

SERIAL_LANES_AT_ONCE = 8
"""How many lanes of one game at a time, where going from kernel to kernel takes most of a tick."""

BUSY = 100
"""From how many rows a board one game keeps a core busy with them."""


def lanes_at_once(learner: Learner, lanes: int) -> int:
    """How many of so many lanes one device trains at once.

    All of them on an accelerator. So are networks, the last bits of whose products depend on it,
    but one by one with traces over their parameters, which are moved as a whole in every tick.
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

    Each device trains `at_once` of its lanes together, or fewer where that does not divide them,
    and then the next ones: in groups of one shape, [S, ...] for S lanes on all devices. Where there
    are too few lanes for the last device, copies of the first one that never start an episode
    take their places.
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
        """How many groups there are."""
        return len(self._numbers)

    @property
    def sharding(self) -> NamedSharding:
        """Of arrays with a leading axis over the lanes of a group, or of all of them."""
        return NamedSharding(self.mesh, PartitionSpec("lanes"))

    def live(self, group: int) -> np.ndarray:
        """bool[S]: the places that are taken by lanes, not by copies."""
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
                # Of one device alone: nothing is gathered, and on the CPU nothing is copied.
                return np.asarray(leaf.addressable_shards[device].data)[own]
            return np.asarray(leaf)[place]

        return jax.tree.map(part, groups[group])

    def joined(self, groups: Sequence[PyTree]) -> PyTree:
        """What the groups have, trees of arrays [S, ...], as one: all lanes, copies last."""
        return groups[0] if len(groups) == 1 else _join_program(self.mesh, len(groups))(*groups)


@lru_cache(maxsize=8)
def _join_program(mesh: Mesh, groups: int) -> Callable[..., PyTree]:
    """The program of it: each device puts together what is its own."""
    one = PartitionSpec("lanes")
    concatenated = jax.shard_map(
        lambda *trees: jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees),
        mesh=mesh,
        in_specs=(one,) * groups,
        out_specs=one,
        check_vma=False,
    )
    return jax.jit(concatenated, out_shardings=NamedSharding(mesh, one))
