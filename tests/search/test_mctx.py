"""PUCT against `mctx`, an implementation by others: the same visits wherever the formula is one."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.search.puct import PUCT, PUCTSpec
from tests.search.agents import make_small, random_agent, random_positions
from tests.search.by_mctx import visits_by_policy, visits_of_both

# All of them compile two searches.
pytestmark = pytest.mark.slow

_ITERATIONS = 150
_SETTINGS = {"exploration": 1.7, "temperature": 0.5, "unvisited": 0.1}


class _ZeroSum(PUCT):
    """Whoever waits gets the negative of what the mover gets, as mctx has it."""

    def evaluate(self, params, leaves, keys, iteration, draws):
        gains, lines = super().evaluate(params, leaves, keys, iteration, draws)
        moves = jnp.arange(2) == leaves.states.player[:, None]
        of_mover = jnp.where(moves, gains, 0).sum(1, keepdims=True)
        return jnp.where(moves, of_mover, -of_mover), lines


def _visits(name, plies, kind, by_mctx, settings):
    """(ours, mctx's) int[B, A] at positions that are not over."""
    game = make_small(name)
    states = random_positions(game, 32, plies)[0]
    live = ~np.asarray(states.terminal)
    states = jax.tree.map(lambda leaf: leaf[live], states)
    # Sums of such values are exact: both round as little as can be.
    agent = random_agent(game, few_digits=True)
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    search = kind(game, agent.value, PUCTSpec(_ITERATIONS, **settings))
    ours = jax.jit(search.search)(params, states, _ITERATIONS, jax.random.key(0)).visits
    theirs = jax.jit(partial(by_mctx, search, iterations=_ITERATIONS))(params, states)
    return np.asarray(ours), np.asarray(theirs)


@pytest.mark.parametrize(
    ("name", "plies", "settings"),
    [
        ("tictactoe", 4, {}),
        ("tictactoe", 2, _SETTINGS),
        ("connectfour", 7, {}),
        ("connectfour", 12, _SETTINGS),
        # On 4x4 there are passes.
        ("othello", 5, {}),
        ("othello", 7, _SETTINGS),
    ],
)
def test_visits_are_those_of_mctx_with_the_true_game(name, plies, settings):
    ours, theirs = _visits(name, plies, PUCT, visits_of_both, settings)
    assert len(ours) > 20
    assert (ours.sum(1) == _ITERATIONS).all()
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("name", "plies"), [("connectfour", 8), ("othello", 5)])
def test_visits_are_those_of_its_muzero_policy_where_one_wins_what_the_other_loses(name, plies):
    ours, theirs = _visits(name, plies, _ZeroSum, visits_by_policy, {})
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("name", "plies"), [("tictactoe", 2), ("connectfour", 7)])
def test_counting_the_node_itself_as_mctx_does_changes_little(name, plies):
    by_its_formula = partial(visits_of_both, corrected=False)
    ours, theirs = _visits(name, plies, PUCT, by_its_formula, {})
    moved = np.abs(ours - theirs).sum(1) / 2 / _ITERATIONS
    assert 0 < moved.mean() < 0.05
    assert (ours.argmax(1) == theirs.argmax(1)).mean() > 0.9
