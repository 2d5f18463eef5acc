"""The command `plot`: draw runs as a figure."""

from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from jaxgbg.arguments import Band, Kind
from jaxgbg.cli.common import Baseline, By, Json, Pool, Runs, Where, Wins, console, write_rows
from jaxgbg.cli.outputs import FIGURE


def plot(
    folder: Runs,
    out: Annotated[Path, arg(metavar="FILE.png|svg|pdf"), FIGURE] = Path("figure.png"),
    by: By = (),
    baseline: Baseline = (),
    pool: Pool = (),
    where: Where = None,
    kind: Kind = "curves",
    band: Band = "sem",
    wins: Wins = False,
    json_file: Json = None,
) -> None:
    """Draw all runs below a folder: a panel for each game and opponent, a line for each setting.

    Args:
      out: File of the figure.
      kind: curves over the episodes; means with 95% intervals over the first setting; heatmap over
        two settings; profile, the share of agents above each score.
      band: Band around a curve: one standard error, or the 95% interval.
    """
    from jaxgbg.results.figures import check_name, draw
    from jaxgbg.results.groups import read_table
    from jaxgbg.results.rows import as_records

    check_name(out)
    table = read_table(folder, by, baseline, where, wins, pool=pool)
    draw(table, out, kind, band)
    write_rows(json_file, as_records(table.rows))
    console().print(f"figure: {out}", soft_wrap=True)
