"""Questions in SQL to all runs below a folder."""

import dataclasses
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.papers.figures import to_unit, unit
from jaxgbg.players import MissingExtra
from jaxgbg.results.collect import Collection, collect
from jaxgbg.training import Config

if TYPE_CHECKING:
    import duckdb
    import pandas

_KINDS = {bool: "boolean", int: "bigint", float: "double"}
_RUNS = {
    **dict.fromkeys(("folder", "game", "digest", "learner", "value"), "varchar"),
    **dict.fromkeys(("batch", "episodes", "seeds"), "bigint"),
    "finished": "boolean",
    **dict.fromkeys(("training_seconds", "moves_per_second"), "double"),
    **dict.fromkeys(("moves", "diverged", "tuples"), "bigint"),
    "variants": "varchar",
}
_RUNS |= {
    field.name: _KINDS.get(type(field.default), "varchar")
    for field in dataclasses.fields(Config)
    if field.name not in (*_RUNS, "farl")
}
_FOUND = {
    **dict.fromkeys(("run", "line", "seed", "episodes", "games"), "bigint"),
    **dict.fromkeys(("farl", "opponent"), "varchar"),
    **dict.fromkeys(("score", "wins"), "double"),
}
# A score of any game becomes a figure in its unit by one multiplication and one addition.
_UNITS = {
    **dict.fromkeys(("game", "opponent", "unit"), "varchar"),
    **dict.fromkeys(("zero", "scale"), "double"),
}
_VIEWS = """
create table evaluations as
select folder, game, digest, seed, farl, found.episodes, opponent, score, games, wins,
  unit, zero + scale * score as figure, line
from found join runs on runs.rowid = run join units using (game, opponent)
order by run, line;

create view joined as
select evaluations.*, runs.* exclude (folder, game, digest, episodes)
from evaluations join runs using (folder);
"""

# Of a stopped run, what all its seeds have reached.
_SUMMARY = """
with chosen as (select * from joined where (
{where}
)),
reached as (
  select folder, opponent, farl, seed, max(episodes) as reached
  from chosen group by all),
common as (
  select folder, opponent, farl, min(reached) as episodes from reached group by all),
last as (
  select folder, opponent, farl, seed, common.episodes,
    arg_max(figure, (chosen.episodes, line)) as figure
  from chosen join common using (folder, opponent, farl)
  where chosen.episodes <= common.episodes group by all)
select game, opponent, farl, unit, avg(figure) as mean,
  stddev_samp(figure) / sqrt(count(*)) as sem, count(*) as n, last.episodes,
  learner, value, batch, finished, folder, digest
from last join runs using (folder)
  join (select distinct game, opponent, unit from evaluations) using (game, opponent)
group by all
order by game, folder, opponent, farl
"""


def to_stderr(text: str) -> None:
    print(f"jaxgbg: {text}", file=sys.stderr)


def results(
    folder: str | Path,
    where: str | None = None,
    sql: str | None = None,
    complain: Callable[[str], None] = to_stderr,
) -> "pandas.DataFrame":
    """All runs below `folder` as a data frame, one row for each run, opponent and FARL variant.

    A row holds mean and standard error, in `unit`, of the last evaluation that all its seeds have
    reached. `where` is an SQL condition on the evaluations that count, with the columns of
    `evaluations` and `runs`; `sql` a query of your own over these two tables, or `summary`, which
    holds the rows above. What is damaged is left out, and `complain` is told file and line. Raises
    ValueError where there are no runs or DuckDB refuses the question, MissingExtra without DuckDB
    or pandas.
    """
    if where is not None and sql is not None:
        raise ValueError("give a condition (where) or a whole query (sql), not both")
    _require_extra()
    import duckdb

    connection = _connect(collect(Path(folder), complain))
    query = sql if sql is not None else _SUMMARY.format(where=where if where else "true")
    try:
        found = connection.sql(query)
        if found is None:
            raise ValueError(f"--sql {sql!r}: no query; write select ... from runs")
        return found.df()
    except duckdb.Error as error:
        asked = f"--where {where!r}" if sql is None else f"--sql {sql!r}"
        raise ValueError(f"{asked}: {_first_part(error)}") from error
    finally:
        connection.close()


def _require_extra() -> None:
    for name in ("duckdb", "pandas"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingExtra(f"results needs {name}: pip install 'jaxgbg[analysis]'") from error


def _first_part(error: Exception) -> str:
    """What DuckDB says, without the drawing of where it stands in our own query around it."""
    return str(error).partition("\n\nLINE")[0]


def _connect(found: Collection) -> "duckdb.DuckDBPyConnection":
    """A database in memory with the tables `runs` and `evaluations` and the view `summary`."""
    import duckdb
    import pandas

    columns = found.evaluations
    met = set(zip(columns["run"], columns["opponent"], strict=True))
    pairs = {(found.runs[run]["game"], opponent) for run, opponent in met}
    units = []
    for game, opponent in sorted(pairs):
        zero = to_unit(game, opponent, 0.0)
        scale = to_unit(game, opponent, 1.0) - zero
        units.append((game, opponent, unit(game, opponent), zero, scale))
    connection = duckdb.connect()
    # A misspelt table must not be found among the variables of this program.
    connection.execute("set python_enable_replacements = false")
    for name, kinds, rows in (
        ("runs", _RUNS, pandas.DataFrame(found.runs)),
        ("found", _FOUND, pandas.DataFrame(columns)),
        ("units", _UNITS, pandas.DataFrame(units, columns=list(_UNITS))),
    ):
        types = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        connection.execute(f"create table {name} ({types})")
        if len(rows):
            connection.register("rows", rows)
            connection.execute(f"insert into {name} by name select * from rows")
            connection.unregister("rows")
    connection.execute(_VIEWS)
    connection.execute(f"create view summary as {_SUMMARY.format(where='true')}")
    return connection
