"""Parts of a user's own package do all that shipped ones do.

Their modules are those of the tutorial; nothing in jaxgbg knows them.
"""

import contextlib
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg as package
from jaxgbg.evaluation import EvaluatorSpec, in_words, make_judge, ranks_agents, scale_of
from jaxgbg.extensions import import_installed, import_modules
from jaxgbg.games import SHARE
from jaxgbg.learners import LearnerSpec, Schedule, TDSpec
from jaxgbg.runs.lanes import hyperparameters
from jaxgbg.runs.settings import settings
from jaxgbg.runs.storage.agents import SavedAgent, save_agent
from jaxgbg.values import NTupleSpec
from jaxgbg.web.play import requests
from jaxgbg.web.play.table import Table
from tests.learners.replay import named, stack_hyperparameters
from tests.registries import TUTORIAL, install

FARL, NONE = named(True, True, True, False), named(False, False, True, False)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own(user_folder):
    """The learner's and the value function's modules, imported as `--import` does it."""
    import_modules(["n_step", "conv", "tactics"])
    return importlib.import_module("n_step"), importlib.import_module("conv")


def test_their_settings_are_settings_of_a_run(own):
    assert settings()["steps"].kinds == ("n-step",)
    assert settings()["steps"].help.startswith("n-step: A player's own moves between")
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


def test_an_evaluator_has_a_result_for_each_score(own):
    game = package.make("tictactoe")
    judge = make_judge("tactics,positions=8,plies=6", game)
    names = [f"{judge.name}:{score}" for score in ("accuracy", "mean depth")]
    assert {name: scale.unit for name, scale in judge.scales.items()} == dict(
        zip(names, ("share", "plies"), strict=True)
    )
    assert [ranks_agents(name) for name in (*names, "random")] == [True, False, True]
    assert scale_of(names[1], game) == judge.scales[names[1]]
    assert in_words("tictactoe", names[1]) == f"tictactoe by {names[1]}"
    right, wrong = np.ones((1, 8)), np.ones(8)
    for scores, complaint in (
        ({"accuracy": right}, "must return the scores accuracy, mean depth, not accuracy"),
        ({"accuracy": right, "mean depth": wrong}, r"an array \[1, ...\].* not of shape \(8,\)"),
        ({"accuracy": right * np.nan, "mean depth": right}, "accuracy must be finite, not nan"),
    ):
        judge.evaluator.scores = lambda *_, scores=scores: scores
        with pytest.raises(ValueError, match=complaint):
            judge.scores(package.make_player("random", game), jax.random.key(0))


@pytest.mark.parametrize(
    ("text", "game", "complaint"),
    [
        ("tactics-3", "nim", "did you mean tactics?"),
        ("tactics,position=3", "nim", "unknown setting 'position': did you mean positions?"),
        ("tactics,positions=0", "nim", "positions must lie in [1, 10,000], not 0"),
        ("tactics", "2048", "two players, not 2048"),
    ],
)
def test_an_evaluator_that_cannot_be_made_is_explained(own, text, game, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        make_judge(text, package.make(game))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"kind": "random"}, "random: a player of this name"),
        ({"kind": "mcts"}, "mcts: a player of this name"),
        ({"kind": "score"}, "score: a player of this name"),
        ({"kind": "solver"}, "solver: another evaluator of this name"),
        ({"kind": "mine", "scores": {}}, "mine: `scores` must name at least one"),
        ({"kind": "mine", "scores": {"a:b": SHARE}}, "mine: .* no colon"),
    ],
)
def test_names_of_evaluators_are_their_own(user_folder, fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        type("Mine", (EvaluatorSpec,), {"scores": {"one": SHARE}, **fields})


def test_what_an_unknown_evaluator_has_left_is_shown_as_it_is():
    game = package.make("tictactoe")
    assert scale_of("tactics:accuracy", game).unit == "score"
    assert in_words("tictactoe", "tactics:accuracy") == "tictactoe by tactics:accuracy"
    assert scale_of("runs/x.agent:search=puct-20", game) == game.scale
    assert scale_of("solver", package.make("connectfour")) == SHARE


CONSTANT = """
import numpy as np
from jaxgbg import Evaluator, EvaluatorSpec
from jaxgbg.games import SHARE

class ConstantSpec(EvaluatorSpec):
    kind, scores = "constant", {"half": SHARE}
    def build(self, game):
        return Constant()

class Constant(Evaluator):
    def scores(self, agent, key, seeds=()):
        return {"half": np.full((agent.copies, 4), 0.5)}
"""


def test_an_evaluator_of_one_score_has_a_row_by_its_name_in_any_game(user_folder, jaxgbg):
    (user_folder / "constant.py").write_text(CONSTANT)
    run = package.preset("2048", seeds=(0,), variants=("farl",), layout=((0, 1, 2, 3),))
    weights = np.zeros(run.make_learner().value.num_weights, np.float32)
    save_agent(user_folder / "zero.agent", SavedAgent(run, "farl", weights))
    options = ("--opponent", "constant", "--import", "constant", "--json", "rows.json")
    code, _, err = jaxgbg("eval", "zero.agent", *options)
    assert code == 0, err
    (row,) = json.loads(Path("rows.json").read_text())
    assert (row["opponent"], row["mean"], row["games"]) == ("constant", 50.0, 4)


@pytest.fixture
def package_folder(user_folder):
    """A package with one part of each kind, installed; the working folder has no module of it."""
    (user_folder / "my_package").mkdir()
    for module in user_folder.glob("*.py"):
        module.rename(user_folder / "my_package" / module.name)
    project = tomllib.loads((TUTORIAL / "package.toml").read_text())["project"]
    ((group, entries),) = project["entry-points"].items()
    install(user_folder, project["name"], group, entries)
    return user_folder


@pytest.mark.slow
def test_a_package_is_known_to_every_process_as_soon_as_it_is_installed(package_folder):
    program = (
        "import jaxgbg; game = jaxgbg.make('pebbles'); player = jaxgbg.make_player('first-legal',"
        " game); print(player.name, *jaxgbg.runs.settings.settings())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=package_folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{package_folder}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {"first-legal", "steps", "channels", "weight_decay"} <= {*done.stdout.split()}


SWEEP = """
game = "tictactoe"
seeds = "0:2"
[settings]
episodes = 40
eval_every = 40
batch = 4
opponents = ["first-legal", "tactics,positions=20"]
learner = "n-step"
value = "conv"
[axes]
weight_decay = [0.0, 0.5]
variants = ["farl"]
"""


@pytest.mark.slow
def test_all_parts_of_a_package_are_trained_swept_reported_and_played(package_folder, jaxgbg):
    def records(*arguments):
        code, out, err = jaxgbg(*arguments, "--json", "rows.json")
        assert code == 0, err
        return json.loads(Path("rows.json").read_text()), out

    import_installed.cache_clear()
    import_installed()
    Path("sweep.toml").write_text(SWEEP)
    units, _ = records("sweep", "sweep.toml", "--out", "swept")
    assert {unit["finished"] for unit in units} == {"yes"}
    rows, out = records("results", "swept")
    scores = ["tactics,positions=20:accuracy", "tactics,positions=20:mean depth"]
    units_of = {"first-legal": "win rate (%)", scores[0]: "share (%)", scores[1]: "plies"}
    assert [(row["opponent"], row["unit"], row["weight_decay"], row["n"]) for row in rows] == [
        (name, unit, decay, 2) for name, unit in units_of.items() for decay in (0.0, 0.5)
    ]
    assert f"tictactoe by {scores[1]}: plies" in " ".join(out.split())
    agent = next(Path("swept").glob("*/agents/*.agent"))
    rows, _ = records("eval", agent, "--search", "flat-mc-1", "--opponent", "tactics,positions=20")
    assert [row["opponent"] for row in rows] == scores
    code, _, err = jaxgbg("report", "swept")
    assert (code, err) == (0, "")
    (page,) = package_folder.rglob("*.html")
    text = page.read_text(encoding="utf-8")
    assert all(f"tictactoe by {score}" in text for score in scores)
    table = Table(package.make("tictactoe"), {"mine": package.load(agent)})
    with contextlib.closing(table):
        seats = {each["name"] for each in table.about()["seats"]}
        assert {"first-legal", "flat-mc", "agent:search=flat-mc"} <= seats
        assert table.choose(requests.Choose("", "first-legal", 0))["action"] == 0
