"""PUCT over a value function, against a plain one that searches one position in float64."""

import numpy as np
import pytest

from jaxgbg.players.search import SearchAgent
from jaxgbg.search.puct import PUCTSpec
from tests.reference.puct import PUCT as Reference
from tests.search.agents import (
    make_small,
    random_agent,
    random_positions,
    reference_states,
    reference_value,
)

# As a share of a score: below it float32 and float64 may find another one the greater.
_CLOSE = 5e-7
_SETTINGS = {"exploration": 1.7, "temperature": 0.5, "unvisited": 0.1}


@pytest.mark.parametrize(
    ("name", "start", "settings"),
    [
        ("nim3p", 2, {}),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("nim3p", 3, _SETTINGS),
                ("tictactoe", 2, {}),
                ("tictactoe", 4, _SETTINGS),
                ("connectfour", 7, {}),
                ("connectfour", 8, _SETTINGS),
                ("hex", 4, {}),
                ("othello", 5, {}),
                ("othello", 4, _SETTINGS),
            ]
        ),
    ],
)
def test_visits_are_those_of_a_plain_search_in_float64(name, start, settings):
    game, iterations = make_small(name), 150
    states, actions = random_positions(game, 8, start)
    agent = random_agent(game)
    player = SearchAgent(agent, PUCTSpec(iterations, **settings))
    visits, values = map(np.asarray, player.statistics(states))
    checked = 0
    for row, state in enumerate(reference_states(name, states, actions)):
        reference = Reference(*reference_value(name, agent), iterations, **settings)
        root = reference.search(state)
        if state.terminal:
            assert (visits[row] == 0).all()
        elif reference.closest > _CLOSE:
            expected = np.zeros(game.num_actions)
            expected[list(root.visits)] = list(root.visits.values())
            assert visits[row].tolist() == expected.tolist()
            means = [root.totals[a] / max(root.visits[a], 1) for a in root.visits]
            np.testing.assert_allclose(values[row][list(root.visits)], means, atol=2e-5)
            checked += 1
    assert checked >= 3


def test_othello_positions_with_a_pass_are_among_those_compared():
    game, value = reference_value("othello", random_agent(make_small("othello")))
    states, actions = random_positions(make_small("othello"), 8, 5)
    search = Reference(game, value, 150)
    roots = [search.search(s) for s in reference_states("othello", states, actions)]

    def has_pass(node):
        return any(
            child.state.player == node.state.player or has_pass(child)
            for child in node.children.values()
        )

    assert any(map(has_pass, roots))
