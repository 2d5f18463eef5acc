"""TD learning with one table for all players: each sees the board as the first player would."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .rules import Cells, Game, State
from .td_farl import Parameters, SerialTDFarl

Turn = Callable[[Cells, int], Cells]
"""(cells, player) -> the board on which that player is player 0."""


def tictactoe(cells: Cells, player: int) -> Cells:
    return tuple(2 - digit for digit in cells) if player == 1 else cells


def heaps(cells: Cells, player: int) -> Cells:
    """Heaps have no owner."""
    del player
    return cells


def stones_of_three(cells: Cells, player: int) -> Cells:
    """0 is empty, 1 + player a stone."""
    return tuple(1 + (digit - 1 - player) % 3 if digit else 0 for digit in cells)


class OneTableTD(SerialTDFarl):
    """`weights` and counters have tables for all players, of which only the first is used."""

    def __init__(
        self, game: Game, tuples: Sequence[Sequence[int]], parameters: Parameters, turn: Turn
    ) -> None:
        super().__init__(game, tuples, parameters)
        self.turn = turn

    def values(self, cells: Cells | np.ndarray, player: int) -> np.ndarray:
        boards = np.asarray(cells)
        rows = [self.turn(tuple(row.tolist()), player) for row in np.atleast_2d(boards)]
        return super().values(np.reshape(rows, boards.shape), 0)

    def _out(self, state: State, player: int) -> bool:
        return not state.terminal and player in getattr(state, "out", ())

    def update(self, cells: Cells, player: int, target: float) -> None:
        lists = self.eligibility
        # The list is still the player's own.
        self.eligibility = [lists[player]]
        super().update(self.turn(cells, player), 0, target)
        self.eligibility = lists
