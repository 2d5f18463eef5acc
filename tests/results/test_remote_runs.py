"""Runs that are not on this machine: read through fsspec, bounded and named like those here."""

import sys

import fsspec
import pytest

from jaxgbg.players import MissingExtra
from jaxgbg.results.folders import find_runs
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import as_records
from jaxgbg.runs import train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.locations import RemotePath, place_of
from tests.results.many_runs import write_many

URL = "memory://bucket/runs"


@pytest.fixture
def uploaded(tmp_path):
    """The same runs here and in fsspec's memory."""
    write_many(tmp_path / "runs", 4)
    system = fsspec.filesystem("memory")
    system.put(str(tmp_path / "runs"), "/bucket/", recursive=True)
    yield tmp_path / "runs"
    system.rm("/bucket", recursive=True)


def test_runs_by_a_url_give_the_same_rows(uploaded):
    assert as_records(read_table(URL).rows) == as_records(read_table(uploaded).rows)
    assert [run.name for run in find_runs(URL)[0]] == [run.name for run in find_runs(uploaded)[0]]
    assert as_records(read_table(uploaded.as_uri()).rows) == as_records(read_table(uploaded).rows)


def test_one_run_by_its_url_is_enough(uploaded):
    name = sorted(uploaded.iterdir())[0].name
    assert [run.name for run in find_runs(f"{URL}/{name}/")[0]] == [name]


def test_damage_elsewhere_is_named_by_its_url(uploaded):
    first, second, third, _ = sorted(folder.name for folder in uploaded.iterdir())
    system = fsspec.filesystem("memory")
    system.pipe(f"/bucket/runs/{first}/config.json", b"{")
    system.rm(f"/bucket/runs/{second}/config.json")
    # A file is not fetched before its size is known.
    system.pipe(f"/bucket/runs/{third}/summary.json", bytes(2**24 + 1))
    runs, problems = find_runs(URL)
    assert len(runs) == 2
    assert problems[0].startswith(f"memory:///bucket/runs/{first}/config.json")
    assert "metrics.jsonl without config.json" in problems[1]
    (told,) = [problem for run in runs for problem in run.problems]
    assert "summary.json: 16,777,217 bytes long, and at most 16,777,216 are read" in told


@pytest.mark.slow
def test_results_and_report_take_a_url(jaxgbg, uploaded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train(preset("nim", seeds=(0,), episodes=100, eval_every=100), tmp_path / "trained")
    system = fsspec.filesystem("memory")
    system.put(str(tmp_path / "trained"), "/bucket/runs/", recursive=True)
    code, out, _ = jaxgbg("results", URL, "--format", "csv")
    assert code == 0
    assert "nim" in out
    code, _, err = jaxgbg("report", URL)
    assert code == 2
    assert "name a local file with --out" in err
    code, _, _ = jaxgbg("report", URL, "--out", "page.html")
    assert code == 0
    page = (tmp_path / "page.html").read_text()
    assert "Report on runs" in page
    # Agents are fetched too.
    assert "Sample games" in page


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("memory://bucket/none", "has no files"),
        ("nothing://bucket", "nothing"),
    ],
)
def test_a_url_without_runs_is_one_line(url, words):
    with pytest.raises(ValueError, match=words):
        find_runs(url)


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"pip install 'jaxgbg\[remote\]'"):
        find_runs(URL)


def test_what_a_client_raises_is_an_error_with_a_line():
    class Broken:
        def find(self, path):
            raise RuntimeError("no\ncredentials")

        def unstrip_protocol(self, path):
            return f"broken://{path}"

    from jaxgbg.runs.storage import locations

    with pytest.raises(OSError, match="RuntimeError: no credentials"):
        list(locations.find(RemotePath(Broken(), "bucket"), print))


def test_a_folder_is_no_url(tmp_path):
    assert place_of(str(tmp_path)) == tmp_path
    assert place_of((tmp_path / "a b").as_uri()) == tmp_path / "a b"
