"""What is kept of many runs for the next time: never believed over the files, rebuilt at need."""

import contextlib
import json
import os
import sqlite3
import time

import pytest

from jaxgbg.results import folders, index
from jaxgbg.results.groups import read_table
from jaxgbg.results.index import Index
from jaxgbg.results.rows import as_records
from jaxgbg.system import cache_folder
from tests.results.many_runs import write_many


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A folder of ten runs that were written an hour ago, and are many enough for an index."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folders, "LEAST", 5)
    write_many(tmp_path / "runs", 10)
    # A change of times cannot be faked, so that the clock goes on instead.
    now = time.time
    monkeypatch.setattr(index.time, "time", lambda: now() + 3600)
    return tmp_path / "runs"


def records(folder):
    return as_records(read_table(folder).rows)


def opened(monkeypatch):
    """The names of the folders whose metrics are read from now on."""
    names = []
    read = folders.evaluation_columns

    def noted(path, complain):
        names.append(path.parent.name)
        return read(path, complain)

    monkeypatch.setattr(folders, "evaluation_columns", noted)
    return names


def test_what_was_read_is_not_opened_again_and_comes_to_the_same(many, monkeypatch):
    first = records(many)
    names = opened(monkeypatch)
    assert records(many) == first
    assert names == []


def test_a_file_that_has_changed_is_read_again(many, monkeypatch):
    records(many)
    changed = sorted(many.iterdir())[3]
    metrics = changed / "metrics.jsonl"
    about = metrics.stat()
    text = metrics.read_text().replace('"wins": 0.5', '"wins": 0.7')
    metrics.write_text(text)
    # Of the same size, and of the same time of writing.
    os.utime(metrics, ns=(about.st_atime_ns, about.st_mtime_ns))
    names = opened(monkeypatch)
    runs, problems = folders.find_runs(many)
    assert names == [changed.name]
    assert problems == []
    assert [set(run.evaluations.column("wins")) for run in runs][3] == {0.7}


def test_a_run_that_is_gone_or_damaged_is_not_remembered(many):
    records(many)
    gone, damaged = sorted(many.iterdir())[:2]
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    (damaged / "config.json").write_text("{")
    for _ in range(2):
        runs, problems = folders.find_runs(many)
        assert len(runs) == 8
        assert [str(damaged) in problem for problem in problems] == [True]
    assert len(Index(many, cache_folder()).load()) == 8


@pytest.mark.parametrize("damage", ["cut", "noise", "other file", "empty", "entry", "config"])
def test_a_damaged_index_is_made_anew(many, monkeypatch, damage):
    first = records(many)
    path = Index(many, cache_folder()).path
    content = path.read_bytes()
    if damage == "entry":
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update runs set content = replace(content, '0.', '1.')")
    elif damage == "config":
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update configs set text = replace(text, '0.5', '0.6')")
    else:
        noise = content[:4096] + bytes(len(content) - 4096)
        pieces = {"cut": content[:5000], "noise": noise, "other file": b"no index", "empty": b""}
        path.write_bytes(pieces[damage])
    names = opened(monkeypatch)
    assert records(many) == first
    assert len(names) == 10
    assert records(many) == first
    assert len(names) == 10


def test_an_index_that_is_damaged_where_it_is_only_written_is_made_anew(many, monkeypatch):
    first = records(many)
    path = Index(many, cache_folder()).path
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        (root,) = connection.execute(
            "select rootpage from sqlite_schema where name = 'sqlite_autoindex_runs_1'"
        ).fetchone()
    content = path.read_bytes()
    path.write_bytes(content[: 4096 * (root - 1)] + bytes(4096) + content[4096 * root :])
    for folder in many.iterdir():
        (folder / "metrics.jsonl").touch()
    for _ in range(3):
        assert records(many) == first
    names = opened(monkeypatch)
    assert records(many) == first
    assert names == []


def test_without_a_place_for_an_index_there_is_none(many, monkeypatch, tmp_path):
    first = records(many)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    names = opened(monkeypatch)
    assert records(many) == first
    assert len(names) == 10


def test_while_another_process_writes_the_index_is_done_without(many, monkeypatch):
    first = records(many)
    monkeypatch.setattr(index, "_WAIT", 0.01)
    path = Index(many, cache_folder()).path
    (sorted(many.iterdir())[0] / "metrics.jsonl").touch()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    names = opened(monkeypatch)
    assert records(many) == first
    assert len(names) == 10
    other.execute("rollback")
    other.close()
    assert records(many) == first
    # It is still there.
    assert len(names) == 11


def test_what_was_written_a_moment_ago_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folders, "LEAST", 5)
    # However long it takes.
    now = time.time()
    write_many(tmp_path / "runs", 5)
    monkeypatch.setattr(index.time, "time", lambda: now)
    records(tmp_path / "runs")
    assert not Index(tmp_path / "runs", cache_folder()).load()


def test_few_runs_leave_nothing_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_many(tmp_path / "runs", 2)
    records(tmp_path / "runs")
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_runs_of_equal_settings_share_what_their_configs_say(tmp_path):
    write_many(tmp_path, 161)
    runs, problems = folders.find_runs(tmp_path)
    assert problems == []
    shared = [run for run in runs if run.shared is runs[0].shared]
    assert len({id(run.shared) for run in runs}) == 160
    for run in shared:
        config = json.loads((run.path / "config.json").read_text())
        assert run.config == config
        assert run.run.digest == run.name[-8:]
