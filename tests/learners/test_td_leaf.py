"""TD-Leaf: moves by look-ahead, leaves of principal variations learned, replayed serially."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg import QSpec, TDLeafSpec, TDSpec
from jaxgbg.learners import EpsilonGreedy, Schedule
from jaxgbg.search.lookahead import LookAhead
from jaxgbg.search.td_leaf import PrincipalVariation
from jaxgbg.values import MLPSpec, NTupleSpec
from tests.learners.replay import (
    CASES,
    made,
    played,
    reference_tables,
    set_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.learners.test_policy import assert_same_bits, trained
from tests.learners.test_replay import SWITCHES
from tests.reference.td_farl import Parameters
from tests.reference.td_leaf import SerialTDLeaf


@pytest.mark.parametrize(
    ("name", "horizon", "settings"),
    [
        ("tictactoe", 4, {"plies": 2}),
        ("tictactoe", 1, {"plies": 3}),
        ("nim3p", 1, {"plies": 2}),
        ("nim3p", 1, {"plies": 3}),
        ("nim3p", 1, {"plies": 3, "width": (3, 2), "reply": "value"}),
        ("connectfour", 1, {"plies": 2}),
        ("connectfour", 1, {"plies": 3}),
        ("connectfour", 1, {"plies": 3, "width": (3, 1), "reply": "value"}),
    ],
)
def test_tables_agree_with_the_serial_reference(name, horizon, settings):
    (plain, layout, alpha), game, episodes = CASES[name], jaxgbg.make(name), 40
    trace_decay = 0.0 if horizon == 1 else 0.5
    spec = TDLeafSpec(trace_decay=trace_decay, trace_cut=0.12, **settings)
    learner = spec.build(game, NTupleSpec(layout=layout), Schedule(batch=1, opening_plies=1))
    assert learner.horizon == horizon
    switches = SWITCHES[horizon]
    hyper = stack_hyperparameters(switches, alpha, trace_decay, episodes)
    # Without equal values no rounding decides which variation is the principal one.
    weights = np.random.default_rng(0).normal(0, 0.1, learner.value.num_weights)
    weights = weights.astype(np.float32)
    _, lane, record = played(learner, hyper, len(switches), episodes, weights=weights)
    recursion = {"paranoid": False, **settings}
    recursion["paranoid"] = recursion.pop("reply", "own") == "value"
    for i, each in enumerate(switches):
        reference = SerialTDLeaf(
            plain,
            layout,
            Parameters(
                alpha_start=alpha,
                alpha_end=alpha / 2,
                episodes=episodes,
                lambda_=trace_decay,
                horizon=horizon,
                trace_mode="reset" if each["reset"] else "et",
                learn_from_random=each["learn_from_random"],
                final_others=each["final_others"],
                final_zero=each["final_zero"],
            ),
            **recursion,
        )
        set_tables(reference, layout, weights)
        for opening, moves in transcripts(record, i):
            reference.learn(opening, made(moves))
        expected = reference_tables(reference, learner.value)[0]
        print(name, settings, i, np.abs(lane.params.weights[i] - expected).max(), np.abs(expected - weights).max(), reference.foreseen)
        np.testing.assert_allclose(lane.params.weights[i], expected, atol=1e-5, rtol=1e-5)
        assert np.abs(expected - weights).max() > 0.01
        assert reference.foreseen > 0
