"""Networks under every learner, replayed by a serial reference with gradients made by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import LearnerSpec, Schedule
from jaxgbg.players import RandomPlayer
from jaxgbg.values import MLPSpec
from tests.learners.replay import CASES, made, played, stack_hyperparameters, transcripts
from tests.reference.mlp_td import Network, NetworkParameters, SerialNetworkLearner

SWITCHES = [
    {"final_others": True, "final_zero": True, "learn_from_random": True, "reset": False},
    {"final_others": False, "final_zero": False, "learn_from_random": False, "reset": True},
]


def layers(network) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Kernels and biases, first layer first."""
    dense = network["params"]
    names = sorted(dense, key=lambda name: int(name.split("_")[1]))
    return (
        [np.asarray(dense[name]["kernel"]) for name in names],
        [np.asarray(dense[name]["bias"]) for name in names],
    )


NETWORKS = [
    ("tictactoe", "td", {"output": "sigmoid"}, "horizon", 1, None),
    ("tictactoe", "td", {"activation": "tanh", "bias": 0.1}, "parameters", 1, "own"),
    ("tictactoe", "sarsa", {"hidden": (6, 5), "activation": "relu"}, "horizon", 3, "own"),
    ("nim3p", "q", {"initializer": "xavier"}, "parameters", 1, "all"),
    ("connectfour", "td", {"output": "identity"}, "horizon", 3, "all"),
    ("tictactoe", "td", {"output": "sigmoid", "loss": "matching"}, "parameters", 1, None),
    ("nim3p", "td", {"output": "identity"}, "shared", 1, None),
    ("tictactoe", "sarsa", {"activation": "tanh"}, "shared", 1, "all"),
    ("connectfour", "q", {"output": "sigmoid", "loss": "matching"}, "horizon", 1, "own"),
    ("nim3p", "td", {"loss": "matching"}, "horizon", 3, None),
]
FIELDS = ("name", "rule", "settings", "traces", "horizon", "partner")


@pytest.mark.slow
@pytest.mark.parametrize(FIELDS, NETWORKS)
def test_parameters_agree_with_the_serial_reference(name, rule, settings, traces, horizon, partner):
    assert_replays(name, rule, settings, traces, horizon, partner, episodes=200)


def assert_replays(name, rule, settings, traces, horizon, partner, episodes) -> None:
    plain, game, lanes = CASES[name][0], jaxgbg.make(name), len(SWITCHES)
    network_spec = MLPSpec(**{"hidden": (7,), **settings})
    trace_decay = 0.5 if traces != "horizon" or horizon > 1 else 0.0
    # A cut just below the eligibility of the last state kept.
    spec = LearnerSpec.kinds[rule](
        trace_decay=trace_decay,
        trace_cut=0.9 * 0.5 ** (horizon - 1),
        parameter_traces=traces != "horizon",
        shared_traces=traces == "shared",
    )
    learner = spec.build(game, network_spec, Schedule(batch=1, opening_plies=1))
    assert learner.horizon == horizon
    value = learner.value
    hyper = stack_hyperparameters(SWITCHES, 0.05, trace_decay, episodes)._replace(
        discount=jnp.full(lanes, 0.9, jnp.float32),
        terminal_value_zero=jnp.ones(lanes, bool),
        learn_from_partner=jnp.full(lanes, partner == "all"),
    )
    opponent = RandomPlayer(game) if partner else None
    start, lane, record = played(learner, hyper, lanes, episodes, opponent)
    for i, switches in enumerate(SWITCHES):
        weights, biases = layers(one_lane(start.params.network, i))
        network = Network(
            [value.num_inputs, *network_spec.hidden, value.num_actions],
            network_spec.activation,
            network_spec.output,
            weights=weights,
            biases=biases,
            reward_range=game.reward_range,
            matching=network_spec.loss == "matching",
        )
        parameters = NetworkParameters(
            rule=rule,
            alpha_start=0.05,
            alpha_end=0.025,
            episodes=episodes,
            gamma=0.9,
            lambda_=trace_decay,
            traces=traces,
            horizon=horizon,
            trace_mode="reset" if switches["reset"] else "et",
            learn_from_random=switches["learn_from_random"],
            final_others=switches["final_others"],
            final_zero=switches["final_zero"],
        )
        reference = SerialNetworkLearner(plain, network, parameters)
        for number, (opening, moves) in enumerate(transcripts(record, i)):
            recorded = moves if rule != "td" else made(moves)
            seat = number % game.num_players if partner else None
            reference.episode(opening, recorded, seat, partner == "all")
        found = [leaf for part in layers(one_lane(lane.params.network, i)) for leaf in part]
        for new, old, expected in zip(found, [*weights, *biases], network.parameters, strict=True):
            assert np.abs(new - old).max() > 1e-3
            np.testing.assert_allclose(new, expected, atol=1e-4, rtol=1e-4)


def one_lane(tree, lane: int):
    return {
        "params": {
            name: {part: leaf[lane] for part, leaf in layer.items()}
            for name, layer in tree["params"].items()
        }
    }
