"""The commands `watch` and `train --watch`: what is shown, what is said, and nothing is changed."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.cli import run_all as running
from jaxgbg.web.watch import runs as runs_module
from jaxgbg.web.watch import serving

GONE = (urllib.error.URLError, ConnectionError, http.client.HTTPException)
RUN = ["tictactoe", "--episodes", "6000", "--eval-every", "500", "--opponents", "random"]


@pytest.fixture
def shown(monkeypatch):
    """What the command would have served."""
    served = []
    monkeypatch.setattr(
        "jaxgbg.web.watch.serving.serve_watch", lambda watched, *_: served.append(watched.root)
    )
    return served


def test_a_run_or_a_folder_is_opened(jaxgbg, trained, shown, tmp_path):
    for place in (trained, next((trained / "small").glob("nim-*"))):
        assert jaxgbg("watch", place, "--port", 0) == (0, "", "")
    assert jaxgbg("watch", tmp_path / "later", "--wait", "--port", 0)[0] == 0
    assert len(shown) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["MISSING"], "is not a folder; name the folder that has the runs"),
        (["EMPTY"], "has no runs"),
        (["RUNS", "--port", "TAKEN"], "is in use: choose another by --port"),
        (["RUNS", "--port", "70000"], "port must lie in"),
        (["RUNS", "--host", "no.such.host.invalid"], "--host no.such.host.invalid"),
    ],
)
def test_what_cannot_be_watched_is_said_in_a_line(
    jaxgbg, trained, shown, tmp_path, arguments, words
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        places = {"MISSING": tmp_path / "no", "EMPTY": tmp_path, "RUNS": trained, "TAKEN": port}
        code, out, err = jaxgbg("watch", *(places.get(each, each) for each in arguments))
    assert (code, out, shown) == (2, "", [])
    assert words in err
    assert err.count("\n") == 1


def test_a_port_in_use_is_told_before_anything_is_trained(jaxgbg, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = jaxgbg("train", *RUN, "--watch", "--watch-port", port, "--out", tmp_path)
    assert code == 2
    assert err == f"jaxgbg: port {port} is in use: choose another by --watch-port\n"
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_one_line_says_what_to_install(jaxgbg, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for command in (["watch", tmp_path], ["train", *RUN, "--watch", "--out", tmp_path]):
        code, out, err = jaxgbg(*command)
        assert (code, out) == (2, "")
        assert err == "jaxgbg: the page needs a server: pip install 'jaxgbg[play]'\n"


def test_a_process_that_cannot_be_started_stops_no_training(monkeypatch, capsys, tmp_path):
    def refuse(*_, **__):
        raise OSError("no processes left")

    monkeypatch.setattr(serving.subprocess, "Popen", refuse)
    with running._page(tmp_path, 0):
        pass
    err = capsys.readouterr().err
    assert err == "jaxgbg: the process that shows the training could not be started\n"


@pytest.fixture
def beside(trained, monkeypatch):
    """What the process next to a training shows, which waits long for those who look."""
    monkeypatch.setattr(serving, "_PATIENCE", 240.0)
    seen = serving._Beside(next((trained / "small").glob("nim-*")))
    monkeypatch.setattr(seen.game, "show", lambda *_: None)
    yield seen
    seen.close()


def test_who_looks_at_the_page_is_told_that_the_training_has_ended(beside):
    assert beside.state()["ended"] is False
    ending = threading.Thread(target=beside.end)
    ending.start()
    told = beside.state()
    while not told["ended"]:
        assert ending.is_alive()
        told = beside.state()
    assert [run["state"] for run in told["runs"]] == ["finished"]
    ending.join(240)
    assert not ending.is_alive()


def test_the_last_answer_is_of_the_end_even_while_the_first_curves_are_drawn(beside, monkeypatch):
    drawn, draw = threading.Event(), runs_module._curves
    monkeypatch.setattr(runs_module, "_curves", lambda runs: drawn.wait(60) and draw(runs))
    assert beside.state()["curves"] == ""
    beside.ended = True
    threading.Timer(0.2, drawn.set).start()
    assert beside.state()["curves"]


def test_a_page_that_nobody_looks_at_ends_at_once(beside, monkeypatch):
    monkeypatch.setattr(beside.told, "wait", lambda _: pytest.fail("it waits for nobody"))
    beside._asked = -np.inf
    beside.end()
    assert beside.ended


def asked(address: str, name: str) -> dict:
    with urllib.request.urlopen(f"{address}api/v1/{name}", timeout=240) as answer:
        return json.loads(answer.read())


def gone(address: str) -> bool:
    """Whether nobody serves it any more, waited for."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        try:
            asked(address, "state")
        except GONE:
            return True
        time.sleep(0.1)
    return False


def started(out, *more) -> tuple[subprocess.Popen, str]:
    """A training with a page, and the page's address once it answers."""
    command = [sys.executable, "-m", "jaxgbg.cli", "train", *RUN, "--out", str(out), *more]
    process = subprocess.Popen(
        [*command, "--watch", "--watch-port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": shutil.which("true") or "true"},
    )
    assert process.stderr is not None
    return process, re.search(r"http://localhost:\d+/", process.stderr.readline())[0]


@pytest.mark.slow
def test_a_watched_training_is_the_same_to_the_bit_and_the_page_ends_with_it(jaxgbg, tmp_path):
    process, address = started(tmp_path / "watched")
    try:
        # However slow the machine, it does not end before the page is there.
        process.send_signal(signal.SIGSTOP)
        told = asked(address, "state")
        assert told["ended"] is False
        process.send_signal(signal.SIGCONT)
        # The page waits for one who asks, but not long: it may be gone before he is answered.
        with contextlib.suppress(*GONE):
            while not told["ended"]:
                time.sleep(0.2)
                told = asked(address, "state")
        if told["ended"]:
            assert [run["state"] for run in told["runs"]] == ["finished"]
        _, err = process.communicate(timeout=240)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert gone(address)
    assert jaxgbg("train", *RUN, "--out", tmp_path / "alone")[0] == 0
    runs = [next((tmp_path / name).glob("tictactoe-*/")) for name in ("watched", "alone")]
    files = [
        {path.relative_to(run): path for path in run.rglob("*") if path.is_file()} for run in runs
    ]
    assert files[0].keys() == files[1].keys()
    for name, path in files[0].items():
        if name.name not in ("summary.json", "provenance.json"):
            assert path.read_bytes() == files[1][name].read_bytes(), name
    sums = [json.loads((run / "summary.json").read_text())["state_sha256"] for run in runs]
    assert sums[0] == sums[1]


@pytest.mark.slow
def test_a_training_that_is_killed_takes_its_page_along(tmp_path):
    code = (
        "import pathlib, sys, time; from jaxgbg.web.watch.serving import WatchProcess;"
        "page = WatchProcess(0); page.show(pathlib.Path(sys.argv[1]));"
        "print(page.address, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": "true"},
    )
    try:
        address = process.stdout.readline().strip()
        assert asked(address, "state")["ended"] is False
    finally:
        process.kill()
        process.communicate()
    assert gone(address)


@pytest.mark.slow
def test_a_page_that_is_killed_troubles_nobody(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER", "true")
    # Modules of the working folder are imported where asked for, and are not taken for others.
    monkeypatch.setenv("PYTHONPATH", str(Path(serving.__file__).parents[3]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit")
    (tmp_path / "own_games_watched.py").write_text("")
    monkeypatch.setattr(serving, "imported_modules", lambda: ("own_games_watched",))
    with serving.WatchProcess(0) as page:
        page.show(tmp_path / "later")
        assert asked(page.address, "state")["line"].startswith("Nothing to show yet")
        page._process.kill()
        assert gone(page.address)
