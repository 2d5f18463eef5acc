"""The latest agent of a run in progress: read as it is, and nothing in its folder is changed."""

import shutil

import jax
import numpy as np
import pytest

from jaxgbg.runs import RunFolder, StopTraining, Training, train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage import latest_agent as latest_agent
from jaxgbg.runs.storage.checkpoints import Checkpoints, numbers_in, path_of
from jaxgbg.runs.storage.latest_agent import latest_file, read_latest


def begun(out, **changes) -> RunFolder:
    """A run that stopped at its first evaluation, with one checkpoint."""
    settings = {"episodes": 400, "eval_every": 100, "batch": 8, "opponents": ("random",)}
    run = preset("tictactoe", **{"seeds": (5, 3), **settings, **changes})

    def stop(_):
        raise StopTraining("seen enough")

    return train(run, out, on_evaluation=stop, checkpoint_every=1e9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return begun(tmp_path_factory.mktemp("begun"), variants=("none", "farl"))


def content(folder: RunFolder) -> dict:
    """All that lies in a run's folder, by name: bytes and time."""
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def restored(folder: RunFolder):
    """What a training that goes on has, and its moves a second."""
    training = Training(folder.run)
    like = training.leaves()
    with Checkpoints(folder.path / "checkpoints", folder.run.digest, 0.0) as kept:
        checkpoint = kept.restore(like)
    training.restore(checkpoint.leaves, checkpoint.reached, checkpoint.seconds)
    return training, training.progress().moves / checkpoint.seconds


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param(
            {"value": "mlp", "alpha": 0.01, "learner": "sarsa", "partner": "random"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_it_is_the_agent_that_the_training_would_go_on_with(tmp_path, folder, changes):
    mine = begun(tmp_path, **changes) if changes else folder
    before = content(mine)
    latest = read_latest(latest_file(mine.path, mine.run), mine.run)
    assert content(mine) == before
    training, rate = restored(mine)
    lane = latest.lane
    assert lane == (mine.run.seeds[0], "farl")
    params = training.learner.value.for_player(training.agents()[lane])
    same = jax.tree.map(
        lambda a, b: np.array_equal(a[0], b, equal_nan=True), latest.agent.params, params
    )
    assert jax.tree.all(same)
    finished = training.finished[training.lanes.index(lane)]
    assert latest.episodes == finished >= 100
    assert latest.moves_per_second == pytest.approx(rate)
    game = mine.run.game
    assert latest.agent.action_values(game.init(None)).shape == (game.num_actions,)


def test_a_state_of_many_pieces_is_the_same(folder, monkeypatch):
    file = latest_file(folder.path, folder.run)
    whole = read_latest(file, folder.run)
    monkeypatch.setattr(latest_agent, "_PIECE", 1000)
    pieces = read_latest(file, folder.run)
    assert pieces.episodes == whole.episodes
    assert jax.tree.all(jax.tree.map(np.array_equal, pieces.agent.params, whole.agent.params))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda whole: whole[:-7], "is damaged: its checksum does not fit"),
        (lambda whole: b"", "is damaged: it has no header"),
        (lambda whole: whole[:200] + b"?" + whole[201:], "checksum does not fit"),
        (lambda whole: whole.replace(b"checkpoint 2", b"checkpoint 9", 1), "another version"),
    ],
)
def test_what_cannot_be_read_is_said_and_stays(folder, tmp_path, damage, words):
    copy = RunFolder(tmp_path, folder.run)
    shutil.copytree(folder.path, copy.path)
    file = latest_file(copy.path, copy.run)
    file.write_bytes(damage(file.read_bytes()))
    # One that is being written next to it is none yet.
    file.with_name(".9.checkpoint.4711.tmp").write_bytes(b"half")
    before = content(copy)
    assert latest_file(copy.path, copy.run) == file
    with pytest.raises(ValueError, match=words):
        read_latest(file, copy.run)
    assert content(copy) == before


def test_another_runs_and_too_large_ones_are_refused(folder, monkeypatch):
    file = latest_file(folder.path, folder.run)
    other = preset("tictactoe", seeds=(0,), batch=8)
    with pytest.raises(ValueError, match="is not of this run"):
        read_latest(file, other)
    monkeypatch.setattr(latest_agent, "available_memory", lambda: 1000.0)
    with pytest.raises(ValueError, match="too many to play here"):
        read_latest(file, folder.run)


def test_there_is_none_before_the_first_and_the_agents_file_at_the_end(trained, tmp_path):
    run = preset("nim", seeds=(0,))
    assert latest_file(tmp_path, run) is None
    assert numbers_in(tmp_path / "checkpoints") == []
    path = next((trained / "small").glob("nim-*"))
    done = RunFolder.open(path)
    file = latest_file(path, done.run)
    latest = read_latest(file, done.run)
    assert (file.name, latest.episodes) == (f"{latest.lane.file}", done.run.schedule.episodes)
    with pytest.raises(FileNotFoundError):
        read_latest(path_of(path / "checkpoints", 3), done.run)
