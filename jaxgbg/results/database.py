"""Runs and tournaments as DuckDB tables: runs, agents, evaluations, summary and more."""

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxgbg.evaluation import scale_of
from jaxgbg.games import Scale
from jaxgbg.results import stored_ladders as kept
from jaxgbg.results.configs import Config
from jaxgbg.results.evaluations import COLUMNS
from jaxgbg.results.folders import StoredRun
from jaxgbg.runs.settings import settings
from jaxgbg.types import TypeHint

if TYPE_CHECKING:
    import duckdb

_COLUMNS: dict[TypeHint, str] = {bool: "boolean", int: "bigint", float: "double", str: "varchar"}


def _column(hint: TypeHint) -> str:
    """The type of a setting's column: tuples of numbers or text are text, others their length."""
    if typing.get_origin(hint) is tuple:
        return "varchar" if typing.get_args(hint)[0] in _COLUMNS else "bigint"
    return _COLUMNS[hint]


def _columns_of_runs() -> dict[str, str]:
    """The columns of the table of runs, those of registered learners and values among them."""
    return {
        **dict.fromkeys(("folder", "game", "game_parameters", "digest"), "varchar"),
        "finished": "boolean",
        **dict.fromkeys(("training_seconds", "moves_per_second"), "double"),
        **dict.fromkeys(("moves", "diverged"), "bigint"),
        **{name: _column(setting.hint) for name, setting in settings().items()},
        "fingerprint": "varchar",
    }


_FIGURES = ("training_seconds", "moves_per_second", "moves")
_STORED = {
    **dict.fromkeys(("run", "line", "seed", "episodes", "games"), "bigint"),
    **dict.fromkeys(("variant", "opponent"), "varchar"),
    **dict.fromkeys(("score", "wins"), "double"),
}
_AGENTS = {
    **dict.fromkeys(("folder", "game", "variant"), "varchar"),
    **dict.fromkeys(("seed", "episodes", "moves", "weights", "active_weights"), "bigint"),
}
# figure = zero + factor * score, for every game and unit.
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

# A stopped run counts up to the episodes that all its seeds have reached. A repeated evaluation
# replaces the first.
SUMMARY = """
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


def scales_of(runs: list[StoredRun]) -> dict[tuple[int, str], Scale]:
    """The scale of every run against each of its opponents; raw rewards for unknown games."""
    return {
        (number, opponent): scale_of(opponent, run.game) if run.game else Scale("reward")
        for number, run in enumerate(runs)
        for opponent in dict.fromkeys(opponent for opponent, *_ in run.evaluations.lanes())
    }


def connect(
    runs: list[StoredRun],
    scales: dict[tuple[int, str], Scale],
    ladders: Sequence[kept.StoredLadder] = (),
) -> "duckdb.DuckDBPyConnection":
    """Make a database in memory with all tables of runs and tournaments."""
    import duckdb
    import pandas

    stored: dict[str, list[object]] = {name: [] for name in ("run", *COLUMNS)}
    for number, run in enumerate(runs):
        of_run = run.evaluations.columns()
        added = [[number] * len(of_run[0]), *of_run]
        for column, more in zip(stored.values(), added, strict=True):
            column += more
    units = [
        (run, opponent, scale.label, scale.zero, scale.factor)
        for (run, opponent), scale in scales.items()
    ]
    connection = duckdb.connect()
    # Otherwise DuckDB resolves a misspelt table name to a variable of this program.
    connection.execute("set python_enable_replacements = false")
    for name, kinds, rows in (
        ("runs", _columns_of_runs(), pandas.DataFrame(_records(runs))),
        ("agents", _AGENTS, pandas.DataFrame(_agents(runs))),
        ("stored", _STORED, pandas.DataFrame(stored)),
        ("scales", _SCALES, pandas.DataFrame(units, columns=list(_SCALES))),
        *((name, kept.COLUMNS[name], rows) for name, rows in kept.frames(ladders).items()),
    ):
        columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
        connection.execute(f"create table {name} ({columns})")
        if len(rows):
            connection.register("rows", rows)
            connection.execute(f"insert into {name} by name select * from rows")
            connection.unregister("rows")
    connection.execute(_VIEWS)
    connection.execute(f"create view summary as {SUMMARY.format(where='true')}")
    return connection


def _records(runs: list[StoredRun]) -> list[dict[str, object]]:
    """The rows of `runs`; settings that a value function or learner does not have are None."""
    configs = {id(run.shared): run.shared for run in runs}
    shared = {key: _record(config) for key, config in configs.items()}
    records = []
    for run in runs:
        own = {
            "folder": run.name,
            "digest": run.shared.digest(run.seeds),
            "finished": run.finished,
            "diverged": len(run.summary.get("diverged") or ()),
            "seeds": " ".join(map(str, run.seeds)),
        }
        own |= {name: run.summary.get(name) for name in _FIGURES}
        records.append(shared[id(run.shared)] | own)
    return records


def _agents(runs: list[StoredRun]) -> list[dict[str, object]]:
    """The rows of `agents`, from finished runs whose summary has them."""
    names = ("seed", "variant", "episodes", "moves", "weights", "active_weights")
    return [
        {
            "folder": run.name,
            "game": run.config["game"]["name"],
            **dict(zip(names, each, strict=True)),
        }
        for run in runs
        for each in run.summary.get("agents") or ()
    ]


def _record(config: Config) -> dict[str, object]:
    """The columns that are equal for all runs of a config."""
    game = dict(config.content["game"])
    record = {
        "game": game.pop("name"),
        "game_parameters": " ".join(f"{each}={value}" for each, value in game.items()),
        "fingerprint": config.content.get("fingerprint"),
    }
    for short, setting in settings().items():
        value = config.values[setting.path]
        if isinstance(value, tuple):
            text = _column(setting.hint) == "varchar"
            value = " ".join(map(str, value)) if text else len(value)
        record[short] = value
    return record
