"""Players by name: those of this package, and those that a user's modules register."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeGuard, TypeVar

from jaxgbg.extensions import import_installed, is_redefined
from jaxgbg.games import Game, make
from jaxgbg.lazy import Function, imported
from jaxgbg.players.core import Opponent, Player
from jaxgbg.search import SearchSpec, search_kinds
from jaxgbg.specs import did_you_mean, shown

_POSITIONAL: Function[Player] = Function("jaxgbg.players.positional:Positional")
PLAYERS: dict[str, Opponent] = {
    "random": Opponent("any game", Function("jaxgbg.players.random_player:RandomPlayer")),
    "maxn": Opponent(
        "small games such as tictactoe, nim, nim3p, and small games of chance",
        Function("jaxgbg.players.maxn:MaxN"),
    ),
    "ab": Opponent("connectfour", Function("jaxgbg.players.alphabeta:ab")),
    "ab-dl": Opponent("connectfour", Function("jaxgbg.players.alphabeta:ab_dl")),
    "ab-dl-gbg": Opponent("connectfour", Function("jaxgbg.players.alphabeta:ab_dl_gbg")),
    "blocker": Opponent("connectfour", Function("jaxgbg.players.blocker:Blocker")),
    **{
        table: Opponent("othello", partial(_POSITIONAL, table=table))
        for table in ("bench", "heur", "even")
    },
    "centre-of-mass": Opponent(
        "lines_of_action", Function("jaxgbg.players.centre_of_mass:CentreOfMass")
    ),
    "pip-count": Opponent("backgammon", Function("jaxgbg.players.pip_count:PipCount")),
    "grhino": Opponent("othello", Function("jaxgbg.players.gtp:grhino")),
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
    taken = name in PLAYERS and not is_redefined(imported(PLAYERS[name].build), build)
    if taken or name in search_kinds():
        raise ValueError(f"{name}: another player of this name is registered already")
    PLAYERS[name] = Opponent(plays, build, argument)


_search_player: Function[Player] = Function("jaxgbg.players.search:search_player")
_T = TypeVar("_T")


class _Given:
    """Builds a player that was made in Python: itself."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.__module__, self.__qualname__ = type(player).__module__, type(player).__qualname__

    def __call__(self, game: Game) -> Player:
        check_plays(self._player, game)
        return self._player


def is_player(what: object) -> TypeGuard[Player]:
    """Whether `what` is a player itself, not its name."""
    return callable(getattr(what, "act", None)) and hasattr(what, "name")


def check_plays(player: Player, game: Game, argument: str = "player") -> None:
    """Raise ValueError for what is no player, and for a player that was made for another game.

    A player of a user's own class may have no `game`, and then plays any.
    """
    if not is_player(player):
        raise ValueError(f"{argument} must be a player, not {shown(player)}")
    own = getattr(player, "game", None)
    if isinstance(own, Game) and own != game:
        raise ValueError(
            f"{argument} {player.name} was made for another game than {game.name}: it plays"
            f" {shown(own)}, not {shown(game)}"
        )


def name_of(what: _T) -> _T | str:
    """The name under which a run knows `what`: a player of a user's own class is registered so.

    Anything else stays what it is. Raises ValueError for a player of this package, whose name would
    not say how it plays.
    """
    if isinstance(what, Path):
        return str(what)
    if not is_player(what):
        return what
    if type(what).__module__.partition(".")[0] == __name__.partition(".")[0]:
        raise ValueError(
            f"players are named here: not a {type(what).__name__} but its name, such as 'mcts-100',"
            " or the agent's file"
        )
    register_player(what.name, _Given(what), f"made in Python as {type(what).__name__}")
    return what.name


def is_player_name(name: object) -> bool:
    """Whether a text is the name of a player or search that is registered, maybe with settings."""
    if not isinstance(name, str):
        return False
    return name in PLAYERS or name.split("-", 1)[0] in PLAYERS or bool(SearchSpec.named(name))


def player_names() -> list[str]:
    """The names that `make_player` takes, as "mcts" and "mcts-N"."""
    import_installed()
    arguments = {name: opponent.argument for name, opponent in PLAYERS.items()}
    arguments |= dict.fromkeys(search_kinds(alone=True), "N")
    return [
        form
        for name, argument in arguments.items()
        for form in (name, f"{name}-{argument}")[: 1 + bool(argument)]
    ]


def traceable_players() -> set[str]:
    """The names of players whose class says that it is traceable; none of them is built."""

    def is_traceable(build: Callable[..., Player]) -> bool:
        if isinstance(build, partial | Function):
            return is_traceable(build.func)
        return getattr(build, "traceable", False) is True

    return {name for name, opponent in PLAYERS.items() if is_traceable(opponent.build)}


def make_player(name: str, game: str | Game) -> Player:
    """Build a player of a game by its name, e.g. `make_player("mcts-100", "nim")`.

    A search is named with its settings: "mcts-100,exploration=2". Raises ValueError for an unknown
    name or game and for a game that this player cannot play, MissingExtra when the player needs a
    package that is not installed.
    """
    game = make(game)
    if not is_player_name(name):
        import_installed()
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
        return _search_player(SearchSpec.parse(name), game)
    known = [*PLAYERS, *searches]
    near = did_you_mean(name, known) or did_you_mean(base, known)
    raise ValueError(f"unknown player {shown(name)}{near or f': choose one of {choices}'}")
