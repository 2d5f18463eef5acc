"""The command `analyze`: a player's value of every legal move in positions."""

import contextlib
import io
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from jaxgbg.cli.common import (
    Json,
    Parameters,
    Size,
    TableFormat,
    optional,
    print_records,
    read_position,
)
from jaxgbg.cli.options import GREEDY, Playing, named_player
from jaxgbg.contents import defect, read_bytes
from jaxgbg.games import Game
from jaxgbg.games.states import check_to_move
from jaxgbg.lazy import jax
from jaxgbg.specs import Limits, Seed, checked
from jaxgbg.types import State

_MOST_BYTES = 2**26
Top = Annotated[int, Limits(low=0, high=100_000)]


@checked
def analyze(
    who: Annotated[Positional[str], arg(metavar="AGENT|RUN|NAME")],
    game: Annotated[str | None, optional("GAME")] = None,
    size: Size = None,
    parameters: Parameters = (),
    position: Annotated[tuple[str, ...], optional("TEXT ...")] = (),
    positions: Annotated[Path | None, optional("FILE")] = None,
    playing: Playing = GREEDY,
    top: Top = 0,
    seed: Seed = 0,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Print a player's value of every legal move in positions, best first.

    A row for each legal move; a finished game has one row with its outcome. Values are the mover's
    further reward, as the page shows them, and those of a tree search the mean of its visits. Only
    agents and maxn have values; for other players the move that they play is marked alone.

    Args:
      who: An agent file, the folder of a run for its first agent, or with --game the name of a
        player such as mcts-1000.
      game: The game that a named player plays.
      position: Positions in the game's notation, or the numbers of moves from the start.
      positions: A file with a position on each line; blank lines and lines that begin with # do
        not count.
      top: Print only so many of the best moves of each position; 0 prints all.
      seed: Seed of the player's random draws.
    """
    if (positions is None) == (not position):
        raise ValueError("give --position TEXT or --positions FILE")
    rules, player = named_player(who, game, size, parameters, playing)
    from jaxgbg.players.analysis import analyze as analyze_states
    from jaxgbg.web.move_values import move_records
    from jaxgbg.web.positions import value_scale

    with contextlib.closing(player):
        lines = list(enumerate(position, 1)) if positions is None else _lines(positions)
        read = [_read(rules, text, positions, number) for number, text in lines]
        states = jax.tree.map(lambda *leaves: np.stack(leaves), *read)
        found = analyze_states(rules, player, states, seed)
    records = [
        record
        for row, (number, text) in enumerate(lines)
        for record in move_records(rules, number, text, read[row], found, row, top)
    ]
    scale = value_scale(rules)
    words = {
        "value": lambda value: "" if value is None else scale.text(value),
        "best": lambda best: "*" if best else "",
    }
    print_records(records, json_file, form, words)


def _read(rules: Game, text: str, path: Path | None, number: int) -> State:
    try:
        state = read_position(rules, text)[1]
        check_to_move(rules, state)
        return state
    except ValueError as error:
        where = "" if path is None else f"{path}, line {number}: "
        raise ValueError(f"{where}{error}") from error


def _lines(path: Path) -> list[tuple[int, str]]:
    """The positions of a file with the numbers of their lines; raises ValueError."""
    try:
        text = read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ValueError(defect(path, error)) from error
    lines = [
        (number, line.strip())
        # Unlike splitlines(), it counts lines as editors do.
        for number, line in enumerate(io.StringIO(text, newline=None), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ValueError(f"{path} holds no positions: write one on each line")
    return lines
