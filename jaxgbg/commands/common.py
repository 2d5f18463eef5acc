"""What several commands share: options, and how rows are shown and written."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from jaxgbg.training import execution

if TYPE_CHECKING:
    from rich.console import Console

    from jaxgbg.games import Game


def opponent_words() -> str:
    """All that evaluates an agent, in words."""
    from jaxgbg.arena import judge_names

    *names, last = judge_names()
    return f"{', '.join(names)} or {last}"


Json = Annotated[
    Path | None,
    arg(
        name="json",
        metavar="FILE",
        help="Also write the rows to this JSON file.",
        help_behavior_hint="",
    ),
]
GameName = Annotated[Positional[str], arg(metavar="GAME", help="Name; `jaxgbg games` lists them.")]
Size = Annotated[
    int | None,
    arg(
        metavar="N",
        help="Of the board (hex, othello) or of each heap (nim).",
        help_behavior_hint="(default: as published)",
    ),
]
Parameters = Annotated[
    tuple[str, ...],
    arg(
        name="parameters",
        metavar="NAME=VALUE ...",
        help="Of the game: rule, players, heaps (nim), draw_after (connectfour), misere (hex) ...",
        help_behavior_hint="",
    ),
]
Out = Annotated[Path, arg(help="Folder for the results; each run gets a folder of its own in it.")]
CheckpointEvery = Annotated[
    execution.CheckpointEvery,
    arg(metavar="SECONDS", help="Between two checkpoints, from which a stopped run goes on."),
]
Log = Annotated[
    tuple[Literal["tensorboard", "wandb"], ...],
    arg(help="Also show the evaluations there, while they come.", metavar="NAME ..."),
]


def read_game(name: str, size: int | None, entries: tuple[str, ...]) -> "Game":
    """A game by its options; raises ValueError in one line.

    "NAME=VALUE" is read as what the game has there by default: a number, yes or no, or a word.
    """
    from jaxgbg.games import make

    parameters: dict[str, Any] = {} if size is None else {"size": size}
    known = dataclasses.asdict(make(name))
    for entry in entries:
        parameter, equals, text = entry.partition("=")
        if not equals or parameter not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"--parameters {entry}: expected NAME=VALUE; {name} has {names}")
        if parameter in parameters:
            raise ValueError(f"--parameters {entry}: {parameter} is given twice")
        kind = type(known[parameter])
        try:
            # Only true and false are read as JSON has them; float("nan") is nobody's parameter.
            parameters[parameter] = (
                {"true": True, "false": False}[text] if kind is bool else kind(text)
            )
        except (KeyError, ValueError) as error:
            words = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
            raise ValueError(f"--parameters {entry}: expected {words}") from error
    return make(name, **parameters)


def print_records(records: list[dict[str, Any]], json_file: Path | None) -> None:
    from rich.table import Table

    table = Table()
    for name, value in records[0].items():
        number = isinstance(value, int | float)
        table.add_column(name.replace("_", " "), justify="right" if number else "left")
    for record in records:
        table.add_row(
            *(
                f"{v:,}" if isinstance(v, int | float) else str("" if v is None else v)
                for v in record.values()
            )
        )
    console().print(table)
    write_rows(json_file, records)


def console() -> "Console":
    """Standard output; wide enough for every table where it is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 140)


def write_rows(path: Path | None, records: list[dict[str, Any]]) -> None:
    from jaxgbg.training.files import write_json

    if path is None:
        return
    try:
        write_json(path, records)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error
