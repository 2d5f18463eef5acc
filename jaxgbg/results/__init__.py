"""What came out: runs read from disk, means over seeds, tables, SQL, and learning curves.

`results` tabulates all runs below a folder; `rows` (of a run's evaluations), `statistics`, `table` and `curves` are
what the commands are made of.
"""

from jaxgbg.results.curves import draw_curves
from jaxgbg.results.folders import StoredRun, find_runs
from jaxgbg.results.queries import results
from jaxgbg.results.rows import Row, as_records
from jaxgbg.results.table import print_table

__all__ = [
    "Row",
    "StoredRun",
    "as_records",
    "draw_curves",
    "find_runs",
    "print_table",
    "results",
]
