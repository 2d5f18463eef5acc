"""The commands `report` and `plot`: show runs as a page or as a figure."""

import sys
import time
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from jaxgbg.cli.common import (
    Baseline,
    By,
    Json,
    Pool,
    Runs,
    Wins,
    console,
    optional,
    write_rows,
)
from jaxgbg.results.figures import Band, Kind, check_name, draw
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import as_records
from jaxgbg.runs.storage.files import check_writable
from jaxgbg.runs.storage.locations import place_of
from jaxgbg.web.html import write_report


def report(
    folder: Runs,
    out: Annotated[Path | None, optional("FILE.html", "DIR/report.html")] = None,
    by: By = (),
    baseline: Baseline = (),
    pool: Pool = (),
    json_file: Json = None,
) -> None:
    """Write one HTML file about all runs below a folder: table, curves, weights, sample games.

    It also has the ratings of tournaments below the folder, and who scores against whom.

    Args:
      out: File to write.
    """
    path = out if out is not None else _default(folder)
    start = time.perf_counter()
    check_writable(path)
    written = write_report(folder, path, by, baseline, pool)
    seconds = time.perf_counter() - start
    for problem in written.problems:
        print(f"jaxgbg: {problem}", file=sys.stderr)
    write_rows(json_file, as_records(written.rows))
    counts = {"run": written.runs, "tournament": written.tournaments}
    told = [f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n]
    runs = ", ".join(told or ["no run"])
    size = written.bytes / 1e6
    console().print(f"report: {path} ({runs}, {size:.2f} MB, {seconds:.0f} s)", soft_wrap=True)


def _default(folder: str) -> Path:
    place = place_of(folder)
    if not isinstance(place, Path):
        raise ValueError(f"a report cannot be written to {folder}: name a local file with --out")
    return place / "report.html"


def plot(
    folder: Runs,
    out: Annotated[Path, arg(metavar="FILE.png|svg|pdf")] = Path("figure.png"),
    by: By = (),
    baseline: Baseline = (),
    pool: Pool = (),
    where: Annotated[str | None, optional("CONDITION")] = None,
    kind: Kind = "curves",
    band: Band = "sem",
    wins: Wins = False,
    json_file: Json = None,
) -> None:
    """Draw all runs below a folder: a panel for each game and opponent, a line for each setting.

    Args:
      out: File of the figure.
      where: Which evaluations to use, an SQL condition over all columns: "game = 'nim'" (DuckDB).
      kind: curves over the episodes; means with 95% intervals over the first setting; heatmap over
        two settings; profile, the share of agents above each score.
      band: Band around a curve: one standard error, or the 95% interval.
    """
    check_name(out)
    check_writable(out)
    table = read_table(folder, by, baseline, where, wins, pool=pool)
    draw(table, out, kind, band)
    write_rows(json_file, as_records(table.rows))
    console().print(f"figure: {out}", soft_wrap=True)
