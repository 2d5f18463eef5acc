"""Train runs one after another with a progress bar, and print the results."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jaxgbg.cli.common import console, write_rows
from jaxgbg.cli.loggers import Loggers
from jaxgbg.cli.session import start_jax
from jaxgbg.results.figures import draw_curves
from jaxgbg.results.formats import Format
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.table import print_table
from jaxgbg.runs import Result, Run, RunFolder
from jaxgbg.runs.execution import train
from jaxgbg.runs.loop import Progress
from jaxgbg.runs.progress import RunProgress
from jaxgbg.runs.run import digest_of
from jaxgbg.runs.stopping import Stopped
from jaxgbg.web.watch.serving import WatchProcess


def run_all(
    runs: list[Run],
    out: Path,
    json_file: Path | None,
    checkpoint_every: float,
    log: tuple[str, ...],
    form: Format,
    finish: Callable[[RunFolder], None] = lambda _: None,
    name: str | None = None,
    watched_on: int | None = None,
) -> None:
    """Train what is not yet on disk, `finish` each run, print the table, write curves and rows.

    After an interruption, use the results so far. The name of the picture starts with `name`, or
    with the names of the games. A page on the port `watched_on` shows the training.
    """
    start_jax()
    screen = console()
    finished: list[tuple[Run, list[Result], float]] = []
    folders: list[RunFolder] = []
    stopped = 0
    for run in runs:
        folder, seconds, stopped = train_with_bar(run, out, checkpoint_every, log, watched_on)
        folders.append(folder)
        try:
            if not stopped:
                finish(folder)
        except KeyboardInterrupt:
            stopped = signal.SIGINT
        finished.append((run, folder.results(), seconds))
        if stopped:
            break
    table = [row for each in finished if each[1] for row in rows(*each)]
    if table:
        print_table(table, screen, form)
        picture = out / f"{_name_of(runs, name)}-curves.png"
        draw_curves([(run, results) for run, results, _ in finished if results], picture)
        screen.print(f"learning curves: {picture}", soft_wrap=True)
    write_rows(json_file, as_records(table))
    for folder in folders:
        screen.print(f"results: {folder.path}", soft_wrap=True)
        for seed, variant in folder.summary().get("diverged", ()) if folder.finished else ():
            print(
                f"jaxgbg: the network of seed {seed}, {variant}, has diverged and plays at random;"
                " use a smaller --alpha, or --output tanh",
                file=sys.stderr,
            )
    if stopped:
        count = len(folders[-1].results())
        print(
            f"jaxgbg: stopped; {count} evaluations kept in {folders[-1].path};"
            " the same command resumes from there",
            file=sys.stderr,
        )
        sys.exit(128 + stopped)


def _name_of(runs: list[Run], name: str | None) -> str:
    """A unique name for these runs: the name of a single one, otherwise a digest of all."""
    if len(runs) == 1 and name is None:
        return runs[0].name
    games = "-".join(run.game.name for run in runs)
    return f"{name or games}-{digest_of({run.name: '' for run in runs})}"


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
