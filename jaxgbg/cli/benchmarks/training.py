"""Training speed at the published parameters, through the very program that trains."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from jaxgbg.cli.benchmarks import Batches, Seconds
from jaxgbg.cli.benchmarks.yardstick import Yardstick, look_ups_a_tick
from jaxgbg.games import Game
from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.huge_pages import move_to_huge_pages
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import Run, Seeds
from jaxgbg.specs import checked
from jaxgbg.types import SettingValue
from jaxgbg.xla import without_compilation_cache

SEARCHED_BATCHES = (16, 32, 64, 128, 256, 512)
_REPEATS = 3
# From so many weights on two seeds are enough to fill every cache.
_LARGE = 1_000_000


class BenchRow(NamedTuple):
    """Speed of one batch, summed over all lanes (seeds with and without FARL).

    `peak_mb` is what the compiled program holds at once, tables and scratch, in MB a lane.
    `look_ups_per_s` is the `Yardstick` of the same minute and cores, and `share` what training
    reaches of it, counting the rows of its tables that it reads and writes; None without tables.
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
    look_ups_per_s: float | None
    share: float | None


def bench_games(
    games: Sequence[Game],
    seeds: Seeds | None,
    batches: Batches,
    seconds: Seconds,
    changes: dict[str, SettingValue],
) -> Iterator[BenchRow]:
    """The rows of `bench` of every game."""
    for game in games:
        yield from bench(game, seeds, batches, seconds, **changes)


@checked
def bench(
    game: str | Game,
    seeds: Seeds | None = None,
    batches: Batches = None,
    seconds: Seconds = 1.0,
    alone: Callable[[], AbstractContextManager[object]] = nullcontext,
    **changes: SettingValue,
) -> list[BenchRow]:
    """Time batch 1, the shipped default and the fastest of a search, or just `batches`.

    Default seeds: 10, of large tables 2, each with and without FARL. Every figure is the
    median of three timings of `seconds` each, after as long a warm-up. What is timed runs in
    `alone()`, which may keep other processes from the device. `changes` are those of the published
    parameters, such as another learner.
    """
    published = preset(game, **changes)
    seeds = seeds or default_seeds(published)
    default = published.schedule.batch

    def measure(role: str, batch: int) -> BenchRow:
        return _measure(game, role, batch, seeds, seconds, alone, changes)

    if batches:
        return [measure("asked", batch) for batch in batches]
    rows = [measure("serial", 1)]
    if default == 1:
        rows.append(rows[0]._replace(role="default"))
    else:
        rows.append(measure("default", default))
    searched = [measure("fastest", batch) for batch in SEARCHED_BATCHES if batch != default]
    fastest = max([*searched, rows[1]], key=lambda row: row.moves_per_s)
    return [*rows, fastest._replace(role="fastest")]


def default_seeds(run: Run) -> int:
    """The number of seeds that are timed if none is named: 10, of large tables 2."""
    return 10 if run.make_learner().value.num_weights < _LARGE else 2


def _measure(
    game: str | Game,
    role: str,
    batch: int,
    seeds: int,
    seconds: float,
    alone: Callable[[], AbstractContextManager[object]],
    changes: dict[str, SettingValue],
) -> BenchRow:
    # No lane may reach its budget while it is timed; schedules stay at their start.
    run = preset(game, **changes, batch=batch, seeds=range(seeds), episodes=2**31)
    lanes = len(run.lanes)
    groups, hypers, places = begin([run])
    learner, mesh = run.make_learner(), places.mesh
    one = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), (groups[0], hypers[0])
    )
    look_ups = look_ups_a_tick(learner, *one)
    # Copies that fill up the last group play nothing.
    limits = [
        jax.device_put(np.where(places.live(group), 2**31, 0).astype(np.uint32), places.sharding)
        for group in range(places.groups)
    ]
    chunk, compile_s, peak = _compile(learner, groups[0], hypers[0], limits[0], mesh)

    def train(blocks: int) -> None:
        for number, (hyper, limit) in enumerate(zip(hypers, limits, strict=True)):
            groups[number] = chunk(groups[number], hyper, limit, np.int32(blocks))
            jax.block_until_ready(groups[number].finished)

    yardstick = Yardstick(learner.value.num_weights, mesh) if look_ups else None
    with alone():
        rates, yardsticks = _timed(train, groups, yardstick, seconds)
    moves, episodes, ticks = (statistics.median(rate) for rate in zip(*rates, strict=True))
    raw = statistics.median(yardsticks)
    return BenchRow(
        game=run.game.name,
        learner=run.learner.kind,
        value=run.value.kind,
        role=role,
        batch=batch,
        seeds=seeds,
        lanes=lanes,
        moves_per_s=round(moves),
        episodes_per_s=round(episodes),
        compile_s=round(compile_s, 2),
        peak_mb=round(peak / places.size / 1e6, 2),
        look_ups_per_s=round(raw) if yardstick else None,
        share=round(ticks * batch * look_ups / raw, 3) if yardstick else None,
    )


def _timed(
    train: Callable[[int], None], groups: list[Lane], yardstick: Yardstick | None, seconds: float
) -> tuple[list[np.ndarray], list[float]]:
    """Moves, episodes and ticks a second, and the yardstick's look-ups, of every timing."""
    blocks, spent = 1, 0.0
    while spent < seconds:
        start = time.perf_counter()
        train(blocks)
        spent = time.perf_counter() - start
        if spent < seconds:
            blocks = max(blocks + 1, int(blocks * min(8.0, 1.1 * seconds / spent)))
    move_to_huge_pages(groups)
    rates, yardsticks = [], []
    for _ in range(_REPEATS):
        before = _counts(groups)
        start = time.perf_counter()
        train(blocks)
        rates.append((_counts(groups) - before) / (time.perf_counter() - start))
        yardsticks.append(yardstick.measure(seconds / 4) if yardstick else np.nan)
    return rates, yardsticks


def _compile(
    learner: Learner, state: Lane, hyper: Hyperparameters, limit: jax.Array, mesh: Mesh
) -> tuple[jax.stages.Compiled, float, float]:
    """The program that trains, seconds to compile it again, and the bytes that it holds."""
    with without_compilation_cache():
        start = time.perf_counter()
        chunk = compile_chunk(learner, mesh).lower(state, hyper, limit, np.int32(1)).compile()
        compile_s = time.perf_counter() - start
    memory = chunk.memory_analysis()
    assert memory is not None
    peak = (memory.argument_size_in_bytes + memory.temp_size_in_bytes) * mesh.size
    return chunk, compile_s, peak


def _counts(groups: list[Lane]) -> np.ndarray:
    """Moves, episodes and ticks of all lanes so far, float64[3]."""
    counts = [(group.moves, group.finished, group.ticks) for group in groups]
    return np.asarray(counts, np.float64).sum((0, 2))
