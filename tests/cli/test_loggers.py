"""Loggers show what metrics.jsonl holds; they are off by default, and say what they lack."""

import json
import time

import pytest

from jaxgbg.cli.loggers import LOGGERS, Loggers
from jaxgbg.cli.run_all import train_with_bar
from jaxgbg.players import MissingExtra
from jaxgbg.runs.presets import preset

RUN = preset("tictactoe", episodes=200, eval_every=100, batch=16, seeds=(0,), opponents=("random",))


@pytest.mark.slow
def test_nothing_is_shown_unless_asked(tmp_path):
    folder, *_ = train_with_bar(RUN, tmp_path, 60.0)
    assert not {"tensorboard", "wandb"} & {path.name for path in folder.path.iterdir()}


@pytest.mark.slow
def test_tensorboard_gets_every_evaluation(tmp_path):
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    folder, *_ = train_with_bar(RUN, tmp_path, 60.0, ["tensorboard"])
    (path,) = (folder.path / "tensorboard").iterdir()
    content, shown = path.read_bytes(), []
    while content:
        # A record: length uint64, its check sum uint32, the event, its check sum uint32.
        length = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + length])
        content = content[16 + length :]
        shown += [(v.tag, event.step, v.simple_value) for v in event.summary.value]
    expected = [
        (f"random/{e.variant}/seed0", e.episodes, 50 + 50 * e.score) for e in folder.results()
    ]
    assert [one[:2] for one in shown] == [one[:2] for one in expected]
    assert [one[2] for one in shown] == pytest.approx([one[2] for one in expected])
    assert len(shown) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # wandb's own.
def test_wandb_is_kept_offline(tmp_path):
    pytest.importorskip("wandb")
    folder, *_ = train_with_bar(RUN, tmp_path, 60.0, ["wandb"])
    (path,) = folder.path.glob("wandb/offline-run-*/run-*.wandb")
    # A process of wandb's own writes it; on a busy machine the run is over before that has.
    deadline = time.monotonic() + 60
    while b"random/farl/seed0" not in path.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert json.loads((folder.path / "config.json").read_text())["game"]["name"] == "tictactoe"


@pytest.mark.parametrize("name", sorted(LOGGERS))
def test_a_missing_package_is_told_before_training(tmp_path, monkeypatch, name):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'jaxgbg\[{name}\]'"):
        Loggers([name], tmp_path, RUN)
    assert list(tmp_path.iterdir()) == []
