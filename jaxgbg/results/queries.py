"""SQL queries over all runs below a folder."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from jaxgbg.arguments import QUERY_SECONDS, Seconds
from jaxgbg.games import Scale
from jaxgbg.games.time_limit import BackgroundCall
from jaxgbg.results.database import SUMMARY, connect, scales_of
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.extras import require_extra
from jaxgbg.results.folders import StoredRun, find_all, unknown_games
from jaxgbg.results.stored_ladders import COLUMNS, StoredLadder, read_ladders
from jaxgbg.specs import Limits, checked
from jaxgbg.system import limited_memory, warn

if TYPE_CHECKING:
    import duckdb
    import pandas

MEMORY_GB = 2
"""The memory limit of a query in DuckDB, and of its answer as a data frame."""
# The size of each piece of an answer.
_VECTORS, _ROWS_OF_VECTOR = 100, 2048
# Types that DuckDB cannot convert to NumPy, or converts to raw bytes.
_NO_ARRAY = re.compile(r"\b(BIT|UHUGEINT|BIGNUM|TIME WITH TIME ZONE)\b")
# Twenty per second.
_INTERRUPTS = 40
_OF_LADDERS = re.compile(rf"\b({'|'.join(COLUMNS)})\b", re.IGNORECASE)

Rows = Annotated[int | None, Limits(low=1, high=2**31)]


@checked
def ask(
    folder: str | Path,
    where: str | None = None,
    sql: str | None = None,
    complain: Callable[[str], None] = warn,
    allow_files: bool = False,
    timeout: Seconds = QUERY_SECONDS,
    limit: Rows = None,
) -> "pandas.DataFrame":
    """Query all runs below `folder`; by default one row for each run, opponent and FARL variant.

    Such a row has, in `unit` and over seeds, `mean` ± `sem` of the scores in the last fifth of the
    episodes that all seeds have reached, and `last` ± `last_sem` of the last evaluation, as `rows`.

    Args:
      where: An SQL condition on evaluations, with the columns of `evaluations` and `runs`.
      sql: A query over the tables `runs`, `evaluations`, `agents` and `summary` (the rows above),
        and of tournaments `tournaments`, `ratings`, `seats` and `games`.
      complain: Called with file and line of each damaged entry, which is skipped.
      allow_files: Allow the query to read and write files and use the network.
      timeout: Time limit in seconds.
      limit: Fetch at most this number of rows; `attrs["complete"]` says whether these are all.

    Returns a data frame; `attrs["scales"]` has the scale of each (folder, opponent). Raises
    ValueError if there are no runs (for `sql`, no tournaments either), DuckDB rejects the query, or
    it takes more than `MEMORY_GB` or `timeout`; MissingExtra without DuckDB or pandas.
    """
    if where is not None and sql is not None:
        raise ValueError("give a condition (where) or a whole query (sql), not both")
    require_extra("duckdb", "pandas")
    found = find_all(folder)
    found.check(found.runs if sql is None else [*found.runs, *found.tournaments])
    runs, problems = found.runs, found.problems
    # Ratings take a while, and most queries are about runs only.
    wanted = sql is not None and _OF_LADDERS.search(sql)
    ladders = read_ladders(found.tournaments, problems) if wanted else []
    problems += [problem for run in runs for problem in run.problems]
    for problem in problems + unknown_games(runs, "shown with raw scores"):
        complain(problem)
    scales = scales_of(runs)
    query = sql if sql is not None else SUMMARY.format(where=_condition(where))
    frame = _asked(
        runs,
        scales,
        query,
        f"--where {where!r}" if sql is None else f"--sql {sql!r}",
        timeout,
        allow_files,
        ladders,
        limit,
    )
    frame.attrs["scales"] = {
        (runs[run].name, opponent): scale for (run, opponent), scale in scales.items()
    }
    return frame


def choose(runs: list[StoredRun], where: str, timeout: Seconds = QUERY_SECONDS) -> list[StoredRun]:
    """Keep only the evaluations of runs that satisfy an SQL condition, as in `ask`."""
    require_extra("duckdb", "pandas")
    query = f"select folder, line from joined where (\n{_condition(where)}\n)"
    frame = _asked(runs, scales_of(runs), query, f"--where {where!r}", timeout)
    lines = frame.groupby("folder")["line"].agg(set).to_dict()
    kept = []
    for run in runs:
        of_run = lines.get(run.name, set())
        columns = run.evaluations.columns()
        at = [place for place, line in enumerate(columns[0]) if line in of_run]
        chosen = Evaluations.pack([[column[place] for place in at] for column in columns])
        kept.append(dataclasses.replace(run, evaluations=chosen))
    return kept


def _condition(where: str | None) -> str:
    """Print the parsed condition, so that no bracket or comment in it can end it."""
    import duckdb

    if where is None:
        return "true"
    try:
        return str(duckdb.SQLExpression(_text(where)))
    except duckdb.Error as error:
        raise ValueError(f"--where {where!r}: {_in_a_line(error)}") from error


def _text(query: str) -> str:
    """Return the query; raises ValueError for text that is not valid Unicode."""
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{query!r} is not valid Unicode (unpaired surrogate)") from error
    return query


def _asked(
    runs: list[StoredRun],
    scales: dict[tuple[int, str], Scale],
    query: str,
    asked: str,
    timeout: float,
    allow_files: bool = False,
    ladders: Sequence[StoredLadder] = (),
    limit: int | None = None,
) -> "pandas.DataFrame":
    """Run a query; raises ValueError, whose message begins with `asked`, if it fails."""
    import duckdb

    connection = connect(runs, scales, ladders)
    try:
        _close(connection, allow_files)
        statements = len(connection.extract_statements(_text(query)))
    except duckdb.Error as error:
        connection.close()
        raise ValueError(f"{asked}: {_in_a_line(error)}") from error
    if statements != 1:
        raise ValueError(f"{asked}: no query, or several; write one: select ...")
    try:
        return _answer(connection, query, timeout, limit)
    except (duckdb.Error, MemoryError, _TooLong) as error:
        raise ValueError(f"{asked}: {_in_a_line(error)}") from error


def _close(connection: "duckdb.DuckDBPyConnection", allow_files: bool) -> None:
    """Limit the memory of queries and, unless `allow_files`, restrict them to the loaded tables."""
    # An answer that does not fit must not spill into the current folder.
    connection.execute(f"set memory_limit = '{MEMORY_GB}GB'; set temp_directory = ''")
    connection.execute("set enable_progress_bar = false")
    if not allow_files:
        connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


class _TooLong(Exception):
    """The query was not answered in time."""


def _answer(
    connection: "duckdb.DuckDBPyConnection", query: str, timeout: float, limit: int | None
) -> "pandas.DataFrame":
    """Run a query in another thread, so that this one can handle Ctrl-C meanwhile."""
    # For DuckDB, for the data frame, and for pandas to concatenate its pieces. DuckDB's own limit
    # does not cover what a single function allocates, such as repeat('x', 4000000000).
    with limited_memory(3 * int(MEMORY_GB * 1e9)):
        answer = BackgroundCall(partial(_rows, connection, query, limit))
        try:
            if answer.returns_within(timeout):
                return answer.result()
            raise _TooLong(f"this takes more than {timeout:g} s; ask for less, or raise --timeout")
        finally:
            # DuckDB cannot interrupt some steps: leave them running, the process may end meanwhile.
            for _ in range(_INTERRUPTS):
                if answer.returns_within(0.05):
                    connection.close()
                    break
                connection.interrupt()


def _rows(
    connection: "duckdb.DuckDBPyConnection", query: str, limit: int | None
) -> "pandas.DataFrame":
    """Fetch the first rows of a query in pieces; raises MemoryError above MEMORY_GB.

    The attribute "complete" says whether these are all rows.
    """
    import pandas

    connection.execute(query)
    # One more row tells whether the answer is complete.
    wanted = None if limit is None else limit + 1
    fetch = _fetch(connection, 1 if wanted is not None else _VECTORS)
    pieces = [fetch()]
    size = rows = 0
    while len(pieces[-1]) and (wanted is None or rows < wanted):
        size += int(pieces[-1].memory_usage(deep=True).sum())
        if size > MEMORY_GB * 1e9:
            raise MemoryError
        rows += len(pieces[-1])
        pieces.append(fetch())
    # If there are no rows, the empty piece has the columns.
    full = [piece for piece in pieces if len(piece)] or pieces[:1]
    frame = pandas.concat(full, ignore_index=True) if len(full) > 1 else full[0]
    complete = limit is None or len(frame) <= limit
    frame = frame if complete else frame.head(limit)
    frame.attrs["complete"] = complete
    return frame


def _fetch(
    connection: "duckdb.DuckDBPyConnection", vectors: int
) -> Callable[[], "pandas.DataFrame"]:
    """Make a function that returns the next rows of the running query, and none at its end."""
    import pandas

    columns = connection.description or []
    if not any(_NO_ARRAY.search(str(kind)) for _, kind, *_ in columns):
        return lambda: connection.fetch_df_chunk(vectors)
    names = [name for name, *_ in columns]
    return lambda: pandas.DataFrame(
        connection.fetchmany(vectors * _ROWS_OF_VECTOR), columns=names, dtype=object
    )


def _in_a_line(error: Exception) -> str:
    """DuckDB's message without the query excerpt and its advice."""
    import duckdb

    if isinstance(error, MemoryError | duckdb.OutOfMemoryException):
        return f"this takes more than {MEMORY_GB} GB of memory; ask for less"
    if isinstance(error, _TooLong):
        return str(error)
    closed = isinstance(error, duckdb.PermissionException)
    return str(error).partition("\n\n")[0] + "; --allow-files permits it" * closed
