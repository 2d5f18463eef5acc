"""The references under other readings of the papers, by numbers worked out by hand.

One heap: the taker of the last item wins. All steps are .5 and values are sums of weights.
"""

import numpy as np
import pytest

from .one_ply_td import SerialOnePlyTD
from .rules import Nim, TicTacToe
from .sarsa_farl import ActionValueParameters, SerialActionValues
from .td_farl import Parameters, SerialTDFarl

STEPS = {"alpha_start": 0.5, "alpha_end": 0.5, "episodes": 4, "sigmoid": False}
# Three items are taken one by one, so that player 0 wins; only the first move is random.
MOVES = [(0, True), (0, False), (0, False)]


def learned(kind=SerialTDFarl, moves=MOVES, **settings) -> np.ndarray:
    """Weights [player, items left] after one episode."""
    agent = kind(Nim(1, len(moves)), [(0,)], Parameters(**(STEPS | settings)))
    agent.episode([], moves)
    return agent.weights[:, 0]


def test_a_start_board_that_does_not_count_is_not_learned():
    assert learned(moves=[(0, False)]).tolist() == [[0, 0], [0, -0.5]]
    assert not learned(moves=[(0, False)], learn_start=False).any()


@pytest.mark.parametrize(
    ("test", "winner", "loser"),
    [
        # The first afterstate learns the win, and the second one the loss at the end.
        ("current", 0.5, -0.5),
        ("adapted", 0.0, -0.5),
        ("letter", 0.0, -0.5),
    ],
)
def test_what_is_tested_for_a_random_move(test, winner, loser):
    weights = learned(learn_from_random=False, random_test=test)
    assert (weights[0, 2], weights[1, 1]) == (winner, loser)


@pytest.mark.parametrize(("test", "loser"), [("current", -0.5), ("adapted", -0.5), ("letter", 0)])
def test_the_letter_skips_final_updates_too(test, loser):
    moves = [(0, False), (0, True), (0, False)]
    weights = learned(moves=moves, learn_from_random=False, random_test=test)
    assert weights[1, 1] == loser


def actions(test: str, *episodes: str) -> np.ndarray:
    """Weights [player, items left] of taking one of four items; R marks random actions."""
    parameters = ActionValueParameters(
        rule="sarsa", learn_from_random=False, random_test=test, **STEPS
    )
    agent = SerialActionValues(Nim(1, 4), [(0,)], parameters)
    for each in episodes:
        agent.episode([], [(0, 0, mark == "R") for mark in each])
    return agent.weights[:, 0, 0]


@pytest.mark.parametrize(("test", "value"), [("current", 0.25), ("adapted", 0), ("letter", 0)])
def test_what_is_tested_for_a_random_action(test, value):
    """Player 1 takes the third item at random, and then the first one, which is worth .5."""
    assert actions(test, "....", ".R..")[1, 3] == value


@pytest.mark.parametrize(("test", "value"), [("current", 0.5), ("adapted", 0.5), ("letter", 0)])
def test_the_letter_skips_final_updates_of_actions_too(test, value):
    assert actions(test, "...R")[1, 1] == value


def test_a_linear_step_falls_by_equal_amounts():
    steps = []
    for decay in ("geometric", "linear"):
        settings = STEPS | {"alpha_start": 1.0, "alpha_decay": decay}
        agent = SerialTDFarl(Nim(1, 1), [(0,)], Parameters(**settings))
        agent.episode([], [(0, False)])
        steps.append(agent.alpha)
    assert steps == pytest.approx([0.5**0.25, 0.875])


@pytest.mark.parametrize(("farl", "again"), [(False, 0.5), (True, 0.75)])
def test_ply_to_ply_the_board_before_the_last_move_learns_the_end(farl, again):
    weights = learned(SerialOnePlyTD, final_others=farl, final_zero=farl)
    # The start board and the next learn nothing yet; the last one learns win and loss.
    assert weights[:, 3].tolist() == weights[:, 2].tolist() == [0, 0]
    assert weights[:, 1].tolist() == [0.5, -again]


def test_with_two_players_ply_to_ply_is_one_value_for_both():
    """What the older learners have: one player maximizes the value, the other minimizes it."""
    settings = {"final_others": False, "final_zero": False, "sigmoid": True}
    agent = SerialOnePlyTD(TicTacToe(), [range(9)], Parameters(**(STEPS | settings)))
    agent.self_play(4, np.random.default_rng(0), 0.5, 0.5, True)
    first, second = agent.weights
    assert first.min() < -0.01 < 0.01 < first.max()
    np.testing.assert_allclose(first, -second, rtol=1e-12)
