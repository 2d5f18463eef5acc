"""Rebuild table.txt, rows.json and curves.png from the runs kept beside this file.

python experiments/table1/report.py
"""

import json
from pathlib import Path

from rich.console import Console

from jaxgbg.results.curves import draw_curves
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.table import print_table
from jaxgbg.training import Config, RunFolder
from jaxgbg.papers.table1 import GAMES


def main() -> None:
    here = Path(__file__).parent
    results = []
    for path in (here / "runs").iterdir():
        config = Config.from_json(json.loads((path / "config.json").read_text()))
        folder = RunFolder(here / "runs", config)
        assert folder.path == path, f"{path} is not the run of its config"
        seconds = folder.summary()["training_seconds"] if folder.finished else float("nan")
        results.append((config, folder.evaluations(), seconds))
    results.sort(key=lambda result: GAMES.index(result[0].game))
    table = [row for result in results for row in rows(*result)]
    with (here / "table.txt").open("w", encoding="utf-8") as file:
        print_table(table, Console(file=file, width=124))
    (here / "rows.json").write_text(json.dumps(as_records(table), indent=1) + "\n")
    draw_curves([(config, found) for config, found, _ in results], here / "curves.png")


if __name__ == "__main__":
    main()
