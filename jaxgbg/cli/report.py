"""The command `report`: write a page about runs."""

import sys
import time
from pathlib import Path
from typing import Annotated

from jaxgbg.cli.common import Baseline, By, Json, Pool, Runs, console, optional, write_rows
from jaxgbg.cli.outputs import PAGE
from jaxgbg.cli.session import start_jax
from jaxgbg.runs.storage.files import check_writable
from jaxgbg.runs.storage.locations import place_of


def report(
    folder: Runs,
    out: Annotated[Path | None, optional("FILE.html", "DIR/report.html"), PAGE] = None,
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
    start_jax()
    from jaxgbg.results.rows import as_records
    from jaxgbg.web.html import write_report

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
