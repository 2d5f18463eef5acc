"""Agents choose by the reward and the discounted value of the board, as training does."""

import dataclasses
from functools import partial

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.players import GreedyAgent, SearchAgent
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.search.puct import PUCTSpec
from tests.search.agents import random_agent, random_positions


def _saved(discount):
    run = jaxgbg.preset("tictactoe")
    learner = dataclasses.replace(run.learner, discount=discount)
    run = dataclasses.replace(run, learner=learner).for_seed(0)
    size = run.make_learner().value.num_weights
    return SavedAgent(run, "farl", np.random.default_rng(0).normal(0, 0.2, size).astype("f4"))


def test_a_loaded_agent_discounts_as_its_run_and_each_copy_by_its_own(tmp_path):
    save_agent(tmp_path / "agent", _saved(0.5))
    agents = [_saved(1.0).player(), load_agent(tmp_path / "agent").player()]
    state = jax.tree.map(lambda leaf: leaf[None], agents[0].game.init(jax.random.key(0)))
    plain, discounted = (np.asarray(agent.action_values(state)) for agent in agents)
    # No first move of TicTacToe pays anything.
    np.testing.assert_array_equal(discounted, plain * np.float32(0.5))
    assert np.ptp(plain) > 0
    params = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(a.params for a in agents))
    discounts = BootstrapRule(True, np.float32([1, 0.5]))
    both = GreedyAgent(agents[0].game, agents[0].value, params, discounts, several=True)
    np.testing.assert_array_equal(both.bootstrap.discount, [1, 0.5])
    np.testing.assert_array_equal(both.action_values(state), plain)
    for plies in (1, 2):
        values = [
            np.asarray(jaxgbg.look_ahead(agent, plies).action_values(state)) for agent in agents
        ]
        np.testing.assert_allclose(values[1], values[0] * 0.5, atol=1e-6)


@pytest.mark.slow
def test_every_copy_chooses_by_its_own_discount():
    """In 2048, where moves pay, boards that are worth little to one are worth much to the other."""
    game = jaxgbg.make("2048")
    states = random_positions(game, 60, 30)[0]
    discounts = np.float32([1, 1e-3])
    agents = [random_agent(game, bootstrap=BootstrapRule(True, each)) for each in discounts]
    params = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(a.params for a in agents))
    both = GreedyAgent(game, agents[0].value, params, BootstrapRule(True, discounts), several=True)
    twice = jax.tree.map(lambda leaf: np.concatenate([leaf, leaf]), states)
    searching = partial(SearchAgent, settings=PUCTSpec(6, width=1))
    for play in (lambda agent: agent, partial(jaxgbg.look_ahead, plies=2), searching):
        own = [np.asarray(play(agent).act(states, jax.random.key(0))) for agent in agents]
        moves = np.asarray(play(both).act(twice, jax.random.key(0))).reshape(2, -1)
        np.testing.assert_array_equal(moves[0], own[0])
        # For the second copy a search draws chance in another way.
        assert (moves == own).mean() > (moves[::-1] == own).mean() + 0.1
