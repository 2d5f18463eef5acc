"""The progress bar of one run: remaining time, episodes/s, the latest scores."""

import time

from jaxgbg.evaluation import scale_of
from jaxgbg.runs.compilation import CompileTimer
from jaxgbg.runs.loop import Progress, Result
from jaxgbg.runs.progress_bar import Bar, open_bar
from jaxgbg.runs.run import Run


class RunProgress:
    """Shows a run while it is trained; its methods are what `train` is given."""

    def __init__(self, run: Run, shown: bool = True) -> None:
        self._run, self._shown = run, shown
        self._bar: Bar | None = None
        self._first: Progress
        self._start = time.monotonic()
        self._before = self._preparation = 0.0
        self._latest = ""

    def on_chunk(self, now: Progress) -> None:
        """Show how far it is."""
        share = now.episodes / now.total_episodes
        if self._bar is None:
            # Opened after the first chunk, so that no error message appears below a bar.
            self._bar = open_bar(self._run.game.name, self._shown, self._start)
            self._before, self._first = share, now
            self._preparation = time.monotonic() - self._start
            self._compiling = CompileTimer()
        rate, seconds = "", now.seconds - self._first.seconds
        if seconds > 0:
            # The first chunk includes compilation.
            rate = f"{(now.episodes - self._first.episodes) / seconds:,.0f} episodes/s"
        text = ", ".join(filter(None, (rate, self._latest)))
        overhead = self._preparation + self._compiling.seconds()
        self._bar.show(share, text, self._before, overhead)

    def on_result(self, result: Result) -> None:
        """Keep an evaluation to be shown."""
        scale = scale_of(result.opponent, self._run.game)
        figure = f"{scale.label} {scale.text(scale.figure(result.score))}"
        self._latest = f"{result.opponent}, {result.variant}: {figure} at {result.episodes:,}"

    def close(self) -> None:
        """Show no more."""
        if self._bar is not None:
            self._bar.close()
