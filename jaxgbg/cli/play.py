"""The command `play`: a page on which people play against agents."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from jaxgbg.arguments import Port
from jaxgbg.cli.common import Parameters, Position, Size, optional, read_game, read_position
from jaxgbg.cli.outputs import GUARDED
from jaxgbg.cli.session import start_jax
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.specs import checked, shown
from jaxgbg.web.play import LOOPBACK

if TYPE_CHECKING:
    from jaxgbg.games import Game
    from jaxgbg.players import GreedyAgent
    from jaxgbg.web.play.loaded_agents import LoadedAgents
    from jaxgbg.web.play.table import Table


@checked
def play(
    what: Annotated[
        Positional[tuple[str, ...]], optional("AGENT|RUN|GAME ...", "connectfour")
    ] = (),
    size: Size = None,
    parameters: Parameters = (),
    position: Position = None,
    host: Annotated[str, arg(metavar="ADDRESS")] = LOOPBACK,
    port: Port = 8484,
    browser: bool = True,
    export: Annotated[Path | None, optional("FILE"), GUARDED] = None,
    replace: bool = False,
) -> None:
    """Open a page to play on against agents and other players, with their value of each move.

    Args:
      what: Agent files, folders of runs for their first agents (for unfinished runs the latest
        checkpoint), zoo:NAME, or the name of a game, for its agent of the zoo if it has one.
        Several agents of one game are possible.
      host: Address to serve the page at: this machine only, or 0.0.0.0 for all that can reach it.
      port: Port of the page; 0 takes any free port.
      browser: Open the page in a browser.
      export: Do not serve, but write this HTML file, which plays the game with its agents offline
        and without Python, in browsers of 2023 or later; at most 25 MB.
      replace: Overwrite an existing file.
    """
    if export is not None:
        if position is not None:
            raise ValueError("--position does not go with --export: a file begins at the start")
        if (host, port, browser) != (LOOPBACK, 8484, True):
            raise ValueError(
                "--host, --port and --browser do not go with --export, which serves no page"
            )
        start_jax()
        loaded = _read(what, size, parameters)
        _write_file(export, loaded.game, loaded.agents)
        _announce(what, loaded)
        return
    if replace:
        raise ValueError("--replace goes with --export")
    start_jax()
    from jaxgbg.web.play.serving import check_extra, listen, serve

    check_extra()
    loaded = _read(what, size, parameters)
    line = "" if position is None else read_position(loaded.game, position)[0].text
    listener = listen(host, port)
    try:
        _announce(what, loaded)
        serve(lambda: _table(loaded), loaded.game.title, listener, host, browser, line)
    finally:
        listener.close()


def _announce(what: tuple[str, ...], loaded: "LoadedAgents") -> None:
    """Say which agent of the zoo plays without having been named."""
    from jaxgbg.runs.storage.zoo import is_zoo_name

    for label in loaded.agents:
        if is_zoo_name(label) and label not in what:
            line = f"jaxgbg: {label} plays, an agent that comes with jaxgbg (`jaxgbg zoo`)"
            print(line, file=sys.stderr)


def _table(loaded: "LoadedAgents") -> "Table":
    """The table at which they play, compiled for the first requests."""
    from jaxgbg.web.play.table import Table

    table = Table(*loaded)
    table.warm_up()
    return table


def _write_file(path: Path, game: "Game", agents: "dict[str, GreedyAgent]") -> None:
    """Write the game as a file to share; on ValueError or OSError nothing is written."""
    from rich.console import Console

    from jaxgbg.web.export.file import game_file

    with Console(stderr=True).status("compiling"):
        text = game_file(game, agents)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path}: {game.name} in {len(text.encode()) / 1e6:.1f} MB, plays in a browser, offline")


def _read(what: tuple[str, ...], size: int | None, parameters: tuple[str, ...]) -> "LoadedAgents":
    """The game and its agents; raises ValueError."""
    from jaxgbg.runs.opponents import file_of, names_agent
    from jaxgbg.runs.storage.zoo import zoo_agent_for
    from jaxgbg.web.play.loaded_agents import load_agents

    names = what or ("connectfour",)
    for name in names:
        if names_agent(name) and not Path(name).exists() and file_of(name) != name:
            raise ValueError(
                f"{shown(name)}: name the agent alone; how it plays is chosen on the page"
            )
    files = [name for name in names if names_agent(name) or Path(name).is_dir()]
    games = [name for name in names if name not in files]
    for name in games:
        if os.sep in name and ":" not in name:
            raise ValueError(
                f"{shown(name)} does not exist: name the folder of a run, an agent file or a game"
            )
    if len(games) > 1:
        raise ValueError(f"name one game, not {' and '.join(games)}")
    game = read_game(games[0], size, parameters) if games else None
    own = zoo_agent_for(game) if game is not None and not files else None
    files += [own] if own is not None else []
    if files and not games and (size is not None or parameters):
        raise ValueError(
            "--size and --parameters go with the name of a game; an agent file has its own"
        )
    return load_agents([Path(name) for name in files], game)
