"""Devices that share the searches of an agent find what one of them finds."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import TicTacToe
from jaxgbg.players import GreedyAgent, search
from tests.search.agents import printed_with_devices, random_agent, random_positions

_PLAYED = """
import jax, numpy as np
from jaxgbg import Protocol
from jaxgbg.evaluation import compete
from jaxgbg.players import GreedyAgent, RandomPlayer, SearchAgent
from jaxgbg.search.puct import PUCTSpec
from tests.search.agents import make_small, random_agent, random_positions

asked = {"tictactoe": PUCTSpec(20, solver=True), "2048": PUCTSpec(12, width=2)}
for name, settings in asked.items():
    game = make_small(name)
    agents = [random_agent(game, seed) for seed in (0, 1)]
    both = jax.tree.map(lambda *own: np.concatenate(own), *(agent.params for agent in agents))
    agent = GreedyAgent(game, agents[0].value, both, several=True)
    player = SearchAgent(agent, settings)
    # Each of the agents has 83 positions, some of them over.
    states = random_positions(game, 166, 6)[0]
    found = [np.asarray(player.act(states, jax.random.key(3)))]
    if name == "tictactoe":
        seats = Protocol("default", repeats=20)
        found.append(compete(game, player, RandomPlayer(game), seats, jax.random.key(1)))
    print(len(jax.devices()), player.shares_devices(166), b"".join(found).hex())
# Values of few digits would round alike in any program.
player = SearchAgent(random_agent(make_small("connectfour")), PUCTSpec(30))
states, key = random_positions(player.game, 100, 3)[0], jax.random.key(5)
shared = player._on_devices(0, states, key)
alone = player.statistics(states, key)
print(*((np.asarray(one) == other).all() for one, other in zip(alone, shared)))
"""


@pytest.mark.slow
def test_several_devices_choose_what_one_chooses():
    answers = []
    for count in (1, 3):
        lines = [line.split() for line in printed_with_devices(count, _PLAYED).splitlines()]
        *lines, same = lines
        assert [line[:2] for line in lines] == [[str(count), str(count > 1)]] * 2
        assert same == ["True", "True"]
        answers.append([line[2] for line in lines])
    assert answers[0] == answers[1]


@pytest.fixture
def two_devices(monkeypatch):
    """As if the only device were two; what they are given stays on it."""
    monkeypatch.setattr(search.SearchAgent, "_num_devices", lambda player, games: 2)


def test_it_is_worth_it_for_many_games_that_keep_no_trees(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: [None] * 8)
    agent = random_agent(TicTacToe())
    player = jaxgbg.search(agent, 20)
    shared = {games: player._num_devices(games) for games in (1, 16, 17, 100, 1_000)}
    assert shared == {1: 1, 16: 1, 17: 2, 100: 7, 1_000: 8}
    assert player.shares_devices(17)
    assert not player.shares_devices(16)
    assert not jaxgbg.search(agent, 20, reuse=True).shares_devices(1_000)
    assert not agent.shares_devices(1_000)


def test_devices_share_within_the_memory_that_a_search_may_have(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: [None] * 8)
    agent = random_agent(TicTacToe())
    # Trees of 16 megabytes: no room for eight of them on each of two devices.
    assert jaxgbg.search(agent, 2**18, megabytes=400)._num_devices(1_000) == 1
    weights = np.zeros((1, 10**6), np.float32)
    large = GreedyAgent(agent.game, agent.value, agent.params, several=True)
    large.params = large.params._replace(weights=weights)
    assert jaxgbg.search(large, 20, megabytes=9)._num_devices(1_000) == 3


@pytest.mark.slow
def test_a_program_that_searches_within_it_stays_on_its_device(two_devices):
    game, key = TicTacToe(), jax.random.key(2)
    player, states = jaxgbg.search(random_agent(game), 8), random_positions(game, 40, 3)[0]
    player._on_devices = None
    moves = [
        jax.jit(lambda key: player.act(states, key))(key),
        jax.jit(lambda states: player.act(states, key))(states),
        jax.jit(lambda player: player.act(states, key))(player),
    ]
    np.testing.assert_array_equal(moves[0], moves[1])
    np.testing.assert_array_equal(moves[0], moves[2])


@pytest.mark.slow
def test_a_player_that_went_through_a_tree_of_arrays_plays_on():
    player = jaxgbg.search(random_agent(TicTacToe()), 8)
    states, key = random_positions(TicTacToe(), 40, 3)[0], jax.random.key(2)
    again = jax.tree.map(lambda leaf: leaf, player)
    np.testing.assert_array_equal(
        again._on_devices(0, states, key).visits, player._on_devices(0, states, key).visits
    )
