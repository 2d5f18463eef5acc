"""Rules of the games, and nothing else."""

from collections.abc import Callable
from typing import Any

from jaxgbg.games.connectfour import ConnectFour
from jaxgbg.games.core import SHARE, WIN_RATE, Game, Scale, State
from jaxgbg.games.game2048 import Game2048
from jaxgbg.games.hex import Hex
from jaxgbg.games.nim import Nim
from jaxgbg.games.othello import Othello
from jaxgbg.games.tictactoe import TicTacToe

__all__ = [
    "GAMES",
    "SHARE",
    "WIN_RATE",
    "ConnectFour",
    "Game",
    "Game2048",
    "Hex",
    "Nim",
    "Othello",
    "Scale",
    "State",
    "TicTacToe",
    "make",
]


def _nim3p(**parameters: Any) -> Nim:
    return Nim(**{"players": 3, "rule": "nim3p", **parameters})


GAMES: dict[str, Callable[..., Game]] = {
    "tictactoe": TicTacToe,
    "nim": Nim,
    "nim3p": _nim3p,
    "connectfour": ConnectFour,
    "hex": Hex,
    "othello": Othello,
    "2048": Game2048,
}


def make(name: str, **parameters: Any) -> Game:
    """Build a game by its name, e.g. `make("nim", heaps=4)`.

    Raises ValueError for a name that no game has, or a parameter that this game does not take.
    """
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}: choose one of {', '.join(GAMES)}")
    try:
        return GAMES[name](**parameters)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
