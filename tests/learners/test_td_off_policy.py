"""TD of best play: replayed serially and in lockstep, and right about best play though half of the
moves are random."""

import functools

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg import TDOffPolicySpec, TDSpec
from jaxgbg.learners import Learner, Schedule, td_off_policy
from jaxgbg.learners.policy import EpsilonGreedy
from jaxgbg.values import MLPSpec, NTupleSpec
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
from tests.learners.test_replay import SWITCHES
from tests.reference import rules
from tests.reference.lockstep_td_farl import LockstepTDFarl
from tests.reference.td_farl import Parameters, SerialTDFarl

ROUNDING = 1e-4


def parameters(switches, alpha: float, episodes: int, **settings) -> Parameters:
    return Parameters(
        alpha_start=alpha,
        alpha_end=alpha / 2,
        episodes=episodes,
        learn_from_random=switches["learn_from_random"],
        final_others=switches["final_others"],
        final_zero=switches["final_zero"],
        terminal_value_zero=switches["learn_from_random"],
        off_policy=True,
        **settings,
    )


def off_policy(game, value, batch: int, loss_discount: float | None = None, **settings) -> Learner:
    policy = EpsilonGreedy(off_policy=True, **settings)
    parts = {"opening_plies": 1, "policy": policy}
    return Learner(game, value, td_off_policy(loss_discount), batch, **parts)


@pytest.mark.parametrize(
    ("name", "temperature", "loss_discount"),
    [
        ("nim3p", 0.0, None),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                ("tictactoe", 0.0, 0.5),
                ("nim", 0.2, 0.7),
                ("connectfour", 0.1, None),
            ]
        ),
    ],
)
def test_one_game_at_a_time_learns_as_the_serial_reference(name, temperature, loss_discount):
    (game, plain, layout, alpha), episodes = case(name), 100
    value = ntuple(game, layout, tcl="exp")
    learner = off_policy(game, value, 1, loss_discount, temperature=temperature)
    switches = SWITCHES[1]
    hyper = stack_hyperparameters(switches, alpha, 0.0, episodes)
    _, lane, record = played(learner, hyper, len(switches), episodes)
    for i, each in enumerate(switches):
        settings = parameters(each, alpha, episodes, tcl="exp", loss_gamma=loss_discount)
        reference, choices = SerialTDFarl(plain, layout, settings), Choices()
        for opening, moves in transcripts(record, i):
            reference.episode(opening, made(moves), choices)
        weights = reference_tables(reference, value)[0]
        found = np.asarray(lane.params.weights[i])
        np.testing.assert_allclose(found, weights, atol=ROUNDING, rtol=ROUNDING)
        # Nim3P pays its last mover nothing: without part 1 there is nothing to learn at all.
        learns = each["final_others"] or name != "nim3p"
        assert (np.abs(weights).max() > 0.01) == learns
        if learns:
            choices.assert_best(ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "nim3p", "connectfour"])
def test_games_in_lockstep_learn_as_the_reference(name):
    (plain, layout, alpha), game, batch, episodes = CASES[name], jaxgbg.make(name), 16, 160
    value = ntuple(game, layout, tcl="exp", combine="saturating")
    switches = [named(True, True, True, False), named(True, False, False, False)]
    hyper = stack_hyperparameters(switches, alpha, 0.0, episodes)
    _, lane, record = played(off_policy(game, value, batch), hyper, len(switches), episodes)
    for i, each in enumerate(switches):
        settings = parameters(each, alpha, episodes, tcl="exp")
        reference = LockstepTDFarl(plain, layout, settings, rule="saturating")
        reference.replay(
            [
                [(opening, made(moves)) for opening, moves in transcripts(record, i, number)]
                for number in range(batch)
            ]
        )
        weights = reference_tables(reference, value)[0]
        found = np.asarray(lane.params.weights[i])
        np.testing.assert_allclose(found, weights, atol=ROUNDING, rtol=ROUNDING)
        assert np.abs(weights).max() > 0.01
        assert reference.collisions > episodes / 10


@functools.cache
def outcome(cells: tuple[int, ...], player: int) -> float:
    """What a position of Nim is worth to who moves next, by plain recursion."""
    game = rules.Nim()
    state = game.initial()._replace(cells=cells, player=player)
    afters = [game.play(state, action) for action in game.legal(state)]
    return max(
        after.rewards[player] if after.terminal else -outcome(after.cells, after.player)
        for after in afters
    )


def values_of_nim(learner: str) -> tuple[np.ndarray, np.ndarray]:
    """V of all afterstates of Nim but the last, after training where half of the moves are random,
    and what they are worth in best play; of player 0.
    """
    layout = ((0, 1, 2),)
    run = jaxgbg.preset(
        "nim", learner=learner, trace_decay=0.0, layout=layout, tcl="none", alpha=1.0,
        alpha_end=1.0, episodes=60_000, batch=64, epsilon=0.5, epsilon_end=0.5, seeds=(0,),
        variants=("farl",),
    )  # fmt: skip
    built, hyper = run.make_learner(), jaxgbg.runs.lanes.hyperparameters(run, run.lanes)
    _, lane, _ = played(built, hyper, 1, run.schedule.episodes)
    boards = [tuple(map(int, heaps)) for heaps in np.ndindex(6, 6, 6) if any(heaps)]
    params = jax.tree.map(lambda leaf: leaf[0], lane.params)
    features = built.value.features(params, np.array(boards))
    found = built.value.value(params, features, np.zeros(len(boards), np.int8))
    return np.asarray(found), np.array([-outcome(heaps, 1) for heaps in boards])


@pytest.mark.slow
def test_a_won_position_is_worth_a_win_however_much_is_explored():
    found, exact = values_of_nim("td-off-policy")
    assert set(exact.tolist()) == {-1.0, 1.0}
    # Into some boards, the full ones first, no move of player 0 leads.
    reached = found != 0
    assert reached.mean() > 0.95
    np.testing.assert_array_equal(np.sign(found)[reached], exact[reached])
    assert np.abs(found - exact)[reached].mean() < 0.1
    # On policy, what half of the moves at random make of it.
    on_policy, _ = values_of_nim("td")
    assert np.mean(np.sign(on_policy) == exact) < 0.9
    assert np.abs(on_policy - exact).mean() > 0.5


def test_what_best_play_cannot_be_learned_with_is_named():
    game, layout = jaxgbg.make("lines_of_action"), NTupleSpec(layout=((0, 1),))
    extras = MLPSpec(extras=("freedom",))
    for complaint, value, settings in [
        ("learned without traces: set trace_decay 0", layout, {"trace_decay": 0.5}),
        ("moves by rank do not count as exploring", layout, {"ranks": (0.5, 0.5)}),
        ("choose extras_as inputs, or the learner td", extras, {}),
    ]:
        with pytest.raises(ValueError, match=complaint) as error:
            TDOffPolicySpec(**settings).build(game, value, Schedule())
        assert "\n" not in str(error.value)
    built = TDOffPolicySpec(temperature=0.1).build(game, layout, Schedule())
    assert built.policy == EpsilonGreedy(off_policy=True, temperature=0.1)
    assert built != TDSpec(temperature=0.1).build(game, layout, Schedule())
