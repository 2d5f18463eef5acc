"""All runs below a folder as one table: a row for each combination of the settings that differ."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.players.gtp import Seconds
from jaxgbg.results.axes import setting_values
from jaxgbg.results.folders import StoredRun, find_runs, unknown_games
from jaxgbg.results.queries import SECONDS, choose, require_extra, to_stderr
from jaxgbg.results.rows import Source, Table, as_records, group
from jaxgbg.specs import checked
from jaxgbg.training import LaneName
from jaxgbg.training.kept import Histograms

if TYPE_CHECKING:
    import pandas


@checked
def read_table(
    folder: str | Path,
    by: Sequence[str] = (),
    baseline: Sequence[str] = (),
    where: str | None = None,
    complain: Callable[[str], None] = to_stderr,
    timeout: Seconds = SECONDS,
) -> Table:
    """The rows of all runs below `folder`, as `group` makes them.

    `where` is an SQL condition on the evaluations that count, with the columns of `evaluations` and
    `runs`, which may take `timeout` seconds. What is damaged is left out, and `complain` is told
    file and line. Raises ValueError where there are no runs, or for a setting, a value or a
    condition that is wrong.
    """
    runs, problems = find_runs(Path(folder))
    if where is not None:
        runs = choose(runs, where, timeout)
    table = group([source_of_stored(run) for run in runs], by, baseline)
    stopped = sum(not run.summary and (run.path / "stopped.json").exists() for run in runs)
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
) -> "pandas.DataFrame":
    """All runs below `folder` as a data frame, a row for each setting that differs.

    Seeds are pooled over folders; see `Row` for the columns, of which each setting has one by its
    short form. `by` names the settings, paths or short forms, where not all that differ shall be
    told apart; `baseline` ("trace_decay=0") what the others are compared with, seed by seed;
    `where` is an SQL condition on the evaluations that count. Raises ValueError where there are no
    runs or a name is wrong, MissingExtra without pandas.
    """
    require_extra("pandas")
    names, compared = ((each,) if isinstance(each, str) else each for each in (by, baseline))
    return frame_of(read_table(folder, names, compared, where))


def frame_of(table: Table) -> "pandas.DataFrame":
    """The rows of a table as a data frame; MissingExtra without pandas."""
    require_extra("pandas")
    import pandas

    return pandas.DataFrame(as_records(table.rows))


def source_of_stored(stored: StoredRun) -> Source:
    """A run on disk as a source of rows."""
    seconds = stored.summary.get("training_seconds")
    return Source(
        name=stored.config["game"]["name"],
        game=stored.game,
        values={
            **setting_values(stored.parts, stored.config["game"]),
            "fingerprint": stored.config.get("fingerprint"),
        },
        # A line of metrics may be whole and yet be of no lane.
        results=[one for one in stored.results if one.variant in stored.parts["variants"]],
        order=stored.parts["evaluation"].opponents,
        seconds=math.nan if seconds is None else seconds,
        untrained=_untrained(stored),
    )


def _untrained(stored: StoredRun) -> frozenset[LaneName]:
    """The agents whose weights are all 0, as far as the run kept how they are spread."""
    weights = stored.content("histograms.json", Histograms).get("weights")
    agents = weights.agents if weights is not None else ()
    return frozenset(LaneName(one.seed, one.variant) for one in agents if not sum(one.counts))
