"""Positions as text: the notation of each game, and one for all others.

A game that people write down has a file here. All others, also those of other packages and of
users, are written as the fields of their states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from jaxgbg.games.connectfour import ConnectFour
from jaxgbg.games.core import Game
from jaxgbg.games.game2048 import Game2048
from jaxgbg.games.hex import Hex
from jaxgbg.games.lines import Line, is_moves, read_line
from jaxgbg.games.lines_of_action import LinesOfAction
from jaxgbg.games.nim import Nim
from jaxgbg.games.notations import connectfour, game2048, lines_of_action, nim, othello, tictactoe
from jaxgbg.games.notations.core import Notation
from jaxgbg.games.notations.fields import fields
from jaxgbg.games.othello import Othello
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.tictactoe import TicTacToe
from jaxgbg.lazy import jax
from jaxgbg.specs import shown
from jaxgbg.types import State

__all__ = [
    "Notation",
    "notation_of",
    "position_line",
    "register_notation",
    "set_up",
    "write_position",
]

_GameT = TypeVar("_GameT", bound=Game)
_MOST_CHARACTERS = 2**20

_NOTATIONS: dict[type, Callable[..., Notation | None]] = {
    TicTacToe: tictactoe.tictactoe,
    ConnectFour: connectfour.connectfour,
    Hex: tictactoe.hex,
    Othello: othello.othello,
    LinesOfAction: lines_of_action.lines_of_action,
    Nim: nim.nim,
    Game2048: game2048.game2048,
}


def register_notation(game_class: type[_GameT], build: Callable[[_GameT], Notation | None]) -> None:
    """Register `build(game)` as the notation of games of this class and its subclasses.

    It may return None for a game whose states hold more than the notation writes. Raises ValueError
    for what is no class of games.
    """
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise ValueError(f"game_class must be a class of games, not {shown(game_class)}")
    _NOTATIONS[game_class] = build


def notation_of(game: Game) -> Notation:
    """The notation that is registered for the game's class or its nearest base class.

    A game without a notation is written as the fields of its states.
    """
    registered = (_NOTATIONS[each] for each in type(game).__mro__ if each in _NOTATIONS)
    build = next(registered, None)
    own = build(game) if build else None
    return own or fields(game)


@in_32_bits
def write_position(game: Game, state: State) -> str:
    """One line that `set_up` reads as the same state, in every field."""
    return notation_of(game).write(jax.device_get(state))


@in_32_bits
def set_up(game: Game, text: str) -> State:
    """The state that a text in the game's notation describes, as arrays of NumPy.

    Raises ValueError, in one line, with what is wrong and where.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(
            f"a position has at most {_MOST_CHARACTERS:,} characters, not {len(text):,}"
        )
    notation = notation_of(game)
    form = f"; write it like {notation.example}" if notation.example else ""
    if not text.strip():
        raise ValueError(f"a position of {game.name} is empty{form}")
    try:
        state = notation.read(text)
    except ValueError as error:
        raise ValueError(
            f"no position of {game.name}: {error}, in {shown(text.strip())}"
        ) from error
    return jax.tree.map(np.asarray, state)


def position_line(game: Game, text: str) -> Line:
    """The game whose end is the position: `3,2,4` are moves, `XO./.X./... O` is set up, and moves
    may follow after a semicolon.

    The position is written as `write_position` does. Raises ValueError for a text that is neither;
    moves are not tried yet.
    """
    if not isinstance(text, str):
        raise ValueError(f"a position is text, not {shown(text)}")
    text = text.strip()
    digits = "".join(text.split())
    # The columns of ConnectFour without commas: 4443.
    columns = (
        digits.isascii()
        and digits.isdigit()
        and notation_of(game).numbers
        and (len(digits) > 9 or int(digits) >= game.num_actions)
    )
    if ";" in text or (digits and is_moves(text) and not columns):
        line = read_line(text, game.max_plies)
    else:
        # A line break between two rows is as good as a slash.
        line = Line(" ".join(text.replace("\n", "/").split()))
    if isinstance(line.start, str):
        # One position has one text.
        return line._replace(start=write_position(game, set_up(game, line.start)))
    return line
