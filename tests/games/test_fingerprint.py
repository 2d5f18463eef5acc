"""The fingerprint of a game changes with its rules, and with nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game2048, Nim, TicTacToe, fingerprint, make
from jaxgbg.games.sampling import choose_by_word, sample_games

# A change here is a change of rules, on purpose or not: runs of before are refused.
SHIPPED = {
    "tictactoe": "20e4c61933adaa22",
    "nim": "6fc50d595ff4a05a",
    "nim3p": "7922b952cba671e7",
    "connectfour": "063634d7911cbb64",
    "hex": "b5e833854a21a12f",
    "othello": "62f19a690c64c446",
    "2048": "6e5c1504bd823876",
    "lines_of_action": "1f803ea2ebccde8c",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            *shipped,
            marks=[pytest.mark.slow] * (shipped[0] in ("lines_of_action", "othello", "hex")),
        )
        for shipped in SHIPPED.items()
    ],
)
def test_shipped_rules_are_what_they_were(name, expected):
    assert fingerprint(make(name)) == expected


class TakerLoses(Nim):
    """Another payment."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        return after._replace(rewards=-after.rewards)


class NoTwoOfTheFirstHeap(Nim):
    """Another rule."""

    def legal_actions(self, state):
        return super().legal_actions(state) & ((np.arange(15) != 1) | (state.heaps[0] > 2))

    def afterstate(self, state, action):
        legal = self.legal_actions(state)[action]
        after = super().afterstate(state, action)
        return jax.tree.map(lambda new, old: jnp.where(legal, new, old), after, state)


class Swapped(TicTacToe):
    """Another encoding of the cells."""

    def cells(self, state):
        return 2 - super().cells(state)


class WithoutDiagonals(TicTacToe):
    """A win fewer: diagonals do not count, so that such games go on."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        own = after.stones[state.player]
        lines = np.array([0b100_010_001, 0b001_010_100], np.int32)
        full = (after.stones[0] | after.stones[1]) == 511
        only = (own & lines == lines).any() & ~full
        return after._replace(
            terminal=after.terminal & ~only, rewards=jnp.where(only, 0, after.rewards)
        )


class SeenOtherwise(TicTacToe):
    """Other views: an agent's network would mean something else."""

    @property
    def player_views(self):
        return self.symmetries[[0, 1]]


class MoreFours(Game2048):
    """Another chance."""

    def spawn_from(self, state, words):
        return super().spawn_from(state, words | np.uint32(0x8000))


class CheaperMerges(Game2048):
    """Another payment, by a thousandth."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        return after._replace(rewards=after.rewards * 0.999)


class MirrorsAlone(TicTacToe):
    """Other symmetries: an agent's tables would mean something else."""

    @property
    def symmetries(self):
        return super().symmetries[:2]

    @property
    def action_symmetries(self):
        return super().action_symmetries[:2]


@pytest.mark.parametrize(
    "mutant",
    [
        TakerLoses(),
        NoTwoOfTheFirstHeap(),
        Nim(max_take=4),
        Nim(rule="last_loses"),
        Swapped(),
        WithoutDiagonals(),
        MirrorsAlone(),
        SeenOtherwise(),
        pytest.param(MoreFours(), marks=pytest.mark.slow),
        pytest.param(CheaperMerges(), marks=pytest.mark.slow),
        type("Renamed", (TicTacToe,), {"name": "noughts"})(),
        type("Shorter", (Game2048,), {"max_plies": 10_000})(),
        ConnectFour(draw_after=41),
    ],
    ids=lambda game: type(game).__name__,
)
def test_a_changed_game_has_another_fingerprint(mutant):
    shipped = {"noughts": "tictactoe"}.get(mutant.name, mutant.name)
    assert fingerprint(mutant) != fingerprint(make(shipped))


def test_code_that_plays_alike_has_the_same_fingerprint():
    class Rewritten(TicTacToe):
        def legal_actions(self, state):
            return (self.cells(state) == 1) & ~state.terminal

    assert fingerprint(Rewritten()) == fingerprint(TicTacToe())


def test_it_does_not_hang_on_the_random_numbers_of_jax():
    game = type("Twin", (Game2048,), {})()
    with jax.threefry_partitionable(not jax.config.jax_threefry_partitionable):
        assert fingerprint(game) == fingerprint(Game2048())


def test_sampled_games_are_uniformly_random_and_whole():
    sample = sample_games(TicTacToe())
    assert sample.cells.shape == (10, 256, 9)
    assert abs(sample.plies.mean() - 7.63) < 4 * sample.plies.std() / 16
    legal = np.tile([True, False, True, True], (30_000, 1))
    words = np.random.default_rng(0).integers(2**32, size=30_000, dtype=np.uint32)
    chosen = np.bincount(choose_by_word(jnp.asarray(legal), words), minlength=4)
    assert chosen[1] == 0
    assert (np.abs(chosen[[0, 2, 3]] - 10_000) < 400).all()
