"""TD-Leaf: moves by look-ahead, leaves of principal variations learned, replayed serially."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg import TDLeafSpec, TDSpec
from jaxgbg.games import Game
from jaxgbg.learners import EpsilonGreedy, Exploration, Schedule
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.search.lookahead import LookAhead, LookAheadSpec
from jaxgbg.search.td_leaf import TD_LEAF, PrincipalVariation
from jaxgbg.values import MLPSpec, NTupleSpec
from tests.games.batches import each
from tests.learners.replay import (
    CASES,
    case,
    made,
    played,
    reference_tables,
    set_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.learners.test_policy import assert_same_bits, trained
from tests.learners.test_replay import SWITCHES
from tests.learners.test_replay_networks import layers, one_lane
from tests.reference.mlp_td import Network, NetworkParameters, SerialNetworkLearner
from tests.reference.td_farl import Parameters, SerialTDFarl
from tests.reference.td_leaf import SerialTDLeaf

BEAM = {"plies": 3, "width": (3, 1), "reply": "value"}


def leaf_reference(learner, settings) -> SerialTDLeaf:
    paranoid = settings.get("reply") == "value"
    width = settings.get("width", ())
    return SerialTDLeaf(learner, plies=settings["plies"], width=width, paranoid=paranoid)


def serial_settings(switches, alpha, episodes, trace_decay, horizon):
    return {
        "alpha_start": alpha,
        "alpha_end": alpha / 2,
        "episodes": episodes,
        "lambda_": trace_decay,
        "horizon": horizon,
        "trace_mode": "reset" if switches["reset"] else "et",
        "learn_from_random": switches["learn_from_random"],
        "final_others": switches["final_others"],
        "final_zero": switches["final_zero"],
    }


@pytest.mark.parametrize(
    ("name", "horizon", "settings"),
    [
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                ("nim3p", 1, {"plies": 2}),
                ("nim3p", 1, {"plies": 3}),
                ("nim3p", 1, BEAM),
                ("knockout", 1, {"plies": 2}),
                ("tictactoe", 4, {"plies": 2}),
                ("tictactoe", 1, {"plies": 3}),
                ("connectfour", 1, {"plies": 2}),
                ("connectfour", 4, {"plies": 3}),
                ("connectfour", 1, BEAM),
            ]
        ),
    ],
)
def test_tables_agree_with_the_serial_reference(name, horizon, settings):
    (game, plain, layout, alpha), episodes = case(name), 20
    trace_decay = 0.0 if horizon == 1 else 0.5
    # A cut just below the eligibility of the last state kept.
    spec = TDLeafSpec(trace_decay=trace_decay, trace_cut=0.9 * 0.5 ** (horizon - 1), **settings)
    learner = spec.build(game, NTupleSpec(layout=layout), Schedule(batch=1, opening_plies=1))
    assert learner.horizon == horizon
    switches = SWITCHES[horizon]
    hyper = stack_hyperparameters(switches, alpha, trace_decay, episodes)
    # Without equal values no rounding decides which variation is the principal one.
    weights = np.random.default_rng(0).normal(0, 0.1, learner.value.num_weights)
    weights = weights.astype(np.float32)
    _, lane, record = played(learner, hyper, len(switches), episodes, weights=weights)
    for i, switch in enumerate(switches):
        serial = serial_settings(switch, alpha, episodes, trace_decay, horizon)
        tables = SerialTDFarl(plain, layout, Parameters(**serial))
        set_tables(tables, layout, weights)
        reference = leaf_reference(tables, settings)
        for opening, moves in transcripts(record, i):
            reference.episode(opening, made(moves))
        expected = reference_tables(tables, learner.value)[0]
        np.testing.assert_allclose(lane.params.weights[i], expected, atol=2e-6, rtol=2e-6)
        assert np.abs(expected - weights).max() > 0.01
        assert reference.foreseen > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "horizon", "settings"),
    [("nim3p", 3, {"plies": 3}), ("tictactoe", 1, {"plies": 2}), ("connectfour", 1, BEAM)],
)
def test_a_network_agrees_with_the_serial_reference(name, horizon, settings):
    (plain, _, _), game, episodes = CASES[name], jaxgbg.make(name), 20
    trace_decay, switches = 0.0 if horizon == 1 else 0.5, SWITCHES[1][:2]
    spec = TDLeafSpec(trace_decay=trace_decay, trace_cut=0.9 * 0.5 ** (horizon - 1), **settings)
    learner = spec.build(game, MLPSpec(hidden=(7,)), Schedule(batch=1, opening_plies=1))
    hyper = stack_hyperparameters(switches, 0.05, trace_decay, episodes)
    start, lane, record = played(learner, hyper, len(switches), episodes)
    for i, switch in enumerate(switches):
        weights, biases = layers(one_lane(start.params.network, i))
        network = Network(
            [learner.value.num_inputs, 7, 1],
            weights=weights,
            biases=biases,
            reward_range=game.reward_range,
        )
        serial = serial_settings(switch, 0.05, episodes, trace_decay, horizon)
        parameters = NetworkParameters(rule="td", traces="horizon", **serial)
        reference = leaf_reference(SerialNetworkLearner(plain, network, parameters), settings)
        for opening, moves in transcripts(record, i):
            reference.episode(opening, made(moves))
        new = [leaf for part in layers(one_lane(lane.params.network, i)) for leaf in part]
        for found, old, expected in zip(new, [*weights, *biases], network.parameters, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5, rtol=1e-5)
            assert np.abs(found - old).max() > 1e-3


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_one_ply_is_the_learner_that_does_not_look_ahead():
    game = jaxgbg.make("tictactoe")
    value = NTupleSpec(layout=tuple((cell, cell + 1) for cell in range(8)), tcl="id")
    schedule = Schedule(batch=4)
    assert TDLeafSpec(plies=1).build(game, value, schedule) == TDSpec().build(game, value, schedule)
    # Its leaf is the afterstate: by the longer way it comes to the same bits.
    search = LookAhead(game, value.build(game, False, 4), LookAheadSpec(1))
    looking, learner = trained(PrincipalVariation(search=search), rule=TD_LEAF)
    assert learner.value == search.value
    alone, _ = trained(EpsilonGreedy())
    assert np.abs(alone.params.weights).max() > 0.001
    assert_same_bits(looking._replace(key=None), alone._replace(key=None))


def chosen(settings: dict, epsilon: float, states, game: Game, weights, **policy):
    """The choice in `states`, and the scores of the search that it is made by."""
    value = NTupleSpec(layout=tuple((cell, cell + 1) for cell in range(8))).build(game, False, 2)
    params = value.init()._replace(weights=weights)
    search = LookAhead(game, value, LookAheadSpec(**settings))
    batch = len(states.terminal)
    games = types.SimpleNamespace(state=states, features=None)
    words = jax.random.bits(jax.random.key(1), (batch, 2))
    choice = PrincipalVariation(search=search, **policy).select(
        game, value, params, games, BootstrapRule(), Exploration(words, jnp.float32(epsilon))
    )
    return choice, search.action_values(params, states, jax.random.key(0)), value, params


@pytest.mark.slow
def test_the_move_is_the_best_of_the_search_and_its_value_that_of_the_leaf():
    game = jaxgbg.make("tictactoe")
    weights = jnp.asarray(np.random.default_rng(0).normal(0, 0.2, 2 * 8 * 9), jnp.float32)
    states = each(game.init, jax.random.split(jax.random.key(0), 64))
    for ply in range(4):
        cells = jax.random.randint(jax.random.fold_in(jax.random.key(0), ply), (64,), 0, 9)
        states = each(game.afterstate, states, cells)
    # Of a beam of two moves the third best is none: the best is made instead.
    third = {"ranks": (0.0, 0.0, 1.0)}
    # So low a temperature chooses the best, too.
    cold = {"temperature": 1e-5}
    for settings, policy in (
        ({"plies": 3}, {}),
        ({"plies": 3}, cold),
        ({"plies": 2, "width": (2,)}, third),
    ):
        choice, scores, value, params = chosen(settings, 0.0, states, game, weights, **policy)
        rows = np.arange(64)
        np.testing.assert_array_equal(scores[rows, choice.action], scores.max(1))
        assert not choice.explored.any()
        mover, leaf = states.player, choice.extra.states
        features = value.features(params, each(game.cells, leaf))
        np.testing.assert_array_equal(choice.extra.features, features)
        np.testing.assert_allclose(choice.value, value.value(params, features, mover), atol=1e-6)
        gain = leaf.rewards[rows, mover]
        ahead = jnp.where(leaf.terminal, 0.0, choice.value)
        np.testing.assert_allclose(gain + ahead, scores.max(1), atol=1e-6)


@pytest.mark.slow
def test_a_temperature_draws_other_moves_than_the_best():
    game = jaxgbg.make("tictactoe")
    weights = jnp.asarray(np.random.default_rng(0).normal(0, 0.2, 2 * 8 * 9), jnp.float32)
    states = each(game.init, jax.random.split(jax.random.key(0), 2000))
    choice, scores, *_ = chosen({"plies": 2}, 0.0, states, game, weights, temperature=0.2)
    shares = np.exp((np.asarray(scores[0], float) - float(scores[0].max())) / 0.2)
    counts = np.bincount(choice.action, minlength=9) / 2000
    np.testing.assert_allclose(counts, shares / shares.sum(), atol=4 * 0.5 / 2000**0.5)
    np.testing.assert_array_equal(choice.explored, choice.action != scores[0].argmax())


def test_what_cannot_be_looked_ahead_in_training_is_named():
    layout = NTupleSpec(layout=((0, 1),))

    def build(name="tictactoe", **settings):
        return TDLeafSpec(**settings).build(jaxgbg.make(name), layout, Schedule())

    for complaint, changes in [
        ("2048 is a game of chance", {"name": "2048"}),
        (r"train_plies must lie in \[1, 10\], not 0", {"plies": 0}),
        ("train_width must be", {"plies": 2, "width": "a"}),
        ("look ahead 2 plies or more", {"plies": 1, "width": (3,)}),
        ("one for each of the 2 plies", {"plies": 3, "width": (3, 1, 1)}),
        ("train_reply must be one of own, value", {"reply": "worst"}),
    ]:
        with pytest.raises(ValueError, match=complaint) as error:
            build(**changes)
        assert "\n" not in str(error.value)
    assert build("2048", plies=1).policy == EpsilonGreedy()
    for changes in (
        {"learner": "td-leaf", "replay_episodes": 5},
        {"learner": "q", "train_plies": 2},
    ):
        with pytest.raises(ValueError, match=r"(replay_episodes|train_plies) is for learner td"):
            jaxgbg.preset("tictactoe", **changes)
