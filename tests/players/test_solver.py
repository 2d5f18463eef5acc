"""The solved ConnectFour positions and the share of moves that keep their value."""

import jax
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Nim
from jaxgbg.players import AlphaBeta, RandomPlayer, Solver, make_opponent

KEY = jax.random.key(3)


class Alone:
    """A player in the place of one agent."""

    copies = 1

    def __init__(self, player) -> None:
        self.act = player.act


def test_the_positions_are_different_unfinished_and_worth_asking():
    solver, game = Solver(ConnectFour()), ConnectFour()
    legal = np.asarray(jax.vmap(game.legal_actions)(solver.states))
    assert solver.keeps.shape == legal.shape == (2000, 7)
    assert not (solver.keeps & ~legal).any()
    assert solver.keeps.any(1).all()
    assert (solver.keeps != legal).any(1).all()
    assert len({row.tobytes() for row in np.asarray(solver.states.stones)}) == 2000
    stones = np.bitwise_count(np.asarray(solver.states.stones)).sum((1, 2))
    np.testing.assert_array_equal(stones % 2, solver.states.player)
    assert np.ptp(stones) > 25


def test_the_solution_is_the_solvers():
    pytest.importorskip("bitbully")
    solver = Solver(ConnectFour())
    some = np.random.default_rng(0).choice(2000, 60, replace=False)
    states = jax.tree.map(lambda leaf: leaf[some], solver.states)
    scores = AlphaBeta().scores(states)
    worth = np.where(scores == -128, -2, np.sign(scores))
    np.testing.assert_array_equal(solver.keeps[some], worth == worth.max(1, keepdims=True))


def test_a_perfect_player_keeps_every_value_and_a_random_one_does_not():
    pytest.importorskip("bitbully")
    solver, game = Solver(ConnectFour()), ConnectFour()
    late = np.asarray(jax.vmap(game.cells)(solver.states) % 3 > 0).sum(1) > 20
    perfect = solver.judge(Alone(AlphaBeta()), KEY)
    assert perfect.shape == (1, 2000)
    assert perfect[:, late].all()
    legal = np.asarray(jax.vmap(game.legal_actions)(solver.states))
    by_chance = solver.keeps.sum(1) / legal.sum(1)
    found = solver.judge(Alone(RandomPlayer(game)), KEY)
    assert abs(found.mean() - by_chance.mean()) < 4 * 0.5 / np.sqrt(2000)


def test_it_judges_connectfour_only():
    with pytest.raises(ValueError, match="connectfour only, not nim"):
        make_opponent("solver", Nim())
    with pytest.raises(ValueError, match="'score' does not evaluate nim"):
        make_opponent("score", Nim())
