"""What auxiliary outputs predict, against what came: pairs by hand, figures by themselves."""

import jax
import numpy as np
import pytest

from jaxgbg.evaluation.auxiliary import _judged, _pairs, auxiliary_errors
from jaxgbg.games import LinesOfAction
from jaxgbg.players import GreedyAgent
from jaxgbg.values import MLPSpec

GAME = LinesOfAction(size=4)


def agent(extras_as: str = "both", bias: float = 0.0) -> GreedyAgent:
    spec = MLPSpec(hidden=(3,), extras=("freedom", "cluster"), extras_as=extras_as, bias=bias)
    value = spec.build(GAME, of_actions=False, batch=1)
    params = jax.tree.map(np.zeros_like, value.init(key=jax.random.key(0)))
    return GreedyAgent(GAME, value, params)


def test_a_board_is_followed_by_the_next_own_one_or_the_final_one():
    # Player 1 passes nothing on: he moves at plies 1 and 3, the game ends with ply 4.
    playing, ends = np.array([1, 1, 1, 1, 1, 0], bool), np.arange(6) == 4
    player, told = np.array([0, 1, 0, 1, 0, 1]), np.arange(6.0)[:, None]
    truth = np.array([[[10.0 * ply], [10.0 * ply + 1]] for ply in range(6)])
    before, after = _pairs(playing, ends, player, told, truth)
    # 0 -> 2, 1 -> 3, 2 -> 4; 3 -> the final board as player 1 knows it; 4 ended the game.
    assert before.ravel().tolist() == [0, 1, 2, 3]
    assert after.ravel().tolist() == [20, 31, 40, 41]


def test_nothing_follows_where_a_game_was_broken_off_or_one_player_moves_twice():
    playing, ends = np.ones(3, bool), np.zeros(3, bool)
    truth = np.arange(6.0).reshape(3, 2, 1)
    before, after = _pairs(playing, ends, np.array([0, 0, 1]), np.arange(3.0)[:, None], truth)
    assert (before.ravel().tolist(), after.ravel().tolist()) == ([0], [2])


def test_the_share_explained_is_1_for_the_truth_0_for_its_mean_and_none_without_variance():
    truth = np.array([1.0, 2.0, 3.0])
    assert _judged("cluster", 0, truth, truth).explained == 1
    assert _judged("cluster", 0, np.full(3, 2.0), truth).explained == pytest.approx(0)
    assert _judged("cluster", 0, truth, np.full(3, 2.0)).explained is None


@pytest.mark.slow
def test_outputs_that_are_all_0_err_by_mean_and_spread_together():
    found = auxiliary_errors(agent())
    assert [(each.extra, each.seat) for each in found] == [
        ("freedom", 0),
        ("cluster", 0),
        ("freedom", 1),
        ("cluster", 1),
    ]
    for each in found:
        assert each.error**2 == pytest.approx(each.mean**2 + each.spread**2)
        assert each.boards == found[0].boards > 100
    # Four stones a side: groups of one to four, eight directions for each at most.
    assert all(1 <= each.mean <= 4 for each in found if each.extra == "cluster")
    assert all(4 < each.mean < 32 for each in found if each.extra == "freedom")


@pytest.mark.slow
def test_the_same_games_are_seen_again_and_an_agent_without_such_outputs_tells_nothing():
    assert auxiliary_errors(agent()) == auxiliary_errors(agent())
    assert auxiliary_errors(agent(), seed=1) != auxiliary_errors(agent())
    assert auxiliary_errors(agent("inputs")) == []
