"""PUCT as a compiled program: its room, its lanes, what it keeps in memory."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Nim, TicTacToe
from jaxgbg.learners.action_values import leaves_out
from jaxgbg.learners.masks import LANE
from jaxgbg.players import GreedyAgent, SearchAgent
from jaxgbg.search import puct
from jaxgbg.search.puct import PUCT, PUCTSpec
from jaxgbg.search.simulation import simulate
from jaxgbg.search.tree import CHILD
from jaxgbg.values import MLPSpec
from tests.games.batches import each
from tests.internals import copied_sizes
from tests.search.agents import counted, make_small, random_agent, random_positions


@pytest.mark.slow
def test_strengths_of_one_capacity_share_a_program(monkeypatch):
    traced = []
    monkeypatch.setattr(puct, "simulate", counted(simulate, traced))
    agent, states = random_agent(TicTacToe()), random_positions(TicTacToe(), 4, 2)[0]
    for iterations in (50, 60, 64, 1):
        player = jaxgbg.search(agent, iterations, exploration=1.01)
        assert player.statistics(states).visits.sum(1).tolist() == [iterations] * 4
    assert traced == [64]
    jaxgbg.search(agent, 50, exploration=1.01).act(states, jax.random.key(0))
    times = len(traced)
    jaxgbg.search(agent, 60, exploration=1.01).act(states, jax.random.key(0))
    assert len(traced) == times
    assert jaxgbg.search(agent, 65).search.capacity == 128


@pytest.mark.slow
def test_the_room_of_a_tree_changes_no_bit():
    game = make_small("2048")
    states, agent = random_positions(game, 9, 6)[0], random_agent(game)
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    exact = PUCT(game, agent.value, PUCTSpec(20, width=3))
    assert exact.roomy().capacity == 64
    roots = [
        jax.jit(search.search)(params, states, 20, jax.random.key(5))
        for search in (exact, exact.roomy())
    ]
    chex.assert_trees_all_equal(*roots)


@pytest.mark.slow
def test_agents_of_lanes_search_where_positions_and_moves_are_visited_in_pairs():
    """Lanes end such loops together, which copies that search one after the other cannot."""
    game = Nim(heaps=3, size=7)
    value = MLPSpec(hidden=(3,)).build(game, False, 1)
    assert leaves_out(game, value)
    player = SearchAgent(GreedyAgent(game, value, value.init()), PUCTSpec(4))
    states = random_positions(game, 2, 3)[0]
    keys = jax.random.split(jax.random.key(0), 2)
    moves = jax.vmap(lambda key: player.act(states, key), axis_name=LANE)(keys)
    legal = np.asarray(each(game.legal_actions, states))
    assert all(legal[np.arange(2), one].all() for one in np.asarray(moves))


@pytest.mark.slow
def test_a_search_does_not_depend_on_the_rest_of_the_batch(monkeypatch):
    game = make_small("2048")
    states = random_positions(game, 40, 20)[0]
    player = jaxgbg.search(random_agent(game), 50, width=2)
    whole = player.statistics(states, jax.random.key(4))
    others = jnp.arange(40) % 3 != 0
    positions = states._replace(terminal=states.terminal | others)
    part = player.statistics(positions, jax.random.key(4))
    # From eight lanes on programs of every size round alike; with fewer the last bits are others.
    monkeypatch.setattr(PUCT, "max_trees", 9)
    chunks = SearchAgent(player.agent, PUCTSpec(50, width=2, megabytes=1535))
    chunks = chunks.statistics(positions, jax.random.key(4))
    for all_rows, rows, again in zip(whole, part, chunks, strict=True):
        assert (np.asarray(rows) == np.where(others[:, None], 0, all_rows)).all()
        assert (np.asarray(rows) == np.asarray(again)).all()


def test_trees_stay_within_their_memory():
    agent = random_agent(make_small("connectfour"))
    node = 4 * 4 * 7 + 26
    for megabytes, capacity in ((100, 2**14), (30, 9_999)):
        # Sixteen trees with more room do not fit into 30 megabytes.
        search = jaxgbg.search(agent, 9_999, megabytes=megabytes).search
        tree = node * (capacity + 1) + 20 * 42
        assert (search.capacity, search.max_trees) == (capacity, megabytes * 10**6 // tree)
    with pytest.raises(
        ValueError, match="one tree of 99,999 iterations takes 14 megabytes"
    ) as error:
        jaxgbg.search(agent, 99_999, megabytes=2)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"leaves": 4}, {"leaves": 4, "solver": True}])
def test_the_loop_copies_no_trees(settings):
    game, batch, iterations = make_small("hex"), 16, 1000
    agent = random_agent(game)
    search = PUCT(game, agent.value, PUCTSpec(iterations, **settings))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    states = random_positions(game, batch, 0)[0]
    compiled = jax.jit(search.search).lower(params, states, iterations, jax.random.key(0)).compile()
    size = batch * (iterations + 1) * game.num_actions
    assert all(copied < size for copied in copied_sizes(compiled))
    row = 4 * (CHILD + search.width + search.lines)
    assert row * size <= compiled.memory_analysis().temp_size_in_bytes < 25 / 16 * row * size
