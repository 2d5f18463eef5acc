"""The command that does many runs: `sweep`."""

import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from jaxgbg.commands.common import (
    CheckpointEvery,
    Json,
    Out,
    cell,
    optional,
    print_table,
    write_rows,
)
from jaxgbg.results.axes import value_text
from jaxgbg.specs import Limits, checked, counted
from jaxgbg.sweeps import Plan, Unit, read_spec
from jaxgbg.sweeps.estimate import expected_seconds
from jaxgbg.sweeps.executors import Settings
from jaxgbg.sweeps.running import Executor, check, run_plan, tell
from jaxgbg.sweeps.spec import Adaptive
from jaxgbg.training import Run, RunFolder
from jaxgbg.training.settings import find

_MOST_VALUES = 6


@checked
def sweep(
    spec: Annotated[Positional[Path], arg(metavar="FILE")],
    executor: Executor = "inline",
    workers: Annotated[int | None, Limits(low=1, high=4096), optional("N", "one a core")] = None,
    address: Annotated[str | None, optional("ADDRESS", "a new one on this machine")] = None,
    adaptive: Annotated[
        Adaptive | None, optional("halving|racing|none", "as the file says")
    ] = None,
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
      adaptive: Stop settings that fall behind: halving keeps the better half at 1/8, 1/4 and 1/2
        of the episodes; racing those not surely worse than the best; none goes on with all.
      dry_run: Only show the axes, the units, their memory, and the time expected in one process.
    """
    plan = read_spec(spec, adaptive)
    if dry_run:
        # What the memory cannot hold is refused before anything is said.
        records = _plan(plan, out)
        _print_axes(plan)
        _print_units(records)
        write_rows(json_file, records)
        return
    check(plan, out)
    settings = Settings(out, checkpoint_every, workers or os.cpu_count() or 1, address)
    outcome = run_plan(plan, executor, settings, _reporter(plan.units, out))
    write_rows(json_file, [_record(unit, out) for unit in plan.units])
    if any(RunFolder(out, run).path.exists() for unit in plan.units for run in unit.runs):
        print(f"results: {out}; `jaxgbg results {out}` shows them")
    tell(outcome, plan)
    if outcome.failures:
        sys.exit(1)


def _reporter(units: list[Unit], out: Path) -> Callable[[Unit], None]:
    """Say what there is to do; returns what tells of each unit that is done."""
    missing = sum(not unit.finished(out) for unit in units)
    runs = sum(len(unit.runs) for unit in units)
    print(
        f"{counted(runs, 'run')} in {counted(len(units), 'unit')},"
        f" {len(units) - missing:,} of them done before",
        file=sys.stderr,
    )
    start, numbers = time.monotonic(), itertools.count(1)

    def report(unit: Unit) -> None:
        print(
            f"unit {unit.name} ({counted(len(unit.runs), 'run')} of {unit.runs[0].game.name}):"
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


def _print_axes(plan: Plan) -> None:
    """Say what is varied, and how often each combination is trained."""
    for name, values in plan.axes.items():
        print(f"axis {name}: {_values(values)}")
    seeds = {seed for unit in plan.units for run in unit.runs for seed in run.seeds}
    how = "" if plan.adaptive == "none" else f"; {plan.adaptive} stops some of them early"
    print(f"{counted(len(seeds), 'seed')} of each{how}")


def _print_units(records: list[dict[str, Any]]) -> None:
    """A row a unit and one for all; above them what is the same for several units."""
    *units, total = records
    # What adds up has a column in any case.
    alike = [
        name
        for name in units[0]
        if len(units) > 1 and total[name] == "" and len({unit[name] for unit in units}) == 1
    ]
    if alike:
        print(f"each unit: {', '.join(f'{name} {cell(units[0][name])}' for name in alike)}")
    names = [name for name in units[0] if name not in alike]
    print_table(records, names, lambda record, name: cell(record[name]))


def _values(values: Sequence[Any]) -> str:
    """Values of an axis in words; of many the first and the last."""
    words = [value_text(tuple(each) if isinstance(each, list) else each) for each in values]
    if len(words) > _MOST_VALUES:
        return f"{words[0]}, {words[1]} ... {words[-1]} ({len(words)})"
    return ", ".join(words)


def _plan(plan: Plan, out: Path) -> list[dict[str, Any]]:
    """A record a unit with its axes, the expected time measured by a pilot on this machine."""
    missing = [unit for unit in plan.units if not unit.finished(out)]
    seconds = dict(zip((unit.name for unit in missing), expected_seconds(missing), strict=True))
    records = []
    for unit in plan.units:
        record = _record(unit, out)
        for name in plan.axes:
            values = dict.fromkeys(_value_of(run, name) for run in unit.runs)
            record[name] = _values(list(values))
        records.append(record | {"expected_s": round(seconds.get(unit.name, 0.0), 1)})
    total: dict[str, Any] = {name: "" for name in records[0]} | {"unit": "all"}
    for name in ("runs", "lanes", "expected_s"):
        total[name] = round(sum(record[name] for record in records), 1)
    return [*records, total]


def _value_of(run: Run, name: str) -> Any:
    """The value of an axis in a run."""
    if name == "game":
        return run.game.name
    part, _, inner = (name if name.startswith("game.") else find(name).path).partition(".")
    value = getattr(run, part)
    return getattr(value, inner, None) if inner else getattr(value, "kind", value)
