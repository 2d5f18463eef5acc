"""The state of runs in progress, read from their files when these change; nothing is written."""

import calendar
import hashlib
import os
import shlex
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path

from jaxgbg.contents import reason
from jaxgbg.results.folders import StoredRun, find_runs, unknown_games
from jaxgbg.results.groups import group_stored, shortened
from jaxgbg.runs.progress_bar import duration
from jaxgbg.runs.storage.locations import NoRuns, find
from jaxgbg.runs.storage.locks import at_work, killed
from jaxgbg.runs.storage.schemas import Provenance
from jaxgbg.types import JSON
from jaxgbg.web.html import game_section
from jaxgbg.web.run_facts import settings_text
from jaxgbg.web.watch.game import LatestGame
from jaxgbg.web.watch.pace import Budget, Pace
from jaxgbg.web.watch.templates import rendered

MOST_RUNS = 200
"""The maximum number of runs to follow."""
SHARE = 0.004
"""The share of the time for reading files, and the same for playing games."""
_MOST_WAIT = 120.0
_ORIGIN = "provenance.json"
_STATES = {
    "running": "In progress",
    "finished": "Finished",
    "stopped": "Stopped early",
    "paused": "Not running: the same command resumes from the last checkpoint",
    "killed": "Killed: the same command resumes from the last checkpoint",
    "gone": "The folder was deleted",
}
_MOST_PROBLEMS = 20
_MOST_LINES = 12
"""The maximum number of rows of a game and opponent."""


class Watched:
    """The runs in a folder, or one run, which may not exist yet with `wait`. Thread-safe.

    Raises ValueError if there is nothing to show and nothing to wait for, or too much.
    """

    def __init__(self, root: Path, wait: bool = False) -> None:
        self.root = Path(os.path.realpath(root))
        self._lock = threading.Lock()
        self._runs: list[StoredRun] = []
        self._problems: list[str] = []
        self._seen: object = None
        self._paces: dict[Path, tuple[object, Pace]] = {}
        self._commands: dict[Path, str] = {}
        self._budget = Budget(SHARE, _MOST_WAIT)
        self._curves = ""
        self._line = ""
        self._pool = ThreadPoolExecutor(1)
        self._first: Future[None] | None = None
        self.game = LatestGame(SHARE)
        if not wait:
            self._read()

    def state(self) -> dict[str, JSON]:
        """The progress of all runs, a line for each problem, the versions of curves and game."""
        with self._lock:
            drawn = self._first is None or self._first.done()
            if drawn and self._budget.due(time.monotonic()):
                self._poll()
                drawn = self._first is None or self._first.done()
            if drawn:
                self._play()
            problems = [*self._problems, *(line for run in self._runs for line in run.problems)]
            return {
                "name": self.root.name,
                "line": self._line,
                "runs": [self._progress_of(run) for run in self._runs],
                "settings": self._settings() if drawn else [],
                "problems": problems[:_MOST_PROBLEMS],
                "curves": _version(self._curves),
                "curves_line": "No evaluation yet." if drawn else "The curves are being drawn …",
                "game": _version(self.game.html),
                "game_line": self.game.line,
                "ended": False,
            }

    def _poll(self) -> None:
        """Read the files, or record why that fails; limited to a share of the time."""
        start, before = time.thread_time(), self._seen
        self._line = ""
        try:
            self._read()
            if self._first is not None and self._first.done():
                self._first.result()
        except (OSError, ValueError) as error:
            place = f"{self.root}: " if isinstance(error, OSError) else ""
            self._line = f"{place}{reason(error)}"
            if self._runs:
                self._line += " (showing the earlier content)"
            elif isinstance(error, NoRuns):
                self._line = f"Nothing to show yet in {self.root}"
        # The imports for the first runs are a one-time cost.
        once = before is None and self._seen is not None
        self._budget.spent(0.0 if once else time.thread_time() - start, time.monotonic())

    def hurry(self) -> None:
        """Read the files as soon as possible, without the limit of time."""
        # Not while they are read: what that took would count against the new limit.
        with self._lock:
            self._budget = Budget(SHARE, _MOST_WAIT)

    def curves(self) -> str:
        """Markup of the curves and tables of all games."""
        return self._curves

    def wait(self) -> None:
        """Wait until the first curves are drawn."""
        if self._first is not None:
            wait([self._first])

    def close(self) -> None:
        """Wait for the current drawing and the current game."""
        self._pool.shutdown()
        self.game.close()

    def _read(self) -> None:
        """Read the files again if one of them has changed."""
        found = list(islice(find(self.root, lambda _: None), MOST_RUNS + 1))
        if len(found) > MOST_RUNS:
            raise ValueError(
                f"{self.root} holds more than {MOST_RUNS} runs: name one, or a folder with fewer"
            )
        seen = [
            (each.name, each.signature, each.files, _written(Path(str(each.path)) / _ORIGIN))
            for each in found
        ]
        if seen == self._seen:
            return
        runs, problems = find_runs(self.root)
        if self._first is None:
            for run in runs:
                self._note(run)
            # Publish the progress first: checking rules and drawing take seconds the first time.
            self._runs, self._problems, self._seen = runs, problems, seen
            self._first = self._pool.submit(self._draw, runs, problems, seen)
        else:
            self._draw(runs, problems, seen)

    def _draw(self, runs: list[StoredRun], problems: list[str], seen: object) -> None:
        problems = problems + unknown_games(runs, "shown with raw scores and without a game")
        curves = _curves(runs)
        for run in runs:
            self._note(run)
        self._runs, self._problems, self._seen, self._curves = runs, problems, seen, curves

    def _note(self, run: StoredRun) -> None:
        """Record the progress of a run, and its time."""
        origin = Provenance(**run.content(_ORIGIN, Provenance))
        start = (origin.started, origin.resumed)
        path = Path(str(run.path))
        self._commands[path] = shlex.join(origin.command)
        known = self._paces.get(path)
        if known is None or known[0] != start:
            begun = _seconds(origin.resumed[-1] if origin.resumed else origin.started)
            pace = Pace()
            if begun is not None and origin.resumed:
                pace = Pace(begun)
            elif begun is not None:
                pace.note(begun, 0)
            self._paces[path] = start, pace
        reached = max(run.evaluations.column("episodes"), default=0)
        if reached:
            written = _written(path / "metrics.jsonl")
            if written is not None:
                self._paces[path][1].note(written, reached)

    def _play(self) -> None:
        """Let the latest agent of the run that changed last play, if it is new."""
        known = [run for run in self._runs if run.game is not None and run.error is None]
        if not known:
            return

        def order(run: StoredRun) -> tuple[bool, float]:
            latest = self._paces[Path(str(run.path))][1].latest
            return not run.finished and at_work(Path(str(run.path))), latest[0] if latest else 0.0

        chosen = max(known, key=order)
        if self.game.latest is not None:
            path = self.game.latest.file.parent.parent
            if path in self._paces and not chosen.finished:
                self._paces[path][1].note(self.game.latest.written, self.game.latest.episodes)
        name = f"{chosen.name}: " if len(self._runs) > 1 else ""
        self.game.show(Path(str(chosen.path)), chosen.run, name)

    def _progress_of(self, run: StoredRun) -> dict[str, JSON]:
        """The progress of one run, as text."""
        path = Path(str(run.path))
        pace, total = self._paces[path][1], run.shared.parts["schedule"].episodes
        now = time.time()
        state = _state(run, path)
        reached = total if run.finished else pace.latest[1] if pace.latest else 0
        facts = [("Episodes of each agent", f"{reached:,.0f} of {total:,}")]
        if state == "running":
            rate, left = pace.rate(), pace.left(total, now)
            lanes = len(run.seeds) * len(run.shared.parts["variants"])
            if rate is not None and left is not None:
                facts.append(("Rate", f"{_figure(rate * lanes)} episodes/s of all agents together"))
                facts.append(
                    ("Remaining time", f"about {duration(left)}" if left else "any moment")
                )
            else:
                facts.append(("Remaining time", "known after the next evaluation or checkpoint"))
        elif run.finished and run.summary:
            moves, seconds = (
                run.summary.get(each) for each in ("moves_per_second", "training_seconds")
            )
            facts.append(("Training", f"{duration(seconds or 0)}, {moves or 0:,.0f} moves/s"))
        if state in ("paused", "killed") and (command := self._commands.get(path)):
            facts.append(("Begun by", command))
        if pace.latest and reached and not run.finished:
            facts.append(("Last update", f"{duration(max(now - pace.latest[0], 0))} ago"))
        return {
            "name": run.name,
            "state": state,
            "words": _STATES[state],
            "share": min(reached / total, 1.0),
            "facts": facts,
        }

    def _settings(self) -> list[tuple[str, str]]:
        """The settings of a single run."""
        if len(self._runs) != 1 or self._runs[0].game is None or self._runs[0].error is not None:
            return []
        return settings_text(self._runs[0].run)


def _curves(runs: Sequence[StoredRun]) -> str:
    """The markup of all games' curves and tables; empty before the first evaluation."""
    whole = group_stored(runs)
    if not whole.rows:
        return ""
    table = shortened(whole, _MOST_LINES)
    games = [game_section(each) for each in table.of_games()]
    return rendered("watched_curves.html.j2", games=games, notes=table.notes)


def _state(run: StoredRun, path: Path) -> str:
    """One of `_STATES`."""
    if not path.is_dir():
        return "gone"
    if run.finished:
        return "finished"
    if run.stopped:
        return "stopped"
    return "running" if at_work(path) else "killed" if killed(path) else "paused"


def _version(markup: str) -> str:
    """An identifier that changes with the markup; empty without any."""
    return hashlib.sha256(markup.encode()).hexdigest()[:16] if markup else ""


def _written(file: Path) -> float | None:
    """The modification time of a file; None if it does not exist."""
    try:
        return file.stat().st_mtime
    except OSError:
        return None


def _seconds(started: str) -> float | None:
    """The start time of a run; None if it is unknown."""
    try:
        return calendar.timegm(time.strptime(started, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None


def _figure(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
