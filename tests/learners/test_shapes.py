"""Shapes and dtypes at the seams of a tick, checked while it is traced: in the tests only."""

import collections
import dataclasses

import jax
import jax.numpy as jnp
import pytest
from beartype.door import die_if_unbearable
from beartype.roar import BeartypeDoorHintViolation
from jaxtyping import Array, Bool, Float32, Int, Int8, Int32, UInt32, jaxtyped

from jaxgbg.learners import TD, EpsilonGreedy, Learner, td
from jaxgbg.learners import tick as learners_tick
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.lanes import hyperparameters
from jaxgbg.runs.presets import preset
from jaxgbg.values import MLP, AuxiliaryMLP, NTuple
from jaxgbg.values.core import Updates
from jaxgbg.values.ntuple_moves import FollowingNTuple, StoneNTuple

BATCH = 3

# Dtype and axes; one letter is one length within a call, F, A, N and B those of the learner.
CHOICE = ((Int32, "{B}"), (Bool, "{B}"), (Float32, "{B}"), (Int32, "{B}"), None)
TARGET = ((Int8, "{B}"), (Float32, "{B}"), (Bool, "{B}"))
PUSH = ((Int32, "{B} {F}"), (Int8, "{B}"), (Float32, "{B}"), (Float32, "{B}"), (Bool, "{B}"))
WORDS = ((UInt32, "{B} 2"), *[(UInt32, "{B} _")] * 5)
RECORD = (
    *((Bool, "{B}"), (Int32, "{B}"), (Int32, "{B}")),
    *((Bool, "{B}"), (Bool, "{B}"), (Int32, "{B} plies")),
)
GAMES = (
    None,
    *((Int32, "{B} {F}"), (Int8, "{B}"), (Int8, "{B}"), (Int32, "{B} {N} {F}")),
    *((Bool, "{B} {N}"), (Float32, "{B} {N}"), None, (Int8, "_"), None),
)
# What methods of a value function take after self and the parameters, and give.
WITH_EXTRAS = (((Int32, "*batch {F}"),), (Int32, "*batch {F}"))
VALUE = {
    "features": (((Int8, "*batch C"),), (Int32, "*batch {F}")),
    "value": (((Int32, "*batch {F}"), (Int, "*_")), (Float32, "*batch")),
    "action_values": (((Int32, "*batch {F}"), (Int, "*batch")), (Float32, "*batch {A}")),
    "values_with_stone": (((Int32, "*batch {F}"), (Int, "*batch")), (Float32, "*batch C")),
    "values_after": (((Int32, "{F}"), (Int32, "Q"), (Int, "")), (Float32, "Q")),
    "update": (
        (
            *((Int32, "n {F}"), (Int, "n"), (Float32, "n"), (Float32, "n"), (Bool, "n")),
            *(None, (Float32, ""), None),
        ),
        None,
    ),
}


def check(arrays, hints, sizes) -> None:
    """Refuse arrays of another dtype or shape than their hints, within one binding of letters."""
    with jaxtyped("context"):
        for array, hint in zip(arrays, hints, strict=True):
            if hint is not None and array is not None:
                die_if_unbearable(array, hint[0][Array, hint[1].format(**sizes)])


@pytest.fixture
def passed(monkeypatch):
    """How often each seam was passed: all of them check what goes through."""
    counts = collections.Counter()

    def watch(owner, name, checked):
        original = getattr(owner, name)

        def call(*arguments, **settings):
            found = original(*arguments, **settings)
            checked(found, *arguments, *settings.values())
            counts[name] += 1
            return found

        monkeypatch.setattr(owner, name, call)

    def watch_value(owner, name):
        taken, given = VALUE[name]

        def checked(found, value, params, *arguments):
            hints = taken, given
            if name == "features" and isinstance(value, AuxiliaryMLP):
                hints = WITH_EXTRAS
            sizes = {"F": value.num_features, "A": value.num_actions}
            if isinstance(arguments[0], Updates):
                arguments = [*arguments[0], *arguments[1:]]
            check([*arguments, found], [*hints[0], hints[1]], sizes)

        watch(owner, name, checked)

    for owner in (NTuple, MLP):
        for name in ("features", "value", "action_values", "update"):
            watch_value(owner, name)
    watch_value(StoneNTuple, "values_with_stone")
    watch_value(FollowingNTuple, "values_after")
    watch(Learner, "_select", lambda choice, learner, *_: check(choice, CHOICE, sizes_of(learner)))
    watch(
        Learner,
        "apply",
        lambda _, one, lane, target, *rest: check(target, TARGET, sizes_of(one)),
    )
    watch(
        Learner,
        "_push",
        lambda _, one, params, traces, push, *rest: check(push, PUSH, sizes_of(one)),
    )
    watch(learners_tick, "split_words", lambda words, *_: check(words, WORDS, {"B": BATCH}))
    return counts


def sizes_of(learner: Learner) -> dict[str, int]:
    players, features = learner.game.num_players, learner.value.num_features
    return {"B": BATCH, "F": features, "N": players}


def traced_tick(name: str, **changes):
    """One tick of a game, traced and not run: the learner, the next lane, its record."""
    if "value" not in changes:
        changes["walks"] = (4, 2)
    changes |= {"batch": BATCH, "opponents": (), "seeds": (0,), "variants": ("farl",)}
    run = preset(name, **changes)
    learner = run.make_learner()
    hyper = jax.tree.map(lambda leaf: leaf[0], hyperparameters(run, run.lanes))
    bits = jax.ShapeDtypeStruct((BATCH, sum(learner.word_counts)), jnp.uint32)
    limit = jax.ShapeDtypeStruct((), jnp.uint32)

    def tick(bits, limit, hyper):
        lane = learner.init(jax.random.key(0), jnp.asarray(run.value.drawn(run.game, 0)))
        lane, record = learner.tick(lane, hyper, limit, bits)
        check(lane.games, GAMES, sizes_of(learner))
        check(record, RECORD, sizes_of(learner))
        return lane, record

    jax.eval_shape(tick, bits, limit, hyper)


CASES = [
    ("tictactoe", {"opening_plies": 2}, "values_after"),
    ("nim3p", {"learner": "sarsa", "replan": True}, "action_values"),
    ("hex", {"trace_decay": 0.5}, "values_with_stone"),
    pytest.param(
        "2048", {"delayed_traces": True, "trace_decay": 0.5}, "features", marks=pytest.mark.slow
    ),
    ("tictactoe", {"value": "mlp", "learner": "q"}, "action_values"),
    pytest.param(
        "lines_of_action",
        {"value": "mlp", "extras": ("cluster", "freedom"), "replay_episodes": 0},
        "features",
        marks=pytest.mark.slow,
    ),
    ("nim3p", {"learner": "td-leaf"}, "features"),
    ("nim3p", {"learner": "td-off-policy", "trace_decay": 0.0}, "features"),
]


@pytest.mark.parametrize(("name", "changes", "seam"), CASES)
def test_a_tick_has_the_shapes_and_dtypes_that_its_parts_declare(passed, name, changes, seam):
    traced_tick(name, **changes)
    assert passed[seam] > 0
    for every in ("_select", "apply", "_push", "split_words", "value", "update"):
        assert passed[every] > 0


@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (EpsilonGreedy, "select", lambda choice: choice._replace(value=choice.value[:, None])),
        (EpsilonGreedy, "select", lambda choice: choice._replace(explored=choice.value)),
        (NTuple, "value", lambda values: values[..., None]),
        (NTuple, "features", lambda features: features.astype(jnp.int8)),
    ],
)
def test_a_wrong_shape_or_dtype_is_noticed(monkeypatch, request, owner, name, fault):
    original = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *arguments: fault(original(*arguments)))
    # Only now the seams are watched, the faulty one too.
    request.getfixturevalue("passed")
    with pytest.raises(BeartypeDoorHintViolation):
        traced_tick("tictactoe")


@pytest.mark.usefixtures("passed")
def test_a_target_of_a_wrong_dtype_is_noticed(monkeypatch):
    def target(*given):
        found = TD.target(*given)
        return found._replace(value=found.value.astype("int32"))

    monkeypatch.setattr(td, "TD", dataclasses.replace(TD, target=target))
    with pytest.raises(BeartypeDoorHintViolation):
        traced_tick("tictactoe")


def test_the_package_itself_names_shapes_that_would_be_broadcast():
    run = preset("tictactoe", batch=BATCH, seeds=(0,))
    learner, value = run.make_learner(), run.make_learner().value
    lane = learner.init(jax.random.key(0))
    several = hyperparameters(run, run.lanes)
    hyper, limit = jax.tree.map(lambda leaf: leaf[0], several), jnp.uint32(9)
    words = sum(learner.word_counts)
    bits = jnp.zeros((BATCH, words), jnp.uint32)
    with pytest.raises(AssertionError, match=rf"\(3, {words + 1}\) but expected \(3, {words}\)"):
        learner.tick(lane, hyper, limit, jnp.zeros((BATCH, words + 1), jnp.uint32))
    with pytest.raises(AssertionError, match="int32 but expected uint32"):
        learner.tick(lane, hyper, limit, bits.astype(jnp.int32))
    with pytest.raises(AssertionError, match=r"\(2, 32\) but expected \(32,?\)"):
        learner.tick(lane, several, limit, bits)
    with pytest.raises(AssertionError, match="has rank 1"):
        learner.tick(lane, hyper._replace(value=several.value), limit, bits)

    features, flat = jnp.zeros((5, value.num_features), jnp.int32), jnp.zeros(5)
    player, live, one = jnp.zeros(5, jnp.int8), jnp.ones(5, bool), jnp.float32(1)
    column = Updates(features, player, flat[:, None], flat, live)
    with pytest.raises(AssertionError, match=r"\(5, 1\) but expected \(5,?\)"):
        value.update(lane.params, column, one, hyper.value)
    with pytest.raises(AssertionError, match="float32"):
        value.update(lane.params, Updates(features, player, flat, flat, flat), one, hyper.value)

    agent = GreedyAgent(learner.game, value, several_agents(value, 2), several=True)
    states = jax.vmap(learner.game.init)(jax.random.split(jax.random.key(0), 3))
    with pytest.raises(AssertionError, match="not divisible by 2"):
        agent.act(states, jax.random.key(0))
    with pytest.raises(AssertionError, match="has rank 0"):
        agent.act(learner.game.init(jax.random.key(0)), jax.random.key(0))


def several_agents(value: NTuple, agents: int):
    params = value.for_player(value.init())
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * agents), params)
