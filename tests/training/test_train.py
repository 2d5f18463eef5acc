"""The training loop: exact budgets, independent lanes, results that last."""

import dataclasses
import json

import numpy as np
import pytest

from jaxgbg.training.agents import load_agent
from jaxgbg.training.config import Config, preset
from jaxgbg.training.execution import run
from jaxgbg.training.store import RunFolder
from jaxgbg.training.train import Training


def small(**changes) -> Config:
    fields = {"episodes": 600, "eval_every": 250, "batch": 16, "seeds": (0, 1), **changes}
    return preset("tictactoe", **fields)


@pytest.fixture(scope="module")
def trained():
    training = Training(small())
    evaluations = list(training.evaluations())
    return training, evaluations


def test_every_lane_is_evaluated_at_every_milestone(trained):
    training, evaluations = trained
    seen = sorted((e.seed, e.farl, e.episodes) for e in evaluations)
    lanes = training.config.lanes
    assert seen == sorted((*lane, at) for lane in lanes for at in (250, 500, 600))


def test_every_lane_plays_its_budget(trained):
    training, _ = trained
    progress = training.progress()
    assert progress.episodes == progress.total_episodes == 600 * 4
    assert progress.moves > 5 * progress.episodes


def test_a_lane_does_not_depend_on_its_neighbours(trained):
    training, evaluations = trained
    alone = Training(small(seeds=(1,), farl=("none",)))
    scores = [e.score for e in alone.evaluations()]
    lane = (1, "none")
    # Not to the last bit: XLA rounds a step size differently in programs of other widths.
    np.testing.assert_allclose(
        alone.agents()[lane].weights, training.agents()[lane].weights, atol=1e-5
    )
    assert len(scores) == sum((e.seed, e.farl) == lane for e in evaluations)


def test_how_chunks_are_cut_changes_nothing(trained, monkeypatch):
    training, evaluations = trained
    monkeypatch.setattr("jaxgbg.training.train.SECONDS_A_CHUNK", 0.0)
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
    config = small(seeds=(0,), episodes=200, eval_every=100)
    folder = run(config, tmp_path)
    assert Config.from_json(json.loads((folder.path / "config.json").read_text())) == config
    assert len(folder.evaluations()) == 4
    assert folder.summary()["episodes"] == 400
    provenance = json.loads((folder.path / "provenance.json").read_text())
    assert provenance["versions"]["jax"]
    agents = sorted(path.name for path in (folder.path / "agents").iterdir())
    assert agents == ["seed0-farl.agent", "seed0-none.agent"]
    assert load_agent(folder.path / "agents" / agents[0], "tictactoe").farl == "farl"

    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}
    run(config, tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}


def test_a_run_is_opened_by_its_folder_whatever_the_name(tmp_path):
    folder = run(small(seeds=(0,), episodes=100, eval_every=100), tmp_path)
    moved = folder.path.rename(tmp_path / "renamed")
    opened = RunFolder.open(moved)
    assert (opened.config, opened.path, opened.finished) == (folder.config, moved, True)
    assert len(opened.evaluations()) == 2
    with pytest.raises(ValueError, match="no folder of a run"):
        RunFolder.open(tmp_path)
    (moved / "config.json").write_text('{"game": "tictactoe", "wisdom": 3}')
    with pytest.raises(ValueError, match="not readable by this version"):
        RunFolder.open(moved)


def test_the_digest_tells_configs_apart():
    config = small()
    assert dataclasses.replace(config).digest == config.digest
    assert dataclasses.replace(config, alpha_start=0.5).digest != config.digest


def test_an_unfinished_run_begins_anew_and_a_strange_folder_is_left_alone(tmp_path):
    config = small(seeds=(0,), episodes=100, eval_every=100)
    folder = RunFolder(tmp_path, config)
    folder.begin()
    (folder.path / "metrics.jsonl").write_text("left over\n")
    assert len(run(config, tmp_path).evaluations()) == 2

    other = RunFolder(tmp_path, small(seeds=(5,)))
    other.path.mkdir()
    (other.path / "thesis.txt").write_text("do not delete")
    with pytest.raises(ValueError, match="holds something else"):
        other.begin()
    assert (other.path / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": -1}, "episodes must be at least 1"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"epsilon_start": 1.5}, "epsilon_start must lie between 0 and 1"),
        ({"alpha_start": -1.0}, "alpha_start must be a positive number"),
        ({"trace_decay": 1.0}, "trace_decay"),
        ({"seeds": ()}, "seeds"),
        ({"tcl": "maybe"}, "tcl must be one of"),
        ({"combine": "vote"}, "combine must be one of"),
        ({"tuples": ((0, 9),)}, "cells 0 to 8"),
    ],
)
def test_a_wrong_number_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)
