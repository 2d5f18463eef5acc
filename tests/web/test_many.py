"""Very many runs in one folder: grouped on a small page, and quickly once they have been read."""

import time

import pytest

from jaxgbg.results import folders
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import as_records
from jaxgbg.web.html import write_report
from tests.results.many_runs import write_many


def test_of_many_damaged_runs_the_first_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("jaxgbg.web.html._MOST_PROBLEMS", 2)
    write_many(tmp_path / "runs", 5)
    for folder in sorted((tmp_path / "runs").iterdir())[:4]:
        (folder / "config.json").write_text("{")
    written = write_report(tmp_path / "runs", tmp_path / "page.html")
    assert len(written.problems) == 4
    page = (tmp_path / "page.html").read_text()
    assert page.count("the run is left out") == 2
    assert "And 2 more." in page


@pytest.mark.slow
def test_two_thousand_runs_are_grouped_and_read_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_many(tmp_path / "runs", 2000)
    # What is two seconds old is kept.
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3600)
    first = as_records(read_table(tmp_path / "runs").rows)
    assert sum(record["n"] for record in first) == 2 * 2000
    monkeypatch.setattr(folders, "read_object", None)
    start = time.process_time()
    assert as_records(read_table(tmp_path / "runs").rows) == first
    # Of 100 000 runs 15 s of a core that others use as well; it was 160 s.
    assert time.process_time() - start < 2
    written = write_report(tmp_path / "runs", tmp_path / "page.html")
    assert written.runs == 2000
    page = (tmp_path / "page.html").read_text()
    assert page.count('<section class="run"') == 30
    assert "1,970 more runs have no section here" in page
    assert written.bytes < 2e6
