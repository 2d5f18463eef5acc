"""The command `results`: tabulate or query many runs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from jaxgbg.arguments import QUERY_SECONDS, Seconds
from jaxgbg.cli.common import (
    Baseline,
    By,
    Json,
    Pool,
    Runs,
    TableFormat,
    Where,
    Wins,
    console,
    optional,
    print_table,
    write_rows,
)
from jaxgbg.cli.outputs import CSV, PARQUET
from jaxgbg.results.extras import require_extra
from jaxgbg.results.formats import Format, print_plain
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.specs import printable
from jaxgbg.types import JSON

if TYPE_CHECKING:
    import pandas

    from jaxgbg.games import Scale
    from jaxgbg.results.rows import Table

_GROUPING = "--by, --baseline, --pool, --wins and --statistics"
_ROWS_SHOWN = 200
# Column of a figure -> column of its standard error.
_ERRORS = {"mean": "sem", "last": "last_sem"}


def results(
    folder: Runs,
    by: By = (),
    baseline: Baseline = (),
    pool: Pool = (),
    where: Where = None,
    wins: Wins = False,
    statistics: bool = False,
    runs: bool = False,
    sql: Annotated[str | None, optional("QUERY")] = None,
    allow_files: bool = False,
    timeout: Annotated[Seconds, arg(metavar="SECONDS")] = QUERY_SECONDS,
    form: TableFormat = "table",
    csv: Annotated[Path | None, optional("FILE"), CSV] = None,
    parquet: Annotated[Path | None, optional("FILE"), PARQUET] = None,
    json_file: Json = None,
) -> None:
    """Tabulate all runs below a folder by the settings that differ, or query them in SQL (DuckDB).

    A row is a game, an opponent and a combination of settings, over all seeds. It has the mean,
    standard error and 95% interval of the scores in the last fifth of the episodes that all seeds
    have reached, the last evaluation alone, and the difference to a baseline, paired by seed. The
    SQL tables are `runs`, `evaluations`, `agents` and `summary` (a row for each run, opponent and
    FARL variant), and of kept tournaments `tournaments`, `ratings`, `seats` and `games`. Damaged
    files and lines are named and skipped.

    Args:
      statistics: Also show the interquartile mean and the probability of being better than the
        baseline, with intervals by stratified bootstrap.
      runs: Show a row for each run instead.
      sql: A query over these tables, such as "describe runs".
      allow_files: Let the query read and write files and load extensions.
      timeout: Maximum time of a query.
      csv: Also write the rows to this CSV file.
      parquet: Also write the rows to this Parquet file.
    """
    from jaxgbg.results.groups import read_table
    from jaxgbg.results.queries import ask

    if runs or sql is not None:
        if by or baseline or pool or statistics or wins:
            raise ValueError(f"{_GROUPING} group runs: leave out --runs and --sql")
        whole = form in ("csv", "json") or any((csv, parquet, json_file))
        limit = None if whole else _ROWS_SHOWN
        frame = ask(folder, where, sql, allow_files=allow_files, timeout=timeout, limit=limit)
        records = _print_frame(frame, sql is None, form)
    else:
        table = read_table(folder, by, baseline, where, wins, timeout=timeout, pool=pool)
        records = _print_groups(table, statistics, form)
        frame = None
    if csv is not None or parquet is not None:
        _write_files(frame, records, csv, parquet)
    write_rows(json_file, records)


def _write_files(
    frame: "pandas.DataFrame | None",
    records: list[dict[str, JSON]],
    csv: Path | None,
    parquet: Path | None,
) -> None:
    """Write a frame, or records if there is none, to the files."""
    require_extra("duckdb", "pandas")
    import pandas

    frame = pandas.DataFrame(records) if frame is None else frame
    if csv is not None:
        with written_whole(csv) as temporary:
            frame.to_csv(temporary, index=False)
    if parquet is not None:
        with written_whole(parquet) as temporary:
            _write_parquet(frame, temporary)


def _print_groups(table: "Table", statistics: bool, form: Format) -> list[dict[str, JSON]]:
    """Print a row for each combination of settings; return the rows as records."""
    from jaxgbg.results.groups import shortened
    from jaxgbg.results.robust import columns, robust
    from jaxgbg.results.rows import as_records
    from jaxgbg.results.table import print_table as print_rows

    records = as_records(table.rows)
    more = None
    if statistics:
        told = robust(table)
        more = columns(table.rows, told, table.compared)
        for record, each in zip(records, told, strict=True):
            record.update(each._asdict())
    if form in ("csv", "json"):
        print_plain(records, form)
    elif not records:
        console().print("no rows")
    else:
        shown = shortened(table) if form == "table" and not statistics else table
        print_rows(shown.rows, console(), form, table.compared, more)
        for note in shown.notes if form == "table" else ():
            console().print(note, highlight=False)
    return records


def _print_frame(frame: "pandas.DataFrame", summary: bool, form: Format) -> list[dict[str, JSON]]:
    """Print the answer to a query, or one row for each run; return its records."""
    # Missing values and NaN become None.
    text = frame.to_json(
        orient="records", date_format="iso", double_precision=15, default_handler=str
    )
    records: list[dict[str, JSON]] = json.loads(text)
    if form in ("csv", "json"):
        print_plain(records, form)
    elif not records:
        console().print("no rows")
    elif summary:
        _print_summary(records, frame.attrs["scales"], form)
    else:
        rows, names = records[:_ROWS_SHOWN], list(frame)
        print_table(rows, names, lambda record, name: _plain(record[name]), form)
    if form not in ("csv", "json"):
        if not frame.attrs["complete"]:
            console().print(
                f"only the first {_ROWS_SHOWN:,} rows are shown; for all rows use --csv, --parquet,"
                " --json or --format csv, for other rows LIMIT and OFFSET in --sql"
            )
        elif len(records) > _ROWS_SHOWN:
            console().print(f"the first {_ROWS_SHOWN:,} of {len(records):,} rows are shown")
    return records


def _print_summary(
    records: list[dict[str, JSON]], scales: "dict[tuple[str, str], Scale]", form: Format
) -> None:
    def text(record: dict[str, JSON], name: str) -> str:
        if name not in _ERRORS:
            return _plain(record[name])
        scale, error = scales[record["folder"], record["opponent"]], record[_ERRORS[name]]
        figure = scale.text(record[name])
        return figure if error is None else f"{figure} ± {scale.text(error)}"

    names = ["game", "opponent", "variant", "unit", "mean", "last", "n", "episodes"]
    # Columns with one value for all runs are not shown.
    for name in ("learner", "value", "batch"):
        if len({record[name] for record in records}) > 1:
            names.append(name)
    print_table(records[:_ROWS_SHOWN], [*names, "folder"], text, form)
    if form == "table":
        console().print("mean: of the last fifth of the episodes, ± s.e.")


def _plain(value: JSON) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _write_parquet(frame: "pandas.DataFrame", path: Path) -> None:
    import duckdb

    # DuckDB's own error would name the temporary file.
    path.touch()
    try:
        duckdb.from_df(frame).write_parquet(str(path))
    except duckdb.Error as error:
        raise OSError(f"DuckDB could not write it: {error}") from error
