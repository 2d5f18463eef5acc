"""Options that several commands share, and functions that print and write rows."""

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from jaxgbg.arguments import CheckpointEvery as Interval
from jaxgbg.cli.outputs import GAMES, ROWS
from jaxgbg.cli.session import start_jax
from jaxgbg.games import Game, check_own, game_names, is_own, make
from jaxgbg.games.registry import PACKAGES
from jaxgbg.results.formats import Column, Format, print_columns, print_plain
from jaxgbg.runs.storage.files import write_json
from jaxgbg.specs import printable, shown
from jaxgbg.types import JSON, SettingValue

if TYPE_CHECKING:
    from rich.console import Console

    from jaxgbg.games.lines import Line
    from jaxgbg.types import State


def optional(metavar: str, default: str = "", **options: Any) -> object:
    """The form of an optional argument in help, with a description of its default, if any."""
    return arg(metavar=metavar, help_behavior_hint=default and f"(default: {default})", **options)


Json = Annotated[
    Path | None,
    optional("FILE", name="json", help="Also write the rows to this JSON file."),
    ROWS,
]
TableFormat = Annotated[
    Format, arg(name="format", help="Print a table, a table for a document, or records.")
]
By = Annotated[
    tuple[str, ...],
    optional(
        "SETTING ...",
        help="Settings to list first, by path or short form: learner.trace_decay, or trace_decay;"
        " other settings that differ are listed separately too.",
    ),
]
Pool = Annotated[
    tuple[str, ...],
    optional(
        "SETTING ...",
        help="Settings to pool: each seed counts once, with its mean over them, and intervals are a"
        " bootstrap of seeds.",
    ),
]
Runs = Annotated[
    Positional[str],
    arg(
        metavar="DIR|URL",
        help="Folder with runs at any depth, or one run; also s3://bucket/runs and the like.",
    ),
]
Baseline = Annotated[
    tuple[str, ...],
    optional(
        "SETTING=VALUE ...",
        help="Row to compare the others with, paired by seed: trace_decay=0. Default: variant=none,"
        " if there is one.",
    ),
]
Wins = Annotated[
    bool, arg(help="Show the share of games won instead of scores; a draw counts nothing.")
]
Where = Annotated[
    str | None,
    optional(
        "CONDITION",
        help="Evaluations to use, an SQL condition over all columns (DuckDB): \"game = 'nim' and"
        " variant = 'none'\".",
    ),
]
_NAMES = ", ".join((*game_names(), *(f"{package}:TITLE" for package in PACKAGES)))
GameName = Annotated[Positional[str], arg(metavar="GAME", help=f"{_NAMES}, or one of your own.")]
Size = Annotated[
    int | None,
    optional(
        "N",
        help="Size of the board (othello, hex, lines_of_action, ewn, yavalath), or of each heap"
        " (nim, nim3p).",
    ),
]
Parameters = Annotated[
    tuple[str, ...],
    optional(
        "NAME=VALUE ...",
        help="Parameters of the game: players, rule, heaps (nim), draw_after (connectfour), misere"
        " (hex), repetition (lines_of_action) ... The page of a game has all of them, and so has"
        " the line that refuses an unknown one.",
    ),
]
Position = Annotated[
    str | None,
    optional(
        "TEXT",
        "the start",
        help="A position in the game's notation, such as 'XO./.X./... O' (tictactoe), or the"
        " numbers of moves from the start, 3,2,4; moves may follow a position after a semicolon.",
    ),
]
Record = Annotated[
    Path | None,
    optional("FILE.jsonl", help="Keep all games in this file, for jaxgbg replay; it is replaced."),
    GAMES,
]
Out = Annotated[Path, arg(help="Folder for the results; each run gets its own folder in it.")]
CheckpointEvery = Annotated[
    Interval,
    arg(
        metavar="SECONDS", help="Time between checkpoints; a stopped run resumes from the last one."
    ),
]
Log = Annotated[
    tuple[Literal["tensorboard", "wandb"], ...],
    optional("NAME ...", help="Also send each evaluation to tensorboard or wandb."),
]


def read_game(name: str, size: int | None, entries: tuple[str, ...]) -> Game:
    """Make a game from its options, and check it if it is a user's own.

    Raises ValueError.
    """
    game = make(name, **read_parameters(name, size, entries))
    if is_own(game):
        start_jax()
        check_own(game)
    return game


def read_parameters(
    name: str, size: int | None, entries: tuple[str, ...]
) -> dict[str, SettingValue]:
    """The parameters of a game from its options; raises ValueError.

    "NAME=VALUE" is parsed as the type of the parameter's default.
    """
    parameters: dict[str, SettingValue] = {} if size is None else {"size": size}
    known = dataclasses.asdict(make(name)) if entries else {}
    for entry in entries:
        parameter, equals, text = entry.partition("=")
        if not equals or parameter not in known:
            names = ", ".join(known) or "none"
            fault = f"expected NAME=VALUE; {name} has {names}"
            if equals:
                fault = f"{name} has no parameter {shown(parameter)}; known are {names}"
            raise ValueError(f"--parameters {entry}: {fault}")
        if parameter in parameters:
            raise ValueError(f"--parameters {entry}: {parameter} is given twice")
        kind = type(known[parameter])
        try:
            # Booleans are true and false, as in JSON.
            parameters[parameter] = (
                {"true": True, "false": False}[text] if kind is bool else kind(text)
            )
        except (KeyError, ValueError) as error:
            words = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
            raise ValueError(f"--parameters {entry}: expected {words}") from error
    return parameters


def read_position(game: Game, text: str) -> "tuple[Line, State]":
    """A position as a game that leads there, and its state; raises ValueError."""
    start_jax()
    from jaxgbg.games import game_replay

    return game_replay.read_position(game, text)


def cell(value: object) -> str:
    """Format a value for a table; "" for None."""
    if isinstance(value, int | float):
        return f"{value:,}"
    return printable("" if value is None else str(value))


def print_records(
    records: list[dict[str, JSON]],
    json_file: Path | None,
    form: Format = "table",
    texts: Mapping[str, Callable[[JSON], str]] | None = None,
) -> None:
    """Print and write records; `texts` has functions that format some of the columns."""
    words = texts or {}
    names = list(records[0])
    print_table(records, names, lambda record, name: words.get(name, cell)(record[name]), form)
    write_rows(json_file, records)


def print_table(
    records: list[dict[str, JSON]],
    names: list[str],
    text: Callable[[dict[str, JSON], str], str],
    form: Format = "table",
) -> None:
    """Print the columns `names` of records, formatted by `text`; numbers are right-aligned."""
    if form in ("csv", "json"):
        print_plain([{name: record[name] for name in names} for record in records], form)
        return
    columns = [
        Column(
            printable(name),
            [text(record, name) for record in records],
            any(isinstance(record[name], int | float) for record in records),
        )
        for name in names
    ]
    print_columns(columns, console(), form)


def console() -> "Console":
    """Standard output: 140 columns wide if it is not a terminal and COLUMNS is not set."""
    from rich.console import Console

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else 140)


def write_rows(path: Path | None, records: list[dict[str, JSON]]) -> None:
    if path is not None:
        write_json(path, records)
