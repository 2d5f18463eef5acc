"""A run with a progress bar: episodes/s, time left, the latest scores."""

import signal
from collections.abc import Sequence
from pathlib import Path

from rich import progress as bars
from rich.console import Console

from jaxgbg.arena import scale_of
from jaxgbg.commands.loggers import Loggers
from jaxgbg.training.execution import train
from jaxgbg.training.loop import Progress, Result
from jaxgbg.training.run import Run
from jaxgbg.training.stopping import Stopped
from jaxgbg.training.store import RunFolder


def train_with_bar(
    run: Run, out: Path, checkpoint_every: float, log: Sequence[str] = ()
) -> tuple[RunFolder, float, int]:
    """Do a run unless it is done, shown by the loggers `log` too.

    Returns (folder, training seconds, 0 or the number of the signal that stopped it).
    """
    folder = RunFolder(out, run)
    if folder.finished:
        return folder, folder.summary()["training_seconds"], 0
    bar = bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TextColumn("{task.fields[rate]:>9,.0f} episodes/s"),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[latest]}"),
        console=Console(stderr=True),
    )
    seconds = 0.0
    task = bar.add_task(run.game.name, total=None, rate=0.0, latest="")
    loggers = Loggers(log, folder.path, run)

    def on_chunk(now: Progress) -> None:
        nonlocal seconds
        # A bar that starts only now leaves the line to a mistake found before the training.
        bar.start()
        seconds = now.seconds
        rate = now.episodes / now.seconds
        bar.update(task, completed=now.episodes, total=now.total_episodes, rate=rate)

    def on_result(result: Result) -> None:
        scale = scale_of(result.opponent, run.game)
        figure = f"{scale.label} {scale.text(scale.figure(result.score))}"
        latest = f"{result.opponent}, {result.variant}: {figure} at {result.episodes:,}"
        bar.update(task, latest=latest)
        loggers.log(result)

    try:
        train(run, out, on_chunk, on_result, checkpoint_every)
    except KeyboardInterrupt as stop:
        return folder, seconds, stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT
    finally:
        if bar.live.is_started:
            bar.stop()
        loggers.close()
    return folder, folder.summary()["training_seconds"], 0
