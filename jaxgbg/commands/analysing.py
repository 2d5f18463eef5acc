"""Commands about what there is already: `results` of many runs, `compare` of two players."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from jaxgbg.arena.comparison import MostGames, OpeningPlies, Pairs
from jaxgbg.arena.sequential import Elo, Risk
from jaxgbg.commands.common import Json, console, print_records, write_rows
from jaxgbg.specs import Seed, checked

if TYPE_CHECKING:
    import pandas

    from jaxgbg.arena.comparison import Comparison
    from jaxgbg.games import Game
    from jaxgbg.players import Player

# More is for a file, not for the eye.
_ROWS_SHOWN = 200
_VERDICTS = {
    "accept": "accept: above {0:+g} Elo",
    "reject": "reject: below {1:+g} Elo",
    "continue": "undecided",
}
# Figures and their standard errors.
_ERRORS = {"mean": "sem", "last": "last_sem"}


def _file(kind: str) -> Any:
    return arg(metavar="FILE", help=f"Also write the rows to this {kind}.", help_behavior_hint="")


def results(
    folder: Annotated[Positional[Path], arg(metavar="DIR", help="Folder with runs, however deep.")],
    where: Annotated[
        str | None,
        arg(
            metavar="CONDITION",
            help="Which evaluations count, in SQL, by the columns of evaluations and runs, e.g."
            " \"game = 'nim' and variant = 'none'\".",
            help_behavior_hint="",
        ),
    ] = None,
    sql: Annotated[
        str | None,
        arg(
            metavar="QUERY",
            help="A query of your own over the tables runs, evaluations and summary, e.g."
            ' "describe runs" for its columns.',
            help_behavior_hint="",
        ),
    ] = None,
    csv: Annotated[Path | None, _file("CSV file")] = None,
    parquet: Annotated[Path | None, _file("Parquet file")] = None,
    json_file: Json = None,
) -> None:
    """Tabulate all runs below a folder, or ask them in SQL (DuckDB).

    A row is one run, opponent and FARL variant: over seeds, mean and standard error of what each
    scored in the last fifth of the episodes that all have reached, and of the last evaluation there
    alone. `runs` has a row a run, `evaluations` a row an
    evaluation, `summary` the rows of the table. Damaged files and lines are named and left out.
    """
    from jaxgbg.results import results as ask

    for path in (csv, parquet, json_file):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    frame = ask(folder, where, sql)
    if sql is None:
        _print_summary(frame)
    else:
        _print_frame(frame, [[_plain(cell) for cell in row] for row in _rows(frame)])
    if csv is not None:
        _write(csv, lambda path: frame.to_csv(path, index=False))
    if parquet is not None:
        _write(parquet, lambda path: _write_parquet(frame, path))
    write_rows(json_file, _records(frame))


def _print_summary(frame: "pandas.DataFrame") -> None:
    scales = frame.attrs["scales"]

    def text(record: dict[str, Any], name: str) -> str:
        if name not in _ERRORS:
            return _plain(record[name])
        scale, error = scales[record["folder"], record["opponent"]], record[_ERRORS[name]]
        figure = scale.text(record[name])
        return figure if error is None else f"{figure} ± {scale.text(error)}"

    names = ["game", "opponent", "variant", "unit", "mean", "last", "n", "episodes"]
    # What all runs share would only make the lines longer.
    names += [name for name in ("learner", "value", "batch") if frame[name].nunique() > 1]
    names.append("folder")
    cells = [[text(record, name) for name in names] for record in _records(frame.head(_ROWS_SHOWN))]
    _print_frame(frame[names], cells)
    percent = {scale.unit for scale in scales.values() if scale.percent}
    units = [f"{unit} in %" for unit in frame["unit"].unique() if unit in percent]
    if len(frame):
        console().print("; ".join((*units, "mean: of the last fifth of the episodes, ± s.e.")))


def _print_frame(frame: "pandas.DataFrame", cells: list[list[str]]) -> None:
    from pandas.api.types import is_numeric_dtype
    from rich.table import Table
    from rich.text import Text

    if not len(frame):
        console().print("no rows")
        return
    table = Table()
    for name in frame.columns:
        justify: Literal["right", "left"] = "right" if is_numeric_dtype(frame[name]) else "left"
        table.add_column(Text(str(name)), justify=justify, overflow="fold")
    for row in cells:
        # Text, so that no value is taken for a style.
        table.add_row(*map(Text, row))
    console().print(table)
    if len(frame) > len(cells):
        more = len(frame) - len(cells)
        console().print(f"and {more:,} more rows; --csv, --parquet or --json keeps them all")


def _rows(frame: "pandas.DataFrame") -> list[list[Any]]:
    return [list(record.values()) for record in _records(frame.head(_ROWS_SHOWN))]


def _records(frame: "pandas.DataFrame") -> list[dict[str, Any]]:
    """Flat records of what JSON knows; what is missing or no number is None."""
    import json

    return json.loads(frame.to_json(orient="records", date_format="iso", double_precision=15))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _write(path: Path, write: Callable[[Path], object]) -> None:
    from jaxgbg.training.files import written_whole

    try:
        with written_whole(path) as temporary:
            write(temporary)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error


def _write_parquet(frame: "pandas.DataFrame", path: Path) -> None:
    import duckdb

    # DuckDB's own complaint would name the temporary file.
    path.touch()
    duckdb.from_df(frame).write_parquet(str(path))


@checked
def compare(
    agent: Annotated[Positional[Path], arg(metavar="AGENT", help="Agent file.")],
    opponent: Annotated[
        Positional[str], arg(metavar="AGENT|NAME", help="Another agent file, or a player's name.")
    ],
    elo0: Annotated[
        Elo, arg(help="An agent so much stronger (negative: weaker) is too weak.")
    ] = -50,
    elo1: Annotated[Elo, arg(help="One so much stronger is strong enough.")] = 0,
    alpha: Annotated[Risk, arg(help="Chance to accept what is too weak.")] = 0.05,
    beta: Annotated[Risk, arg(help="Chance to reject what is strong enough.")] = 0.05,
    opening_plies: Annotated[OpeningPlies, arg(help="Random plies before each start.")] = 4,
    batch: Annotated[Pairs, arg(help="Starts at a time; each is played from both seats.")] = 50,
    max_games: Annotated[MostGames, arg(help="Give up after so many games.")] = 20_000,
    seed: Annotated[Seed, arg(help="Seed of starts and draws.")] = 0,
    json_file: Json = None,
) -> None:
    """Play until it is clear whether an agent is at least about as strong as an opponent.

    A sequential probability ratio test (SPRT): few games where the answer is plain. To accept says
    that the agent is better than elo0, to reject that it is worse than elo1; between the two either
    may come. Greedy agents would repeat one game for ever, so every start is drawn: random plies
    from the start position, played twice, with seats changed; the two games count as one
    observation. -50 Elo is 43 % of the points.
    """
    from rich.console import Console

    from jaxgbg.arena.comparison import compare as play
    from jaxgbg.arena.sequential import SequentialTest
    from jaxgbg.training.agents import load_agent

    test = SequentialTest(elo0, elo1, alpha, beta)
    saved = load_agent(agent)
    game = saved.run.game
    player = _opponent(opponent, game, agent)
    with contextlib.closing(player), Console(stderr=True).status("playing") as status:

        def tell(now: "Comparison") -> None:
            games = now.wins + now.draws + now.losses
            ratio = f"{now.log_likelihood_ratio:+.2f} of {test.lower:+.2f} to {test.upper:+.2f}"
            status.update(f"{games:,} games, log likelihood ratio {ratio}")

        comparison = play(
            game, saved.player(), player, test, opening_plies, batch, max_games, seed, tell
        )
    record = {
        "agent": agent.name,
        "opponent": Path(opponent).name,
        "game": game.name,
        "games": comparison.wins + comparison.draws + comparison.losses,
        "wins": comparison.wins,
        "draws": comparison.draws,
        "losses": comparison.losses,
        "score": round(comparison.score, 4),
        "sem": round(comparison.sem, 4),
        "llr": round(comparison.log_likelihood_ratio, 3),
        "verdict": _VERDICTS[comparison.decision].format(elo0, elo1),
    }
    print_records([record], json_file)


def _opponent(name: str, game: "Game", agent: Path) -> "Player":
    """Whom `agent` is compared with: an agent file of the same game, or a player by its name."""
    from jaxgbg.players import make_player
    from jaxgbg.training.agents import load_agent, names_agent_file

    if not names_agent_file(name):
        return make_player(name, game)
    other = load_agent(name, game.name)
    if other.run.game != game:
        raise ValueError(f"{name} plays {game.name} with other parameters than {agent}")
    return other.player()
