"""Extras of a board as inputs and auxiliary outputs of a network, against gradients by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import LinesOfAction
from jaxgbg.games.nim import Nim
from jaxgbg.values import MLPSpec
from jaxgbg.values.core import Updates
from jaxgbg.values.perspective import Extras
from tests.learners.test_replay_networks import layers
from tests.reference.mlp_td import Network

GAME = LinesOfAction(size=4)
NAMES = ("cluster", "freedom")
PLACES, SCALES = [3, 1], [4, 32]


@pytest.fixture(scope="module")
def positions():
    """(cells int8[12, 16], extras int32[12, 2, 2] of NAMES): the start after each of its moves."""
    start = GAME.init(jax.random.key(0))
    moves = np.flatnonzero(GAME.legal_actions(start)).astype(np.int32)

    @jax.jit
    @jax.vmap
    def shown(action):
        after = GAME.afterstate(start, action)
        return GAME.cells(after), GAME.extras(after)

    cells, extras = shown(moves)
    return np.asarray(cells), np.asarray(extras)[..., PLACES]


def built(extras_as: str, **settings):
    spec = MLPSpec(hidden=(5,), extras=NAMES, extras_as=extras_as, **settings)
    return spec.build(GAME, of_actions=False, batch=1)


def boards(positions) -> np.ndarray:
    """int32[12, F]: the features of the positions, V alone has the same for every network."""
    cells, extras = positions
    return np.concatenate([cells, extras.reshape(len(cells), -1)], 1).astype(np.int32)


def own_first(extras, player) -> np.ndarray:
    return np.concatenate([extras[player], extras[1 - player]]) / np.tile(SCALES, 2)


def seen(cells, extras, player, extras_as) -> np.ndarray:
    """What the network sees, written out: own pieces 1, black on top and bottom, white turned."""
    square = cells.reshape(4, 4)
    square = square.T if player else square
    stones = np.where(square == 2, 0.0, np.where(square == player, 1.0, -1.0)).ravel()
    return stones if extras_as == "outputs" else np.append(stones, own_first(extras, player))


def reference_step(network: Network, pairs, alpha: float, stretch: float = 1.0) -> None:
    """theta += alpha * (change * V's gradient + error * gradient of each prediction), summed.

    `pairs` are (inputs, change, extras to predict or None). V spans [-1, 1], `stretch` wide, where
    predictions span [0, 1].
    """
    total = [np.zeros_like(part) for part in network.parameters]
    for inputs, change, wanted in pairs:
        weights = [change]
        if wanted is not None:
            low = -1.0 if stretch == 2 else 0.0
            foretold = (network.values(inputs)[1:] - low) / stretch
            weights += list((wanted - foretold) / (1 if network.matching else stretch))
        for output, weight in enumerate(weights):
            for so_far, part in zip(total, network.gradient(inputs, output), strict=True):
                so_far += weight * part
    for parameter, change in zip(network.parameters, total, strict=True):
        parameter += alpha * change


@pytest.mark.parametrize(
    ("extras_as", "output", "loss"),
    [
        pytest.param("inputs", "tanh", "squared", marks=pytest.mark.slow),
        pytest.param("outputs", "sigmoid", "squared", marks=pytest.mark.slow),
        pytest.param("both", "tanh", "squared", marks=pytest.mark.slow),
        pytest.param("both", "sigmoid", "matching", marks=pytest.mark.slow),
    ],
)
def test_an_update_is_the_step_of_the_gradients_by_hand(positions, extras_as, output, loss):
    value = built(extras_as, output=output, loss=loss)
    cells, extras = positions
    sizes = [16 + 4 * (extras_as != "outputs"), 5, 1 + 4 * (extras_as != "inputs")]
    params = value.init(key=jax.random.key(1))
    weights, biases = layers(params.network)
    network = Network(
        sizes, "sigmoid", output, weights=weights, biases=biases, matching=loss == "matching"
    )
    features = boards(positions)
    players = np.array([0, 1, 0, 1, 1], np.int8)
    change = np.array([0.5, -0.25, 1.0, 0.125, 7.0], np.float32)
    # The fourth predicts nothing, and the last does nothing.
    live, following = np.array([1, 1, 1, 1, 0], bool), features[[7, 8, 9, 3, 4]]
    following[3] = -1
    updates = Updates(features[:5], players, change, np.abs(change), live)
    if extras_as != "inputs":
        updates = updates._replace(extra=value.auxiliary_targets(following, players))
    stepped = value.update(params, updates, jnp.float32(0.3), {})
    pairs = []
    for i, after in enumerate((7, 8, 9, None)):
        wanted = None
        if after and extras_as != "inputs":
            wanted = own_first(extras[after], players[i])
        pairs.append((seen(cells[i], extras[i], players[i], extras_as), float(change[i]), wanted))
    stretch = 2.0 if output == "sigmoid" else 1.0
    values = [network.values(inputs) for inputs, _, _ in pairs]
    foretold = [(each[1:] + stretch - 1) / stretch for each in values]
    reference_step(network, pairs, 0.3, stretch)

    found = value.value(params, features[:4], players[:4])
    np.testing.assert_allclose(found, [each[0] for each in values], atol=1e-6)
    if extras_as != "inputs":
        found = value.predictions(params, features[:4], players[:4])
        np.testing.assert_allclose(found, foretold, atol=1e-6)
    after = [part for kind in layers(stepped.network) for part in kind]
    for new, old, expected in zip(after, [*weights, *biases], network.parameters, strict=True):
        assert np.abs(new - old).max() > 1e-3
        np.testing.assert_allclose(new, expected, atol=2e-6)


@pytest.mark.slow
def test_values_are_those_of_the_first_output_alone(positions):
    features, players = boards(positions), np.zeros(12, np.int8)
    other = features.copy()
    other[:, 16:] += 1
    for extras_as, alike in (("outputs", True), ("inputs", False), ("both", False)):
        value = built(extras_as)
        params = value.init(key=jax.random.key(2))
        one, changed = (value.value(params, each, players) for each in (features, other))
        assert bool((one == changed).all()) == alike
        assert one.shape == (12,)
        kernel = params.network["params"]["Dense_1"]["kernel"]
        params.network["params"]["Dense_1"]["kernel"] = kernel.at[:, 1:].set(9)
        np.testing.assert_array_equal(value.value(params, features, players), one)


@pytest.mark.slow
def test_a_board_is_observed_with_the_extras_that_are_asked_for(positions):
    start = GAME.init(jax.random.key(0))
    alone = MLPSpec().build(GAME, of_actions=False, batch=1).observe(GAME, start)
    np.testing.assert_array_equal(alone, GAME.cells(start))
    assert alone.dtype == np.int8
    found = jax.jit(partial(built("both").observe, GAME))(start)
    np.testing.assert_array_equal(found[:16], alone)
    # Two groups of two stones, and twelve moves, each.
    assert found[16:].tolist() == [2, 12, 2, 12]


def test_every_player_has_his_own_extras_first_and_then_those_of_the_next():
    class Counted(Nim):
        extra_names = ("kind", "old")
        extra_scales = (2.0, 10.0)

    extras = Extras(Counted(rule="nim3p", players=3), ("old", "kind"))
    # Player p has p + 1 and 10 (p + 1).
    board = np.array([10, 1, 20, 2, 30, 3], np.int32)
    found = extras.scaled(np.tile(board, (3, 1)), np.arange(3, dtype=np.int8))
    first, second, third = [1, 0.5], [2, 1], [3, 1.5]
    expected = [first + second + third, second + third + first, third + first + second]
    np.testing.assert_allclose(found, expected)


@pytest.mark.slow
def test_a_network_of_actions_sees_extras_and_its_actions_are_told_apart(positions):
    spec = MLPSpec(hidden=(5,), extras=NAMES, extras_as="inputs")
    value = spec.build(GAME, of_actions=True, batch=1)
    params = value.init(key=jax.random.key(1))
    players = np.zeros(12, np.int8)
    features = value.features(params, boards(positions))
    every = value.action_values(params, features, players)
    assert every.shape == (12, GAME.num_actions)
    taken = value.value(params, value.of_action(features, np.full(12, 7, np.int32)), players)
    np.testing.assert_array_equal(taken, every[:, 7])
