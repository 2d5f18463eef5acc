"""What a run keeps of its weights and TC factors, against a count of our own."""

import json

import numpy as np
import pytest

from jaxgbg.runs import LaneName, train
from jaxgbg.runs.loop import Training
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.histograms import histograms


@pytest.fixture(scope="module")
def trained():
    training = Training(preset("nim", seeds=(0, 1), episodes=300, eval_every=300))
    list(training.evaluations())
    return training


def test_active_weights_and_their_factors_are_counted(trained):
    agents = trained.agents()
    found = histograms(trained.learner.value, agents)
    edges = np.array(found["weights"]["edges"])
    assert found["tc_factors"]["edges"] == pytest.approx(np.linspace(0, 1, 51))
    assert edges[-1] == max(np.abs(params.weights).max() for params in agents.values())
    for number, ((seed, variant), params) in enumerate(agents.items()):
        active = params.weights != 0
        net, total = params.counters.reshape(params.weights.size, -1)[:, :2].T
        ratio = np.abs(net) / total
        for name, figures in (("weights", params.weights), ("tc_factors", ratio)):
            record = found[name]["agents"][number]
            assert (record["seed"], record["variant"]) == (seed, variant)
            assert sum(record["counts"]) == active.sum() > 0
            bounds = np.array(found[name]["edges"])
            slots = np.digitize(figures[active], bounds[1:-1])
            np.testing.assert_allclose(record["counts"], np.bincount(slots, minlength=50), atol=2)


def test_a_summary_tells_what_each_agent_played_and_how_many_weights_it_has(tmp_path):
    run = preset("nim", seeds=(4, 7), episodes=60, eval_every=60, opponents=())
    folder = train(run, tmp_path)
    summary = json.loads((folder.path / "summary.json").read_text())
    told = {(seed, variant): figures for seed, variant, *figures in summary["agents"]}
    assert tuple(told) == run.lanes
    for lane, (episodes, moves, weights, active) in told.items():
        kept = load_agent(folder.path / "agents" / LaneName(*lane).file).weights
        assert (episodes, weights) == (60, kept.size)
        # Nim of three heaps of five lasts 3 to 15 plies.
        assert 3 * 60 <= moves <= 15 * 60
        assert 0 < active == np.count_nonzero(kept)
    assert [summary["episodes"], summary["moves"]] == np.sum([*told.values()], 0)[:2].tolist()


@pytest.mark.slow
def test_a_run_leaves_its_histograms(tmp_path):
    run = preset("nim", seeds=(0,), episodes=100, eval_every=100)
    folder = train(run, tmp_path)
    found = json.loads((folder.path / "histograms.json").read_text())
    weights = load_agent(folder.path / "agents" / "seed0-farl.agent").weights
    assert sum(found["weights"]["agents"][0]["counts"]) == np.count_nonzero(weights)
    assert set(found) == {"weights", "tc_factors"}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"value": "mlp"}])
def test_what_has_no_counters_has_no_factors(tmp_path, settings):
    changes = {"seeds": (0,), "episodes": 50, "eval_every": 50}
    folder = train(preset("tictactoe", **changes, **settings), tmp_path)
    assert set(json.loads((folder.path / "histograms.json").read_text())) == {"weights"}


def test_nothing_learned_and_numbers_lost_are_no_active_weights(trained):
    value = trained.learner.value
    params = value.init()
    lost = params._replace(weights=np.full(value.num_weights, np.nan, np.float32))
    found = histograms(value, {(0, "farl"): params, (0, "none"): lost})
    for name in ("weights", "tc_factors"):
        assert [sum(agent["counts"]) for agent in found[name]["agents"]] == [0, 0]
