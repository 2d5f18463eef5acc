"""Rebuild table.txt, rows.json and curves.png from the runs kept beside this file.

python -m experiments.table1.report
"""

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from experiments.shared import make_parser
from jaxgbg import RunFolder
from jaxgbg.papers import konen2021
from jaxgbg.results import as_records, draw_curves, print_table
from jaxgbg.results.lanes import Source
from jaxgbg.results.rows import group, source_of
from jaxgbg.training.files import write_json

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.set_defaults(out=HERE / "runs")
    options = parser.parse_args(arguments)
    folders = [RunFolder.open(path) for path in options.out.iterdir()]
    folders.sort(key=lambda folder: (konen2021.GAMES.index(folder.run.game.name), folder.run.seeds))
    serial, lockstep = (
        [folder for folder in folders if (folder.run.schedule.batch == 1) is alone]
        for alone in (True, False)
    )
    records = []
    with (options.results / "table.txt").open("w", encoding="utf-8") as file:
        console = Console(file=file, width=136)
        for title, chosen in (("In lockstep", lockstep), ("One game at a time", serial)):
            console.print(f"{title}\n{'=' * len(title)}")
            table = group([source(folder) for folder in chosen], ("variant",)).rows
            print_table(table, console)
            console.print()
            records += [{"games": title.lower()} | record for record in as_records(table)]
    write_json(options.results / "rows.json", records)
    curves = [(folder.run, folder.results()) for folder in lockstep]
    draw_curves(curves, options.results / "curves.png")


def source(folder: RunFolder) -> Source:
    """What a run has found; runs of a game that differ by their seeds alone make the same rows."""
    seconds = folder.summary()["training_seconds"] if folder.finished else math.nan
    return source_of(folder.run, folder.results(), seconds)


if __name__ == "__main__":
    main()
