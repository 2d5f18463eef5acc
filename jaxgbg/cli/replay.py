"""The command `replay`: games that were kept, move by move."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

from jaxgbg.arguments import Port
from jaxgbg.cli.common import Json, TableFormat, optional, print_records
from jaxgbg.cli.session import start_jax
from jaxgbg.games import check_own
from jaxgbg.lazy import jax
from jaxgbg.specs import checked, pluralize, printable
from jaxgbg.types import JSON, State
from jaxgbg.web.play import LOOPBACK

if TYPE_CHECKING:
    from jaxgbg.runs.storage.recorded_games import RecordedGame


@checked
def replay(
    file: Annotated[Positional[Path], arg(metavar="FILE.jsonl")],
    game: Annotated[int | None, optional("N", "a table of all")] = None,
    page: bool = False,
    port: Port = 8484,
    browser: bool = True,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Replay the games in a file that --record has written, by the rules.

    Prints a row for each game, or with --game all positions of one. A move that the rules do not
    allow, or another result than theirs, ends with a line that names the game.

    Args:
      file: File written by --record.
      game: The number of a game in the file, counted from 1.
      page: Open the play page at this game.
      port: Port of the page; 0 takes any free port.
      browser: Open the page in a browser.
    """
    if page and game is None:
        raise ValueError("--page shows one game: give its number with --game")
    start_jax()
    from jaxgbg.runs.storage.recorded_games import recorded_games
    from jaxgbg.web.play.serving import check_extra

    if page:
        check_extra()
    games = recorded_games(file)
    if game is None:
        records = [_row(file, number, each) for number, each in enumerate(games, 1)]
        print_records(records, json_file, form)
        return
    if json_file is not None or form != "table":
        raise ValueError("--json and --format are for the table of all games: leave out --game")
    if not 1 <= game <= len(games):
        raise ValueError(f"{file} has {pluralize(len(games), 'game')}, and no game {game:,}")
    chosen = games[game - 1]
    states = _states(file, game, chosen)
    if page:
        _open(chosen, port, browser)
    else:
        print("\n".join(_positions(chosen, states)))


def _states(file: Path, number: int, record: "RecordedGame") -> State:
    """states[T + 1] of a game; raises ValueError."""
    try:
        check_own(record.game)
        return record.states()
    except ValueError as error:
        raise ValueError(f"{file}, game {number:,}: {error}") from error


def _row(file: Path, number: int, record: "RecordedGame") -> dict[str, JSON]:
    from jaxgbg.web.positions import outcome_text

    states = _states(file, number, record)
    return {
        "game": number,
        "of": record.game.name,
        "players": " - ".join(record.players),
        "moves": len(states.terminal) - 1,
        "opening": record.opening,
        "outcome": outcome_text(record.game, record.game.sides, np.asarray(states.rewards[-1])),
    }


def _positions(record: "RecordedGame", states: State) -> list[str]:
    """The lines about a game: its players, then each position with the move that led there."""
    from jaxgbg.games.notations import position_line, write_position
    from jaxgbg.games.rollout import select_states
    from jaxgbg.web.drawings import drawing_of
    from jaxgbg.web.drawings.rows import board_rows
    from jaxgbg.web.positions import outcome_text

    game, drawing = record.game, drawing_of(record.game)
    seats = zip(game.sides, record.players, strict=True)
    lines = [printable(", ".join(f"{side}: {player}" for side, player in seats))]
    plies = position_line(game, record.moves).plies if record.moves else ()
    boards = np.asarray(jax.vmap(game.display_cells)(states))
    for at in range(len(plies) + 1):
        state = select_states(states, at)
        if at:
            mover = game.sides[int(states.player[at - 1])]
            drawn = " (opening)" * (at <= record.opening)
            name = drawing.name(boards[at - 1], plies[at - 1][0])
            lines += ["", f"{at}. {mover}: {name}{drawn}"]
        lines += board_rows(game, drawing, state)
    end = select_states(states, -1)
    outcome = outcome_text(game, game.sides, np.asarray(end.rewards))
    return [*lines, "", outcome, write_position(game, end)]


def _open(record: "RecordedGame", port: int, browser: bool) -> None:
    from jaxgbg.web.play.serving import listen, serve
    from jaxgbg.web.play.table import Table

    listener = listen(LOOPBACK, port)
    try:
        title = record.game.title
        serve(lambda: Table(record.game), title, listener, LOOPBACK, browser, record.moves)
    finally:
        listener.close()
