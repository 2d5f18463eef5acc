"""The rules and the digits of the cells against the plain rules in tests/reference."""

import pytest

from jaxgbg.games import ConnectFour, Game, Hex, Nim, TicTacToe
from tests.games.lockstep import View, assert_same_games
from tests.reference import board_rules, rules


class PlainRules:
    def __init__(self, game: rules.Game) -> None:
        self._game = game
        self.initial = game.initial
        self.play = game.play

    def view(self, state: rules.State) -> View:
        legal = self._game.legal(state)
        return View(legal, state.player, state.terminal, state.rewards, state.cells)


@pytest.mark.parametrize(
    ("game", "plain"),
    [
        pytest.param(TicTacToe(), rules.TicTacToe(), id="tictactoe"),
        pytest.param(ConnectFour(), rules.ConnectFour(), id="connectfour"),
        pytest.param(ConnectFour(13), rules.ConnectFour(13), id="connectfour-drawn-after-13"),
        pytest.param(ConnectFour(20), rules.ConnectFour(20), id="connectfour-drawn-after-20"),
        pytest.param(Hex(4, misere=True), board_rules.Hex(4, misere=True), id="hex-misere"),
        pytest.param(Nim(), rules.Nim(), id="nim"),
        pytest.param(Nim(players=3, rule="nim3p"), rules.Nim3P(), id="nim3p"),
        pytest.param(
            Nim(heaps=4, size=2, players=3, rule="nim3p"), rules.Nim3P(4, 2), id="nim3p-4x2"
        ),
    ],
)
def test_random_games_agree_with_the_plain_rules(game: Game, plain: rules.Game) -> None:
    assert_same_games(game, PlainRules(plain), batch=200, seed=12)
