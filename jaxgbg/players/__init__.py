"""Everything that chooses a move."""

from collections.abc import Callable

from jaxgbg.games import ConnectFour, Game
from jaxgbg.players.alphabeta import AlphaBeta
from jaxgbg.players.core import MissingExtra, Player, choose_uniformly
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.players.maxn import MaxN
from jaxgbg.players.random_player import RandomPlayer

__all__ = [
    "PLAYERS",
    "AlphaBeta",
    "GreedyAgent",
    "MaxN",
    "MissingExtra",
    "Player",
    "RandomPlayer",
    "choose_uniformly",
    "make_player",
]


def _alpha_beta(game: Game, distant_losses: bool) -> AlphaBeta:
    if not isinstance(game, ConnectFour):
        raise ValueError(f"alpha-beta plays connectfour only, not {game.name}")
    return AlphaBeta(distant_losses)


PLAYERS: dict[str, tuple[str, Callable[[Game], Player]]] = {
    "random": ("any game", RandomPlayer),
    "maxn": ("small games such as tictactoe, nim, nim3p", MaxN),
    "ab": ("connectfour", lambda game: _alpha_beta(game, distant_losses=False)),
    "ab-dl": ("connectfour", lambda game: _alpha_beta(game, distant_losses=True)),
}
"""Name -> (the games it plays, how to build it for a game)."""


def make_player(name: str, game: Game) -> Player:
    """Build a player of `game` by its name, e.g. `make_player("maxn", make("nim"))`.

    Raises ValueError for an unknown name and for a game that this player cannot play, MissingExtra
    when the player needs a package that is not installed.
    """
    choices = "; ".join(f"{known} ({games})" for known, (games, _) in PLAYERS.items())
    if name not in PLAYERS:
        raise ValueError(f"unknown player {name!r}: choose one of {choices}")
    try:
        return PLAYERS[name][1](game)
    except ValueError as error:
        raise ValueError(f"{error}; players are {choices}") from error
