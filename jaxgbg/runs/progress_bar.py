"""How far some work is, shown while it goes on: a bar on a terminal, another one in a notebook, and
elsewhere, as in the file of a job, lines: soon the first, then a line a minute.
"""

import itertools
import sys
import time
from typing import Any, Protocol

FIRST_LINE, LINE_SECONDS = 5.0, 60.0
"""Before the first line where there is no bar, and the most between two; waits double."""
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


class Bar(Protocol):
    """Shows how far some work is."""

    def show(self, share: float, text: str = "", before: float = 0.0) -> None:
        """`share` of it is done, in [0, 1]; `text` says what else there is to tell.

        `before` was done when it began, in another time than this: what is left is told by the
        rest.
        """
        ...

    def close(self) -> None:
        """Show no more."""
        ...


def open_bar(name: str, shown: bool = True) -> Bar:
    """A bar called `name`, of the kind that is seen here; one that is not `shown` does nothing."""
    if not shown:
        return _Nothing()
    for kind in (_Notebook if _in_notebook() else _Terminal,):
        try:
            return kind(name)
        except ImportError:
            # The core does without rich and tqdm.
            continue
    return _Lines(name)


class _Nothing:
    def show(self, share: float, text: str = "", before: float = 0.0) -> None:
        return None

    def close(self) -> None:
        return None


class _Lines:
    """Lines ever further apart, so that a training of seconds shows too; then one a minute."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._clock = Clock()
        self._told = self._clock.start
        self._wait = min(FIRST_LINE, LINE_SECONDS)

    def show(self, share: float, text: str = "", before: float = 0.0) -> None:
        now = time.monotonic()
        if now - self._told < self._wait:
            return
        self._told = now
        self._wait = min(2 * self._wait, LINE_SECONDS)
        parts = [f"{share:.0%}", *filter(None, [text]), self._clock.text(share, before)]
        print(f"{self.name}: {', '.join(parts)}", file=sys.stderr, flush=True)

    def close(self) -> None:
        return None


class _Terminal(_Lines):
    """A bar by rich; without a terminal there are lines instead."""

    def __init__(self, name: str) -> None:
        from rich import progress
        from rich.console import Console

        super().__init__(name)
        console = Console(stderr=True)
        self._bar: Any = None
        if console.is_terminal:
            columns: Any = [
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.TextColumn("{task.fields[text]}"),
            ]
            self._bar = progress.Progress(*columns, console=console)
            self._task = self._bar.add_task(name, total=1.0, text="")
            self._bar.start()

    def show(self, share: float, text: str = "", before: float = 0.0) -> None:
        if self._bar is None:
            super().show(share, text, before)
            return
        told = ", ".join(filter(None, [self._clock.text(share, before), text]))
        self._bar.update(self._task, completed=share, text=told)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Notebook:
    """A bar by tqdm, in thousandths."""

    def __init__(self, name: str) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(total=1000, desc=name, bar_format="{desc} {bar} {postfix}")
        self._clock = Clock()

    def show(self, share: float, text: str = "", before: float = 0.0) -> None:
        told = [f"{share:.0%}", self._clock.text(share, before), text]
        self._bar.set_postfix_str(", ".join(filter(None, told)), refresh=False)
        self._bar.update(round(1000 * share) - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class Clock:
    """How long some work takes, by what is done of it."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    def text(self, share: float, before: float = 0.0) -> str:
        """Time gone and, once something is done, time left, in words."""
        gone = time.monotonic() - self.start
        told = duration(gone)
        if before < share < 1:
            told += f" gone, {duration(gone * (1 - share) / (share - before))} left"
        return told


def duration(seconds: float) -> str:
    """Seconds in words that fit a line: 45 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    left = round(seconds)
    for (name, size), (small, part) in itertools.pairwise(_UNITS):
        if left >= size:
            rest = left % size // part
            return f"{left // size} {name}" + (f" {rest} {small}" if rest else "")
    return f"{left} s"


def rough_duration(seconds: float) -> str:
    """Seconds in one unit: 45 s, 3 min, 2.1 h."""
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter."""
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None else None
    return hasattr(shell, "kernel")
