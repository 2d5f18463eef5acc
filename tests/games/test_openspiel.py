"""The rules against OpenSpiel: 1000 random games of each, ply by ply."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pyspiel
import pytest

from jaxgbg.games import ConnectFour, Game, Hex, LinesOfAction, Nim, Othello, TicTacToe
from tests.games.lockstep import View, assert_same_games


class OpenSpiel:
    """An OpenSpiel game; `ours` and `theirs` translate an action, to ours and back."""

    def __init__(
        self,
        name: str,
        ours: Callable[[int], int] = int,
        theirs: Callable[[int], int] = int,
    ) -> None:
        self._game = pyspiel.load_game(name)
        self._ours, self._theirs = cache(ours), theirs

    def initial(self) -> pyspiel.State:
        return self._game.new_initial_state()

    def view(self, state: pyspiel.State) -> View:
        over = state.is_terminal()
        legal = [self._ours(action) for action in state.legal_actions()]
        player = None if over else state.current_player()
        return View(legal, player, over, state.returns(), None)

    def play(self, state: pyspiel.State, action: int) -> pyspiel.State:
        state.apply_action(self._theirs(action))
        return state


class Othello8(OpenSpiel):
    """OpenSpiel's players pass by an action of its own, which ours does for them."""

    _PASS = 64

    def __init__(self) -> None:
        super().__init__("othello")

    def play(self, state: pyspiel.State, action: int) -> pyspiel.State:
        state.apply_action(action)
        if not state.is_terminal() and state.legal_actions() == [self._PASS]:
            state.apply_action(self._PASS)
        return state


class Lines(OpenSpiel):
    """OpenSpiel names from, to and whether a stone is taken, rows from the bottom."""

    _CLOCKWISE = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))

    def __init__(self) -> None:
        super().__init__("lines_of_action", self._direction_and_target)

    def _direction_and_target(self, action: int) -> int:
        start, end = divmod(action // 2, 64)
        (row, column), (to_row, to_column) = divmod(start, 8), divmod(end, 8)
        upward, right = np.sign([to_row - row, to_column - column]).tolist()
        return 64 * self._CLOCKWISE.index((upward, right)) + 8 * (7 - to_row) + to_column

    def play(self, state: pyspiel.State, action: int) -> pyspiel.State:
        state.apply_action(next(a for a in state.legal_actions() if self._ours(a) == action))
        return state


def nim(heaps: int, size: int, misere: bool) -> OpenSpiel:
    """OpenSpiel numbers all heaps with one item taken, then all heaps with two taken, ..."""

    def ours(action: int) -> int:
        items, heap = divmod(action, heaps)
        return heap * size + items

    def theirs(action: int) -> int:
        heap, items = divmod(action, size)
        return items * heaps + heap

    piles = ";".join([str(size)] * heaps)
    return OpenSpiel(f"nim(pile_sizes={piles},is_misere={misere})", ours, theirs)


@pytest.mark.parametrize(
    ("game", "oracle"),
    [
        pytest.param(TicTacToe(), OpenSpiel("tic_tac_toe"), id="tictactoe"),
        pytest.param(ConnectFour(), OpenSpiel("connect_four"), id="connectfour"),
        pytest.param(Nim(), nim(3, 5, False), id="nim"),
        pytest.param(Nim(heaps=4, size=3), nim(4, 3, False), id="nim-4x3"),
        pytest.param(Hex(), OpenSpiel("hex(board_size=6)"), id="hex", marks=pytest.mark.slow),
        pytest.param(
            Hex(size=11), OpenSpiel("hex(board_size=11)"), id="hex-11x11", marks=pytest.mark.slow
        ),
        pytest.param(Othello(), Othello8(), id="othello", marks=pytest.mark.slow),
        pytest.param(Nim(rule="last_loses"), nim(3, 5, True), id="nim-last-loses"),
    ],
)
def test_a_thousand_random_games_agree_with_openspiel(game: Game, oracle: OpenSpiel) -> None:
    assert_same_games(game, oracle, batch=1000, seed=11)


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize("batch", [50, 1000])
def test_random_games_of_lines_of_action_agree_with_openspiel(batch: int) -> None:
    """OpenSpiel has the mover win, who cannot move lose, and no board stand twice."""
    game = LinesOfAction(both="mover", stuck="loss", repetition="board", max_plies=1000)
    assert_same_games(game, Lines(), batch, seed=11)
