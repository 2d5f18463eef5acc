"""Write the report of runs from Python."""

import sys
from collections.abc import Sequence
from pathlib import Path

from jaxgbg.runs.storage.files import check_writable
from jaxgbg.runs.storage.locations import place_of
from jaxgbg.web.html import write_report


def report(
    folder: str | Path = "runs",
    out: str | Path | None = None,
    by: Sequence[str] | str = (),
    baseline: Sequence[str] | str = (),
    pool: Sequence[str] | str = (),
) -> Path:
    """Write one HTML page about all runs and tournaments below a folder, as `jaxgbg report` does.

    `out` is the file, by default report.html in the folder; its path is returned. `by`, `baseline`
    and `pool` are as in `jaxgbg.results`. What could not be read is named on standard error and in
    the page. Raises ValueError if there is nothing to report, or the file cannot be written.
    """
    place = place_of(folder) if out is None else Path(out)
    if not isinstance(place, Path):
        raise ValueError(f"a report cannot be written to {folder}: name a local file (out)")
    path = place / "report.html" if out is None else place
    check_writable(path)
    listed = ((each,) if isinstance(each, str) else each for each in (by, baseline, pool))
    for problem in write_report(folder, path, *listed).problems:
        print(f"jaxgbg: {problem}", file=sys.stderr)
    return path
