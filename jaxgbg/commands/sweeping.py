"""The command that does many runs: `sweep`."""

import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from jaxgbg.commands.common import CheckpointEvery, Json, Out, optional, print_records, write_rows
from jaxgbg.specs import Limits, checked
from jaxgbg.sweeps import EXECUTORS, read_spec
from jaxgbg.sweeps.estimate import expected_seconds
from jaxgbg.sweeps.executors import Settings
from jaxgbg.sweeps.spec import Unit


@checked
def sweep(
    spec: Annotated[Positional[Path], arg(metavar="FILE")],
    executor: Literal["inline", "processes", "ray", "slurm"] = "inline",
    workers: Annotated[int | None, Limits(low=1, high=4096), optional("N", "one a core")] = None,
    address: Annotated[str | None, optional("ADDRESS", "a new one on this machine")] = None,
    dry_run: bool = False,
    checkpoint_every: CheckpointEvery = 60.0,
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Do all runs of a specification that are not yet done.

    Runs that differ only in numbers, seeds or FARL are lanes of one program: a unit of work. What
    is finished below --out is not done again, and what was stopped goes on from its checkpoint.

    Args:
      spec: TOML file that says what to run.
      executor: Who does it: this process, several, a Ray cluster, or Slurm.
      workers: Processes, or Slurm jobs at a time.
      address: Of the Ray cluster; auto finds one. slurm: local tries it without Slurm.
      dry_run: Only show the units, their memory and the expected time.
    """
    units = read_spec(spec)
    missing = [unit for unit in units if not unit.finished(out)]
    if dry_run:
        print_records(_plan(units, out), json_file)
        return
    settings = Settings(out, checkpoint_every, workers or os.cpu_count() or 1, address)
    report = _reporter(units, len(missing))
    failures = EXECUTORS[executor](missing, settings, report) if missing else []
    write_rows(json_file, [_record(unit, out) for unit in units])
    print(f"results: {out}; `jaxgbg results {out}` shows them")
    for failure in failures:
        runs = len(failure.unit.runs)
        print(
            f"jaxgbg: unit {failure.unit.name} ({runs} runs) failed: {failure.reason}",
            file=sys.stderr,
        )
    if failures:
        sys.exit(1)


def _reporter(units: list[Unit], missing: int) -> Callable[[Unit], None]:
    """Say what there is to do; returns what tells of each unit that is done."""
    runs = sum(len(unit.runs) for unit in units)
    print(
        f"{runs:,} runs in {len(units):,} units, {len(units) - missing:,} of them done before",
        file=sys.stderr,
    )
    start, numbers = time.monotonic(), itertools.count(1)

    def report(unit: Unit) -> None:
        print(
            f"unit {unit.name} ({len(unit.runs)} runs of {unit.runs[0].game.name}):"
            f" done, {next(numbers)} of {missing}, {time.monotonic() - start:.0f} s",
            file=sys.stderr,
        )

    return report


def _record(unit: Unit, out: Path) -> dict[str, Any]:
    return {
        "unit": unit.name,
        "game": unit.runs[0].game.name,
        "runs": len(unit.runs),
        "lanes": unit.lanes,
        "episodes": unit.runs[0].schedule.episodes,
        "memory_mb": round(unit.memory / 1e6, 1),
        "finished": "yes" if unit.finished(out) else "no",
    }


def _plan(units: list[Unit], out: Path) -> list[dict[str, Any]]:
    """A record a unit, the expected time measured by a second of training on this machine."""
    records = []
    for unit in units:
        seconds = 0.0 if unit.finished(out) else expected_seconds(unit)
        records.append(_record(unit, out) | {"expected_s": round(seconds, 1)})
    total: dict[str, Any] = {name: "" for name in records[0]} | {"unit": "all"}
    for name in ("runs", "lanes", "expected_s"):
        total[name] = round(sum(record[name] for record in records), 1)
    return [*records, total]
