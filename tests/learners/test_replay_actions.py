"""SARSA and Q-learning with n-tuples, replayed by the serial reference, update for update."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.learners import SARSA, EpsilonGreedy, Learner
from jaxgbg.values import NTuple, NTupleParams
from tests.learners.replay import case, ntuple, played, stack_hyperparameters, transcripts
from tests.learners.test_replay_boards import CASES as BOARDS
from tests.learners.test_replay_boards import decay_of, played_with_chance
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
    ("knockout", "sarsa", False, "none", 1),
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
    game, plain, layout, alpha = case(name)
    lanes = len(SWITCHES)
    value = ntuple(game, layout, of_actions=True, tcl=tcl, combine="sum")
    policy = EpsilonGreedy(off_policy=rule == "q")
    sarsa = dataclasses.replace(SARSA, replan=replan)
    learner = Learner(game, value, sarsa, 1, horizon, opening_plies=1, policy=policy)
    switches = [{"final_zero": True, **each} for each in SWITCHES]
    hyper = stack_hyperparameters(switches, alpha, decay_of(horizon), episodes)
    _, lane, record = played(learner, hyper, lanes, episodes)
    for i, each in enumerate(switches):
        parameters = parameters_of(each, rule, alpha, episodes, horizon, tcl)
        reference = SerialActionValues(plain, layout, parameters)
        found = transcripts(record, i)
        changed = sum(move[0] != move[1] for _, moves in found for move in moves)
        assert (changed > 0) == replan
        for opening, moves in found:
            reference.episode(opening, moves)
        assert_same_tables(reference, value, lane.params, i, tcl, atol=1e-4, least=0.01)


def parameters_of(
    switches: dict[str, bool],
    rule: str,
    alpha: float,
    episodes: int,
    horizon: int,
    tcl: str,
    **others,
) -> ActionValueParameters:
    """The settings of the reference for a lane with these switches."""
    return ActionValueParameters(
        rule=rule,
        alpha_start=alpha,
        alpha_end=alpha / 2,
        episodes=episodes,
        lambda_=decay_of(horizon),
        horizon=horizon,
        trace_mode="reset" if switches["reset"] else "et",
        tcl=tcl,
        learn_from_random=switches["learn_from_random"],
        final_others=switches["final_others"],
        **others,
    )


def assert_same_tables(
    reference: SerialActionValues, value: NTuple, params: NTupleParams, i: int, tcl: str, **bounds
) -> None:
    """Weights and counters of lane i are those of the reference."""
    sizes = [value.num_cell_values ** len(cells) for cells in value.tuples]
    flat = [
        np.concatenate(
            [by_tuple[i, :n] for row in table for by_tuple in row for i, n in enumerate(sizes)]
        )
        for table in (reference.weights, reference.counters_n, reference.counters_a)
    ]
    weights = np.asarray(params.weights[i])
    assert np.abs(weights).max() > bounds["least"]
    np.testing.assert_allclose(weights, flat[0], atol=bounds["atol"], rtol=1e-4)
    if tcl != "none":
        counters = np.asarray(params.counters[i]).reshape(params.weights.shape[1], -1)
        rounding = 1e-4 * (flat[2] + 0.1 * min(1, flat[2].max()))
        assert (np.abs(counters[:, 0] - flat[1]) <= rounding).all()
        assert (np.abs(counters[:, 1] - flat[2]) <= rounding).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "tcl", "horizon", "discount"), [("sarsa", "exp", 4, 1.0), ("q", "none", 1, 0.6)]
)
def test_actions_of_a_game_of_chance_are_valued_where_they_are_chosen(rule, tcl, horizon, discount):
    game, plain, layout, _ = BOARDS["2048"]
    episodes, alpha = 30, 0.4
    value = ntuple(game, layout, of_actions=True, sigmoid=False, tcl=tcl, combine="sum")
    policy = EpsilonGreedy(off_policy=rule == "q")
    learner = Learner(game, value, SARSA, 1, horizon, policy=policy)
    switches = [{"final_zero": True, **each} for each in SWITCHES[1:]]
    hyper = stack_hyperparameters(switches, alpha, decay_of(horizon), episodes)
    hyper = hyper._replace(discount=jnp.full(len(switches), discount, jnp.float32))
    lane, found = played_with_chance(learner, hyper, episodes, plain)
    for i, each in enumerate(switches):
        parameters = parameters_of(
            each, rule, alpha, episodes, horizon, tcl, sigmoid=False, gamma=discount
        )
        reference = SerialActionValues(plain, layout, parameters)
        for opening, moves in found[i]:
            reference.episode(opening, [(move[0], *move) for move in moves])
        assert reference.episodes_done == episodes
        scale = np.abs(reference.weights).max()
        assert_same_tables(reference, value, lane.params, i, tcl, atol=1e-4 * scale, least=1e-6)
