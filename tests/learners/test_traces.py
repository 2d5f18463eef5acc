"""Delayed traces: every state gets the errors of its horizon, in one update when it leaves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Nim
from jaxgbg.learners import TD, Learner
from jaxgbg.learners.traces import Push, Traces, push_immediate
from tests.learners.replay import (
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference import rules
from tests.reference.lockstep_td_farl import LockstepTDFarl
from tests.reference.td_farl import Parameters

LAYOUT = ((0, 1, 2), (0, 2))


@pytest.mark.slow
@pytest.mark.parametrize("tcl", [pytest.param("none", marks=pytest.mark.slow), "id"])
def test_delayed_updates_are_those_of_a_plain_list(tcl):
    episodes, horizon = 400, 4
    value = ntuple(Nim(), LAYOUT, tcl=tcl, combine="sum")
    learner = Learner(Nim(), value, TD, 1, horizon, opening_plies=1, delayed=True)
    switches = [named(True, True, False, reset) for reset in (False, True)]
    hyper = stack_hyperparameters(switches, 0.5, 0.5, episodes)
    _, lane, record = played(learner, hyper, len(switches), episodes)
    for i, each in enumerate(switches):
        reference = LockstepTDFarl(
            rules.Nim(),
            LAYOUT,
            Parameters(
                alpha_start=0.5,
                alpha_end=0.25,
                episodes=episodes,
                lambda_=0.5,
                horizon=horizon,
                trace_mode="reset" if each["reset"] else "et",
                tcl=tcl,
                learn_from_random=False,
            ),
            rule="sum",
            delayed=True,
        )
        reference.replay([[(opening, made(moves)) for opening, moves in transcripts(record, i)]])
        weights, counter_n, counter_a = reference_tables(reference, value)
        assert np.abs(weights).max() > 0.1
        np.testing.assert_allclose(lane.params.weights[i], weights, atol=1e-4)
        if tcl != "none":
            found_n, found_a = lane.params.counters[i].reshape(value.num_weights, -1)[:, :2].T
            np.testing.assert_allclose(found_n, counter_n, atol=1e-3)
            np.testing.assert_allclose(found_a, counter_a, rtol=1e-4)


@pytest.mark.slow
def test_delayed_and_immediate_traces_learn_the_same_values():
    """With a small step size the weights hardly move while a state waits."""
    tables = []
    for delayed in (False, True):
        value = ntuple(Nim(), ((0, 1, 2),), combine="sum")
        learner = Learner(Nim(), value, TD, 1, 4, opening_plies=1, delayed=delayed)
        hyper = stack_hyperparameters([named(True, True, True, False)], 0.02, 0.5, 1000)
        # All moves random: both see the same games.
        hyper = jax.tree.map(lambda leaf: leaf[0], hyper)
        hyper = hyper._replace(epsilon=jnp.float32(1), epsilon_end=jnp.float32(1))
        advance = jax.jit(learner.advance, static_argnums=3)
        lane, _ = advance(learner.init(jax.random.key(2)), hyper, jnp.uint32(3000), 30_000)
        tables.append(np.asarray(lane.params.weights))
    assert np.abs(tables[0]).max() > 0.2
    assert np.corrcoef(*tables)[0, 1] > 0.999
    assert np.abs(tables[0] - tables[1]).max() < 0.05


def updates_of_a_push(traces: Traces, push: Push) -> tuple[Traces, list[tuple[np.ndarray, ...]]]:
    """The traces after a push, and every single update that it made, in order."""

    def update(made, updates):
        # Of updates with traces nothing is predicted: `following` is None.
        return [*made, *zip(*map(np.asarray, updates[:-1]), strict=True)]

    alone, decay = len(push.live) == 1, jnp.float32(0.5)
    updates, pushed = push_immediate([], traces, push, decay, update, one_by_one=alone)
    return pushed, updates


@pytest.mark.slow
def test_the_updates_of_many_games_are_those_of_each_game():
    """Joined in one call, they are the same updates, live or not, as game by game."""
    generator = np.random.default_rng(5)
    games, players, length, features = 5, 2, 3, 4
    traces = Traces(
        features=jnp.asarray(generator.integers(0, 9, (games, players, length, features))),
        slope=jnp.asarray(generator.choice([0, 0.4, 0.9], (games, players, length)), jnp.float32),
        decay=jnp.zeros((games, players, 0)),
        change=jnp.zeros((games, players, 0)),
        size=jnp.zeros((games, players, 0)),
        oldest=jnp.zeros((games, players), jnp.int8),
    )
    live = np.array([True, True, False, True, True])
    push = Push(
        features=jnp.asarray(generator.integers(0, 9, (games, features))),
        player=jnp.asarray([0, 1, 0, 1, 1], jnp.int8),
        error=jnp.asarray(np.where(live, generator.normal(size=games), 0), jnp.float32),
        slope=jnp.asarray(np.where(live, generator.random(games), 0), jnp.float32),
        live=jnp.asarray(live),
    )
    joined, found = updates_of_a_push(traces, push)
    expected = []
    for game in range(games):
        one = jax.tree.map(lambda leaf, game=game: leaf[game : game + 1], (traces, push))
        alone, calls = updates_of_a_push(*one)
        expected.extend(calls)
        for left, right in zip(joined, alone, strict=True):
            np.testing.assert_array_equal(left[game : game + 1], right)
    assert len(found) == len(expected) == games * (length + 1)
    assert 0 < sum(bool(call[4]) for call in found) < len(found)
    for left, right in zip(found, expected, strict=True):
        for a, b in zip(left, right, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
