"""What came out: runs read from disk, means over seeds, tables, SQL, and learning curves.

`results` tabulates all runs below a folder. `rows.rows` makes the rows of one run, which
`print_table` prints beside the papers'; `statistics` has the means and intervals over seeds.
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
