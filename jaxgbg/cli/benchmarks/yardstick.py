"""What the machine gives right now: random look-ups in a table as large as the one that learns.

Training is bound by look-ups in tables far larger than a cache. How many a second the same cores
do without any training says what a rate of training is worth on this machine, however busy it is.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.jaxprs import Jaxpr, nested, unclosed
from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.runs.huge_pages import move_to_huge_pages

# Look-ups of one call on each device, of which every one is another row. On an accelerator it has
# to last long compared with the 50 microseconds that it takes to begin and to wait for it.
_LOOK_UPS, _OF_ACCELERATORS = 2**18, 2**24


class Yardstick:
    """Random look-ups in float32 tables of `rows` rows, one table on each device of `mesh`."""

    def __init__(self, rows: int, mesh: Mesh) -> None:
        lanes = PartitionSpec("lanes")
        self._devices = mesh.size
        on_cpu = mesh.devices.flat[0].platform == "cpu"
        count = self._look_ups = _LOOK_UPS if on_cpu else _OF_ACCELERATORS
        table = np.zeros((mesh.size, rows), np.float32)
        self._table = jax.device_put(table, NamedSharding(mesh, lanes))
        move_to_huge_pages(self._table)
        self._seeds = jax.device_put(
            np.arange(mesh.size, dtype=np.uint32), NamedSharding(mesh, lanes)
        )

        def look_up(table: jax.Array, seeds: jax.Array) -> tuple[jax.Array, jax.Array]:
            # The next indices come from the last ones: no call repeats another.
            place = jnp.arange(count, dtype=jnp.uint32) * np.uint32(0x9E3779B9) + seeds[0]
            mixed = (place ^ (place >> 15)) * np.uint32(0x85EBCA6B)
            index = ((mixed ^ (mixed >> 13)) % np.uint32(rows)).astype(jnp.int32)
            values = table[0].at[index].get(mode="promise_in_bounds")
            return values.sum()[None], seeds * np.uint32(1664525) + np.uint32(1013904223)

        self._run = jax.jit(
            jax.shard_map(
                look_up, mesh=mesh, in_specs=(lanes, lanes), out_specs=lanes, check_vma=False
            )
        )
        jax.block_until_ready(self._run(self._table, self._seeds))

    def measure(self, seconds: float) -> float:
        """Look-ups a second over all devices, timed for about so long."""
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            total, self._seeds = self._run(self._table, self._seeds)
            jax.block_until_ready(total)
            calls += 1
        return calls * self._devices * self._look_ups / (time.perf_counter() - start)


def look_ups_a_tick(learner: Learner, lane: Lane, hyper: Hyperparameters) -> int:
    """Rows of the weights that one game's tick reads and writes, as its traced program has them.

    Loops until a condition holds count once, so that where only legal actions are evaluated it is
    at least so many; a read that adds and writes back counts as one, as in a scatter. `lane`
    and `hyper` are those of one lane, or their shapes. 0 for a value function without tables.
    """
    words = jax.ShapeDtypeStruct((learner.batch, sum(learner.word_counts)), np.uint32)
    limit = jax.ShapeDtypeStruct((), np.uint32)
    traced = jax.make_jaxpr(learner.tick)(lane, hyper, limit, words)
    return _rows_touched(unclosed(traced)[0], learner.value.num_weights) // learner.batch


def _rows_touched(program: Jaxpr, rows: int) -> int:
    total = 0
    for equation in program.eqns:
        operand = equation.invars[0].aval if equation.invars else None
        shape = getattr(operand, "shape", ())
        name = equation.primitive.name
        # Written rows stand under an axis of their own, for the lanes (xla.py).
        if shape[:1] == (rows,) or shape[:2] == (1, rows):
            if name.startswith(("gather", "scatter")):
                # The last axis of the indices names the row.
                total += int(np.prod(getattr(equation.invars[1].aval, "shape", ())[:-1]))
            elif name == "dynamic_update_slice":
                total += 1
        total += sum(times * _rows_touched(inner, rows) for times, inner in nested(equation))
    return total
