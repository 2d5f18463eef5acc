"""A run with a progress bar: time left, episodes/s, the latest scores."""

import signal
from collections.abc import Sequence
from pathlib import Path

from jaxgbg.commands.loggers import Loggers
from jaxgbg.training.execution import train
from jaxgbg.training.loop import Progress, Result
from jaxgbg.training.run import Run
from jaxgbg.training.stopping import Stopped
from jaxgbg.training.store import RunFolder
from jaxgbg.training.watching import Watch


def train_with_bar(
    run: Run, out: Path, checkpoint_every: float, log: Sequence[str] = ()
) -> tuple[RunFolder, float, int]:
    """Do a run unless it is done, shown by the loggers `log` too.

    Returns (folder, training seconds, 0 or the number of the signal that stopped it).
    """
    folder = RunFolder(out, run)
    if folder.finished:
        return folder, folder.summary()["training_seconds"], 0
    seconds = 0.0
    loggers = Loggers(log, folder.path, run)
    watch = Watch(run)

    def on_chunk(now: Progress) -> None:
        nonlocal seconds
        seconds = now.seconds
        watch.on_chunk(now)

    def on_result(result: Result) -> None:
        watch.on_result(result)
        loggers.log(result)

    try:
        train(run, out, on_chunk, on_result, checkpoint_every)
    except KeyboardInterrupt as stop:
        return folder, seconds, stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT
    finally:
        watch.close()
        loggers.close()
    return folder, folder.summary()["training_seconds"], 0
