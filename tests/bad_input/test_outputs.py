"""Where a user wants results: devices, pipes, links, folders, and disks without room."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jaxgbg.runs import devices
from jaxgbg.runs.storage import files
from jaxgbg.runs.storage.files import CannotWrite, write_json
from tests.faults.work import left_by, small_disk

from .cases import Case, run_case
from .files import agent

CASES = [
    Case("games --json folder", "cannot write folder: Is a directory", {"folder/file": ""}),
    Case("games --json missing/rows.json", "missing/rows.json: there is no folder missing"),
    Case("games --json loop", "cannot write loop: .*symbolic links"),
    Case("games --json full", "cannot write full: No space left"),
    Case("train nim --episodes 20 --out loop", "cannot write loop.*: Too many levels of symbolic"),
    Case("train nim --episodes 20 --json " + "x" * 250, "cannot write x+: File name too long"),
    Case("results runs --csv folder", "cannot write folder: Is a directory", {"folder/file": ""}),
    Case("results runs --parquet missing/rows", "there is no folder missing"),
    Case("results runs --csv full", "cannot write full: No space left"),
    Case("results runs --parquet full", "cannot write full: No space left"),
    Case("report runs --out folder", "cannot write folder: Is a directory", {"folder/file": ""}),
    # Nobody may write here, not even root.
    Case("games --json /proc/self/x.json", "cannot write /proc/self/x.json: "),
    Case("agent tictactoe --out /proc/self/x", "cannot write /proc/self/x: .*--out"),
    Case(
        "tournament random mcts-2 --game nim --out /proc/self/x",
        "cannot write /proc/self/x: .*--out",
    ),
    Case("agent tictactoe --out file", "cannot write file: Not a directory", {"file": "x"}),
    Case(
        "tournament random mcts-2 --game nim --out file",
        "cannot write file: Not a directory",
        {"file": "x"},
    ),
]
_AGENT = agent()
_IS_INPUT = "is an input of this command"
_TWICE = "is named for two outputs"
KEPT = [
    Case("eval a.agent --record a.agent", _IS_INPUT, {"a.agent": _AGENT}),
    Case("eval a.agent --json ./a.agent", _IS_INPUT, {"a.agent": _AGENT}),
    Case("eval a.agent --json link", _IS_INPUT, {"a.agent": _AGENT}),
    Case(
        "eval a.agent --opponent b.agent:look-ahead=2 --json b.agent",
        _IS_INPUT,
        {"a.agent": _AGENT, "b.agent": _AGENT},
    ),
    Case("tournament x=a.agent random --record a.agent", _IS_INPUT, {"a.agent": _AGENT}),
    Case("analyze a.agent --positions p --json p", _IS_INPUT, {"a.agent": _AGENT, "p": "0\n"}),
    Case("train nim --layout l.json --json l.json", _IS_INPUT, {"l.json": "[]"}),
    Case("replay r.jsonl --json r.jsonl", _IS_INPUT, {"r.jsonl": ""}),
    Case("sweep s.toml --json s.toml", _IS_INPUT, {"s.toml": ""}),
    Case("shrink a.agent a.agent --replace", _IS_INPUT, {"a.agent": _AGENT}),
    Case("ensemble a.agent b.agent a.agent --replace", _IS_INPUT, {"a.agent": _AGENT}),
    Case("eval a.agent --record r --json r", _TWICE, {"a.agent": _AGENT, "r": ""}),
    Case("eval a.agent --record new --json ./new", _TWICE, {"a.agent": _AGENT}),
    Case("results runs --csv new --json new", _TWICE),
    Case("results runs --csv new --parquet new", _TWICE),
    Case("games --json a.agent", "a.agent exists and is not JSON rows", {"a.agent": _AGENT}),
    Case("games --json l.json", "is not JSON rows", {"l.json": "[[0, 1], [2, 3]]"}),
    Case(
        "results runs --json runs/small/config.json",
        "is not JSON rows",
        {"runs/small/config.json": "{}"},
    ),
    Case(
        "eval a.agent --record b.agent",
        "is not recorded games",
        {"a.agent": _AGENT, "b.agent": _AGENT},
    ),
    Case("results runs --csv a.agent", "is not a CSV table", {"a.agent": _AGENT}),
    Case("results runs --csv a.csv", "is not a CSV table", {"a.csv": _AGENT}),
    Case("results runs --csv p", "is not a CSV table", {"p": "XO./.X./... O\n"}),
    Case("results runs --csv p", "is not a CSV table", {"p": "3,2,4\n"}),
    Case("results runs --parquet a.csv", "is not a Parquet file", {"a.csv": "game,mean\n"}),
    Case("report runs --out a.agent", "is not an HTML page", {"a.agent": _AGENT}),
    Case("plot runs --out a.png", "is not a figure", {"a.png": _AGENT}),
    Case("tournament random maxn --game nim --plot a.png", "is not a figure", {"a.png": "x"}),
    Case("shrink zoo:tictactoe zoo:new", "zoo:new is the name of an agent of the zoo"),
    Case("ensemble zoo:new a.agent b.agent", "zoo:new is the name of an agent of the zoo"),
]


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_no_file_is_destroyed(case, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("a.agent")
    assert run_case(case, tmp_path, jaxgbg) == ("", [])
    for name, content in case.files.items():
        assert (tmp_path / name).read_bytes() == (
            content.encode() if isinstance(content, str) else content
        )


SLOW_CASES = [Case("report runs --out full", "cannot write full: No space left")]


@pytest.mark.parametrize(
    "case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW_CASES)], ids=str
)
def test_it_is_named_and_nothing_is_left(case, jaxgbg, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").symlink_to(trained)
    (tmp_path / "loop").symlink_to("loop")
    full = device(tmp_path / "full", "/dev/full")
    before = full.lstat()
    _, new = run_case(case, tmp_path, jaxgbg)
    assert [path for path in new if path.name not in ("folder", "file")] == []
    assert full.lstat() == before


def device(path: Path, like: str) -> Path:
    """A device of our own, so that a failing test harms nobody's; without the right, a link."""
    status = os.stat(like)
    try:
        os.mknod(path, status.st_mode, status.st_rdev)
        path.open("wb").close()
    except PermissionError:
        path.unlink(missing_ok=True)
        path.symlink_to(like)
    return path


def test_a_device_stays_one(jaxgbg, tmp_path):
    null = device(tmp_path / "null", "/dev/null")
    before = null.lstat()
    assert jaxgbg("games", "--json", null)[0] == 0
    assert null.lstat() == before


def test_a_named_pipe_is_written_to(jaxgbg, tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    code, *_ = jaxgbg("games", "--json", pipe)
    reader.join(60)
    assert code == 0
    assert pipe.is_fifo()
    assert "tictactoe" in {row["game"] for row in json.loads(read[0])}


def test_a_link_stays_one_and_its_target_is_written(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to("below/file")
    (tmp_path / "second").symlink_to(tmp_path / "link")
    for content in (1, 2):  # First the link dangles.
        write_json(tmp_path / "second", content)
        assert (tmp_path / "below" / "file").read_text() == f"{content}\n"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["file"]


def test_the_target_of_a_link_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(CannotWrite, match="link: No space left"):
        write_json(tmp_path / "link", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_output_of_the_process_itself_follows_what_was_printed(tmp_path, name, kind):
    # The file alone: its package would bring JAX.
    code = (
        "import runpy, sys; from pathlib import Path;"
        f"write_json = runpy.run_path({files.__file__!r})['write_json'];"
        f"print('table', file=sys.{name}); write_json(Path('/dev/{name}'), [1]);"
        f"print('end', file=sys.{name})"
    )
    file = tmp_path / "output"
    with file.open("wb") as stream:
        options = {name: stream if kind == "file" else subprocess.PIPE}
        done = subprocess.run([sys.executable, "-c", code], check=True, **options)
    written = file.read_bytes() if kind == "file" else getattr(done, name)
    assert written == b"table\n[\n 1\n]\nend\n"


def test_memory_that_jax_cannot_start_with_is_said():
    devices.check_memory_limit(None)
    devices.check_memory_limit(devices.LEAST_MEMORY)
    with pytest.raises(ValueError, match=r"1\.0 GB of memory are allowed"):
        devices.check_memory_limit(10**9)


RUN = ["train", "nim", "--episodes", "2000", "--eval-every", "100", "--seeds", "10"]
RUN += ["--checkpoint-every", "0.1"]


def process(folder: Path, before: str = "true") -> tuple[int, list[str]]:
    """The run in a process of its own, after a shell command; its exit code and complaints."""
    line = f'{before}; exec "$@"'
    command = ["bash", "-c", line, "-", sys.executable, "-m", "jaxgbg.cli", *RUN]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    # Lines of progress, which a slow machine shows, are no complaints.
    shown = ("nim: ", "compiling ... ")
    lines = [line for line in done.stderr.splitlines() if not line.startswith(shown)]
    return done.returncode, lines


def complaints_are_of_room_alone(code: int, lines: list[str]) -> None:
    """One line ends the run, and says nothing more of checkpoints."""
    assert code == 2, lines
    (line,) = lines
    assert "jaxgbg: no space left to write runs/nim-" in line


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    assert process(folder) == (0, [])
    return left_by(folder / "runs")


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(tmp_path, undisturbed):
    folder = tmp_path / "small"
    with small_disk(folder, "100k") as mounted:
        if not mounted:
            pytest.skip("mounting a tmpfs is not allowed here")
        complaints_are_of_room_alone(*process(folder))
        subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
        assert process(folder) == (0, [])
        assert left_by(folder / "runs") == undisturbed


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_one_line_and_the_run_goes_on(tmp_path, undisturbed):
    complaints_are_of_room_alone(*process(tmp_path, "ulimit -f 8"))
    assert process(tmp_path) == (0, [])
    assert left_by(tmp_path / "runs") == undisturbed


@pytest.mark.slow
def test_a_limit_on_memory_is_one_line(tmp_path):
    code, lines = process(tmp_path, "ulimit -v 1000000")
    assert code == 2
    (line,) = lines
    assert "1.0 GB of memory are allowed" in line
    assert list(tmp_path.iterdir()) == []
