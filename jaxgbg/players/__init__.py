"""Everything that chooses a move."""

from typing import TYPE_CHECKING

from jaxgbg import lazy
from jaxgbg.players.core import (
    EngineError,
    History,
    MissingExtra,
    Opponent,
    Player,
    PlayerBase,
    Remembers,
)
from jaxgbg.players.registry import (
    PLAYERS,
    is_player,
    make_player,
    name_of,
    player_names,
    register_player,
    traceable_players,
)

if TYPE_CHECKING:
    from jaxgbg.players.alphabeta import AlphaBeta
    from jaxgbg.players.blocker import Blocker
    from jaxgbg.players.centre_of_mass import CentreOfMass
    from jaxgbg.players.greedy import GreedyAgent
    from jaxgbg.players.gtp import GRHINO, GTPEngine
    from jaxgbg.players.lookahead import LookAheadAgent
    from jaxgbg.players.maxn import MaxN
    from jaxgbg.players.pip_count import PipCount
    from jaxgbg.players.positional import Positional
    from jaxgbg.players.random_player import RandomPlayer
    from jaxgbg.players.search import SearchAgent, SearchPlayer, search_player
else:
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "jaxgbg.players.alphabeta": "AlphaBeta",
            "jaxgbg.players.blocker": "Blocker",
            "jaxgbg.players.centre_of_mass": "CentreOfMass",
            "jaxgbg.players.greedy": "GreedyAgent",
            "jaxgbg.players.gtp": "GRHINO GTPEngine",
            "jaxgbg.players.lookahead": "LookAheadAgent",
            "jaxgbg.players.maxn": "MaxN",
            "jaxgbg.players.pip_count": "PipCount",
            "jaxgbg.players.positional": "Positional",
            "jaxgbg.players.random_player": "RandomPlayer",
            "jaxgbg.players.search": "SearchAgent SearchPlayer search_player",
        },
    )

__all__ = [
    "GRHINO",
    "PLAYERS",
    "AlphaBeta",
    "Blocker",
    "CentreOfMass",
    "EngineError",
    "GTPEngine",
    "GreedyAgent",
    "History",
    "LookAheadAgent",
    "MaxN",
    "MissingExtra",
    "Opponent",
    "PipCount",
    "Player",
    "PlayerBase",
    "Positional",
    "RandomPlayer",
    "Remembers",
    "SearchAgent",
    "SearchPlayer",
    "is_player",
    "make_player",
    "name_of",
    "player_names",
    "register_player",
    "search_player",
    "traceable_players",
]
