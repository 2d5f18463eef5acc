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
from jaxgbg.results.rows import rows
from jaxgbg.training.files import write_json

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.set_defaults(out=HERE / "runs")
    options = parser.parse_args(arguments)
    folders = [RunFolder.open(path) for path in options.out.iterdir()]
    folders.sort(key=lambda folder: konen2021.GAMES.index(folder.run.game.name))
    table = []
    for folder in folders:
        seconds = folder.summary()["training_seconds"] if folder.finished else math.nan
        table += rows(folder.run, folder.results(), seconds)
    with (options.results / "table.txt").open("w", encoding="utf-8") as file:
        print_table(table, Console(file=file, width=136))
    write_json(options.results / "rows.json", as_records(table))
    curves = [(folder.run, folder.results()) for folder in folders]
    draw_curves(curves, options.results / "curves.png")


if __name__ == "__main__":
    main()
