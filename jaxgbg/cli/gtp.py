"""The command `gtp`: an agent as an engine for other programs."""

import contextlib
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

from jaxgbg.cli.common import Parameters, Size, optional, read_game
from jaxgbg.cli.options import GREEDY, Playing
from jaxgbg.cli.session import start_jax
from jaxgbg.specs import Seed, checked

if TYPE_CHECKING:
    from jaxgbg.games import Game
    from jaxgbg.players import Player
    from jaxgbg.players.gtp_server import GTPServer
    from jaxgbg.types import State
    from jaxgbg.web.drawings import Drawing


@checked
def gtp(
    who: Annotated[Positional[str], arg(metavar="AGENT|RUN|NAME")],
    game: Annotated[str | None, optional("GAME")] = None,
    size: Size = None,
    parameters: Parameters = (),
    playing: Playing = GREEDY,
    seed: Seed = 0,
) -> None:
    """Play as an engine: read commands of the Go Text Protocol 2, and write the answers.

    For games of two players without chance.

    Args:
      who: An agent file, the folder of a run for its first agent, or with --game the name of a
        player such as mcts-1000.
      game: The game that a named player plays.
      seed: Seed of the player's random draws.
    """
    start_jax()
    from jaxgbg.runs.opponents import agent_file, file_of, make_opponent, names_agent
    from jaxgbg.runs.storage.agents import load_agent

    what = str(agent_file(Path(who)))
    saved = load_agent(file_of(what)) if names_agent(what) else None
    if saved is not None and (game is not None or size is not None or parameters):
        raise ValueError("an agent has its own game: leave out --game and its parameters")
    if saved is not None:
        rules = saved.run.game
    elif game is None:
        raise ValueError(f"{what} is no agent file: name one, or the --game that it plays")
    else:
        rules = read_game(game, size, parameters)
    if playing == GREEDY:
        player = make_opponent(what, rules)
    elif saved is None or file_of(what) != what:
        raise ValueError("options of play are for an agent's file alone")
    else:
        player = playing.read().player(saved.player())
    with contextlib.closing(player):
        for answer in server_for(rules, player, seed).answers(_lines()):
            print(answer, end="", flush=True)


def server_for(rules: "Game", player: "Player", seed: int = 0) -> "GTPServer":
    """An engine that names moves as the play page does."""
    from jaxgbg.players.gtp_server import GTPServer
    from jaxgbg.web.drawings import drawing_of

    drawing = drawing_of(rules)
    return GTPServer(
        rules,
        player,
        lambda state: _names(rules, drawing, state),
        lambda state: _shown(rules, drawing, state),
        seed,
    )


def _lines() -> Iterator[str]:
    """The lines of standard input; what is not UTF-8 becomes question marks."""
    for line in sys.stdin.buffer:
        yield line.decode(errors="replace")


def _names(rules: "Game", drawing: "Drawing", state: "State") -> dict[str, int]:
    """The name of each legal action, as the page shows it, and its number."""
    import jax

    board = np.asarray(rules.display_cells(state))
    legal = np.flatnonzero(jax.device_get(rules.legal_actions(state))).tolist()
    return {drawing.name(board, action): action for action in legal}


def _shown(rules: "Game", drawing: "Drawing", state: "State") -> str:
    """The board in letters, a line for each row of spots, and who is to move."""
    board = np.asarray(rules.display_cells(state))
    pieces = [drawing.piece_names[int(kind)] for kind in drawing.kinds(board)]
    spots = sorted((round(y), x, spot) for spot, (x, y) in enumerate(drawing.spots))
    names = {*drawing.piece_names} - {"empty"}
    # Of "player 1" and "player 2" the number.
    word = 0 if len({name[:1] for name in names}) == len(names) else -1
    marks = {name: name.split()[word][:1].upper() for name in names} | {"empty": "."}
    rows = [
        " ".join(marks[pieces[spot]] for _, _, spot in row)
        for _, row in groupby(spots, key=lambda spot: spot[0])
    ]
    from jaxgbg.players.gtp import COLOURS

    mover = int(state.player)
    turn = f"{COLOURS[mover]} ({rules.sides[mover]}) to move"
    return "\n".join([*rows, "the game is over" if state.terminal else turn])
