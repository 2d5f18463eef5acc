"""A learner and a value function of a user's module do all that shipped ones do.

`n_step` and `conv` are such modules; nothing in the package knows them.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg as package
from jaxgbg.learners import LearnerSpec, Schedule, TDSpec
from jaxgbg.runs.lanes import hyperparameters
from jaxgbg.runs.settings import settings
from jaxgbg.values import NTupleSpec, ValueSpec
from tests.learners.replay import named, stack_hyperparameters

HERE = Path(__file__).parent
FARL, NONE = named(True, True, True, False), named(False, False, True, False)
ROOT = HERE.parents[1]


@pytest.fixture
def own(monkeypatch):
    """The two modules, imported; what they register is undone."""
    for spec in (LearnerSpec, ValueSpec):
        monkeypatch.setattr(spec, "kinds", dict(spec.kinds))
    n_step, conv = (importlib.import_module(f"tests.own.{name}") for name in ("n_step", "conv"))
    LearnerSpec.kinds["n-step"], ValueSpec.kinds["conv"] = n_step.NStepSpec, conv.ConvSpec
    return n_step, conv


def test_their_settings_are_settings_of_a_run(own):
    assert settings()["steps"].kinds == ("n-step",)
    assert settings()["steps"].help.startswith("A player's own moves between")
    assert settings()["channels"].path == "value.channels"
    run = package.preset(
        "tictactoe", learner="n-step", steps=3, value="conv", weight_decay=0.25, variants=("farl",)
    )
    assert (run.learner.steps, run.value.channels) == (3, 8)
    hyper = hyperparameters(run, run.lanes)
    assert hyper.value["weight_decay"].tolist() == [0.25] * len(run.lanes)
    with pytest.raises(ValueError, match="steps is for learner n-step"):
        package.preset("tictactoe", steps=3)
    with pytest.raises(ValueError, match=r"steps must lie in \[1, 16\], not 99"):
        package.preset("tictactoe", learner="n-step", steps=99)


def test_what_they_register_is_forgotten_with_them():
    assert not {"steps", "channels"} & settings().keys()


def test_a_tick_of_the_one_on_the_other_can_be_traced(own):
    run = package.preset("nim", learner="n-step", variants=("farl",), seeds=(0,), batch=3)
    learner = run.make_learner()
    hyper = jax.tree.map(lambda leaf: leaf[0], hyperparameters(run, run.lanes))
    bits = jax.ShapeDtypeStruct((3, sum(learner.word_counts)), jnp.uint32)
    before = jax.eval_shape(learner.init, jax.random.key(0))
    after, _ = jax.eval_shape(
        partial(learner.tick, hyper=hyper), before, limit=np.uint32(9), bits=bits
    )
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), lane) for lane in (before, after)]
    assert shapes[0] == shapes[1]


def test_a_kind_that_another_class_has_is_refused(own):
    n_step, _ = own
    with pytest.raises(ValueError, match="the kind 'td' is TDSpec's"):
        type("Mine", (n_step.NStepSpec,), {"kind": "td"})
    assert LearnerSpec.kinds["td"] is TDSpec


def trained(spec: LearnerSpec, lanes: list[dict[str, bool]], episodes: int, batch: int):
    """Lanes after training in TicTacToe on one table of all boards."""
    value, game = NTupleSpec(layout=(tuple(range(9)),), sigmoid=False), package.make("tictactoe")
    learner = spec.build(game, value, Schedule(batch=batch))
    seeds, hyper = len(lanes), stack_hyperparameters(lanes, 0.5, 0.0, episodes)
    keys = jax.random.split(jax.random.key(1), seeds)
    # Every move and all that is learned after the end takes a tick.
    ticks = (episodes // batch + 2) * 20
    advance = jax.jit(jax.vmap(partial(learner.advance, ticks=ticks)))
    after, _ = advance(jax.vmap(learner.init)(keys), hyper, jnp.full(seeds, episodes, jnp.uint32))
    assert (after.finished == episodes).all()
    return learner, after


@pytest.mark.slow
def test_one_step_is_td_bit_for_bit(own):
    n_step, _ = own
    found, expected, other = (
        trained(spec, [FARL, NONE], 200, 8)[1].params.weights
        for spec in (n_step.NStepSpec(steps=1), TDSpec(), n_step.NStepSpec(steps=2))
    )
    assert np.abs(expected).max() > 0.1
    np.testing.assert_array_equal(found, expected)
    assert (np.asarray(other) != expected).any()


@pytest.mark.slow
def test_with_more_steps_than_moves_all_boards_learn_the_result_alone(own):
    """Every board of one game moves by the same share towards what its player got."""
    n_step, _ = own
    learner, lanes = trained(n_step.NStepSpec(steps=5), [FARL] * 32, 1, 1)
    results = set()
    for weights in np.asarray(lanes.params.weights).reshape(32, 2, -1):
        own_results = []
        for player in range(2):
            touched = weights[player][weights[player] != 0]
            assert len(set(np.sign(touched))) <= 1
            # So many boards as he has moved to, in up to eight images, of which none is a draw's.
            own_results.append(np.sign(touched).sum())
        assert np.sign(own_results).sum() == 0
        results.add(tuple(np.sign(own_results)))
    assert results >= {(1.0, -1.0), (-1.0, 1.0)}
    assert learner.rule.settings == 5


@pytest.mark.slow
def test_they_go_through_every_command_by_import(tmp_path):
    for name in ("n_step", "conv"):
        shutil.copy(HERE / f"{name}.py", tmp_path / f"own_{name}.py")

    def call(*arguments: object, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "jaxgbg.cli", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    modules = ("--import", "own_n_step", "--import", "own_conv")
    tiny = ("--episodes", 40, "--eval-every", 20, "--batch", 4, "--opponents", "random")
    chosen = ("--learner", "n-step", "--steps", 3, "--value", "conv", "--channels", 4)
    assert "--steps" in call("train", "--help", *modules)
    assert "invalid choice 'n-step'" in call("train", "tictactoe", *chosen, *tiny, code=2)
    call("train", "tictactoe", *chosen, *tiny, "--weight-decay", 0.1, *modules)
    (tmp_path / "sweep.toml").write_text(
        'game = "tictactoe"\nseeds = "0:2"\n[settings]\nepisodes = 40\neval_every = 40\nbatch = 4\n'
        'opponents = ["random"]\nlearner = "n-step"\nvalue = "conv"\n'
        '[axes]\nsteps = [1, 2]\nweight_decay = [0.0, 0.5]\nvariants = ["farl"]\n'
    )
    options = ("--executor", "processes", "--workers", 1, "--out", "swept", *modules)
    call("sweep", "sweep.toml", *options, "--json", "units.json")
    units = json.loads((tmp_path / "units.json").read_text())
    assert {unit["finished"] for unit in units} == {"yes"}
    call("results", "swept", "--by", "steps", *modules, "--json", "rows.json")
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {(row["steps"], row["weight_decay"]) for row in rows} == {
        (1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5)
    }  # fmt: skip
    (agent,) = tmp_path.glob("runs/*/agents/*.agent")
    assert "random" in call("eval", agent, "--opponent", "random", *modules)
