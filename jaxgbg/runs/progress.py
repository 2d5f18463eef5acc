"""One run as a bar: time left, episodes/s, the latest scores."""

from jaxgbg.evaluation import scale_of
from jaxgbg.runs.loop import Progress, Result
from jaxgbg.runs.progress_bar import Bar, open_bar
from jaxgbg.runs.run import Run


class Watch:
    """Shows a run while it is trained; its methods are what `train` is given."""

    def __init__(self, run: Run, shown: bool = True) -> None:
        self._run, self._shown = run, shown
        self._bar: Bar | None = None
        self._before = 0.0
        self._latest = ""

    def on_chunk(self, now: Progress) -> None:
        """Show how far it is."""
        share = now.episodes / now.total_episodes
        if self._bar is None:
            # Only now it is compiled, and no mistake will be told below the bar.
            self._bar = open_bar(self._run.game.name, self._shown)
            self._before = share
        rate = f"{now.episodes / now.seconds:,.0f} episodes/s"
        text = ", ".join(filter(None, (rate, self._latest)))
        self._bar.show(share, text, self._before)

    def on_result(self, result: Result) -> None:
        """Keep an evaluation to be shown."""
        scale = scale_of(result.opponent, self._run.game)
        figure = f"{scale.label} {scale.text(scale.figure(result.score))}"
        self._latest = f"{result.opponent}, {result.variant}: {figure} at {result.episodes:,}"

    def close(self) -> None:
        """Show no more."""
        if self._bar is not None:
            self._bar.close()
