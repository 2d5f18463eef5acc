"""Moves a second by game, games in lockstep and lanes, beside what the device's memory gives."""

import time
from typing import Any

from experiments.gpu.bandwidth import SECTOR, raw_rates
from experiments.gpu.records import Records
from experiments.gpu.task import Task
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
