"""What a run says of its origin, and that nothing of it is of the machine alone."""

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

import jaxgbg
from jaxgbg.cli import __main__ as command
from jaxgbg.runs.storage.provenance import _of_process

ROOT = Path(__file__).parents[2]
TEXTS = (".json", ".jsonl", ".md", ".txt", ".toml", ".py", ".gz")


@pytest.mark.parametrize(
    ("started", "kept"),
    [
        ([command.__file__, "train", "nim"], ["jaxgbg", "train", "nim"]),
        (["/opt/env/bin/jaxgbg", "--out", "/data/runs"], ["jaxgbg", "--out", "runs"]),
        ([".venv/bin/jaxgbg", "--out=/data/runs"], ["jaxgbg", "--out=runs"]),
        (["scripts/run.py", "--out", "runs/nim"], ["scripts/run.py", "--out", "runs/nim"]),
        (["/elsewhere/run.py", "{here}/a/b.json"], ["run.py", "a/b.json"]),
        (["{here}/scripts/run.py", "--rate", "1/2"], ["scripts/run.py", "--rate", "1/2"]),
        (["jaxgbg", "../x/runs", "--layout={here}/a.json"], ["jaxgbg", "runs", "--layout=a.json"]),
        (["jaxgbg", "/opt/a/edax -gtp --book=/opt/a/b"], ["jaxgbg", "edax -gtp --book=b"]),
        (["jaxgbg", "/John Doe's"], ["jaxgbg", "John Doe's"]),
    ],
)
def test_the_command_is_kept_by_name(
    started: list[str],
    kept: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [word.format(here=tmp_path) for word in started])
    _of_process.cache_clear()
    try:
        run = jaxgbg.preset("nim", episodes=10, seeds=(0,), opponents=())
        folder = jaxgbg.RunFolder("runs", run)
        folder.begin()
        origin = json.loads((folder.path / "provenance.json").read_text())
        assert origin["command"] == kept
    finally:
        _of_process.cache_clear()


def test_no_kept_file_names_a_path_of_a_machine() -> None:
    path = re.compile(r"(^|[^\w.])/(work|root|farm|home|Users|tmp|usr/local)/", re.MULTILINE)
    kept = [file for file in (ROOT / "experiments").rglob("*") if file.suffix in TEXTS]
    assert len(kept) > 100
    assert any(file.suffix == ".gz" for file in kept)
    assert [str(file) for file in kept if path.search(text_of(file))] == []


def text_of(file: Path) -> str:
    if file.suffix == ".gz":
        with gzip.open(file, "rt", encoding="utf-8") as text:
            return text.read()
    return file.read_text()
