"""The command `sweep`: train many runs."""

import itertools
import os
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import OmitArgPrefixes, Positional, arg

from jaxgbg.arguments import Adaptive, Executor
from jaxgbg.cli.common import (
    CheckpointEvery,
    Json,
    Out,
    cell,
    optional,
    print_records,
    print_table,
    write_rows,
)
from jaxgbg.cli.options import given, options_of
from jaxgbg.cli.session import start_jax
from jaxgbg.results.axes import value_text
from jaxgbg.runs.progress_bar import rough_duration
from jaxgbg.runs.settings import find
from jaxgbg.specs import Limits, checked, pluralize
from jaxgbg.sweeps.resources import Resources
from jaxgbg.types import JSON, SettingValue, TypeHint

if TYPE_CHECKING:
    from jaxgbg.runs import Run
    from jaxgbg.sweeps import Plan, Unit
    from jaxgbg.sweeps.running import Outcome

_MOST_VALUES = 6
_MOST_UNITS = 20
_TIMING_SECONDS = 20.0
_Resources: TypeHint = options_of(Resources)
_NO_RESOURCES = _Resources()


@checked
def sweep(
    spec: Annotated[Positional[Path], arg(metavar="FILE")],
    executor: Executor = "inline",
    workers: Annotated[int | None, Limits(low=1, high=4096), optional("N", "one a core")] = None,
    address: Annotated[str | None, optional("ADDRESS", "a new one on this machine")] = None,
    adaptive: Annotated[
        Adaptive | None, optional("halving|racing|tpe|none", "as the file says")
    ] = None,
    resources: OmitArgPrefixes[_Resources] = _NO_RESOURCES,
    dry_run: bool = False,
    time_it: Annotated[bool, arg(name="time")] = False,
    checkpoint_every: CheckpointEvery = 60.0,
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Train all runs of a sweep file that are not yet finished.

    Runs that differ only in numbers, seeds or FARL are lanes of one program: a unit of work. Runs
    that are finished below --out are not run again, and stopped runs resume from their checkpoint.

    Args:
      spec: TOML file with the settings, axes and seeds.
      executor: Where to train: in this process, in several, on a Ray cluster, or with Slurm.
      workers: Number of processes, or of Slurm jobs at a time.
      address: Address of the Ray cluster; auto finds one. slurm: local tests it without Slurm.
      adaptive: Train less of bad settings: halving keeps the better half at 1/8, 1/4 and 1/2 of the
        episodes; racing keeps those not significantly worse than the best. tpe trains only as many
        settings as `trials` in the file says, and suggests each by the scores so far. none trains
        all.
      dry_run: Only show the axes, the units of work, their programs and memory.
      time_it: With --dry-run, also show the expected time in one process here, from a second of
        each program; programs that are not started after 20 s are skipped.
    """
    start_jax()
    from jaxgbg.sweeps import read_spec
    from jaxgbg.sweeps.executors import ExecutorSettings
    from jaxgbg.sweeps.running import check, run_plan, units_in_progress

    plan = read_spec(spec, adaptive)
    given_resources = Resources(**given(resources))
    given_resources.check_executor(executor)
    if time_it and not dry_run:
        raise ValueError("--time goes with --dry-run")
    if dry_run:
        _dry_run(plan, executor, out, time_it, json_file)
        return
    check(plan, out)
    settings = ExecutorSettings(
        out,
        checkpoint_every,
        workers or os.cpu_count() or 1,
        address,
        resources=given_resources,
    )
    outcome = run_plan(plan, executor, settings, _reporter(units_in_progress(plan, out), out))
    write_rows(json_file, [_record(unit, out) for unit in plan.units])
    _print_outcome(plan, outcome, out)
    if outcome.failures:
        sys.exit(1)


def _print_outcome(plan: "Plan", outcome: "Outcome", out: Path) -> None:
    """Print what a suggesting sweep has tried, in order, and where the results are."""
    from jaxgbg.runs import RunFolder
    from jaxgbg.sweeps.running import report_outcome
    from jaxgbg.sweeps.suggest import trial_records

    if outcome.tried:
        print_records(trial_records(outcome.tried), None)
    if any(RunFolder(out, run).path.exists() for unit in plan.units for run in unit.runs):
        print(f"results: {out}; `jaxgbg results {out}` shows them")
    report_outcome(outcome, plan)


def _dry_run(
    plan: "Plan", executor: Executor, out: Path, timed: bool, json_file: Path | None
) -> None:
    """Show the plan and, with --time, the expected time; refuse units that do not fit here."""
    from jaxgbg.runs.lanes import program_of
    from jaxgbg.runs.memory import check_memory

    records = _plan(plan, out)
    _print_axes(plan)
    _print_sums(plan, out)
    _print_units(records)
    if executor in ("inline", "processes"):
        for unit in {(program_of(u.runs[0]), u.lanes): u for u in plan.units}.values():
            check_memory(unit.runs)
    if timed:
        _print_time(plan, records, out)
    write_rows(json_file, records)


def _print_sums(plan: "Plan", out: Path) -> None:
    """Print the number of runs, units, programs and lanes."""
    from jaxgbg.runs.lanes import program_of
    from jaxgbg.runs.memory import memory_text

    units = plan.units
    runs, lanes = sum(len(unit.runs) for unit in units), sum(unit.lanes for unit in units)
    programs = len({program_of(unit.runs[0]) for unit in units})
    most = memory_text(max(unit.memory for unit in units))
    done = sum(unit.finished(out) for unit in units)
    print(
        f"{pluralize(runs, 'run')} in {pluralize(len(units), 'unit')} of work ({done:,} done),"
        f" {pluralize(programs, 'program')} to compile, {pluralize(lanes, 'lane')} (seeds times"
        f" variants); at most {most} of memory for a unit",
        flush=True,
    )


def _print_time(plan: "Plan", records: list[dict[str, JSON]], out: Path) -> None:
    """Time a pilot of each program for some seconds; print the times and add them to `records`."""
    from rich.console import Console

    from jaxgbg.sweeps.estimate import expected_seconds

    missing = [unit for unit in plan.units if not unit.finished(out)]
    with Console(stderr=True).status("timing a pilot of each program"):
        seconds = expected_seconds(missing, _TIMING_SECONDS)
    known = {unit.name: s for unit, s in zip(missing, seconds, strict=True) if s is not None}
    for record in records:
        record["expected_s"] = round(known[record["unit"]], 1) if record["unit"] in known else ""
    records[-1]["expected_s"] = round(sum(known.values()), 1)
    left_out = len(missing) - len(known)
    more = f" and {pluralize(left_out, 'unit')} of programs that were not timed" if left_out else ""
    print(f"expected in one process here: {rough_duration(sum(known.values()))}{more}")


def _reporter(units: "list[Unit]", out: Path) -> "Callable[[Unit], None]":
    """Print what there is to do; return a function that reports each finished unit."""
    missing = sum(not unit.finished(out) for unit in units)
    runs = sum(len(unit.runs) for unit in units)
    print(
        f"{pluralize(runs, 'run')} in {pluralize(len(units), 'unit')},"
        f" {len(units) - missing:,} of them done before",
        file=sys.stderr,
    )
    start, numbers = time.monotonic(), itertools.count(1)

    def report(unit: "Unit") -> None:
        print(
            f"unit {unit.name} ({pluralize(len(unit.runs), 'run')} of {unit.runs[0].game.name}):"
            f" done, {next(numbers)} of {missing}, {time.monotonic() - start:.0f} s",
            file=sys.stderr,
        )

    return report


def _record(unit: "Unit", out: Path) -> dict[str, JSON]:
    return {
        "unit": unit.name,
        "game": unit.runs[0].game.name,
        "runs": len(unit.runs),
        "lanes": unit.lanes,
        "episodes": unit.runs[0].schedule.episodes,
        "memory_mb": round(unit.memory / 1e6, 3),
        "finished": "yes" if unit.finished(out) else "no",
    }


def _print_axes(plan: "Plan") -> None:
    """Print the axes, and the number of seeds of each combination."""
    for name, values in plan.axes.items():
        print(f"axis {name}: {_values(values)}")
    seeds = {seed for unit in plan.units for run in unit.runs for seed in run.seeds}
    how = {"none": "", "tpe": f"; tpe chooses {plan.trials} of the settings to train"}.get(
        plan.adaptive, f"; {plan.adaptive} stops some of them early"
    )
    print(f"{pluralize(len(seeds), 'seed')} of each{how}")


def _print_units(records: list[dict[str, JSON]]) -> None:
    """Print a row for each unit and one for all, below the values that all units share."""
    *units, total = records
    more = len(units) - _MOST_UNITS
    if more > 0:
        units, records = units[:_MOST_UNITS], [*units[:_MOST_UNITS], total]
    # Columns that have a sum are always shown.
    alike = [
        name
        for name in units[0]
        if len(units) > 1 and total[name] == "" and len({unit[name] for unit in units}) == 1
    ]
    if alike:
        print(f"each unit: {', '.join(f'{name} {cell(units[0][name])}' for name in alike)}")
    names = [name for name in units[0] if name not in alike]
    print_table(records, names, lambda record, name: cell(record[name]))
    if more > 0:
        print(f"and {pluralize(more, 'more unit')}; --json keeps all rows")


def _values(values: Sequence[SettingValue]) -> str:
    """Format the values of an axis; of many, the first and the last."""
    words = [value_text(tuple(each) if isinstance(each, list) else each) for each in values]
    if len(words) > _MOST_VALUES:
        return f"{words[0]}, {words[1]} ... {words[-1]} ({len(words)})"
    return ", ".join(words)


def _plan(plan: "Plan", out: Path) -> list[dict[str, JSON]]:
    """Make a record for each unit with its axes, and one for all."""
    from jaxgbg.runs.lanes import program_of

    records = []
    programs: dict[Hashable, int] = {}
    for unit in plan.units:
        program = programs.setdefault(program_of(unit.runs[0]), len(programs) + 1)
        record = _record(unit, out) | {"program": program}
        for name in plan.axes:
            values = dict.fromkeys(_value_of(run, name) for run in unit.runs)
            record[name] = _values(list(values))
        records.append(record)
    total: dict[str, JSON] = {name: "" for name in records[0]} | {"unit": "all"}
    for name in ("runs", "lanes"):
        total[name] = round(sum(record[name] for record in records), 1)
    return [*records, total]


def _value_of(run: "Run", name: str) -> SettingValue:
    """The value of an axis in a run."""
    if name == "game":
        return run.game.name
    part, _, inner = (name if name.startswith("game.") else find(name).path).partition(".")
    value = getattr(run, part)
    return getattr(value, inner, None) if inner else getattr(value, "kind", value)
