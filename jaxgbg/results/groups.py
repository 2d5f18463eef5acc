"""All runs below a folder as one table: a row for each combination of settings that differ."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.arguments import QUERY_SECONDS, Seconds
from jaxgbg.results.extras import require_extra
from jaxgbg.results.folders import StoredRun, find_runs, unknown_games
from jaxgbg.results.lane_results import Source
from jaxgbg.results.queries import choose
from jaxgbg.results.rows import Table, as_records, group
from jaxgbg.runs import LaneName
from jaxgbg.specs import checked
from jaxgbg.system import warn, without_collector

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 200
"""The maximum number of rows of a game and opponent that are shown."""


@checked
def read_table(
    folder: str | Path,
    by: Sequence[str] = (),
    baseline: Sequence[str] = (),
    where: str | None = None,
    wins: bool = False,
    complain: Callable[[str], None] = warn,
    timeout: Seconds = QUERY_SECONDS,
    pool: Sequence[str] = (),
) -> Table:
    """Read the rows of all runs below `folder`, as `group` makes them.

    `where` is an SQL condition on the evaluations to use, with the columns of `evaluations` and
    `runs`; it may take `timeout` seconds. `wins` shows shares of games won instead of scores.
    Damaged files are skipped, and `complain` is called with file and line. Raises ValueError if
    there are no runs, a setting, value or condition is wrong, or no share of games won is known.
    """
    runs, problems = find_runs(folder)
    if where is not None:
        runs = choose(runs, where, timeout)
    table = group_stored(runs, by, baseline, wins, pool)
    if wins and not table.rows:
        raise ValueError("no evaluation there has the number of games won")
    stopped = sum(run.stopped and not run.summary for run in runs)
    if stopped:
        table.notes.append(
            f"{stopped:,} of the runs stopped before their end, and count as far as they have come."
        )
    problems += [problem for run in runs for problem in run.problems]
    for problem in problems + unknown_games(runs, "shown with raw scores"):
        complain(problem)
    return table


def frame(
    folder: str | Path,
    by: Sequence[str] | str = (),
    baseline: Sequence[str] | str = (),
    where: str | None = None,
    wins: bool = False,
    pool: Sequence[str] | str = (),
) -> "pandas.DataFrame":
    """Return all runs below `folder` as a data frame, with a row for each setting that differs.

    Seeds are pooled over folders. `Row` has the columns; each setting has one by its short form.
    `by` names the settings that come first, by paths or short forms; settings in `pool` are pooled;
    `baseline` ("trace_decay=0") is the row that the others are compared with; `where` is an SQL
    condition on the evaluations to use; `wins` shows shares of games won instead of scores. Raises
    ValueError if there are no runs or a name is wrong, MissingExtra without pandas.
    """
    require_extra("pandas")
    names, compared, pooled = (
        (each,) if isinstance(each, str) else each for each in (by, baseline, pool)
    )
    return frame_of(read_table(folder, names, compared, where, wins, pool=pooled))


def frame_of(table: Table) -> "pandas.DataFrame":
    """The rows of a table as a data frame; MissingExtra without pandas."""
    require_extra("pandas")
    import pandas

    return pandas.DataFrame(as_records(table.rows))


def group_stored(
    runs: Sequence[StoredRun],
    by: Sequence[str] = (),
    baseline: Sequence[str] = (),
    wins: bool = False,
    pool: Sequence[str] = (),
) -> Table:
    """Like `group`, for runs on disk."""
    with without_collector():
        return group([_source(run, wins) for run in runs], by, baseline, pool)


def shortened(table: Table, most: int = MOST_ROWS) -> Table:
    """Keep the `most` highest means of each game and opponent, with a note on the rest."""
    panels = defaultdict(list)
    for row in table.rows:
        panels[row.game, row.opponent].append(row)
    notes = list(table.notes)
    kept: set[int] = set()
    for (game, opponent), rows in panels.items():
        best = sorted(rows, key=lambda row: -row.mean)[:most]
        kept.update(map(id, best))
        if len(rows) > most:
            notes.append(
                f"{game}, {opponent}: showing the {most:,} highest means of {len(rows):,} rows; use"
                " --pool SETTING for fewer rows, or --json for all of them."
            )
    return table._replace(rows=[row for row in table.rows if id(row) in kept], notes=notes)


def _source(stored: StoredRun, wins: bool) -> Source:
    """A run on disk as a source of rows."""
    seconds = stored.summary.get("training_seconds")
    return Source(
        name=stored.shared.content["game"]["name"],
        game=stored.game,
        values=stored.shared.values,
        evaluations=stored.evaluations,
        order=stored.shared.parts["evaluation"].opponents,
        seconds=math.nan if seconds is None else seconds,
        untrained=stored.untrained,
        diverged=frozenset(LaneName(*lane) for lane in stored.summary.get("diverged") or ()),
        wins=wins,
    )
