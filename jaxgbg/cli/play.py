"""The command `play`: the page on which people meet agents."""

import os
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import Positional, arg

from jaxgbg.cli.common import Parameters, Size, optional, read_game
from jaxgbg.games import Game
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.opponents import names_agent
from jaxgbg.runs.storage.files import check_writable, written_whole
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.specs import Limits, checked, shown
from jaxgbg.web.export.file import check_offered, game_file
from jaxgbg.web.play.loaded_agents import Guests, met
from jaxgbg.web.play.serving import LOOPBACK, check_extra, listen, serve
from jaxgbg.web.play.table import Table

Port = Annotated[int, Limits(low=0, high=65_535)]


@checked
def play(
    what: Annotated[Positional[tuple[str, ...]], arg(metavar="AGENT|RUN|GAME ...")] = (),
    size: Size = None,
    parameters: Parameters = (),
    host: str = LOOPBACK,
    port: Port = 8484,
    browser: bool = True,
    export: Annotated[Path | None, optional("FILE")] = None,
    replace: bool = False,
) -> None:
    """Open a page to play on: against agents and players, with what they think of each move.

    Args:
      what: Agent files, folders of runs for their first agents (of unfinished ones those of the
        newest checkpoints), or the name of a game; several agents of one game may meet. ConnectFour
        if nothing is named.
      host: Who may reach the page: this machine alone, or 0.0.0.0 for all who can reach it.
      port: Where the page is served; 0 takes any free port.
      browser: Open the page in a browser.
      export: Serve nothing, but write this HTML file, which plays the game with its agents offline
        and without Python, in browsers of 2023 or later; 25 MB at most, for all games but
        lines_of_action.
      replace: Write the file also where there is one already.
    """
    if export is not None:
        if (host, port, browser) != (LOOPBACK, 8484, True):
            raise ValueError("--host, --port and --browser are about a page that is served")
        # To read the agents of a large game takes long: what is refused anyway is refused before.
        for name in what:
            if (Path(name) / "config.json").is_file():
                check_offered(RunFolder.open(name).run.game)
        guests = _read(what, size, parameters)
        _write_file(export, replace, guests.game, guests.agents)
        return
    if replace:
        raise ValueError("--replace is about the file of --export")
    check_extra()
    guests = _read(what, size, parameters)
    listener = listen(host, port)
    try:
        serve(lambda: _table(guests), guests.game.title, listener, host, browser)
    finally:
        listener.close()


def _table(guests: Guests) -> Table:
    """Where they meet, with what the first questions need compiled."""
    table = Table(*guests)
    table.warm_up()
    return table


def _write_file(path: Path, replace: bool, game: Game, agents: dict[str, GreedyAgent]) -> None:
    """Write the game as a file to share; raises ValueError, and OSError, with nothing written."""
    check_writable(path)
    if path.exists() and not replace:
        raise ValueError(f"{path} is there already: --replace writes it anew")
    with Console(stderr=True).status("compiling"):
        text = game_file(game, agents)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path}: {game.name} in {len(text.encode()) / 1e6:.1f} MB, plays in a browser, offline")


def _read(what: tuple[str, ...], size: int | None, parameters: tuple[str, ...]) -> Guests:
    """The game and its agents; raises ValueError."""
    names = what or ("connectfour",)
    files = [name for name in names if names_agent(name) or Path(name).is_dir()]
    games = [name for name in names if name not in files]
    for name in games:
        if os.sep in name and ":" not in name:
            raise ValueError(
                f"there is no {shown(name)}: name a run's folder, an agent file, a game"
            )
    if len(games) > 1:
        raise ValueError(f"one game is played at a time, not {' and '.join(games)}")
    game = read_game(games[0], size, parameters) if games else None
    if files and not games and (size is not None or parameters):
        raise ValueError("an agent knows its game: --size and --parameters are for a game's name")
    return met([Path(name) for name in files], game)
