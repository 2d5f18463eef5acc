"""Games by name: those of this package, of installed packages, and of a user's own modules."""

import dataclasses
import importlib.util
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from jaxgbg.extensions import (
    add_user_module,
    described,
    import_installed,
    is_redefined,
    package_of,
    user_line,
)
from jaxgbg.games.core import Game
from jaxgbg.lazy import Function, imported
from jaxgbg.specs import checked_field, did_you_mean, shown
from jaxgbg.types import SettingValue

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "jaxgbg.games"
"""The entry points by which an installed package brings games, each under its name."""

GAMES: dict[str, Callable[..., Game]] = {
    "tictactoe": Function("jaxgbg.games.tictactoe:TicTacToe"),
    "nim": Function("jaxgbg.games.nim:Nim"),
    "nim3p": Function("jaxgbg.games.nim:nim3p"),
    "connectfour": Function("jaxgbg.games.connectfour:ConnectFour"),
    "hex": Function("jaxgbg.games.hex:Hex"),
    "othello": Function("jaxgbg.games.othello:Othello"),
    "2048": Function("jaxgbg.games.game2048:Game2048"),
    "lines_of_action": Function("jaxgbg.games.lines_of_action:LinesOfAction"),
    "pig": Function("jaxgbg.games.pig:Pig"),
    "ewn": Function("jaxgbg.games.ewn:EinStein"),
    "sim": Function("jaxgbg.games.sim:Sim"),
    "yavalath": Function("jaxgbg.games.yavalath:Yavalath"),
    "chinese_checkers": Function("jaxgbg.games.chinese_checkers:ChineseCheckers"),
    "maedn": Function("jaxgbg.games.maedn:Maedn"),
    "backgammon": Function("jaxgbg.games.backgammon:Backgammon"),
}
"""The games registered so far; `game_names` also looks for those of installed packages."""


class Package(NamedTuple):
    """Another package with games: the `titles` that it has, and what gives the class of one."""

    titles: tuple[str, ...]
    find: Callable[[str], Callable[..., Game]]


PACKAGES: dict[str, Package] = {}
"""Those whose games are named PACKAGE:TITLE; they need not be installed."""
_T = TypeVar("_T")
_broken: dict[str, str] = {}


def register(name: str, build: Callable[..., Game]) -> None:
    """Make a game known under its name; `build`, its class or a function, takes its parameters.

    The same class or function, defined again as when a notebook cell is run twice, replaces the
    first one. Raises ValueError for a name that is taken by something else, or not made of letters,
    digits, "_" and "-".
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"a game's name has letters, digits, _ and - only, not {name!r}")
    if not callable(build):
        raise ValueError(f"{name}: register a class or a function, not {build!r}")
    if name in GAMES and not is_redefined(imported(GAMES[name]), build):
        raise ValueError(f"{name}: another game of this name is registered already")
    add_user_module(getattr(build, "__module__", ""))
    GAMES[name] = build


def game_names() -> tuple[str, ...]:
    """The names that `make` takes: shipped games first, then those of others as they came."""
    from importlib.metadata import entry_points

    import_installed()
    for entry in entry_points(group=GROUP):
        _load(entry)
    return tuple(GAMES)


def is_known(name: str) -> bool:
    """Whether `make` knows the name, and has the package that the game is of."""
    package, colon, _ = name.partition(":")
    if colon:
        return package in PACKAGES and importlib.util.find_spec(package) is not None
    # To look through all installed packages takes longer than to read a run.
    return name in GAMES or name in game_names()


def broken_games() -> dict[str, str]:
    """The errors of games of installed packages that cannot be loaded, one line each."""
    game_names()
    return dict(_broken)


def make(name: str | Game, **parameters: SettingValue) -> Game:
    """Build a game by its name, e.g. `make("nim", heaps=4)`; a game itself is returned as it is.

    Raises ValueError, in one line, for a name that no game has, a parameter that this game does
    not take or of another kind than it is declared, and a game that calls itself otherwise.
    """
    if isinstance(name, Game):
        if parameters:
            raise ValueError(
                f"{', '.join(parameters)}: parameters are for a game's name, and {shown(name)} has"
                " its own"
            )
        return name
    game = built(name, _builder(name), parameters)
    called = _guarded(name, lambda: game.name)
    if called != name:
        raise ValueError(f"{name}: the game that this makes is named {called!r}: use that name")
    return game


def built(
    name: str, build: Callable[..., Game], parameters: dict[str, SettingValue] | None = None
) -> Game:
    """The game that `build` makes of the parameters; ValueErrors, in one line, begin with `name`
    or what the game itself says.
    """
    _guarded(name, lambda: _check_parameters(name, build, parameters or {}))
    game = _guarded(name, lambda: build(**parameters or {}))
    if not isinstance(game, Game):
        raise ValueError(f"{name}: {type(game).__name__} is not a jaxgbg.games.Game")
    return game


def _guarded(name: str, call: Callable[[], _T]) -> _T:
    """The result of a call into a game's own code; every error is a ValueError in one line."""
    try:
        return call()
    except (ValueError, KeyboardInterrupt):
        raise
    except TypeError as error:
        raise ValueError(f"{name}: {' '.join(str(error).split())}{user_line(error)}") from error
    except BaseException as error:
        raise ValueError(f"{name}: {described(error)}") from error


def _builder(name: str) -> Callable[..., Game]:
    if not isinstance(name, str):
        raise ValueError(f"a game's name must be text, not {shown(name)}")
    package, colon, title = name.partition(":")
    if colon and package in PACKAGES:
        return PACKAGES[package].find(title)
    if name not in GAMES:
        from importlib.metadata import entry_points

        import_installed()
        for entry in entry_points(group=GROUP, name=name):
            _load(entry)
    if name in GAMES:
        return imported(GAMES[name])
    if name in _broken:
        raise ValueError(_broken[name])
    others = ", ".join(f"{package}:TITLE" for package in PACKAGES)
    titles = (f"{package}:{each}" for package, entry in PACKAGES.items() for each in entry.titles)
    if name.endswith(".py"):
        module = name.removesuffix(".py")
        raise ValueError(
            f"unknown game {shown(name)}: use --import {module} and the name that it registers"
        )
    near = did_you_mean(name, [*game_names(), *titles])
    choice = near or f": choose one of {', '.join(game_names())}, or {others}."
    raise ValueError(
        f"unknown game {shown(name)}{choice} A game of your own needs --import MODULE, or in"
        " Python import MODULE"
    )


def _load(entry: "EntryPoint") -> None:
    """Register the game of an entry point; one that fails is remembered, and no other suffers."""
    try:
        register(entry.name, entry.load())
        _broken.pop(entry.name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = str(error) if isinstance(error, ValueError) else described(error)
        _broken[entry.name] = (
            f"the game {entry.name!r} of {package_of(entry)} cannot be loaded: {what}"
        )


def _check_parameters(
    name: str, build: Callable[..., Game], parameters: dict[str, SettingValue]
) -> None:
    """ValueError where a parameter is not what the field of the game's class says."""
    kind = typing.cast(type, build)
    if isinstance(build, types.FunctionType):
        kind = typing.get_type_hints(build).get("return", object)
    fields = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else ()
    taken = inspect.signature(build).parameters if parameters else {}
    open_ended = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    for parameter, value in parameters.items():
        if parameter not in taken and not open_ended:
            raise ValueError(
                f"{name}: has no parameter {parameter}; known are {', '.join(taken) or 'none'}"
            )
        if parameter in fields:
            try:
                checked_field(kind, parameter, value)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
