"""The command `gtp`: an agent as an engine for other programs."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

from jaxgbg.cli.common import Parameters, Size, optional
from jaxgbg.cli.options import GREEDY, Playing, named_player
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
    rules, player = named_player(who, game, size, parameters, playing)
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
    from jaxgbg.players.gtp import COLOURS
    from jaxgbg.web.drawings.rows import board_rows

    rows = board_rows(rules, drawing, state)
    mover = int(state.player)
    colour, side = COLOURS[mover], rules.sides[mover]
    turn = f"{colour}{'' if side == colour else f' ({side})'} to move"
    return "\n".join([*rows, "the game is over" if state.terminal else turn])
