"""Several leaves a step, against a plain search whose descents see virtual losses one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import TicTacToe
from jaxgbg.search.puct import PUCT, PUCTSpec
from tests.games.batches import each
from tests.search.agents import (
    compare_with_plain_search,
    make_small,
    random_agent,
    random_positions,
)

_SETTINGS = {"exploration": 1.7, "temperature": 0.5, "unvisited": 0.1}


@pytest.mark.parametrize(
    ("name", "plies", "settings"),
    [
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("tictactoe", 4, {"leaves": 4}),
                ("tictactoe", 2, {"leaves": 8, "solver": True}),
                ("nim3p", 2, {"leaves": 5, "loss": 0.0}),
                ("connectfour", 7, {"leaves": 4}),
                ("connectfour", 8, {"leaves": 16, **_SETTINGS}),
                ("connectfour", 21, {"leaves": 8, "solver": True}),
                ("hex", 4, {"leaves": 8}),
                ("othello", 5, {"leaves": 8}),
            ]
        ),
    ],
)
def test_visits_are_those_of_a_plain_search_with_virtual_loss(name, plies, settings):
    states, actions = random_positions(make_small(name), 8, plies)
    # The last step is not full.
    assert compare_with_plain_search(name, states, actions, 150, **settings) >= 3


def _statistics(agent, states, iterations, kind=PUCT, key=0, **settings):
    search = kind(agent.game, agent.value, PUCTSpec(iterations, **settings))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    return jax.jit(search.search)(params, states, iterations, jax.random.key(key))


class _Lossless(PUCT):
    """A fault: whoever is under way counts for nothing but a try."""

    virtual_loss = 0.0


@pytest.mark.slow
def test_the_virtual_loss_is_the_lowest_reward():
    game = TicTacToe()
    states, agent = random_positions(game, 8, 2)[0], random_agent(game)
    visits = [
        np.asarray(_statistics(agent, states, 60, kind, leaves=6).visits)
        for kind in (PUCT, _Lossless)
    ]
    assert (visits[0] != visits[1]).any()


@pytest.mark.slow
def test_as_many_leaves_as_iterations_try_all_moves_before_any_is_known():
    game = TicTacToe()
    states = random_positions(game, 4, 3)[0]
    roots = _statistics(random_agent(game), states, 6, leaves=6)
    legal = np.asarray(each(game.legal_actions, states))
    # A loss of 1 in one try outweighs the prior of a move: six moves, six descents.
    assert np.asarray(roots.visits).tolist() == legal.astype(int).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [3, 64, 256])
def test_visits_add_up_to_the_iterations_however_many_leaves_a_step(leaves):
    game = make_small("2048")
    states, agent = random_positions(game, 6, 30)[0], random_agent(game)
    for iterations in (1, 50, 128):
        visits, values = _statistics(agent, states, iterations, leaves=leaves, width=3)
        assert np.asarray(visits).sum(1).tolist() == [iterations] * 6
        assert np.isfinite(np.asarray(values)).all()
    # What chance brings is drawn by the key, for each of the leaves.
    other = _statistics(agent, states, 128, leaves=leaves, width=3, key=1).values
    assert (np.asarray(other) != np.asarray(values)).any()


@pytest.mark.slow
def test_a_search_of_several_leaves_does_not_depend_on_the_rest_of_the_batch():
    game = TicTacToe()
    states, agent = random_positions(game, 40, 3)[0], random_agent(game)
    whole = _statistics(agent, states, 50, leaves=4)
    others = jnp.arange(40) % 3 != 0
    part = states._replace(terminal=states.terminal | others)
    for all_rows, rows in zip(whole, _statistics(agent, part, 50, leaves=4), strict=True):
        assert (np.asarray(rows) == np.where(others[:, None], 0, all_rows)).all()


def test_trees_of_several_leaves_count_their_spare_nodes():
    agent = random_agent(make_small("connectfour"))
    one, many = (
        PUCT(agent.game, agent.value, PUCTSpec(9_999, megabytes=100, leaves=leaves))
        for leaves in (1, 100)
    )
    node = 4 * 4 * 7 + 26
    assert many._tree_bytes - one._tree_bytes == node * 100 + 20 * 42 * 99


def test_the_number_of_leaves_is_named_in_the_words_of_a_search():
    assert PUCTSpec.parse("puct-200,leaves=4") == PUCTSpec(200, leaves=4)
    with pytest.raises(ValueError, match=r"leaves must lie in \[1, 256\], not 0"):
        jaxgbg.search(random_agent(TicTacToe()), leaves=0)
