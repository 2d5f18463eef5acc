"""Moves and values of one state and of many, without a key."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import make
from jaxgbg.players import GreedyAgent, make_player
from jaxgbg.values import NTupleSpec


@pytest.fixture(scope="module")
def agent():
    game = make("nim", heaps=2, size=3)
    value = NTupleSpec().build(game, False, 1)
    weights = np.random.default_rng(3).normal(size=value.num_weights).astype(np.float32)
    return GreedyAgent(game, value, value.with_weights(weights))


@pytest.fixture(scope="module")
def states(agent):
    """Some positions of Nim, one after the other."""
    game = agent.game
    first = game.init(None)
    second = game.step(first, 0, jax.random.key(0))
    third = game.step(second, 4, jax.random.key(0))
    # From the first one every move has an image of equal value.
    return jax.tree.map(lambda *leaves: np.stack(leaves), second, third)


def one_of(states, number):
    return jax.tree.map(lambda leaf: leaf[number], states)


@pytest.mark.parametrize("plies", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_one_state_has_the_row_that_it_has_in_a_batch(agent, states, plies):
    player = jaxgbg.look_ahead(agent, plies) if plies else agent
    values = np.asarray(player.action_values(states))
    assert values.shape == (2, agent.game.num_actions)
    moves = np.asarray(player.play_move(states))
    for number in range(2):
        state = one_of(states, number)
        np.testing.assert_array_equal(player.action_values(state), values[number])
        move = player.play_move(state)
        assert type(move) is int
        assert move == moves[number] == values[number].argmax()


def test_every_player_makes_a_move_and_a_seed_decides_between_equal_ones():
    game = make("tictactoe")
    player = make_player("random", game)
    state = game.init(None)
    moves = [player.play_move(state, seed) for seed in range(8)]
    assert len(set(moves)) > 1
    assert player.play_move(state, 5) == moves[5]
