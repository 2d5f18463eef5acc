"""Questions in SQL to all runs below a folder."""

import dataclasses
import importlib
import sys
import typing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxgbg.arena import scale_of
from jaxgbg.games import Scale
from jaxgbg.players import MissingExtra
from jaxgbg.results.axes import setting_values
from jaxgbg.results.folders import StoredRun, find_runs, unknown_games
from jaxgbg.training import Result
from jaxgbg.training.run import changed_parts, digest_of
from jaxgbg.training.settings import settings

if TYPE_CHECKING:
    import duckdb
    import pandas

MEMORY_GB = 2
"""What a question may take in DuckDB, and its answer as a data frame."""
# Of 2048 rows, in each piece of an answer.
_VECTORS = 100

_COLUMNS: dict[Any, str] = {bool: "boolean", int: "bigint", float: "double", str: "varchar"}


def _column(hint: Any) -> str:
    """The type of a setting's column: lists of numbers or words are text, others a length."""
    if typing.get_origin(hint) is tuple:
        return "varchar" if typing.get_args(hint)[0] in _COLUMNS else "bigint"
    return _COLUMNS[hint]


_RUNS = {
    **dict.fromkeys(("folder", "game", "game_parameters", "digest"), "varchar"),
    "finished": "boolean",
    **dict.fromkeys(("training_seconds", "moves_per_second"), "double"),
    **dict.fromkeys(("moves", "diverged"), "bigint"),
    **{name: _column(setting.hint) for name, setting in settings().items()},
    "fingerprint": "varchar",
}
_STORED = {
    **dict.fromkeys(("run", "line", "seed", "episodes", "games"), "bigint"),
    **dict.fromkeys(("variant", "opponent"), "varchar"),
    **dict.fromkeys(("score", "wins"), "double"),
}
# A score of any game becomes a figure in its unit by one multiplication and one addition.
_SCALES = {
    "run": "bigint",
    **dict.fromkeys(("opponent", "unit"), "varchar"),
    **dict.fromkeys(("zero", "factor"), "double"),
}
_VIEWS = """
create table evaluations as
select folder, game, digest, seed, variant, stored.episodes, opponent, score, games, wins,
  unit, zero + factor * score as figure, line
from stored join runs on runs.rowid = run join scales using (run, opponent)
order by run, line;

create view joined as
select evaluations.*, runs.* exclude (folder, game, digest, episodes)
from evaluations join runs using (folder);
"""

# Of a stopped run, what all its seeds have reached; an evaluation made again replaces the first.
_SUMMARY = """
with latest as (
  select folder, opponent, variant, unit, seed, episodes, arg_max(figure, line) as figure
  from joined where (
{where}
) group by all),
reached as (
  select folder, opponent, variant, seed, max(episodes) as episodes from latest group by all),
common as (
  select folder, opponent, variant, min(episodes) as reached from reached group by all),
seeds as (
  select folder, opponent, variant, unit, seed, reached as episodes,
    arg_max(figure, latest.episodes) as last,
    coalesce(avg(figure) filter (5 * latest.episodes > 4 * reached), last) as late
  from latest join common using (folder, opponent, variant)
  where latest.episodes <= reached group by all)
select game, opponent, variant, unit, avg(late) as mean,
  stddev_samp(late) / sqrt(count(*)) as sem, avg(last) as last,
  stddev_samp(last) / sqrt(count(*)) as last_sem, count(*) as n, seeds.episodes,
  learner, value, batch, finished, folder, digest
from seeds join runs using (folder)
group by all
order by game, folder, opponent, variant
"""


def to_stderr(text: str) -> None:
    print(f"jaxgbg: {text}", file=sys.stderr)


def ask(
    folder: str | Path,
    where: str | None = None,
    sql: str | None = None,
    complain: Callable[[str], None] = to_stderr,
    allow_files: bool = False,
) -> "pandas.DataFrame":
    """All runs below `folder` as a data frame, one row for each run, opponent and FARL variant.

    A row holds, in `unit` and over seeds, `mean` ± `sem` of what each scored on average in the last
    fifth of the episodes that all have reached, and `last` ± `last_sem` of its last evaluation
    there, as `rows` has them. `where` is an SQL condition on the evaluations that count, with the
    columns of `evaluations` and `runs`; `sql` a query of your own over these two tables, or
    `summary`, which holds the rows above. Neither reads or writes a file or the network unless
    `allow_files`. `attrs["scales"]` of the frame has the scale of each (folder, opponent). What is
    damaged is left out, and `complain` is told file and line. Raises ValueError where there are no
    runs, DuckDB refuses the question or it takes more than `MEMORY_GB`, MissingExtra without DuckDB
    or pandas.
    """
    if where is not None and sql is not None:
        raise ValueError("give a condition (where) or a whole query (sql), not both")
    require_extra("duckdb", "pandas")
    runs, problems = find_runs(Path(folder))
    problems += [problem for run in runs for problem in run.problems]
    for problem in problems + unknown_games(runs, "shown with raw scores"):
        complain(problem)
    scales = _scales(runs)
    query = sql if sql is not None else _SUMMARY.format(where=_condition(where))
    frame = _asked(
        runs, scales, query, f"--where {where!r}" if sql is None else f"--sql {sql!r}", allow_files
    )
    frame.attrs["scales"] = {
        (runs[run].name, opponent): scale for (run, opponent), scale in scales.items()
    }
    return frame


def choose(runs: list[StoredRun], where: str) -> list[StoredRun]:
    """The runs with those evaluations alone that meet an SQL condition, as in `ask`."""
    require_extra("duckdb", "pandas")
    query = f"select folder, line from joined where (\n{_condition(where)}\n)"
    frame = _asked(runs, _scales(runs), query, f"--where {where!r}")
    lines = frame.groupby("folder")["line"].agg(set).to_dict()
    kept = []
    for run in runs:
        of_run = lines.get(run.name, set())
        at = [
            place
            for place, line in enumerate(run.columns[0] if run.columns else ())
            if line in of_run
        ]
        columns = [[column[place] for place in at] for column in run.columns]
        kept.append(dataclasses.replace(run, columns=columns))
    return kept


def _condition(where: str | None) -> str:
    """Written anew from what was parsed, so that no bracket or remark ends the condition."""
    import duckdb

    if where is None:
        return "true"
    try:
        return str(duckdb.SQLExpression(_text(where)))
    except duckdb.Error as error:
        raise ValueError(f"--where {where!r}: {_in_a_line(error)}") from error


def _text(query: str) -> str:
    """The same; raises ValueError for what DuckDB cannot take as text."""
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{query!r} is no UTF-8") from error
    return query


def _asked(
    runs: list[StoredRun],
    scales: dict[tuple[int, str], Scale],
    query: str,
    asked: str,
    allow_files: bool = False,
) -> "pandas.DataFrame":
    """The answer to a query about runs; ValueError, which begins with `asked`, if there is none."""
    import duckdb

    connection = _connect(runs, scales)
    try:
        _close(connection, allow_files)
        if len(connection.extract_statements(_text(query))) != 1:
            raise ValueError(f"{asked}: no query, or several; write one: select ...")
        return _answer(connection, query)
    except (duckdb.Error, MemoryError) as error:
        raise ValueError(f"{asked}: {_in_a_line(error)}") from error
    finally:
        connection.close()


def require_extra(*names: str) -> None:
    """Raise MissingExtra for the first of these packages that is not installed."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingExtra(f"results needs {name}: pip install 'jaxgbg[analysis]'") from error


def _close(connection: "duckdb.DuckDBPyConnection", allow_files: bool) -> None:
    """Bound what a question takes and, unless `allow_files`, keep it to what is loaded."""
    # An answer that does not fit must not fill the current folder instead.
    connection.execute(f"set memory_limit = '{MEMORY_GB}GB'; set temp_directory = ''")
    connection.execute("set enable_progress_bar = false")
    if not allow_files:
        connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _answer(connection: "duckdb.DuckDBPyConnection", query: str) -> "pandas.DataFrame":
    """The rows of a query, from a thread of its own: in this one Ctrl-C is heard while it runs."""
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(_rows, connection, query)
        try:
            return answer.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _rows(connection: "duckdb.DuckDBPyConnection", query: str) -> "pandas.DataFrame":
    """The rows of a query, a piece at a time; MemoryError where they are more than MEMORY_GB."""
    import pandas

    connection.execute(query)
    pieces = [connection.fetch_df_chunk(_VECTORS)]
    size = 0
    while len(pieces[-1]):
        size += int(pieces[-1].memory_usage(deep=True).sum())
        if size > MEMORY_GB * 1e9:
            raise MemoryError
        pieces.append(connection.fetch_df_chunk(_VECTORS))
    # The last piece is empty, and has the columns where there is no row.
    return pandas.concat(pieces[:-1], ignore_index=True) if len(pieces) > 1 else pieces[0]


def _in_a_line(error: Exception) -> str:
    """What DuckDB says, without the drawing of where it stands in the query and its advice."""
    import duckdb

    if isinstance(error, MemoryError | duckdb.OutOfMemoryException):
        return f"this takes more than {MEMORY_GB} GB of memory; ask for less"
    closed = isinstance(error, duckdb.PermissionException)
    return str(error).partition("\n\n")[0] + "; --allow-files permits it" * closed


def _scales(runs: list[StoredRun]) -> dict[tuple[int, str], Scale]:
    """The scale of every run against each of its opponents; raw rewards of games unknown here."""
    return {
        (number, opponent): scale_of(opponent, run.game) if run.game else Scale("reward")
        for number, run in enumerate(runs)
        for opponent in dict.fromkeys(run.column("opponent"))
    }


def _connect(
    runs: list[StoredRun], scales: dict[tuple[int, str], Scale]
) -> "duckdb.DuckDBPyConnection":
    """A database in memory with the tables `runs` and `evaluations` and the view `summary`."""
    import duckdb
    import pandas

    stored: dict[str, list[Any]] = {name: [] for name in ("run", "line", *Result._fields)}
    for number, run in enumerate(runs):
        if run.columns:
            added = [[number] * len(run.columns[0]), *run.columns]
            for column, more in zip(stored.values(), added, strict=True):
                column += more
    units = [
        (run, opponent, scale.label, scale.zero, scale.factor)
        for (run, opponent), scale in scales.items()
    ]
    connection = duckdb.connect()
    # A misspelt table must not be found among the variables of this program.
    connection.execute("set python_enable_replacements = false")
    for name, kinds, rows in (
        ("runs", _RUNS, pandas.DataFrame([_record(run) for run in runs])),
        ("stored", _STORED, pandas.DataFrame(stored)),
        ("scales", _SCALES, pandas.DataFrame(units, columns=list(_SCALES))),
    ):
        columns = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        connection.execute(f"create table {name} ({columns})")
        if len(rows):
            connection.register("rows", rows)
            connection.execute(f"insert into {name} by name select * from rows")
            connection.unregister("rows")
    connection.execute(_VIEWS)
    connection.execute(f"create view summary as {_SUMMARY.format(where='true')}")
    return connection


def _record(run: StoredRun) -> dict[str, Any]:
    """A run as a row of `runs`; settings that its value function or learner has not are None."""
    game = dict(run.config["game"])
    name = game.pop("name")
    record = {
        "folder": run.name,
        "game": name,
        "game_parameters": " ".join(f"{each}={value}" for each, value in game.items()),
        "digest": digest_of(changed_parts(run.parts | {"game": run.config["game"]})),
        "finished": run.finished,
        "diverged": len(run.summary.get("diverged") or ()),
        "fingerprint": run.config.get("fingerprint"),
    }
    for figure in ("training_seconds", "moves_per_second", "moves"):
        record[figure] = run.summary.get(figure)
    values = setting_values(run.parts, {})
    for short, setting in settings().items():
        value = values[setting.path]
        if isinstance(value, tuple):
            text = _column(setting.hint) == "varchar"
            value = " ".join(map(str, value)) if text else len(value)
        record[short] = value
    return record
