"""Games in lockstep on one table learn what a plain float64 reference learns from their record.

And what a game played where no move was random is what the reference, asked with its own tables as
of that tick, finds best.
"""

import dataclasses

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Othello
from jaxgbg.learners import TD, Learner
from jaxgbg.runs.lanes import hyperparameters
from tests.learners.replay import (
    CASES,
    Choices,
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference import board_rules
from tests.reference.lockstep_td_farl import LockstepTDFarl
from tests.reference.td_farl import Parameters

ROUNDING = 1e-4
# Where TCL begins, N = A = 1e-4: an error that would be 0 but for a rounding of 1e-8 alters the
# next factor by as much as 1e-3.
ROUNDING_OF_COUNTERS = 1e-3
OTHELLO = (board_rules.Othello(4), ((0, 1, 4, 5), (1, 2, 6)), 0.4)
SWITCHES = [
    named(True, True, True, False),
    named(True, False, False, True),
    named(False, True, False, False),
]


def reference_of(plain, learner: Learner, hyper, lane: int, alpha_end: float) -> LockstepTDFarl:
    """The reference with the settings of one lane."""
    value = learner.value
    numbers = jax.tree.map(lambda leaf: float(leaf[lane]), hyper._replace(alpha_factors=()))
    numbers = numbers._asdict()
    parameters = Parameters(
        alpha_start=numbers["alpha"],
        alpha_end=alpha_end,
        episodes=int(numbers["episodes"]),
        lambda_=numbers["trace_decay"],
        horizon=learner.horizon,
        trace_mode="reset" if numbers["reset_traces"] else "et",
        tcl=value.tcl,
        beta=numbers["value"]["beta"],
        sigmoid=value.sigmoid,
        gamma=numbers["discount"],
        learn_from_random=bool(numbers["learn_from_random"]),
        final_others=bool(numbers["final_others"]),
        final_zero=bool(numbers["final_zero"]),
        terminal_value_zero=bool(numbers["terminal_value_zero"]),
    )
    return LockstepTDFarl(
        plain, value.tuples, parameters, rule=value.combine, delayed=learner.delayed
    )


def assert_replays(plain, learner: Learner, hyper, alpha_end: float, greedy: bool = True) -> None:
    """Tables, counters and greedy moves of all lanes are those of the reference."""
    lanes, episodes = len(hyper.alpha), int(hyper.episodes[0])
    _, lane, record = played(learner, hyper, lanes, episodes)
    for i in range(lanes):
        reference, choices = reference_of(plain, learner, hyper, i, alpha_end), Choices()
        games = [
            [(opening, made(moves)) for opening, moves in transcripts(record, i, game)]
            for game in range(learner.batch)
        ]
        reference.replay(games, choices if greedy else None)
        assert reference.episodes_done == episodes
        assert_same_tables(reference, learner.value, lane.params, i)
        if greedy and np.abs(reference.weights).max() > 0:
            choices.assert_best(ROUNDING)
        # Else no rule of joining would matter.
        assert reference.collisions > episodes / 10


def assert_same_tables(reference: LockstepTDFarl, value, params, lane: int) -> None:
    weights, counter_n, counter_a = reference_tables(reference, value)
    # Nim3P pays its last mover nothing: without part 1 there is nothing to learn at all.
    learns = reference.parameters.final_others or reference.game.num_players < 3
    assert (np.abs(weights).max() > 0.01) == learns
    found = np.asarray(params.weights[lane])
    np.testing.assert_allclose(found, weights, atol=ROUNDING, rtol=ROUNDING)
    if value.tcl == "none":
        return
    # N sums terms of both signs: its rounding is relative to A, the sum of their sizes.
    counters = np.asarray(params.counters[lane]).reshape(params.weights.shape[1], -1)
    rounding = ROUNDING_OF_COUNTERS * (counter_a + 0.1)
    assert (np.abs(counters[:, 0] - counter_n) <= rounding).all()
    assert (np.abs(counters[:, 1] - counter_a) <= rounding).all()


def assert_case_replays(
    name: str,
    batch: int,
    rule: str,
    tcl: str,
    horizon: int,
    delayed: bool = False,
    rounds: int = 4,
    switches=SWITCHES,
    discount: float = 1.0,
) -> None:
    """So many episodes a game, with the small layout of a case."""
    plain, layout, alpha = OTHELLO if name == "othello" else CASES[name]
    game = Othello(size=4) if name == "othello" else jaxgbg.make(name)
    value = ntuple(game, layout, tcl=tcl, combine=rule)
    learner = Learner(game, value, TD, batch, horizon, opening_plies=1, delayed=delayed)
    decay, episodes = 0.0 if horizon == 1 else 0.5, rounds * batch
    hyper = stack_hyperparameters(switches, alpha, decay, episodes)
    hyper = hyper._replace(discount=np.full(len(switches), discount, np.float32))
    assert_replays(plain, learner, hyper, alpha / 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "batch", "rule", "tcl", "delayed", "rounds"),
    [
        ("tictactoe", 64, "saturating", "exp", False, 2),
        ("nim", 4, "mean", "id", True, 20),
    ],
)
def test_games_in_lockstep_learn_as_the_reference(name, batch, rule, tcl, delayed, rounds):
    assert_case_replays(name, batch, rule, tcl, 4, delayed, rounds)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "tcl", "horizon"), [("sum", "none", 4), ("mean", "exp", 1), ("saturating", "id", 4)]
)
@pytest.mark.parametrize("batch", [4, 64])
@pytest.mark.parametrize("name", CASES)
def test_games_in_lockstep_learn_as_the_reference_by_every_rule(name, batch, rule, tcl, horizon):
    assert_case_replays(name, batch, rule, tcl, horizon, rounds=25 if batch == 4 else 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "batch", "rule", "tcl", "horizon"),
    [
        ("othello", 4, "saturating", "exp", 7),
        ("othello", 64, "mean", "id", 2),
        ("tictactoe", 64, "saturating", "exp", 4),
        ("nim3p", 4, "sum", "id", 3),
    ],
)
def test_delayed_traces_in_lockstep_learn_as_the_reference(name, batch, rule, tcl, horizon):
    assert_case_replays(name, batch, rule, tcl, horizon, delayed=True, rounds=100 // batch + 3)


@pytest.mark.slow
@pytest.mark.parametrize("delayed", [False, True])
def test_a_discount_shortens_the_traces_too(delayed):
    assert_case_replays("nim", 4, "saturating", "id", 4, delayed, rounds=50, discount=0.8)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_published_runs_as_shipped_learn_as_the_reference(name):
    """Batch, rule, layout, step sizes, traces and openings of `jaxgbg train NAME`."""
    run = jaxgbg.preset(name)
    episodes = 2 * run.schedule.batch
    schedule = dataclasses.replace(run.schedule, episodes=episodes)
    run = dataclasses.replace(run, schedule=schedule, seeds=(0,), variants=("farl", "none"))
    hyper = hyperparameters(run, run.lanes)
    assert_replays(CASES[name][0], run.make_learner(), hyper, schedule.last_alpha)
