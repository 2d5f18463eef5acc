"""The reference for games in lockstep, by numbers worked out by hand.

One heap of one item: its taker wins. In the first tick of an episode the item is taken, and nothing
is known to learn; in the second the other player, who left the heap as it is, learns -1; in the
third the taker learns that what he left is worth 0, as it is.
"""

import numpy as np
import pytest

from .lockstep_td_farl import LockstepTDFarl
from .rules import Nim
from .td_farl import Parameters

GAME = Nim(1, 1)
EPISODE = ([], [(0, False)])


def learner(rule: str, delayed: bool = False, **settings) -> LockstepTDFarl:
    defaults = {"alpha_start": 0.5, "alpha_end": 0.5, "episodes": 100, "sigmoid": False}
    return LockstepTDFarl(
        GAME, [(0,)], Parameters(**(defaults | settings)), rule=rule, delayed=delayed
    )


@pytest.mark.parametrize(("rule", "made"), [("sum", 3), ("mean", 1), ("saturating", 1.75)])
def test_three_games_make_so_many_of_one_update(rule, made):
    agent = learner(rule, tcl="id")
    agent.replay([[EPISODE]] * 3)
    assert agent.weights[1, 0, 1] == -0.5 * made
    assert agent.counters_n[1, 0, 1] == pytest.approx(1e-4 - made)
    assert agent.counters_a[1, 0, 1] == pytest.approx(1e-4 + made)
    assert agent.episodes_done == 3
    assert np.count_nonzero(agent.weights) == 1


def test_a_saturating_rule_comes_to_what_serial_updates_come_to():
    joined, serial = learner("saturating"), learner("saturating")
    joined.replay([[EPISODE]] * 5)
    serial.replay([[EPISODE] * 5])
    np.testing.assert_allclose(joined.weights, serial.weights, rtol=1e-15)


def test_a_full_step_saturates_at_once():
    agent = learner("saturating", alpha_start=3.7, alpha_end=3.7)
    agent.replay([[EPISODE]] * 4)
    assert agent.weights[1, 0, 1] == pytest.approx(-3.7)


def test_a_list_is_walked_with_every_error():
    agent = learner("sum", horizon=2, lambda_=0.5)
    agent.replay([[EPISODE] * 2])
    # First -1, then -.5 for the second afterstate and half of that for the first.
    assert agent.weights[1, 0, 1] == -0.5 - 0.5 * (0.5 + 0.25)


def test_delayed_shares_come_with_the_last_of_them():
    weights, sizes = [], []
    for episodes in range(1, 4):
        agent = learner("sum", delayed=True, horizon=2, lambda_=0.5, tcl="id")
        agent.replay([[EPISODE] * episodes])
        weights.append(float(agent.weights[1, 0, 1]))
        sizes.append(float(agent.counters_a[1, 0, 1]) - 1e-4)
    second, third = 1 + 0.5, 1 + 0.5 * 0.25
    # N has left 0 and points the other way: it was 1e-4 at first.
    factor = (second - 1e-4) / (second + 1e-4)
    assert weights == pytest.approx([0, -0.5 * second, -0.5 * (second + factor * third)])
    assert sizes == pytest.approx([0, second, second + third])


def test_games_of_one_tick_see_the_tables_before_it():
    """The second game begins when the first is over: nothing is joined."""
    apart, together = learner("sum"), learner("sum")
    apart.replay([[EPISODE, EPISODE]])
    together.replay([[EPISODE], [EPISODE]])
    assert apart.weights[1, 0, 1] == -0.75
    assert together.weights[1, 0, 1] == -1.0
    assert (apart.collisions, together.collisions) == (0, 2)


def test_moves_that_were_not_random_are_shown_with_the_values_of_their_tick():
    agent, seen = learner("sum"), []
    record = [EPISODE, ([], [(0, True)]), EPISODE]
    agent.replay([record], lambda values, made: seen.append((values, made)))
    assert seen == [({0: 1.0}, 0)] * 2


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="rule must be one of sum, mean, saturating"):
        learner("median")
