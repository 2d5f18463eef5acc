"""SARSA and Q-learning with n-tuples, replayed by the serial reference, update for update."""

import dataclasses

import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import SARSA, EpsilonGreedy, Learner
from tests.learners.replay import CASES, ntuple, played, stack_hyperparameters, transcripts
from tests.reference.sarsa_farl import ActionValueParameters, SerialActionValues

SWITCHES = [
    {"final_others": True, "learn_from_random": True, "reset": False},
    {"final_others": True, "learn_from_random": False, "reset": True},
    {"final_others": False, "learn_from_random": False, "reset": False},
]


RULES = [
    ("tictactoe", "sarsa", False, "none", 1),
    ("tictactoe", "q", False, "exp", 4),
    ("connectfour", "sarsa", True, "id", 1),
    ("nim3p", "sarsa", True, "exp", 4),
    ("nim3p", "q", False, "none", 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule", "replan", "tcl", "horizon"), [RULES[1]])
def test_tables_agree_with_the_serial_reference(name, rule, replan, tcl, horizon):
    assert_replays(name, rule, replan, tcl, horizon, episodes=100)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule", "replan", "tcl", "horizon"), RULES)
def test_tables_agree_with_the_serial_reference_for_longer(name, rule, replan, tcl, horizon):
    assert_replays(name, rule, replan, tcl, horizon, episodes=300)


def assert_replays(name, rule, replan, tcl, horizon, episodes) -> None:
    plain, layout, alpha = CASES[name]
    game, lanes = jaxgbg.make(name), len(SWITCHES)
    value = ntuple(game, layout, of_actions=True, tcl=tcl, combine="sum")
    policy = EpsilonGreedy(off_policy=rule == "q")
    sarsa = dataclasses.replace(SARSA, replan=replan)
    learner = Learner(game, value, sarsa, 1, horizon, opening_plies=1, policy=policy)
    switches = [{"final_zero": True, **each} for each in SWITCHES]
    trace_decay = 0.0 if horizon == 1 else 0.5
    hyper = stack_hyperparameters(switches, alpha, trace_decay, episodes)
    _, lane, record = played(learner, hyper, lanes, episodes)
    for i, each in enumerate(switches):
        reference = SerialActionValues(
            plain,
            layout,
            ActionValueParameters(
                rule=rule,
                alpha_start=alpha,
                alpha_end=alpha / 2,
                episodes=episodes,
                lambda_=trace_decay,
                horizon=horizon,
                trace_mode="reset" if each["reset"] else "et",
                tcl=tcl,
                learn_from_random=each["learn_from_random"],
                final_others=each["final_others"],
            ),
        )
        found = transcripts(record, i)
        changed = sum(move[0] != move[1] for _, moves in found for move in moves)
        assert (changed > 0) == replan
        for opening, moves in found:
            reference.episode(opening, moves)
        sizes = [game.num_cell_values ** len(cells) for cells in layout]
        flat = [
            np.concatenate(
                [by_tuple[i, :n] for row in table for by_tuple in row for i, n in enumerate(sizes)]
            )
            for table in (reference.weights, reference.counters_n, reference.counters_a)
        ]
        weights = np.asarray(lane.params.weights[i])
        assert np.abs(weights).max() > 0.01
        np.testing.assert_allclose(weights, flat[0], atol=1e-4, rtol=1e-4)
        if tcl != "none":
            counters = np.asarray(lane.params.counters[i]).reshape(lane.params.weights.shape[1], -1)
            rounding = 1e-4 * (flat[2] + 0.1)
            assert (np.abs(counters[:, 0] - flat[1]) <= rounding).all()
            assert (np.abs(counters[:, 1] - flat[2]) <= rounding).all()
