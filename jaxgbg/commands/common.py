"""What several commands share: options, and how rows are shown and written."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

if TYPE_CHECKING:
    from rich.console import Console


def opponent_words() -> str:
    """All that evaluates an agent, in words."""
    from jaxgbg.arena import judge_names

    *names, last = judge_names()
    return f"{', '.join(names)} or {last}"


def published(help_text: str, metavar: str) -> Any:
    """An option that stays at the published parameters where it is not given."""
    return arg(help=help_text, metavar=metavar, help_behavior_hint="(default: as published)")


def network(help_text: str, metavar: str, default: str) -> Any:
    """An option of networks."""
    return arg(
        help=f"mlp: {help_text}", metavar=metavar, help_behavior_hint=f"(default: {default})"
    )


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
LearnerName = Annotated[
    Literal["td", "sarsa", "q"], arg(help="What is compared with what, move by move.")
]
ValueName = Annotated[
    Literal["ntuple", "mlp"], arg(help="Value function: n-tuple tables or a network.")
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
    float,
    arg(metavar="SECONDS", help="Between two checkpoints, from which a stopped run goes on."),
]
Log = Annotated[
    tuple[Literal["tensorboard", "wandb"], ...],
    arg(help="Also show the evaluations there, while they come.", metavar="NAME ..."),
]


def game_parameters(game: str, size: int | None, entries: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of a game from its options; raises ValueError in one line.

    "NAME=VALUE" is read as what the game has there by default: a number, yes or no, or a word.
    """
    from jaxgbg.games import make

    parameters: dict[str, Any] = {} if size is None else {"size": size}
    known = dataclasses.asdict(make(game))
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or name not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"--parameters {entry}: expected NAME=VALUE; {game} has {names}")
        if name in parameters:
            raise ValueError(f"--parameters {entry}: {name} is given twice")
        if isinstance(known[name], bool):
            if text not in ("true", "false"):
                raise ValueError(f"--parameters {entry}: expected true or false")
            parameters[name] = text == "true"
        elif isinstance(known[name], int):
            try:
                parameters[name] = int(text)
            except ValueError as error:
                raise ValueError(f"--parameters {entry}: expected a whole number") from error
        else:
            parameters[name] = text
    return parameters


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

    return Console(width=None if sys.stdout.isatty() else 120)


def write_rows(path: Path | None, records: list[dict[str, Any]]) -> None:
    from jaxgbg.training.files import write_json

    if path is None:
        return
    try:
        write_json(path, records)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error
