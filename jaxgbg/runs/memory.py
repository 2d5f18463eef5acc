"""The memory of a run, and a check before anything is built."""

import functools
from collections.abc import Sequence
from pathlib import Path

import jax

from jaxgbg.runs.placement import LanePlacement, lanes_at_once
from jaxgbg.runs.run import Run
from jaxgbg.system import free_memory

TICKS_A_BLOCK = 32
"""Ticks whose random words are drawn together."""

_WORD_BYTES = 4


def lane_memory(run: Run) -> int:
    """Bytes of one lane's tables, counters and games, and of the mean of its weights."""
    lane, weights = _memory(run)
    return lane + weights * run.averaging.on


@functools.lru_cache(maxsize=64)
def _memory(run: Run) -> tuple[int, int]:
    """Bytes of one lane's tables, counters and games, and of what a player needs of them."""
    learner = run.make_learner()
    drawn = run.value.drawn(run.game, run.seeds[0])
    lane = jax.eval_shape(learner.init, jax.eval_shape(lambda: jax.random.key(0)), drawn)
    weights = jax.eval_shape(learner.value.for_player, lane.params)
    lane_bytes, weight_bytes = (
        sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
        for tree in (lane, weights)
    )
    return lane_bytes, weight_bytes


def check_memory(runs: Sequence[Run]) -> None:
    """Raise ValueError, naming the settings, where `runs` cannot be trained together here.

    What is counted is the least that it takes: the lanes, the random words of a block of ticks and,
    where lanes are trained in turn, a copy of their weights to judge them all by.
    """
    run, available = runs[0], available_memory()
    schedule, lanes = run.schedule, sum(len(each.seeds) * len(each.variants) for each in runs)
    learner = run.make_learner()
    words = TICKS_A_BLOCK * schedule.batch * sum(learner.word_counts) * _WORD_BYTES
    in_turn = LanePlacement(lanes, lanes_at_once(learner, lanes)).groups > 1
    copies = in_turn * (1 + run.averaging.on)
    lane = lane_memory(run) + words + copies * _memory(run)[1]
    if lanes * lane <= available:
        return
    openings = f", opening_plies {schedule.opening_plies:,}" if schedule.opening_plies else ""
    raise ValueError(
        f"{run.game.name}: {lanes:,} lanes (seeds times variants) of {memory_text(lane)} each"
        f" (batch {schedule.batch:,}{openings}, {run.make_learner().value.num_weights:,} weights of"
        f" value {run.value.kind}) need {memory_text(lanes * lane)} of memory, and"
        f" {memory_text(available)} are available: take less of one of them"
    )


def available_memory() -> float:
    """Bytes that new arrays may take, on all devices together; infinite where nothing tells."""
    devices = jax.local_devices()
    statistics = devices[0].memory_stats() or {}
    if "bytes_limit" in statistics:
        free = statistics["bytes_limit"] - statistics.get("bytes_in_use", 0)
        return float(free * len(devices))
    return min(free_memory(), _left_of_group())


def _left_of_group() -> float:
    """Bytes that are left of what a container may take."""
    group = Path("/sys/fs/cgroup")
    try:
        most, used = (
            (group / f"memory.{name}").read_text(encoding="ascii").strip()
            for name in ("max", "current")
        )
        return float("inf") if most == "max" else float(int(most) - int(used))
    except (OSError, ValueError):
        return float("inf")


def memory_text(count: float) -> str:
    """Bytes in a unit that fits: 14.2 kB, 3.1 GB."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count / 1e3:,.1f} kB"
