"""Where a result comes from is told without a path of the machine that made it."""

import json
import re
import sys

import pytest

from jaxgbg.papers import preset
from jaxgbg.training import train
from jaxgbg.training.store import _origin, provenance


@pytest.fixture
def command(monkeypatch, tmp_path):
    """What provenance says of a command line that is started in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()

    def tell(*arguments):
        monkeypatch.setattr(sys, "argv", [*map(str, arguments)])
        _origin.cache_clear()
        return provenance()["command"]

    yield tell
    _origin.cache_clear()


def test_the_command_is_told_by_its_name_and_paths_from_the_working_folder(command, tmp_path):
    assert command("/opt/venv/bin/jaxgbg", "train", "nim", "--out", "runs/a") == [
        "jaxgbg", "train", "nim", "--out", "runs/a",
    ]  # fmt: skip
    assert command("jaxgbg", "--out", tmp_path / "runs" / "a", f"--layout={tmp_path}/l.json") == [
        "jaxgbg", "--out", "runs/a", "--layout=l.json",
    ]  # fmt: skip


def test_of_what_lies_elsewhere_the_name_alone_is_told(command, tmp_path):
    (tmp_path.parent / "John Doe").mkdir()
    engine = "/home/jo/edax -gtp -book-file=/home/jo/book.dat"
    told = command(
        "jaxgbg", tmp_path.parent / "John Doe" / "runs", "../x/runs", "--engine", engine, "rule=a/b"
    )
    assert told == [
        "jaxgbg", "runs", "runs", "--engine", "edax -gtp -book-file=book.dat", "rule=a/b",
    ]  # fmt: skip


def test_the_file_of_a_run_holds_no_absolute_path(command, tmp_path):
    command("/opt/bin/jaxgbg", "train", "--out", tmp_path)
    run = preset("nim", seeds=[0], variants=["farl"], episodes=50, eval_every=50)
    text = (train(run, tmp_path).path / "provenance.json").read_text()
    assert {"command", "versions", "devices", "revision", "started"} <= json.loads(text).keys()
    assert str(tmp_path) not in text
    assert not re.search(r'"/', text)
