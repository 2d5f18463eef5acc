"""Hypothesis plays the games, legal moves and others, against plain rules written in Python."""

import functools
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from jaxgbg.games import ConnectFour, Game, Game2048, Hex, Nim, TicTacToe
from tests.reference import board_rules, rules

# A choice among the legal actions, and the word that chance draws by.
MOVE = st.tuples(st.integers(0, 2**16), st.integers(0, 2**32 - 1))


@functools.cache
def compiled(game: Game) -> Any:
    """(legal actions, cells) of a state, and the compiled moves; one program a function."""
    return (
        jax.jit(lambda state: (game.legal_actions(state), game.cells(state))),
        jax.jit(game.afterstate),
        jax.jit(game.spawn_from),
    )


class Play(RuleBasedStateMachine):
    """One game, ours and the plain rules' in step; after every move they must agree."""

    game: Game
    plain: Any

    def __init__(self) -> None:
        super().__init__()
        self.see, self.move, self.spawn = compiled(self.game)
        self.begin()

    def begin(self) -> None:
        self.state = self.game.init(jax.random.key(0))
        self.expected = self.plain.initial()

    def running(self) -> bool:
        return not self.expected.terminal

    @precondition(running)
    @rule(moves=st.lists(MOVE, min_size=1, max_size=8))
    def play_legal_actions(self, moves: list[tuple[int, int]]) -> None:
        for choice, word in moves:
            if legal := self.plain.legal(self.expected):
                self.play(legal[choice % len(legal)], word)

    def play(self, action: int, word: int) -> None:
        del word
        self.state = self.move(self.state, np.int32(action))
        self.expected = self.plain.play(self.expected, action)

    @rule(action=st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 50))
    def try_an_action_that_is_not_legal(self, action: int) -> None:
        if action not in self.plain.legal(self.expected):
            after = self.move(self.state, np.int32(action))
            jax.tree.map(np.testing.assert_array_equal, after, self.state)
            with pytest.raises(ValueError, match=f"action {action} is not legal"):
                self.game.step(self.state, action, jax.random.key(0))

    @invariant()
    def both_show_the_same(self) -> None:
        legal, cells = self.see(self.state)
        assert np.flatnonzero(legal).tolist() == sorted(self.plain.legal(self.expected))
        assert cells.tolist() == list(self.expected.cells)
        assert int(self.state.player) == self.expected.player
        assert bool(self.state.terminal) == self.expected.terminal
        np.testing.assert_array_equal(self.state.rewards, np.float32(self.expected.rewards))


class Slide(Play):
    """2048: the tile that our chance places is read off and placed by the plain rules too."""

    def begin(self) -> None:
        self.state = self.game.init(jax.random.key(0))
        tiles = tuple(self.game.cells(self.state).tolist())
        self.expected = board_rules.TileState(tiles, 0, False)

    def play(self, action: int, word: int) -> None:
        slid = self.move(self.state, np.int32(action))
        after = self.plain.afterstate(self.expected, action)
        assert slid.tiles.tolist() == list(after.tiles)
        self.state = self.spawn(slid, np.array([word], np.uint32))
        (cell,) = np.flatnonzero(np.asarray(self.state.tiles) != np.asarray(slid.tiles))
        self.expected = self.plain.place(after, int(cell), int(self.state.tiles[cell]))

    @invariant()
    def both_show_the_same(self) -> None:
        legal, cells = self.see(self.state)
        assert np.flatnonzero(legal).tolist() == self.plain.legal(self.expected)
        assert cells.tolist() == list(self.expected.tiles)
        assert bool(self.state.terminal) == self.expected.terminal
        assert float(self.state.score) == self.expected.score


GAMES = [
    (TicTacToe(), rules.TicTacToe(), Play),
    (Nim(), rules.Nim(), Play),
    (Nim(heaps=2, size=3, players=3, rule="nim3p"), rules.Nim3P(2, 3), Play),
    (ConnectFour(draw_after=20), rules.ConnectFour(20), Play),
    (Hex(size=3, misere=True), board_rules.Hex(3, misere=True), Play),
    (Game2048(), board_rules.Game2048(), Slide),
]


@pytest.mark.parametrize(("game", "plain", "machine"), GAMES, ids=[repr(g[0]) for g in GAMES])
def test_whatever_is_played_ours_and_the_plain_rules_agree(game, plain, machine):
    body = {"game": game, "plain": plain}
    case = type("Case", (machine,), body).TestCase
    # Not shortened: a failure is shown as it came, in seconds instead of minutes.
    case.settings = settings(
        max_examples=12,
        stateful_step_count=16,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    case().runTest()
