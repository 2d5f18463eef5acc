"""Moves a second by game, games in lockstep and lanes, and what the device's memory gives."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.gpu.records import Records, Task
from jaxgbg.cli.benchmarks.training import BenchRow, bench

KEY = ("what", "game", "batch", "lanes", "bytes")
_NO_MEMORY = "RESOURCE_EXHAUSTED"
LADDER = ((256, 5), (2048, 5), (64, 10), (1024, 20), (8192, 1), (1024, 1), (16, 20), (1, 20))
"""(games in lockstep, seeds with two lanes each), the most telling first."""


def measure(task: Task, records: Records) -> None:
    """Every game once with each entry of the ladder, as far as time goes; without a game, memory.

    Where each game is a process of its own, one compiles while another is timed.
    """
    seconds = max(0.01, 0.3 * min(1.0, 100 * task.scale))
    if not task.games:
        with task.alone():
            raw = raw_rates(task.scale, seconds, lambda about: about in records or task.left() < 0)
            for rate in raw:
                records.add(rate)
    slowest, failed = 0.0, 0
    for batch, seeds in LADDER if task.scale >= 0.01 else ((8, 1),):
        for game in task.games:
            about = {"what": "training", "game": game, "batch": batch, "lanes": 2 * seeds}
            if about in records or task.left() < slowest:
                continue
            start = time.perf_counter()
            try:
                (row,) = bench(
                    game, seeds=seeds, batches=(batch,), seconds=seconds, alone=task.alone
                )
            except Exception as error:
                records.add({**about, "not_run": reason_of(error)})
                if isinstance(error, ValueError) or _NO_MEMORY in str(error):
                    continue
                # A device that has failed for good fails the next one, too.
                failed += 1
                if failed > 1:
                    raise
                records.fail(f"{game}: {reason_of(error)}")
                continue
            failed = 0
            took = time.perf_counter() - start
            slowest = max(slowest, took)
            records.add({**about, **figures(row), "seconds": round(took, 1)})


_ROUNDS = 8
SECTOR = 32
"""Bytes that a GPU fetches for one row of a table, however short that is."""


def raw_rates(
    scale: float, seconds: float, skip: Callable[[dict[str, Any]], bool]
) -> Iterator[dict[str, Any]]:
    """GB/s of a copy, reads and writes counted; rows/s of look-ups and of additions by table.

    Tables are those of Nim3P to 2048: whether one fits a cache decides. `scale` below 1 makes them
    and the calls smaller. Those to `skip`, by their "what" and "bytes", are left out.
    """
    size = max(2**12, round(2**28 * min(1.0, scale)))
    about: dict[str, Any] = {"what": "copy", "bytes": 4 * size}
    if not skip(about):
        copied = _timed(_copy, size, seconds)
        yield {**about, "gb_per_s": 8 * size * _ROUNDS * copied / 1e9}
    for megabytes, rows in ((37, 2**24), (4, 2**24), (182, 2**24), (1024, 2**24), (0.001, 2**20)):
        # Additions to the smallest table meet each other all the time.
        rows = max(2**10, round(rows * min(1.0, scale)))
        weights = max(64, round(megabytes * 250_000 * min(1.0, scale)))
        for what, function in (("look up", _look_up), ("add", _add)):
            about = {"what": what, "bytes": 4 * weights}
            if not skip(about):
                rate = rows * _ROUNDS * _timed(partial(function, rows), weights, seconds)
                yield {**about, "rows_per_s": round(rate)}


def _timed(
    function: Callable[..., tuple[jax.Array, jax.Array]], weights: int, seconds: float
) -> float:
    """Calls a second on a table of so many weights, for about `seconds` and at least one."""
    run = jax.jit(function, donate_argnums=0)
    table, seed = jax.block_until_ready(run(jnp.zeros(weights, jnp.float32), np.uint32(1)))
    calls, start = 0, time.perf_counter()
    while not calls or time.perf_counter() - start < seconds:
        table, seed = jax.block_until_ready(run(table, seed))
        calls += 1
    return calls / (time.perf_counter() - start)


def _copy(table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.lax.fori_loop(0, _ROUNDS, lambda _, old: old + 1, table), seed


def _indices(rows: int, weights: int, seed: jax.Array) -> jax.Array:
    place = jnp.arange(rows, dtype=jnp.uint32) * np.uint32(0x9E3779B9) + seed
    mixed = (place ^ (place >> 15)) * np.uint32(0x85EBCA6B)
    return ((mixed ^ (mixed >> 13)) % np.uint32(weights)).astype(jnp.int32)


def _look_up(rows: int, table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    def again(_: int, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        seed, total = carry
        index = _indices(rows, len(table), seed)
        found = table.at[index].get(mode="promise_in_bounds").sum()
        return seed * np.uint32(1664525) + np.uint32(1013904223), total + found

    seed, total = jax.lax.fori_loop(0, _ROUNDS, again, (seed, jnp.float32(0)))
    return table.at[0].add(total), seed


def _add(rows: int, table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    def again(_: int, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        table, seed = carry
        index = _indices(rows, len(table), seed)
        table = table.at[index].add(jnp.float32(1), mode="promise_in_bounds")
        return table, seed * np.uint32(1664525) + np.uint32(1013904223)

    return jax.lax.fori_loop(0, _ROUNDS, again, (table, seed))


def figures(row: BenchRow) -> dict[str, Any]:
    """Of one timing: rates, and the traffic that its look-ups and additions make.

    `useful_gb_per_s` counts the four bytes of each weight or count, `fetched_gb_per_s` the whole
    sectors in which a GPU moves them: the latter is to be held against the copy's rate.
    """
    touched = (row.share or 0.0) * (row.look_ups_per_s or 0.0)
    return {
        "moves_per_s": row.moves_per_s,
        "episodes_per_s": row.episodes_per_s,
        "compile_s": row.compile_s,
        "megabytes_a_lane": row.peak_mb,
        "raw_look_ups_per_s": row.look_ups_per_s,
        "share_of_raw": row.share,
        "rows_per_s": round(touched),
        "useful_gb_per_s": round(4 * touched / 1e9, 3),
        "fetched_gb_per_s": round(SECTOR * touched / 1e9, 3),
    }


def reason_of(error: BaseException) -> str:
    """What an error says, on one line of bounded length."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
