"""The rules and the digits of the cells against the plain rules in tests/reference."""

import jax
import pytest

from jaxgbg.games import ConnectFour, Game, Hex, Nim, TicTacToe
from jaxgbg.games.connectfour import ConnectFourState
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


def test_connectfour_may_be_drawn_sooner_but_a_win_by_the_last_stone_counts() -> None:
    game = ConnectFour(draw_after=8)
    step = jax.jit(game.afterstate)

    def played(columns: str) -> ConnectFourState:
        state = game.init(jax.random.key(0))
        for column in columns:
            assert not state.terminal
            state = step(state, int(column))
        return state

    assert not played("0011220").terminal
    drawn, won = played("00112206"), played("61616101")
    assert drawn.terminal
    assert drawn.rewards.tolist() == [0, 0]
    assert not game.legal_actions(drawn).any()
    assert won.terminal
    assert won.rewards.tolist() == [-1, 1]
