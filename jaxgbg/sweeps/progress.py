"""Progress of a sweep, read from the folders of its runs, with any executor."""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

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
        self._before = self.share()[0]

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
            done += episodes
            total += episodes if unit.name in self._dropped else budget
        return done / max(total, 1), len(self._over | self._dropped)

    def show(self) -> None:
        """Look once, and show it."""
        share, over = self.share()
        self._bar.show(share, f"{over:,} of {pluralize(len(self._units), 'unit')}", self._before)


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
