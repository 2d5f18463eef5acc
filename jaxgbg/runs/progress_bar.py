"""Progress of some work: a bar on a terminal or in a notebook, otherwise lines.

The first line comes after a few seconds; later ones are at most a minute apart.
"""

import itertools
import sys
import time
from typing import Any, Protocol

FIRST_LINE, LINE_SECONDS = 5.0, 60.0
"""Seconds before the first line and at most between two lines; the wait doubles each time."""
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


class Bar(Protocol):
    """Shows how far some work is."""

    def show(
        self, share: float, text: str = "", before: float = 0.0, overhead: float = 0.0
    ) -> None:
        """Show that a `share` of the work is done, with a `text` after the bar.

        Args:
          share: What is done of the work, in [0, 1].
          text: What else the line says.
          before: The share that was done when the bar was opened.
          overhead: Seconds since then that were not spent on the work, such as compilation. The
            remaining time is estimated from the other seconds.
        """
        ...

    def close(self) -> None:
        """Remove the bar, or leave it as it stands."""
        ...


def open_bar(name: str, shown: bool = True, start: float | None = None) -> Bar:
    """Open a bar called `name` of the kind that suits this terminal or notebook.

    Args:
      name: Stands at the beginning of each line.
      shown: False for a bar that shows nothing.
      start: When the work began, as `time.monotonic()`; by default now.
    """
    if not shown:
        return _Nothing()
    clock = Clock(start)
    try:
        return _Notebook(name, clock) if _in_notebook() else _Terminal(name, clock)
    except ImportError:
        # The core does without rich and tqdm.
        return _Lines(name, clock)


class _Nothing:
    def show(
        self, share: float, text: str = "", before: float = 0.0, overhead: float = 0.0
    ) -> None:
        return None

    def close(self) -> None:
        return None


class _Lines:
    """Lines at doubling intervals, so that a training of seconds has one too; then one a minute."""

    def __init__(self, name: str, clock: "Clock") -> None:
        self.name, self._clock = name, clock
        self._shown_at = clock.start
        self._wait = min(FIRST_LINE, LINE_SECONDS)

    def show(
        self, share: float, text: str = "", before: float = 0.0, overhead: float = 0.0
    ) -> None:
        now = time.monotonic()
        if now - self._shown_at < self._wait:
            return
        self._shown_at = now
        self._wait = min(2 * self._wait, LINE_SECONDS)
        parts = [f"{share:.0%}", text, self._clock.text(share, before, overhead)]
        print(f"{self.name}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    def close(self) -> None:
        return None


class _Terminal(_Lines):
    """A bar by rich; without a terminal there are lines instead."""

    def __init__(self, name: str, clock: "Clock") -> None:
        from rich import progress
        from rich.console import Console

        super().__init__(name, clock)
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

    def show(
        self, share: float, text: str = "", before: float = 0.0, overhead: float = 0.0
    ) -> None:
        if self._bar is None:
            super().show(share, text, before, overhead)
            return
        parts = [self._clock.text(share, before, overhead), text]
        self._bar.update(self._task, completed=share, text=", ".join(filter(None, parts)))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Notebook:
    """A bar by tqdm, in thousandths."""

    def __init__(self, name: str, clock: "Clock") -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(total=1000, desc=name, bar_format="{desc} {bar} {postfix}")
        self._clock = clock

    def show(
        self, share: float, text: str = "", before: float = 0.0, overhead: float = 0.0
    ) -> None:
        parts = [f"{share:.0%}", self._clock.text(share, before, overhead), text]
        self._bar.set_postfix_str(", ".join(filter(None, parts)), refresh=False)
        self._bar.update(round(1000 * share) - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class Clock:
    """The elapsed time of some work, and the remaining time by what is done of it."""

    def __init__(self, start: float | None = None) -> None:
        self.start = time.monotonic() if start is None else start

    def text(self, share: float, before: float = 0.0, overhead: float = 0.0) -> str:
        """Elapsed time and, once there is a rate, remaining time; see `Bar.show`."""
        elapsed = time.monotonic() - self.start
        text = f"{duration(elapsed)} elapsed"
        if before < share < 1:
            remaining = max(elapsed - overhead, 0.0) * (1 - share) / (share - before)
            text += f", {duration(remaining)} remaining"
        return text


def duration(seconds: float) -> str:
    """Seconds in words that fit a line: 45 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    whole = round(seconds)
    for (name, size), (small, part) in itertools.pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


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
