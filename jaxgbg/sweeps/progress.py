"""Progress of a sweep, read from the folders of its runs, with any executor."""

import contextlib
import functools
import threading
import time
from collections.abc import Hashable, Iterator, Sequence, Set
from pathlib import Path

from jaxgbg.runs.compilation import CompileTimer
from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.progress_bar import Bar, open_bar
from jaxgbg.runs.run import Run
from jaxgbg.runs.storage.metrics import last_episodes
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.specs import pluralize
from jaxgbg.sweeps.spec import Unit

_POLL_SECONDS = 1.0
_MOST_OFTEN = 20


def reached(out: Path, run: Run) -> int:
    """Episodes that a run has reached, by its last evaluation."""
    return min(last_episodes(RunFolder(out, run).path / "metrics.jsonl"), run.schedule.episodes)


def ended(out: Path, unit: Unit) -> bool:
    """Whether all runs of a unit are over, without reading what their folders hold."""
    return all((RunFolder(out, run).path / "summary.json").exists() for run in unit.runs)


class SweepProgress:
    """One bar for all units of a sweep."""

    def __init__(self, units: Sequence[Unit], out: Path, bar: Bar) -> None:
        self._units, self._out, self._bar = list(units), out, bar
        self._dropped: set[str] = set()
        self._over: set[str] = set()
        self._begun: set[str] = set()
        self._compiling = CompileTimer()
        self._before = self.share()[0]
        self._begun_before = frozenset(self._begun)

    def drop(self, units: Sequence[Unit]) -> None:
        """Nothing more will be done of these units."""
        self._dropped.update(unit.name for unit in units)

    def share(self) -> tuple[float, int]:
        """(what is done of all episodes to be trained, how many units are done)."""
        done = total = 0
        for unit in self._units:
            budget = sum(len(run.lanes) * run.schedule.episodes for run in unit.runs)
            if unit.name not in self._over and ended(self._out, unit):
                self._over.add(unit.name)
            episodes = budget
            if unit.name not in self._over:
                episodes = sum(len(run.lanes) * reached(self._out, run) for run in unit.runs)
            if episodes:
                self._begun.add(unit.name)
            done += episodes
            total += episodes if unit.name in self._dropped else budget
        return done / max(total, 1), len(self._over | self._dropped)

    def show(self) -> None:
        """Look once, and show it."""
        share, over = self.share()
        done = f"{over:,} of {pluralize(len(self._units), 'unit')}"
        text = ", ".join(filter(None, (done, self._compiling.text())))
        self._bar.show(share, text, self._before, self._overhead(share))

    def _overhead(self, share: float) -> float:
        """The seconds of compilation here, less those that the programs to come will take.

        The bar takes the remaining time from the other seconds. Compilation in other processes
        is not known.
        """
        seconds = self._compiling.seconds()
        begun = self._begun - self._begun_before
        if seconds < 1 or not begun or share >= 1:
            return seconds
        compiled = self._programs(begun)
        every = self._programs({unit.name for unit in self._units} - self._dropped)
        to_come = every - self._programs(self._begun)
        expected = seconds * len(to_come) / len(compiled)
        return seconds - expected * (share - self._before) / (1 - share)

    def _programs(self, names: Set[str]) -> set[Hashable]:
        """The programs of the units of these names."""
        return {self._program_by_unit[name] for name in names}

    @functools.cached_property
    def _program_by_unit(self) -> dict[str, Hashable]:
        return {unit.name: (program_of(unit.runs[0]), unit.lanes) for unit in self._units}


@contextlib.contextmanager
def watching(units: Sequence[Unit], out: Path, shown: bool = True) -> Iterator[SweepProgress]:
    """Show how far `units` are while the block does them."""
    bar = open_bar("sweep", shown)
    watch = SweepProgress(units, out, bar)
    over = threading.Event()

    def poll() -> None:
        wait = _POLL_SECONDS
        while not over.wait(wait):
            begun = time.monotonic()
            watch.show()
            # Thousands of folders may be far away: looking must not be what takes the time.
            wait = max(_POLL_SECONDS, _MOST_OFTEN * (time.monotonic() - begun))

    thread = threading.Thread(target=poll, daemon=True)
    if shown:
        thread.start()
    try:
        yield watch
    finally:
        over.set()
        if shown:
            thread.join()
            watch.show()
        bar.close()
