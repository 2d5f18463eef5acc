"""Train a run with a progress bar: remaining time, episodes/s, the latest scores."""

import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxgbg.cli.loggers import Loggers
from jaxgbg.runs.execution import train
from jaxgbg.runs.loop import Progress, Result
from jaxgbg.runs.progress import RunProgress
from jaxgbg.runs.run import Run
from jaxgbg.runs.stopping import Stopped
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.web.watch.serving import WatchProcess


def train_with_bar(
    run: Run,
    out: Path,
    checkpoint_every: float,
    log: Sequence[str] = (),
    watched_on: int | None = None,
) -> tuple[RunFolder, float, int]:
    """Train a run unless it is finished; also send evaluations to the loggers `log`.

    With a port `watched_on`, a page shows the training. Returns (folder, training seconds, 0 or the
    number of the signal that stopped it).
    """
    folder = RunFolder(out, run)
    if folder.finished:
        if watched_on is not None:
            print(
                f"jaxgbg: the run is finished; `jaxgbg watch {folder.path}` shows it",
                file=sys.stderr,
            )
        return folder, folder.summary()["training_seconds"], 0
    seconds = 0.0
    loggers = Loggers(log, folder.path, run)
    watch = RunProgress(run)

    def on_chunk(now: Progress) -> None:
        nonlocal seconds
        seconds = now.seconds
        watch.on_chunk(now)

    def on_result(result: Result) -> None:
        watch.on_result(result)
        loggers.log(result)

    try:
        with _page(folder.path, watched_on):
            train(run, out, on_chunk, on_result, checkpoint_every)
    except KeyboardInterrupt as stop:
        return folder, seconds, stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT
    finally:
        watch.close()
        loggers.close()
    return folder, folder.summary()["training_seconds"], 0


@contextlib.contextmanager
def _page(folder: Path, port: int | None) -> Iterator[None]:
    """Serve a page on the run in `folder` from a separate process; nothing without a port."""
    if port is None:
        yield
        return
    with WatchProcess(port) as page:
        if page.show(folder):
            print(f"jaxgbg: the training is shown at {page.address}", file=sys.stderr)
        else:
            print(
                "jaxgbg: the process that shows the training could not be started", file=sys.stderr
            )
        yield
