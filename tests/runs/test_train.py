"""The training loop: exact budgets, independent lanes, results that last."""

import dataclasses
import itertools
import json
import sys

import jax
import numpy as np
import pytest

from jaxgbg.learners import LearnerSpec
from jaxgbg.runs import Run, train, with_changes
from jaxgbg.runs.loop import Training
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.values import ValueSpec


def small(**changes) -> Run:
    fields = {"episodes": 600, "eval_every": 250, "batch": 16, "seeds": (0, 1), **changes}
    return preset("tictactoe", **fields)


@pytest.fixture(scope="module")
def trained():
    training = Training(small())
    evaluations = list(training.evaluations())
    return training, evaluations


def test_every_lane_is_evaluated_at_every_milestone(trained):
    training, evaluations = trained
    seen = sorted((e.seed, e.variant, e.episodes) for e in evaluations)
    lanes = training.lanes
    assert seen == sorted((*lane, at) for lane in lanes for at in (250, 500, 600))


def test_every_lane_plays_its_budget(trained):
    training, _ = trained
    progress = training.progress()
    assert progress.episodes == progress.total_episodes == 600 * 4
    assert progress.moves > 5 * progress.episodes


class Onlooker:
    """A judge who notes by which key and seeds it is asked; lane n wins n games of four."""

    name = "onlooker"

    def __init__(self):
        self.keys, self.seeds = [], []

    def scores(self, agent, key, seeds=()):
        self.keys.append(tuple(jax.random.key_data(key).tolist()))
        self.seeds.append(list(seeds))
        won = np.arange(4) < np.arange(agent.copies)[:, None]
        return {self.name: np.where(won, 1.0, -1.0)}

    def wins(self, scores):
        return (scores > 0).mean(1)


def test_agents_of_a_seed_are_judged_alike_but_differently_by_each_judge_and_at_each_time(
    trained, monkeypatch
):
    training, _ = trained
    judges = [Onlooker(), Onlooker()]
    monkeypatch.setattr(training, "judges", judges)
    first, second = (
        [result for _, result in training.evaluate(episodes)] for episodes in (250, 500)
    )
    assert len({key for judge in judges for key in judge.keys}) == 4
    assert {(one.seed, one.variant) for one in first} == {*training.lanes}
    for judge in judges:
        for seeds in judge.seeds:
            assert seeds[: len(training.lanes)] == [lane.seed for lane in training.lanes]
    for number, (before, after) in enumerate(zip(first, second, strict=True)):
        lane = number % len(training.lanes)
        assert (before.score, before.games, before.wins) == (lane / 2 - 1, 4, lane / 4)
        assert before._replace(episodes=500) == after


def test_moves_are_counted_beyond_32_bits():
    training = Training(small())
    training.groups = [
        group._replace(moves=jax.device_put(group.moves - np.uint32(5), group.moves.sharding))
        for group in training.groups
    ]
    before = training.progress().moves
    assert before == 4 * (2**32 - 5)
    list(training.evaluations())
    assert 5 * 600 * 4 < training.progress().moves - before < 9 * 600 * 4


def test_a_lane_does_not_depend_on_its_neighbours(trained):
    training, evaluations = trained
    alone = Training(small(seeds=(1,), variants=("none",)))
    scores = [e.score for e in alone.evaluations()]
    lane = (1, "none")
    # Not to the last bit: XLA rounds a step size differently in programs of other widths.
    np.testing.assert_allclose(
        alone.agents()[lane].weights, training.agents()[lane].weights, atol=1e-5
    )
    assert len(scores) == sum((e.seed, e.variant) == lane for e in evaluations)


def test_how_chunks_are_cut_changes_nothing(trained, monkeypatch):
    training, evaluations = trained
    # By its module: the package has a function of this name.
    monkeypatch.setattr(sys.modules[Training.__module__], "SECONDS_A_CHUNK", 0.0)
    again = Training(small())
    assert list(again.evaluations()) == evaluations
    for lane, params in training.agents().items():
        np.testing.assert_array_equal(again.agents()[lane].weights, params.weights)


def test_farl_learns_what_the_others_lose(trained):
    """Without part 1 the weights of a lost game's last positions are never pulled down."""
    training, _ = trained
    for seed in (0, 1):
        assert training.agents()[seed, "farl"].weights.min() < -0.1
        # Steps back towards a target of 0 may pass it by a rounding error.
        assert training.agents()[seed, "none"].weights.min() > -1e-9


def test_a_run_leaves_its_record_and_is_not_run_again(tmp_path):
    run = small(seeds=(0,), episodes=200, eval_every=100)
    folder = train(run, tmp_path)
    assert Run.read(json.loads((folder.path / "config.json").read_text())) == run
    assert len(folder.results()) == 4
    assert folder.summary()["episodes"] == 400
    provenance = json.loads((folder.path / "provenance.json").read_text())
    assert provenance["versions"]["jax"]
    agents = sorted(path.name for path in (folder.path / "agents").iterdir())
    assert agents == ["seed0-farl.agent", "seed0-none.agent"]
    assert load_agent(folder.path / "agents" / agents[0], "tictactoe").variant == "farl"

    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}
    train(run, tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}


def test_a_run_is_opened_by_its_folder_whatever_the_name(tmp_path):
    folder = train(small(seeds=(0,), episodes=100, eval_every=100), tmp_path)
    moved = folder.path.rename(tmp_path / "renamed")
    opened = RunFolder.open(moved)
    assert (opened.run, opened.path, opened.finished) == (folder.run, moved, True)
    assert len(opened.results()) == 2
    with pytest.raises(ValueError, match="not the folder of a run"):
        RunFolder.open(tmp_path)
    (moved / "config.json").write_text('{"game": "tictactoe", "wisdom": 3}')
    with pytest.raises(ValueError, match="not readable by this version"):
        RunFolder.open(moved)


def test_the_digest_tells_configs_apart():
    run = small()
    assert dataclasses.replace(run).digest == run.digest
    assert with_changes(run, {"alpha": 0.5}).digest != run.digest


def test_runs_of_the_same_settings_have_equal_learners_and_so_share_a_program():
    for learner, value in itertools.product(LearnerSpec.kinds, ValueSpec.kinds):
        run = preset("nim", learner=learner, value=value, trace_decay=0.0, seeds=(0,))
        other_seeds = with_changes(run, {"seeds": (1, 2), "eval_every": 7})
        learners = {run.make_learner(), other_seeds.make_learner()}
        assert len(learners) == 1, (learner, value)
        assert with_changes(run, {"batch": 2}).make_learner() not in learners


def test_an_unfinished_run_begins_anew_and_a_strange_folder_is_left_alone(tmp_path):
    run = small(seeds=(0,), episodes=100, eval_every=100)
    folder = RunFolder(tmp_path, run)
    folder.begin()
    (folder.path / "metrics.jsonl").write_text("left over\n")
    assert len(train(run, tmp_path).results()) == 2

    other = RunFolder(tmp_path, small(seeds=(5,)))
    other.path.mkdir()
    (other.path / "thesis.txt").write_text("do not delete")
    with pytest.raises(ValueError, match="holds something else"):
        other.begin()
    assert (other.path / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": -1}, r"episodes must lie in \[1, 2,147,483,648\], not -1"),
        ({"batch": 0}, r"batch must lie in \[1, 1,048,576\], not 0"),
        ({"epsilon": 1.5}, r"epsilon must lie in \[0, 1\], not 1.5"),
        ({"alpha": -1.0}, r"alpha must lie in \[1e-09, 1,000,000\], not -1.0"),
        ({"trace_decay": 1.0}, "trace_decay must lie in"),
        ({"seeds": ()}, "seeds"),
        ({"tcl": "maybe"}, "tcl must be one of"),
        ({"combine": "vote"}, "combine must be one of"),
        ({"layout": ((0, 9),)}, "cells 0 to 8"),
    ],
)
def test_a_wrong_number_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_lanes_of_several_discounts_are_judged_each_by_its_own():
    runs = [
        dataclasses.replace(run, learner=dataclasses.replace(run.learner, discount=discount))
        for run, discount in ((small(seeds=(0,)), 0.5), (small(seeds=(0, 1)), 0.9))
    ]
    training = Training(*runs)
    discounts = training._player([group.params for group in training.groups]).bootstrap.discount
    np.testing.assert_array_equal(discounts[:6], np.float32([0.5] * 2 + [0.9] * 4))


def test_a_resumed_run_knows_which_networks_have_diverged():
    """A run that stops during its last evaluation trains no more, but its summary names them."""
    run = preset("nim", value="mlp", alpha=0.01, episodes=100, seeds=(0, 1, 2), variants=("farl",))
    training = Training(run)
    lanes = training.changing(0, 1, 2)
    params = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), lanes[1].lane.params)
    lanes[1] = lanes[1]._replace(lane=lanes[1].lane._replace(params=params))
    leaves = zip(*map(jax.tree.leaves, lanes), strict=True)
    training.restore([*itertools.chain(*leaves)], reached=0, seconds=1.0)
    assert training.diverged == [1]
