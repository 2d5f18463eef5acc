"""Results: read runs from disk, compute means over seeds, make tables, SQL and learning curves.

`jaxgbg.results("runs")` returns the table of all runs below a folder as a data frame, with a row
for each setting that differs (`groups.frame`). `rows.rows` makes the rows of one run; `queries.ask`
answers SQL queries; `statistics` has means and intervals over seeds.
"""

from typing import TYPE_CHECKING

from jaxgbg import lazy

if TYPE_CHECKING:
    from jaxgbg.results.figures import draw, draw_curves
    from jaxgbg.results.folders import StoredRun, find_runs
    from jaxgbg.results.groups import frame, read_table
    from jaxgbg.results.queries import ask
    from jaxgbg.results.rows import Row, as_records, group
    from jaxgbg.results.table import print_table
else:
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "jaxgbg.results.figures": "draw draw_curves",
            "jaxgbg.results.folders": "StoredRun find_runs",
            "jaxgbg.results.groups": "frame read_table",
            "jaxgbg.results.queries": "ask",
            "jaxgbg.results.rows": "Row as_records group",
            "jaxgbg.results.table": "print_table",
        },
    )

__all__ = [
    "Row",
    "StoredRun",
    "as_records",
    "ask",
    "draw",
    "draw_curves",
    "find_runs",
    "frame",
    "group",
    "print_table",
    "read_table",
]
