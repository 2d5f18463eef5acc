"""Training and sweeps from Python and notebooks: shown while they go on, stopped by callbacks, with
results that plot themselves.
"""

import functools
import inspect
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from jaxgbg.arena.tournament import Played, play_tournament
from jaxgbg.arguments import Adaptive, Executor, Kind
from jaxgbg.results.figures import draw
from jaxgbg.results.groups import frame_of
from jaxgbg.results.ladder import Ladder
from jaxgbg.results.rows import Table, group, source_of
from jaxgbg.runs import Result, Run, RunFolder, execution
from jaxgbg.runs.compilation import visible_compilation
from jaxgbg.runs.execution import CHECKPOINT_EVERY
from jaxgbg.runs.progress import RunProgress
from jaxgbg.runs.stopping import StopTraining, call_all
from jaxgbg.specs import pluralize, shown
from jaxgbg.sweeps.executors import ExecutorSettings, Failure, Resources
from jaxgbg.sweeps.running import Outcome, report_outcome, run_plan
from jaxgbg.sweeps.spec import Plan, plan, read_spec
from jaxgbg.types import JSON

if TYPE_CHECKING:
    import pandas


class Picture:
    """A figure of a table: shown by a notebook as the last line of a cell, written by `save`.

    Raises ValueError where there is nothing to be drawn, or `kind` needs other axes.
    """

    def __init__(self, table: Table, kind: Kind = "curves") -> None:
        self.table, self.kind = table, kind
        with tempfile.TemporaryDirectory() as folder:
            self._png = self.save(Path(folder) / "figure.png").read_bytes()

    def save(self, path: str | Path) -> Path:
        """Write it as a PNG, SVG or PDF, by the name; returns the path."""
        draw(self.table, Path(path), self.kind)
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self._png

    def __repr__(self) -> str:
        return f"<{self.kind} of {len(self.table.rows)} rows>"


class TrainedRun(RunFolder):
    """The folder of a run, finished or stopped early, and its result."""

    def table(self) -> Table:
        """A row for each opponent and FARL variant, as `jaxgbg results` has them."""
        return group([source_of(self.run, self.results())], ("variant",))

    def curve(self) -> Picture:
        """Learning curves: a panel for each opponent, a line for each FARL variant.

        Raises ValueError where nothing has been evaluated.
        """
        return Picture(self.table())


class Sweep:
    """A sweep that was done: its runs below folder `out`, and how it ended.

    `failures` are units that failed, with their reasons; `stopped` those that an adaptive sweep has
    stopped early or left out, which saved the share `saved` of all episodes. `tried` are the
    settings that a suggesting sweep has trained, in order.
    """

    def __init__(self, plan: Plan, out: Path, outcome: Outcome) -> None:
        self.plan, self.out = plan, out
        self.failures: list[Failure] = outcome.failures
        self.stopped, self.saved, self.tried = outcome.stopped, outcome.saved, outcome.tried

    def __repr__(self) -> str:
        runs = pluralize(sum(len(unit.runs) for unit in self.plan.units), "run")
        failed = f", {pluralize(len(self.failures), 'failed unit')}" if self.failures else ""
        return f"<Sweep {self.out}: {runs}{failed}>"

    @property
    def runs(self) -> list[TrainedRun]:
        """Its runs, in the order of its file."""
        return [TrainedRun(self.out, run) for unit in self.plan.units for run in unit.runs]

    def table(
        self,
        by: Sequence[str] | str = (),
        baseline: Sequence[str] | str = (),
        pool: Sequence[str] | str = (),
    ) -> Table:
        """Its own runs, without other runs below the folder; see `jaxgbg.results`."""
        by, baseline, pool = (
            (each,) if isinstance(each, str) else each for each in (by, baseline, pool)
        )
        sources = [source_of(folder.run, folder.results()) for folder in self.runs]
        return group([source for source in sources if source.evaluations], by, baseline, pool)

    def frame(
        self,
        by: Sequence[str] | str = (),
        baseline: Sequence[str] | str = (),
        pool: Sequence[str] | str = (),
    ) -> "pandas.DataFrame":
        """`table` as a data frame; MissingExtra without pandas."""
        return frame_of(self.table(by, baseline, pool))

    def plot(self, *by: str, kind: Kind | None = None, pool: Sequence[str] | str = ()) -> Picture:
        """The means by one setting, a heat map of two, or the learning curves where none is named.

        `kind` is any of those of `jaxgbg plot`. Raises ValueError for a setting that no run has.
        """
        of: dict[int, Kind] = {1: "means", 2: "heatmap"}
        return Picture(self.table(by, pool=pool), kind or of.get(len(by), "curves"))


def train(
    run: Run,
    out: str | Path = "runs",
    callbacks: Sequence[Callable[[Result], object]] = (),
    progress: bool = True,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> TrainedRun:
    """Train and evaluate all seeds and variants of `run`, or find them done, below folder `out`.

    Each of `callbacks` receives each evaluation, after those of all agents are on disk. A callback
    that raises `StopTraining("why")` ends the training early. The run then has a checkpoint and a
    stopped.json, and the same call without that callback resumes it, as after an interruption.
    `progress` shows a bar on a terminal or in a notebook, elsewhere as lines.
    Raises ValueError for what is no `Run`, and where the folder cannot be written, holds a run
    under other rules, the game breaks its contract, or the memory does not suffice.
    """
    if not isinstance(run, Run):
        raise ValueError(f"run must be a Run, such as preset(...) returns, not {shown(run)}")
    _check_callbacks(callbacks)
    watch = RunProgress(run, progress)

    def on_evaluation(result: Result) -> None:
        watch.on_result(result)
        call_all(partial(callback, result) for callback in callbacks)

    try:
        with visible_compilation(progress):
            execution.train(run, out, watch.on_chunk, on_evaluation, checkpoint_every)
    finally:
        watch.close()
    return TrainedRun(out, run)


def _check_callbacks(callbacks: object) -> None:
    """Raise ValueError for what is no list of functions."""
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        name = getattr(callbacks, "__name__", "print")
        raise ValueError(
            f"callbacks must be a list of functions, such as [{name}], not {shown(callbacks)}"
        )


def sweep(
    spec: str | Path | Mapping[str, JSON],
    out: str | Path = "runs",
    executor: Executor = "inline",
    workers: int | None = None,
    address: str | None = None,
    adaptive: Adaptive | None = None,
    callbacks: Sequence[Callable[[Run, Result], object]] = (),
    progress: bool = True,
    checkpoint_every: float = CHECKPOINT_EVERY,
    resources: Resources | None = None,
) -> Sweep:
    """Do all runs of a sweep that are not yet done, below folder `out`.

    `spec` is a TOML file or a table of what stands in one: {"game": "nim", "seeds": "0:10", "axes":
    {"alpha": [0.5, 1.0]}}. `callbacks` are told (run, evaluation); StopTraining raised by one stops
    the runs that are trained together there, as in `train`; only in this process ("inline"). A unit
    that fails is told on standard error and kept in `failures`; it stops no other. `resources` are
    what Ray or Slurm gives to each unit. Raises
    ValueError for what is wrong in `spec`, MissingExtra where an executor or `adaptive` needs one.
    """
    if callbacks and executor != "inline":
        raise ValueError(f"callbacks are called in this process: executor inline, not {executor}")
    _check_callbacks(callbacks)
    if not isinstance(spec, str | Path | Mapping):
        raise ValueError(f"spec must be a TOML file or a table of settings, not {shown(spec)}")
    if isinstance(spec, Mapping):
        chosen = plan(dict(spec), adaptive)
    else:
        chosen = read_spec(Path(spec), adaptive)

    def on_evaluation(run: Run, result: Result) -> None:
        try:
            call_all(partial(callback, run, result) for callback in callbacks)
        except StopTraining:
            raise
        except Exception as error:  # Any error of a callback is a mistake of the user.
            raise RuntimeError(f"a callback raised {type(error).__name__}: {error}") from error

    resources = resources or Resources()
    resources.check_executor(executor)
    settings = ExecutorSettings(
        Path(out),
        checkpoint_every,
        workers or os.cpu_count() or 1,
        address,
        on_evaluation=on_evaluation,
        resources=resources,
    )
    with visible_compilation(progress):
        outcome = run_plan(chosen, executor, settings, shown=progress)
    report_outcome(outcome, chosen)
    return Sweep(chosen, Path(out), outcome)


_Arguments = ParamSpec("_Arguments")


def _rated(play: Callable[_Arguments, Played]) -> Callable[_Arguments, Ladder]:
    """Make a function that plays a tournament return its ladder."""

    @functools.wraps(play)
    def tournament(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> Ladder:
        return Ladder(*play(*arguments, **options))

    tournament.__name__ = tournament.__qualname__ = "tournament"
    signature = inspect.signature(play).replace(return_annotation=Ladder)
    tournament.__signature__ = signature  # type: ignore[attr-defined]
    # A copy: wraps() shares this table with `play`.
    tournament.__annotations__ = play.__annotations__ | {"return": Ladder}
    return tournament


tournament = _rated(play_tournament)
