"""Train several runs after another and print what they give: for `train`, `ablate` and `table1`."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

from jaxgbg.cli.common import console, write_rows
from jaxgbg.cli.train_progress import train_with_bar
from jaxgbg.results.figures import draw_curves
from jaxgbg.results.layout import Format
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.table import print_table
from jaxgbg.runs import Result, Run, RunFolder
from jaxgbg.runs.run import digest_of


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
