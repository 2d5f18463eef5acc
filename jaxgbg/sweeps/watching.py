"""How far a sweep is, told by the folders of its runs, whoever does them and wherever."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxgbg.sweeps.spec import Unit
from jaxgbg.training.bars import Bar, open_bar
from jaxgbg.training.metrics import last_episodes
from jaxgbg.training.run import Run
from jaxgbg.training.store import RunFolder

_POLL_SECONDS = 1.0


def reached(out: Path, run: Run) -> int:
    """Episodes that a run has reached: all of them, or those of its last evaluation."""
    folder = RunFolder(out, run)
    if (folder.path / "summary.json").exists():
        return run.schedule.episodes
    return min(last_episodes(folder.path / "metrics.jsonl"), run.schedule.episodes)


class Watch:
    """One bar for all units of a sweep."""

    def __init__(self, units: Sequence[Unit], out: Path, bar: Bar) -> None:
        self._units, self._out, self._bar = list(units), out, bar
        self._dropped: set[str] = set()
        self._before = self.share()[0]

    def drop(self, units: Sequence[Unit]) -> None:
        """Nothing more will be done of these units."""
        self._dropped.update(unit.name for unit in units)

    def share(self) -> tuple[float, int]:
        """(what is done of all episodes to be trained, how many units are done)."""
        done = total = ended = 0
        for unit in self._units:
            episodes = [len(run.lanes) * reached(self._out, run) for run in unit.runs]
            budget = sum(len(run.lanes) * run.schedule.episodes for run in unit.runs)
            dropped = unit.name in self._dropped
            done += sum(episodes)
            total += sum(episodes) if dropped else budget
            ended += dropped or sum(episodes) == budget
        return done / max(total, 1), ended

    def show(self) -> None:
        """Look once, and show it."""
        share, ended = self.share()
        self._bar.show(share, f"{ended:,} of {len(self._units):,} units", self._before)


@contextlib.contextmanager
def watching(units: Sequence[Unit], out: Path, shown: bool = True) -> Iterator[Watch]:
    """Show how far `units` are while the block does them."""
    bar = open_bar("sweep", shown)
    watch = Watch(units, out, bar)
    over = threading.Event()

    def look() -> None:
        while not over.wait(_POLL_SECONDS):
            watch.show()

    thread = threading.Thread(target=look, daemon=True)
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
