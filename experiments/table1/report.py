"""Rebuild table.txt and curves.png from the archived runs.

    python -m experiments.table1.report
    python -m experiments.table1.report --authors FILE

The second one writes nothing: it prints every evaluation of these runs next to the authors' curves.
`--out FOLDER` reads the run folders in FOLDER instead of the archive.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from experiments.shared import FinishedRun, archived_runs, make_parser
from experiments.table1.authors import FORMAT, comparisons, read_curves
from jaxgbg import Run, RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results import draw_curves
from jaxgbg.results.formats import print_columns
from jaxgbg.results.lane_results import Source
from jaxgbg.results.rows import Row, group, source_of
from jaxgbg.results.table import notes, panel_tables
from jaxgbg.runs import presets as papers
from jaxgbg.runs.presets import konen2021
from jaxgbg.values import NTupleSpec

HERE = Path(__file__).parent
WIDTH = 136
LOCKSTEP, SERIAL = "In lockstep", "One game at a time"
SCHEDULE = "ConnectFour by the authors' own schedule, in lockstep"
SHIPPED = "ConnectFour on the list of n-tuples that ships, in lockstep"
# The authors' log goes on longer than their paper says, and exploration falls more slowly.
AUTHORS_EPISODES = {"connectfour": 6_000_000}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.set_defaults(out=None)
    parser.add_argument(
        "--authors",
        type=Path,
        metavar="FILE",
        help=f"the authors' learning curves, no part of this project, as {FORMAT}",
    )
    options = parser.parse_args(arguments)
    runs: Sequence[FinishedRun] = archived_runs(HERE)
    if options.out is not None:
        runs = [RunFolder.open(path) for path in options.out.iterdir()]
    parts = parts_of(runs)
    if options.authors is None:
        write_tables(parts, options.results)
        together = {folder.run.game.name for folder in parts[LOCKSTEP]}
        alone = [each for each in parts[SERIAL] if each.run.game.name not in together]
        curves = [(folder.run, folder.results()) for folder in (*alone, *parts[LOCKSTEP])]
        draw_curves(curves, options.results / "curves.png")
        return
    try:
        print_beside(parts, options.authors)
    except ValueError as error:
        parser.exit(2, f"error: {error}\n")


def parts_of(runs: Sequence[FinishedRun]) -> dict[str, list[FinishedRun]]:
    """The runs of each part of the table, in the order of the paper's table."""
    ordered = sorted(
        runs, key=lambda each: (konen2021.GAMES.index(each.run.game.name), each.run.seeds)
    )
    return {
        title: [each for each in ordered if part_of(each.run) == title]
        for title in (LOCKSTEP, SHIPPED, SERIAL, SCHEDULE)
    }


def part_of(run: Run) -> str:
    """In which part of the table a run stands."""
    if run.schedule.batch == 1:
        return SERIAL
    if run.game.name == "connectfour" and isinstance(run.value, NTupleSpec) and run.value.layout:
        return SHIPPED
    longer = AUTHORS_EPISODES.get(run.game.name)
    return SCHEDULE if run.schedule.episodes == longer else LOCKSTEP


def rows_of(folders: Sequence[FinishedRun]) -> Sequence[Row]:
    """A row for each game, opponent and variant."""
    return group([source(folder) for folder in folders], ("variant",)).rows


def write_tables(parts: dict[str, list[FinishedRun]], place: Path) -> None:
    """table.txt: a part after the other, those without a run left out."""
    with (place / "table.txt").open("w", encoding="utf-8") as file:
        console = Console(file=file, width=WIDTH)
        for title, folders in parts.items():
            if not folders:
                continue
            console.print(f"{title}\n{'=' * len(title)}")
            table = rows_of(folders)
            print_rows(table, console)
            console.print()


def print_rows(table: Sequence[Row], console: Console) -> None:
    """A table each game and opponent, with a mark where all figures are of one evaluation."""
    marked = False
    for title, rows, columns in panel_tables(table, "none"):
        once = all(len(curve) == 1 for row in rows for curve in row.curves)
        marked |= once
        print_columns(columns, console, title=f"{title} *" if once else title)
        console.print()
    told = notes(table)
    if marked:
        told.append(
            "* One evaluation, of the finished agents: mean and last are the same, and no mean over"
            " a part of the training as in the other tables."
        )
    for note in told:
        console.print(note, highlight=False, markup=False)


def print_beside(parts: dict[str, list[FinishedRun]], authors: Path) -> None:
    """Every evaluation next to the authors' curves; ValueError for a file that holds none."""
    curves = read_curves(authors)
    console = Console(width=WIDTH)
    told: dict[str | None, None] = {}
    for title, folders in parts.items():
        if not folders:
            continue
        console.print(f"{title}\n{'=' * len(title)}")
        rows = group([source(folder) for folder in folders], ("variant", "episodes")).rows
        for heading, columns, upshot in comparisons(rows, curves):
            print_columns(columns, console, title=heading)
            console.print(*upshot, "", sep="\n", highlight=False, markup=False)
        told |= dict.fromkeys(
            papers.note(row.game, row.opponent)
            for row in rows
            if (row.game, row.opponent, row.variant) in curves
        )
    known = "; ".join(filter(None, told))
    console.print(
        "Mean ± s.e. over n seeds of one evaluation. * Between two evaluations of theirs, by a"
        " straight line." + (f" Notes: {known}." if known else ""),
        highlight=False,
        markup=False,
    )


def source(folder: FinishedRun) -> Source:
    """The results of a run; runs of a game that differ by their seeds alone make the same rows."""
    seconds = folder.summary()["training_seconds"] if folder.finished else math.nan
    return source_of(folder.run, folder.results(), seconds)


if __name__ == "__main__":
    end_in_a_line(main)
