"""With one game at a time the lockstep learner is the serial algorithm, update for update.

And the moves that it makes by its values are those that the serial one finds best at that time.
"""

import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import TD, Learner
from tests.learners.replay import (
    CASES,
    Choices,
    case,
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference.td_farl import Parameters, SerialTDFarl

SWITCHES = {
    1: [
        named(True, True, True, False),
        named(True, False, False, False),
        named(False, False, True, False),
    ],
    4: [
        named(True, True, True, False),
        named(True, True, False, True),
        named(True, False, False, False),
        named(False, True, True, True),
        named(False, False, True, False),
    ],
}


def assert_replays(name, layout, alpha, tcl, horizon, all_switches, episodes) -> None:
    (game, plain, *_), tolerance = case(name), 1e-4
    trace_decay = 0.0 if horizon == 1 else 0.5
    combine = {"none": "mean", "id": "saturating", "exp": "sum"}[tcl]
    value = ntuple(game, layout, tcl=tcl, combine=combine)
    learner = Learner(game, value, TD, batch=1, horizon=horizon, opening_plies=1)
    hyper = stack_hyperparameters(all_switches, alpha, trace_decay, episodes)
    _, lane, record = played(learner, hyper, len(all_switches), episodes)

    for i, switches in enumerate(all_switches):
        reference = SerialTDFarl(
            plain,
            layout,
            Parameters(
                alpha_start=alpha,
                alpha_end=alpha / 2,
                episodes=episodes,
                lambda_=trace_decay,
                horizon=horizon,
                trace_mode="reset" if switches["reset"] else "et",
                tcl=tcl,
                learn_from_random=switches["learn_from_random"],
                final_others=switches["final_others"],
                final_zero=switches["final_zero"],
                terminal_value_zero=switches["learn_from_random"],
            ),
        )
        choices = Choices()
        for opening, moves in transcripts(record, i):
            reference.episode(opening, made(moves), choices)
        weights, counter_n, counter_a = reference_tables(reference, value)
        # Nim3P pays its last mover nothing: without part 1 there is nothing to learn at all.
        learns = switches["final_others"] or name != "nim3p"
        assert (np.abs(weights).max() > 0.01) == learns
        if learns:
            choices.assert_best(tolerance)
        found = np.asarray(lane.params.weights[i])
        np.testing.assert_allclose(found, weights, atol=tolerance, rtol=tolerance)
        if tcl != "none":
            # N sums terms of both signs: its rounding is relative to A, the sum of their sizes.
            counters = np.asarray(lane.params.counters[i]).reshape(value.num_weights, -1)
            rounding = tolerance * (counter_a + 0.1)
            assert (np.abs(counters[:, 0] - counter_n) <= rounding).all()
            assert (np.abs(counters[:, 1] - counter_a) <= rounding).all()


@pytest.mark.parametrize(
    ("name", "tcl", "horizon"),
    [
        ("tictactoe", "exp", 4),
        ("nim", "id", 4),
        pytest.param("knockout", "none", 1, marks=pytest.mark.slow),
        pytest.param("shove", "none", 1, marks=pytest.mark.slow),
        pytest.param("nim3p", "none", 1, marks=pytest.mark.slow),
        pytest.param("connectfour", "exp", 1, marks=pytest.mark.slow),
    ],
)
def test_tables_agree_with_the_serial_reference(name, tcl, horizon):
    _, _, layout, alpha = case(name)
    assert_replays(name, layout, alpha, tcl, horizon, SWITCHES[horizon], episodes=100)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [1, 4])
@pytest.mark.parametrize("tcl", ["none", "id", "exp"])
@pytest.mark.parametrize("name", CASES)
def test_tables_agree_with_the_serial_reference_for_a_thousand_episodes(name, tcl, horizon):
    _, layout, alpha = CASES[name]
    assert_replays(name, layout, alpha, tcl, horizon, SWITCHES[horizon], episodes=1000)


@pytest.mark.slow
def test_published_connectfour_agrees_with_the_serial_reference():
    run = jaxgbg.preset("connectfour")
    layout, alpha = run.value.layout_of(run.game, 0), run.schedule.alpha
    assert_replays("connectfour", layout, alpha, "exp", 1, SWITCHES[1][:1], episodes=1000)
