"""Everything that chooses a move."""

from jaxgbg.games import Game
from jaxgbg.players import (
    alphabeta,
    blocker,
    centre_of_mass,
    expectimax,
    gtp,
    maxn,
    mcts,
    positional,
    random_player,
)
from jaxgbg.players.alphabeta import AlphaBeta
from jaxgbg.players.blocker import Blocker
from jaxgbg.players.centre_of_mass import CentreOfMass
from jaxgbg.players.core import (
    EngineError,
    History,
    MissingExtra,
    Opponent,
    Player,
    PlayerBase,
    Remembers,
)
from jaxgbg.players.expectimax import Expectimax
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.players.gtp import GRHINO, GTPEngine
from jaxgbg.players.lookahead import LookAheadAgent
from jaxgbg.players.maxn import MaxN
from jaxgbg.players.mcts import MCTSPlayer
from jaxgbg.players.positional import Positional
from jaxgbg.players.random_player import RandomPlayer
from jaxgbg.players.search import SearchAgent
from jaxgbg.specs import shown

__all__ = [
    "GRHINO",
    "PLAYERS",
    "AlphaBeta",
    "Blocker",
    "CentreOfMass",
    "EngineError",
    "Expectimax",
    "GTPEngine",
    "GreedyAgent",
    "History",
    "LookAheadAgent",
    "MCTSPlayer",
    "MaxN",
    "MissingExtra",
    "Opponent",
    "Player",
    "PlayerBase",
    "Positional",
    "RandomPlayer",
    "Remembers",
    "SearchAgent",
    "make_player",
    "player_names",
]

PLAYERS: dict[str, Opponent] = {
    **random_player.OPPONENTS,
    **maxn.OPPONENTS,
    **alphabeta.OPPONENTS,
    **blocker.OPPONENTS,
    **positional.OPPONENTS,
    **centre_of_mass.OPPONENTS,
    **gtp.OPPONENTS,
    **mcts.OPPONENTS,
    **expectimax.OPPONENTS,
}
"""All players by name."""


def player_names() -> list[str]:
    """The names that `make_player` takes, as "mcts" and "mcts-N"."""
    return [
        form
        for name, opponent in PLAYERS.items()
        for form in (name, f"{name}-{opponent.argument}")[: 1 + bool(opponent.argument)]
    ]


def make_player(name: str, game: Game) -> Player:
    """Build a player of `game` by its name, e.g. `make_player("maxn", make("nim"))`.

    Raises ValueError for an unknown name and for a game that this player cannot play, MissingExtra
    when the player needs a package that is not installed.
    """
    choices = "; ".join(f"{known} ({opponent.plays})" for known, opponent in PLAYERS.items())
    base, *argument = (name,) if name in PLAYERS else name.split("-", 1)
    opponent = PLAYERS.get(base)
    if opponent is None or (argument and not opponent.argument):
        raise ValueError(f"unknown player {shown(name)}: choose one of {choices}")
    try:
        return opponent.build(game, *argument)
    except ValueError as error:
        raise ValueError(f"{error}; players are {choices}") from error
