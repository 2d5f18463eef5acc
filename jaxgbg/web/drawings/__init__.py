"""Boards as SVG, one file for each game: positions of cells, pieces and values."""

from collections.abc import Callable
from typing import TypeVar

from jaxgbg.games import (
    Backgammon,
    ChineseCheckers,
    ConnectFour,
    EinStein,
    Game,
    Game2048,
    Hex,
    LinesOfAction,
    Maedn,
    Nim,
    Othello,
    Pig,
    Sim,
    TicTacToe,
    Yavalath,
)
from jaxgbg.games.borrowed import Borrowed
from jaxgbg.web.drawings import (
    backgammon,
    chinese_checkers,
    connectfour,
    ewn,
    game2048,
    hex,
    lines_of_action,
    maedn,
    nim,
    othello,
    pig,
    plain,
    sim,
    tictactoe,
    yavalath,
)
from jaxgbg.web.drawings.core import Drawing

__all__ = ["Drawing", "drawing_of", "register_drawing"]

_GameT = TypeVar("_GameT", bound=Game)

_DRAWINGS: dict[type, Callable[..., Drawing]] = {
    TicTacToe: tictactoe.drawing,
    ConnectFour: connectfour.drawing,
    Hex: hex.drawing,
    Othello: othello.drawing,
    LinesOfAction: lines_of_action.drawing,
    Nim: nim.drawing,
    Game2048: game2048.drawing,
    Pig: pig.drawing,
    EinStein: ewn.drawing,
    Sim: sim.drawing,
    Yavalath: yavalath.drawing,
    ChineseCheckers: chinese_checkers.drawing,
    Maedn: maedn.drawing,
    Backgammon: backgammon.drawing,
    Borrowed: plain.borrowed,
}


def register_drawing(game_class: type[_GameT], build: Callable[[_GameT], Drawing]) -> None:
    """Register `build(game)` as the drawing of games of this class and its subclasses."""
    _DRAWINGS[game_class] = build


def drawing_of(game: Game) -> Drawing:
    """The drawing that is registered for the game's class or its nearest base class.

    A game without a drawing shows its cells with their digits.
    """
    registered = (_DRAWINGS[each] for each in type(game).__mro__ if each in _DRAWINGS)
    return next(registered, plain.drawing)(game)
