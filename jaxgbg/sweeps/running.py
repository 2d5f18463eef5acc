"""A sweep from its plan to its end, shown while it goes on: what `jaxgbg sweep` does."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgbg.arguments import Executor
from jaxgbg.runs.storage.checkpoints import begun_together
from jaxgbg.runs.storage.files import check_folder
from jaxgbg.specs import pluralize
from jaxgbg.sweeps import adaptive
from jaxgbg.sweeps.executors import EXECUTORS, ExecutorSettings, Failure
from jaxgbg.sweeps.progress import watching
from jaxgbg.sweeps.spec import Plan, Unit
from jaxgbg.sweeps.suggest import Trial, run_trials


class Outcome(NamedTuple):
    """Units that failed, those that were stopped early or left out, the share of the episodes saved
    so, and the settings that were tried, in order, if the sweep suggests them.
    """

    failures: list[Failure]
    stopped: list[Unit]
    saved: float
    tried: Sequence[Trial] = ()


def run_plan(
    plan: Plan,
    executor: Executor,
    settings: ExecutorSettings,
    report: Callable[[Unit], None] = lambda _: None,
    shown: bool = True,
) -> Outcome:
    """Train the unfinished runs of a sweep; `report` receives each unit that is finished.

    Raises MissingExtra without optuna where it is adaptive, ValueError where it cannot be, and
    where the folder cannot be written.
    """
    out = settings.out
    check(plan, out)
    units = units_in_progress(plan, out)

    def done(unit: Unit) -> None:
        # A callback may have stopped it.
        if unit.finished(out):
            report(unit)

    stopped: list[Unit] = []
    with watching(units, out, shown) as watch:

        def drop(units: Sequence[Unit]) -> None:
            stopped.extend(units)
            watch.drop(units)

        failures: list[Failure] = []
        tried: list[Trial] = []
        if plan.adaptive == "tpe":
            tried, failures = run_trials(plan, EXECUTORS[executor], settings, done, drop)
            units = []
        elif plan.adaptive != "none":
            units, failures = adaptive.run_rungs(plan, EXECUTORS[executor], settings, drop)
        missing = [unit for unit in units if not unit.finished(out)]
        if missing:
            failures += EXECUTORS[executor](missing, settings, done)
    stopped = [unit for unit in stopped if not unit.finished(out)]
    saved = adaptive.saved_share(plan.units, out) if stopped else 0.0
    return Outcome(failures, stopped, saved, tried)


def units_in_progress(plan: Plan, out: Path) -> list[Unit]:
    """The units of a sweep, runs that were begun apart from others as units of their own."""
    begun = begun_together(out)
    return [part for unit in plan.units for part in unit.apart(out, begun)]


def check(plan: Plan, out: Path) -> None:
    """Raise what `run_plan` would, before anything is said or done."""
    if plan.adaptive != "none":
        adaptive.check(plan)
    check_folder(out)


def report_outcome(outcome: Outcome, plan: Plan) -> None:
    """Say on standard error what has failed and what was stopped early."""
    if outcome.stopped:
        how = "not chosen" if outcome.tried else "stopped early"
        print(
            f"{plan.adaptive}: {len(outcome.stopped):,} of {pluralize(len(plan.units), 'unit')}"
            f" {how}, {outcome.saved:.0%} of all episodes saved;"
            " --adaptive none trains them to the end",
            file=sys.stderr,
        )
    for failure in outcome.failures:
        runs = pluralize(len(failure.unit.runs), "run")
        print(
            f"jaxgbg: unit {failure.unit.name} ({runs}) failed: {failure.reason}",
            file=sys.stderr,
        )
