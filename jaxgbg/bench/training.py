"""Training speed at the published parameters, through the very program that trains."""

import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from jaxgbg.learners import Lane
from jaxgbg.training.config import preset
from jaxgbg.training.lanes import begin, lane_mesh
from jaxgbg.training.train import compile_chunk

# Moves/s of GBG (Java), one core of the machine that our own published figures come from.
GBG_MOVES_PER_SECOND = {
    "tictactoe": 384_000,
    "connectfour": 35_400,
    "nim": 628_000,
    "nim3p": 615_000,
    "hex": 26_900,
    "othello": 9_000,
    "2048": 70_000,
}
SEARCHED_BATCHES = (16, 32, 64, 128, 256, 512)
_REPEATS = 3


class BenchRow(NamedTuple):
    """Speed of one batch, summed over all lanes (seeds with and without FARL).

    `peak_mb` is what the compiled program holds at once, tables and scratch, in MB a lane.
    `times_gbg` is moves/s over GBG's on one core, None for a game without such a figure.
    """

    game: str
    learner: str
    value: str
    role: str
    batch: int
    seeds: int
    lanes: int
    moves_per_s: float
    episodes_per_s: float
    compile_s: float
    peak_mb: float
    times_gbg: float | None


def bench(
    game: str,
    seeds: int | None = None,
    batches: Sequence[int] | None = None,
    seconds: float = 1.0,
    **changes: Any,
) -> list[BenchRow]:
    """Time batch 1, the shipped default and the fastest of a search, or just `batches`.

    Default seeds: 10, for ConnectFour and 2048 2, each with and without FARL. Every figure is the
    median of three timings of `seconds` each, after as long a warm-up. `changes` are those of the
    published parameters, such as another learner.
    """
    seeds = seeds or (2 if game in ("connectfour", "2048") else 10)
    default = preset(game, **changes).batch
    if batches:
        return [_measure(game, "asked", batch, seeds, seconds, changes) for batch in batches]
    rows = [_measure(game, "serial", 1, seeds, seconds, changes)]
    if default == 1:
        rows.append(rows[0]._replace(role="default"))
    else:
        rows.append(_measure(game, "default", default, seeds, seconds, changes))
    searched = [
        _measure(game, "fastest", batch, seeds, seconds, changes)
        for batch in SEARCHED_BATCHES
        if batch != default
    ]
    fastest = max([*searched, rows[1]], key=lambda row: row.moves_per_s)
    return [*rows, fastest._replace(role="fastest")]


def _measure(
    game: str, role: str, batch: int, seeds: int, seconds: float, changes: dict[str, Any]
) -> BenchRow:
    # No lane may reach its budget while it is timed; schedules stay at their start.
    config = preset(game, **changes, batch=batch, seeds=tuple(range(seeds)), episodes=2**31)
    lanes = config.lanes
    mesh = lane_mesh(len(lanes))
    if len(lanes) % mesh.size:
        mesh = lane_mesh(1)
    sharding = NamedSharding(mesh, PartitionSpec("lanes"))
    state, hyper, learner = begin([config], sharding)
    limit = jax.device_put(np.full(len(lanes), 2**31, np.uint32), sharding)

    cached = jax.config.values["jax_enable_compilation_cache"]
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        start = time.perf_counter()
        chunk = compile_chunk(learner, mesh).lower(state, hyper, limit, np.int32(1)).compile()
        compile_s = time.perf_counter() - start
    finally:
        jax.config.update("jax_enable_compilation_cache", cached)
    memory = chunk.memory_analysis()
    peak = (memory.argument_size_in_bytes + memory.temp_size_in_bytes) * mesh.size / len(lanes)

    blocks, spent = 1, 0.0
    while spent < seconds:
        start = time.perf_counter()
        state = jax.block_until_ready(chunk(state, hyper, limit, np.int32(blocks)))
        spent = time.perf_counter() - start
        if spent < seconds:
            blocks = max(blocks + 1, int(blocks * min(8.0, 1.1 * seconds / spent)))
    rates = []
    for _ in range(_REPEATS):
        before = _counts(state)
        start = time.perf_counter()
        state = jax.block_until_ready(chunk(state, hyper, limit, np.int32(blocks)))
        rates.append((_counts(state) - before) / (time.perf_counter() - start))
    moves, episodes = (statistics.median(rate) for rate in zip(*rates, strict=True))
    reference = GBG_MOVES_PER_SECOND.get(game)
    return BenchRow(
        game=game,
        learner=config.learner,
        value=config.value,
        role=role,
        batch=batch,
        seeds=seeds,
        lanes=len(lanes),
        moves_per_s=round(moves),
        episodes_per_s=round(episodes),
        compile_s=round(compile_s, 2),
        peak_mb=round(peak / 1e6, 2),
        times_gbg=round(moves / reference, 2) if reference else None,
    )


def _counts(state: Lane) -> np.ndarray:
    """Moves and episodes of all lanes so far, float64[2]."""
    return np.array([np.asarray(n, np.float64).sum() for n in (state.moves, state.finished)])
