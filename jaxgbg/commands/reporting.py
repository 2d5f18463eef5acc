"""The command that looks back: `report`."""

import sys
import time
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.commands.common import Json, console, optional, write_rows
from jaxgbg.pages.html import write_report
from jaxgbg.results.rows import as_records


def report(
    folder: Annotated[Positional[Path], arg(metavar="DIR")],
    out: Annotated[Path | None, optional("FILE.html", "DIR/report.html")] = None,
    json_file: Json = None,
) -> None:
    """Write one HTML file about all runs below a folder: table, curves, weights, sample games.

    Args:
      folder: Folder with runs at any depth, or one run.
      out: Where to write it.
    """
    path = out if out is not None else folder / "report.html"
    start = time.perf_counter()
    try:
        written = write_report(folder, path)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}; choose another --out") from error
    seconds = time.perf_counter() - start
    for problem in written.problems:
        print(f"jaxgbg: {problem}", file=sys.stderr)
    write_rows(json_file, as_records(written.rows))
    runs = f"{written.runs} run{'' if written.runs == 1 else 's'}"
    size = path.stat().st_size / 1e6
    console().print(f"report: {path} ({runs}, {size:.2f} MB, {seconds:.0f} s)", soft_wrap=True)
