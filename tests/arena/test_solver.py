"""The solved ConnectFour positions and the share of moves that keep their value."""

import jax
import numpy as np
import pytest

from jaxgbg.evaluation import SolvedPositions, make_judge
from jaxgbg.games import SHARE, ConnectFour, Nim
from jaxgbg.players import AlphaBeta, RandomPlayer
from tests.games.batches import each

KEY = jax.random.key(3)


def test_the_positions_are_different_unfinished_and_worth_asking():
    solver, game = SolvedPositions(ConnectFour()), ConnectFour()
    legal = np.asarray(each(game.legal_actions, solver.states))
    assert solver.keeps.shape == legal.shape == (2000, 7)
    assert not (solver.keeps & ~legal).any()
    assert solver.keeps.any(1).all()
    assert (solver.keeps != legal).any(1).all()
    assert len({row.tobytes() for row in np.asarray(solver.states.stones)}) == 2000
    stones = np.bitwise_count(np.asarray(solver.states.stones)).sum((1, 2))
    np.testing.assert_array_equal(stones % 2, solver.states.player)
    assert np.ptp(stones) > 25


@pytest.mark.slow
def test_the_solution_is_the_solvers():
    pytest.importorskip("bitbully")
    solver = SolvedPositions(ConnectFour())
    some = np.random.default_rng(0).choice(2000, 60, replace=False)
    states = jax.tree.map(lambda leaf: leaf[some], solver.states)
    scores = AlphaBeta().scores(states)
    outcomes = np.where(scores == -128, -2, np.sign(scores))
    best = outcomes == outcomes.max(1, keepdims=True)
    np.testing.assert_array_equal(solver.keeps[some], best)


@pytest.mark.slow
def test_a_perfect_player_keeps_every_value_and_a_random_one_does_not():
    pytest.importorskip("bitbully")
    solver, game = SolvedPositions(ConnectFour()), ConnectFour()
    late = np.asarray(each(game.cells, solver.states) % 3 > 0).sum(1) > 20
    legal = np.asarray(each(game.legal_actions, solver.states))
    by_chance = solver.keeps.sum(1) / legal.sum(1)
    scores = solver.scores(RandomPlayer(game), KEY)["share"]
    assert scores.shape == (1, 2000)
    assert abs(scores.mean() - by_chance.mean()) < 4 * 0.5 / np.sqrt(2000)
    # What is early takes long to solve.
    solver.states = jax.tree.map(lambda leaf: leaf[late], solver.states)
    solver.keeps = solver.keeps[late]
    kept = solver.scores(AlphaBeta(), KEY)["share"]
    assert kept.shape == (1, late.sum())
    assert kept.all()


def test_it_judges_connectfour_only():
    with pytest.raises(ValueError, match="connectfour only, not nim"):
        make_judge("solver", Nim())
    with pytest.raises(ValueError, match="a draw after 20 plies"):
        make_judge("solver", ConnectFour(draw_after=20))
    judge = make_judge("solver", ConnectFour())
    assert (judge.scales, judge.wins(np.ones((1, 5)))) == ({"solver": SHARE}, None)
