"""Everything that chooses a move."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard, TypeVar

from jaxgbg.extensions import is_redefined
from jaxgbg.games import Game
from jaxgbg.players import (
    alphabeta,
    blocker,
    centre_of_mass,
    gtp,
    maxn,
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
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.players.gtp import GRHINO, GTPEngine
from jaxgbg.players.lookahead import LookAheadAgent
from jaxgbg.players.maxn import MaxN
from jaxgbg.players.positional import Positional
from jaxgbg.players.random_player import RandomPlayer
from jaxgbg.players.search import SearchAgent, SearchPlayer, search_player
from jaxgbg.search import SearchSpec, search_kinds
from jaxgbg.specs import did_you_mean, shown

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

PLAYERS: dict[str, Opponent] = {
    **random_player.OPPONENTS,
    **maxn.OPPONENTS,
    **alphabeta.OPPONENTS,
    **blocker.OPPONENTS,
    **positional.OPPONENTS,
    **centre_of_mass.OPPONENTS,
    **gtp.OPPONENTS,
}
"""Players by name; searches that play alone are known as well, see `jaxgbg.search.spec`."""


def register_player(
    name: str, build: Callable[..., Player], plays: str = "any game", argument: str = ""
) -> None:
    """Make a player known by name, as an opponent or partner: `build(game)` makes it.

    With an `argument`, such as "N", the name may end in a hyphen and a text: `build(game, text)`.
    The same class or function, defined again, replaces the first one. Raises ValueError for a name
    that is taken, or not made of letters, digits, "_" and "-".
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"a player's name has letters, digits, _ and - only, not {shown(name)}")
    if not callable(build):
        raise ValueError(f"{name}: register a class or a function, not {shown(build)}")
    taken = name in PLAYERS and not is_redefined(PLAYERS[name].build, build)
    if taken or name in SearchSpec.kinds:
        raise ValueError(f"{name}: another player of this name is registered already")
    PLAYERS[name] = Opponent(plays, build, argument)


_T = TypeVar("_T")


class _Given:
    """Builds a player that was made in Python: itself."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.__module__, self.__qualname__ = type(player).__module__, type(player).__qualname__

    def __call__(self, game: Game) -> Player:
        own = getattr(self._player, "game", game)
        if own != game:
            raise ValueError(f"{self._player.name} was made for another game than {game.name}")
        return self._player


def is_player(what: object) -> TypeGuard[Player]:
    """Whether `what` is a player itself, not its name."""
    return callable(getattr(what, "act", None)) and hasattr(what, "name")


def name_of(what: _T) -> _T | str:
    """The name under which a run knows `what`: a player of a user's own class is registered so.

    Anything else stays what it is. Raises ValueError for a player of this package, whose name in
    `config.json` would not say how it plays.
    """
    if isinstance(what, Path):
        return str(what)
    if not is_player(what):
        return what
    if type(what).__module__.partition(".")[0] == __name__.partition(".")[0]:
        raise ValueError(
            f"a run keeps its players as text, not as a {type(what).__name__}: give the name, such"
            " as 'mcts-100', or the agent's file"
        )
    register_player(what.name, _Given(what), f"made in Python as {type(what).__name__}")
    return what.name


def player_names() -> list[str]:
    """The names that `make_player` takes, as "mcts" and "mcts-N"."""
    arguments = {name: opponent.argument for name, opponent in PLAYERS.items()}
    arguments |= dict.fromkeys(search_kinds(alone=True), "N")
    return [
        form
        for name, argument in arguments.items()
        for form in (name, f"{name}-{argument}")[: 1 + bool(argument)]
    ]


def traceable_players() -> set[str]:
    """The names of players whose class says that it is traceable; none of them is built."""
    # `functools.partial` has the class as `func`.
    classes = {
        name: getattr(opponent.build, "func", opponent.build) for name, opponent in PLAYERS.items()
    }
    return {name for name, build in classes.items() if getattr(build, "traceable", False) is True}


def make_player(name: str, game: Game) -> Player:
    """Build a player of `game` by its name, e.g. `make_player("mcts-100", make("nim"))`.

    A search is named with its settings: "mcts-100,exploration=2". Raises ValueError for an unknown
    name and for a game that this player cannot play, MissingExtra when the player needs a package
    that is not installed.
    """
    searches = search_kinds(alone=True)
    players = [f"{known} ({opponent.plays})" for known, opponent in PLAYERS.items()]
    choices = "; ".join([*players, *(search.usage() for search in searches.values())])
    if not isinstance(name, str):
        raise ValueError(f"a player's name must be text, not {shown(name)}")
    base, *argument = (name,) if name in PLAYERS else name.split("-", 1)
    opponent = PLAYERS.get(base)
    if opponent is not None and (opponent.argument or not argument):
        try:
            return opponent.build(game, *argument)
        except ValueError as error:
            raise ValueError(f"{error}; players are {choices}") from error
    if kind := SearchSpec.named(name):
        if kind not in searches:
            raise ValueError(f"{kind} searches by an agent's values: FILE.agent:search={name}")
        return search_player(SearchSpec.parse(name), game)
    known = [*PLAYERS, *searches]
    near = did_you_mean(name, known) or did_you_mean(base, known)
    raise ValueError(f"unknown player {shown(name)}{near or f': choose one of {choices}'}")
