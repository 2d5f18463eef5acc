"""An agent file comes back as it was, or is refused with one clear line."""

import numpy as np
import pytest

from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.runs.storage.quantized import BLOCK, quantize


@pytest.fixture
def saved(tmp_path):
    run = preset("nim", seeds=(3,))
    size = run.make_learner().value.num_weights
    weights = np.random.default_rng(0).normal(size=size).astype(np.float32)
    agent = SavedAgent(run, "farl", weights)
    path = tmp_path / "nim.agent"
    save_agent(path, agent)
    return path, agent


def test_a_saved_agent_comes_back(saved):
    path, agent = saved
    loaded = load_agent(path, "nim")
    assert (loaded.run, loaded.seed, loaded.variant) == (agent.run, 3, "farl")
    np.testing.assert_array_equal(loaded.weights, agent.weights)


def test_every_altered_byte_is_noticed(saved):
    path, _ = saved
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="agent file"):
            load_agent(path)


@pytest.mark.parametrize("kept", [0, 10, 60, 100, -1])
def test_a_truncated_file_is_refused(saved, kept):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match="agent file"):
        load_agent(path)


def test_an_agent_of_another_game_is_refused(saved):
    with pytest.raises(ValueError, match="plays nim, not tictactoe"):
        load_agent(saved[0], "tictactoe")


def test_weights_that_do_not_fit_the_tuples_are_refused(saved, tmp_path):
    _, agent = saved
    path = tmp_path / "short.agent"
    save_agent(path, SavedAgent(agent.run, "farl", agent.weights[:-1]))
    with pytest.raises(ValueError, match="need float32"):
        load_agent(path)


@pytest.mark.parametrize("bits", [8, 16])
def test_rounded_weights_are_near_and_zeros_stay(saved, tmp_path, bits):
    _, agent = saved
    weights = agent.weights * (np.arange(agent.weights.size) % 3 > 0)
    path, whole = tmp_path / "small.agent", tmp_path / "whole.agent"
    save_agent(path, SavedAgent(agent.run, "farl", weights), bits)
    save_agent(whole, SavedAgent(agent.run, "farl", weights))
    loaded = load_agent(path).weights
    assert loaded.dtype == np.float32
    assert not loaded[weights == 0].any()
    for start in range(0, weights.size, BLOCK):
        most = np.abs(weights[start : start + BLOCK]).max()
        error = np.abs(loaded - weights)[start : start + BLOCK].max()
        assert error <= 1.01 * most / (2**bits - 2)
    assert path.stat().st_size < whole.stat().st_size
    # The rounded weights are kept as they are.
    save_agent(whole, load_agent(path), bits)
    np.testing.assert_allclose(load_agent(whole).weights, loaded, rtol=1e-6)


def test_a_rounded_agent_is_refused_where_its_parts_do_not_fit(saved, tmp_path, monkeypatch):
    _, agent = saved
    path = tmp_path / "wrong.agent"
    good = quantize(agent.weights, 8)
    wrong = {
        "steps": good.steps[:-1],
        "active": good.active[:-1],
        "codes": good.codes[:-1],
    }
    for name, part in wrong.items():
        bad = good._replace(**{name: part})
        monkeypatch.setattr("jaxgbg.runs.storage.agents.quantize", lambda *_, bad=bad: bad)
        save_agent(path, agent, 8)
        with pytest.raises(
            ValueError, match=r"agent file .*wrong.agent: .*(weights|codes)"
        ) as error:
            load_agent(path)
        assert "\n" not in str(error.value)
    bad = good._replace(steps=np.full_like(good.steps, np.inf))
    monkeypatch.setattr("jaxgbg.runs.storage.agents.quantize", lambda *_: bad)
    save_agent(path, agent, 8)
    with pytest.raises(ValueError, match="not finite"):
        load_agent(path)


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    def write_and_fail() -> None:
        with written_whole(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        write_and_fail()
    assert list(tmp_path.iterdir()) == []
