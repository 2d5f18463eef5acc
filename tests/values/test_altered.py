"""A move is followed by the cells that it alters as if the whole board were looked at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import LinesOfAction, make
from jaxgbg.games.sampling import sample_games
from jaxgbg.learners.action_values import UNDISCOUNTED, action_values
from jaxgbg.values import MLPSpec, NTupleSpec
from jaxgbg.values.layouts import random_walk

GAME = LinesOfAction(size=4, max_plies=40)
BOTH = ("immobility", "cluster")


@pytest.fixture(scope="module")
def sample():
    return sample_games(GAME)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hidden": (7, 4), "activation": "tanh"},
        {"extras": BOTH},
        {"extras": BOTH, "extras_as": "inputs"},
        {"extras": BOTH, "extras_as": "outputs"},
    ],
)
def test_moves_are_worth_what_their_boards_are(settings, sample):
    value = MLPSpec(**{"hidden": (6,), "bias": 0.3} | settings).build(GAME, False, 1)
    params = value.init(key=jax.random.key(1))
    wanted, found = both_ways(value, params, sample)
    assert np.ptp(wanted) > 0.05
    np.testing.assert_allclose(found, wanted, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"layout": random_walk(GAME, 9, 5, 3)}, {"walks": (9, 5)}])
def test_tables_are_looked_up_in_the_same_rows(settings, sample):
    spec = NTupleSpec(sigmoid=False, **settings)
    value = spec.build(GAME, False, 1)
    params = value.init(jnp.asarray(spec.drawn(GAME, 5)))
    # Whole numbers: no order of their sum rounds.
    weights = np.random.default_rng(0).integers(-9_999, 9_999, params.weights.shape)
    params = params._replace(weights=jnp.asarray(weights, jnp.float32))
    wanted, found = both_ways(value, params, sample)
    assert np.ptp(wanted) > 10_000
    np.testing.assert_array_equal(found, wanted)


def both_ways(value, params, sample):
    """The values of all legal moves by their boards, and as learners have them."""
    going = np.argwhere(~sample.states.terminal[:-1])
    plies, games = going[:: max(1, len(going) // 60)].T
    states = jax.tree.map(lambda leaf: jnp.asarray(leaf[plies, games]), sample.states)
    assert set(np.asarray(states.player)) == {0, 1}
    legal = sample.legal[plies, games]

    @jax.jit
    def found(states):
        seen = value.features(params, jax.vmap(lambda state: value.observe(GAME, state))(states))
        return action_values(GAME, value, params, states, seen, UNDISCOUNTED)[1]

    @jax.jit
    def expected(states):
        def one(state, action):
            board = value.observe(GAME, GAME.afterstate(state, action))
            return value.value(params, value.features(params, board), state.player)

        actions = jnp.arange(GAME.num_actions)
        return jax.vmap(jax.vmap(one, (None, 0)), (0, None))(states, actions)

    return np.asarray(expected(states))[legal], np.asarray(found(states))[legal]


@pytest.mark.slow
def test_cells_that_hold_no_pieces_have_an_input_for_each_digit():
    game = make("nim")
    value = MLPSpec(hidden=(5,)).build(game, False, 1)
    params = value.init(key=jax.random.key(0))
    before, after = np.array([[3, 1, 4], [3, 1, 4]]), np.array([[3, 1, 4], [3, 0, 2]])
    cells, digits = np.array([[-1, -1], [2, 1]]), np.array([[[9, 8], [9, 8]], [[4, 2], [1, 0]]])
    player = np.array([0, 1], np.int8)
    accumulator = value.accumulator(params, before, player)
    found = value.value_incremental(params, accumulator, player, (cells, digits), after)
    np.testing.assert_allclose(found, value.value(params, after, player), atol=1e-6)
    assert abs(found[1] - value.value(params, before, player)[1]) > 0.01
