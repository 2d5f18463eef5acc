"""SARSA and Q-learning with n-tuples, replayed by the serial reference, update for update."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import QLearner, SarsaLearner
from jaxgbg.values import NTuple
from tests.learners.test_replay import CASES, stack_hyperparameters
from tests.reference.sarsa_farl import ActionValueParameters, SerialActionValues

EPISODES = 300
SWITCHES = [
    {"final_others": True, "learn_from_random": True, "reset": False},
    {"final_others": True, "learn_from_random": False, "reset": True},
    {"final_others": False, "learn_from_random": False, "reset": False},
]


def transcripts(record, lane: int):
    """The episodes of one lane as (opening plies, [(foreseen, executed, was random)])."""
    seen = jax.tree.map(lambda leaf: np.asarray(leaf)[lane, :, 0], record)
    episodes = []
    for tick in range(len(seen.moved)):
        if seen.moved[tick]:
            move = int(seen.foreseen[tick]), int(seen.action[tick]), bool(seen.random[tick])
            episodes[-1][1].append(move)
        if seen.started[tick]:
            episodes.append(([int(ply) for ply in seen.opening[tick] if ply >= 0], []))
    return episodes


def played(learner, hyper, lanes: int, episodes: int, partner=None):
    """The lanes after so many episodes of training, and the record of it."""
    limit = jnp.full(lanes, episodes, jnp.uint32)
    keys = jax.random.split(jax.random.key(1), lanes)
    start = jax.vmap(lambda key: learner.init(key, None, partner))(keys)
    ticks = episodes * (learner.game.max_plies + learner.game.num_players) + 1
    advance = jax.jit(jax.vmap(lambda *arguments: learner.advance(*arguments, ticks=ticks)))
    after, record = advance(start, hyper, limit)
    assert (after.finished == episodes).all()
    return start, after, record


@pytest.mark.parametrize(
    ("name", "rule", "replan", "tcl", "horizon"),
    [
        ("tictactoe", "sarsa", False, "none", 1),
        ("tictactoe", "q", False, "exp", 4),
        ("connectfour", "sarsa", True, "id", 1),
        ("nim3p", "sarsa", True, "exp", 4),
        ("nim3p", "q", False, "none", 1),
    ],
)
def test_tables_agree_with_the_serial_reference(name, rule, replan, tcl, horizon):
    plain, layout, alpha = CASES[name]
    game, lanes = jaxgbg.make(name), len(SWITCHES)
    value = NTuple.for_game(game, layout, True, tcl, "sum", of_actions=True)
    kind = {"sarsa": SarsaLearner, "q": QLearner}[rule]
    options = {"replan": True} if replan else {}
    learner = kind(game, value, batch=1, horizon=horizon, opening_plies=1, **options)
    switches = [{"final_zero": True, **each} for each in SWITCHES]
    trace_decay = 0.0 if horizon == 1 else 0.5
    hyper = stack_hyperparameters(switches, alpha, trace_decay, EPISODES)
    _, lane, record = played(learner, hyper, lanes, EPISODES)
    for i, each in enumerate(switches):
        reference = SerialActionValues(
            plain,
            layout,
            ActionValueParameters(
                rule=rule,
                alpha_start=alpha,
                alpha_end=alpha / 2,
                episodes=EPISODES,
                lambda_=trace_decay,
                horizon=horizon,
                trace_mode="reset" if each["reset"] else "et",
                tcl=tcl,
                learn_from_random=each["learn_from_random"],
                final_others=each["final_others"],
            ),
        )
        episodes = transcripts(record, i)
        changed = sum(move[0] != move[1] for _, moves in episodes for move in moves)
        assert (changed > 0) == replan
        for opening, moves in episodes:
            reference.episode(opening, moves)
        sizes = [game.num_cell_values ** len(cells) for cells in layout]
        flat = [
            np.concatenate(
                [by_tuple[i, :n] for row in table for by_tuple in row for i, n in enumerate(sizes)]
            )
            for table in (reference.weights, reference.counters_n, reference.counters_a)
        ]
        found = np.asarray(lane.params.weights[i])
        assert np.abs(found).max() > 0.01
        np.testing.assert_allclose(found, flat[0], atol=1e-4, rtol=1e-4)
        if tcl != "none":
            counters = np.asarray(lane.params.counters[i])
            rounding = 1e-4 * (flat[2] + 0.1)
            assert (np.abs(counters[:, 0] - flat[1]) <= rounding).all()
            assert (np.abs(counters[:, 1] - flat[2]) <= rounding).all()
