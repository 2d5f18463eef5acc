"""Networks under every learner, replayed by a serial reference with gradients made by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import LEARNERS
from jaxgbg.players import RandomPlayer
from jaxgbg.values.mlp import MLP
from tests.learners.test_replay import CASES, stack_hyperparameters
from tests.learners.test_replay_actions import played, transcripts
from tests.reference.mlp_td import Network, NetworkParameters, SerialNetworkLearner

EPISODES = 200
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


@pytest.mark.parametrize(
    ("name", "rule", "settings", "traces", "horizon", "partner"),
    [
        ("tictactoe", "td", {"output": "sigmoid"}, "horizon", 1, None),
        ("tictactoe", "td", {"activation": "tanh", "bias": 0.1}, "parameters", 1, "own"),
        ("tictactoe", "sarsa", {"hidden": (6, 5), "activation": "relu"}, "horizon", 3, "own"),
        ("nim3p", "q", {"initializer": "xavier"}, "parameters", 1, "all"),
        ("connectfour", "td", {"output": "identity"}, "horizon", 3, "all"),
    ],
)
def test_parameters_agree_with_the_serial_reference(name, rule, settings, traces, horizon, partner):
    plain, game, lanes = CASES[name][0], jaxgbg.make(name), len(SWITCHES)
    value = MLP.for_game(game, rule != "td", **{"hidden": (7,), **settings})
    learner = LEARNERS[rule](
        game,
        value,
        batch=1,
        horizon=horizon,
        opening_plies=1,
        parameter_traces=traces == "parameters",
    )
    trace_decay = 0.5 if traces == "parameters" or horizon > 1 else 0.0
    hyper = stack_hyperparameters(SWITCHES, 0.05, trace_decay, EPISODES)._replace(
        discount=jnp.full(lanes, 0.9, jnp.float32),
        zero_terminal=jnp.ones(lanes, bool),
        learn_from_partner=jnp.full(lanes, partner == "all"),
    )
    opponent = RandomPlayer(game) if partner else None
    start, lane, record = played(learner, hyper, lanes, EPISODES, opponent)
    for i, switches in enumerate(SWITCHES):
        weights, biases = layers(one_lane(start.params.network, i))
        network = Network(
            [value.num_inputs, *value.hidden, value.num_actions],
            value.activation,
            value.output,
            weights=weights,
            biases=biases,
            reward_range=game.reward_range,
        )
        parameters = NetworkParameters(
            rule=rule,
            alpha_start=0.05,
            alpha_end=0.025,
            episodes=EPISODES,
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
            recorded = moves if rule != "td" else [move[1:] for move in moves]
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
