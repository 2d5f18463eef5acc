"""TicTacToe and Hex: `XO./.X./... O`, rows from the top and the side to move.

Both place one stone a ply anywhere, so the order of all stones but the last one does not matter.
"""

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.hex import Hex
from jaxgbg.games.notations.core import (
    Grid,
    Notation,
    cells_of,
    last_moves,
    no_more,
    placed,
    side_by_count,
)
from jaxgbg.games.tictactoe import TicTacToe
from jaxgbg.types import PyTree


def tictactoe(game: TicTacToe) -> Notation:
    grid = Grid(3, 3, {"X": 2, "O": 0, ".": 1, "-": 1, "_": 1}, empty=1)
    return _stones(game, grid, "XO", {"X": 0, "O": 1}, "XO./.X./... O")


def hex(game: Hex) -> Notation:
    letters = {"R": 1, "B": 2, ".": 0, "-": 0, "_": 0, "X": 1, "O": 2}
    grid = Grid(game.size, game.size, letters, empty=0)
    rows = ["." * game.size] * game.size
    sides = {"R": 0, "B": 1, "X": 0, "O": 1}
    return _stones(game, grid, "RB", sides, f"{'/'.join(rows)} R")


def _stones(game: Game, grid: Grid, names: str, sides: dict[str, int], example: str) -> Notation:
    """The notation of a game whose actions are cells; `names` are the letters of the players."""

    def write(state: PyTree) -> str:
        board = cells_of(game, state).reshape(grid.rows, grid.columns)
        return f"{grid.write(board)} {names[int(state.player)]}"

    def read(text: str) -> PyTree:
        board, fields = grid.read(text)
        no_more(fields[1:])
        stones = [np.flatnonzero(board == grid.letters[name]).tolist() for name in names]
        counts = [len(each) for each in stones]
        side_by_count(names, counts, fields[0] if fields else None, sides)
        state = placed(game, last_moves(stones))
        if state is None:
            raise ValueError(
                "no game leads to this board: it would have been over before its last move"
            )
        return state

    return Notation(example, write, read, board=grid.board_text())
