"""The command `play`: what it opens, whom it seats, and what it says when it cannot."""

import contextlib
import http.client
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys

import pytest

from jaxgbg.cli.common import read_game
from jaxgbg.web.play import serving
from jaxgbg.web.play.table import Table

OWN = "jaxgbg: zoo:nim plays, an agent that comes with jaxgbg (`jaxgbg zoo`)\n"


@pytest.fixture
def tables(monkeypatch):
    """The tables that the command would have served."""
    served = []
    monkeypatch.setattr(serving, "serve", lambda make_table, *_: served.append(make_table()))
    monkeypatch.setattr(Table, "warm_up", lambda table: None)
    return served


def agents(trained):
    return next((trained / "small").glob("nim-*"))


def test_a_game_a_run_and_agent_files_are_opened(jaxgbg, trained, tables):
    run = agents(trained)
    files = sorted((run / "agents").glob("*.agent"))
    cases = {
        ("hex", "--size", "3"): [],
        (run,): [min(files, key=lambda file: not file.stem.endswith("-farl")).stem],
        tuple(files[:2]): [file.stem for file in files[:2]],
        ("nim", files[0]): [files[0].stem],
        ("nim",): ["zoo:nim"],
        ("zoo:nim",): ["zoo:nim"],
        ("nim", "--size", 3): [],
    }
    for arguments, labels in cases.items():
        code, _, err = jaxgbg("play", *arguments, "--port", 0, "--no-browser")
        own = arguments == ("nim",)
        assert (code, err) == (0, OWN if own else "")
        found = [choice["label"] for choice in tables[-1].seats.choices()]
        assert found[: len(labels)] == labels
        assert labels or not any("zoo" in label for label in found)
    assert [table.game.name for table in tables] == ["hex"] + 6 * ["nim"]
    assert tables[0].game.size == 3


def test_the_page_opens_at_a_position(jaxgbg, monkeypatch):
    lines, opened = [], []
    monkeypatch.setattr(serving, "serve", lambda *given: lines.append(given[-1]))
    for text in ("XO./.X./... O;2", "4,0", "XO.\n.X.\n..."):
        assert jaxgbg("play", "tictactoe", "--position", text, "--port", 0)[0] == 0
    assert lines == ["XO./.X./... O;2", "4,0", "XO./.X./... O;"]
    # The address is what the page itself would write.
    monkeypatch.setattr(serving, "open_browser", opened.append)
    monkeypatch.setattr(serving, "server_for", lambda application: _Ended())
    listener = serving.listen(serving.LOOPBACK, 0)
    application = lambda hosts: None  # noqa: E731
    fragment = "#moves=XO./.X./...%20O;2"
    serving.serve_page(application, listener, serving.LOOPBACK, True, "", "", None, fragment)
    listener.close()
    assert opened[0].endswith(f"/{fragment}")


class _Ended:
    """A server that has ended at once."""

    def run(self, sockets):
        del sockets


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chess"], "unknown game 'chess'"),
        (["nim", "hex"], "name one game, not nim and hex"),
        (["hex", "AGENT"], "plays nim, not hex"),
        (["nim", "AGENT", "--size", "4"], "plays nim with other parameters: size=5, not size=4"),
        (["AGENT", "--size", "4"], "go with the name of a game"),
        (["DAMAGED"], "is damaged: truncated or altered, train it again"),
        (["missing.agent"], "No such file"),
        (["EMPTY"], "is not the folder of a finished run"),
        (["nim", "--port", "TAKEN"], "is in use: choose another by --port"),
        (["nim", "--port", "70000"], "port must lie in"),
        (["nim", "--host", "no.such.host.invalid"], "--host no.such.host.invalid"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_line(
    jaxgbg, trained, tables, tmp_path, arguments, words
):
    agent = next((agents(trained) / "agents").glob("*.agent"))
    damaged = tmp_path / "damaged.agent"
    damaged.write_bytes(agent.read_bytes()[:-9])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        places = {
            "AGENT": agent,
            "DAMAGED": damaged,
            "EMPTY": tmp_path,
            "TAKEN": taken.getsockname()[1],
        }
        code, out, err = jaxgbg(
            "play", *(places.get(each, each) for each in arguments), "--no-browser"
        )
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert tables == []


def test_without_the_extra_one_line_says_what_to_install(jaxgbg, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, out, err = jaxgbg("play", "nim")
    assert (code, out) == (2, "")
    assert err == "jaxgbg: the page needs a server: pip install 'jaxgbg[play]'\n"


@pytest.mark.slow
def test_the_package_needs_no_server():
    done = subprocess.run(
        [sys.executable, "-c", "import jaxgbg.cli.app, sys; sys.exit('starlette' in sys.modules)"],
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_who_can_reach_the_page_is_told(monkeypatch, capsys, host):
    opened = queue.Queue()
    monkeypatch.setattr(serving.webbrowser, "open", opened.put)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    # Where the table is late, the process ends: here that of the tests.
    monkeypatch.setattr(serving, "_PATIENCE", 60.0)
    table = Table(read_game("nim", 2, ()))
    with contextlib.closing(serving.listen(host, 0)) as listener:
        assert listener.getsockname()[0] == host
        serving.serve(lambda: table, "Nim", listener, host, browser=True)
        port = listener.getsockname()[1]
    out, err = capsys.readouterr()
    assert f":{port}/" in out
    assert opened.get(timeout=60).endswith(f":{port}/")
    assert opened.empty()
    assert ("everyone who can reach this machine" in err) == (host == "0.0.0.0")


@pytest.mark.slow
def test_the_page_is_served_until_it_is_ended():
    command = [sys.executable, "-m", "jaxgbg.cli", "play", "nim", "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    try:
        assert process.stdout is not None
        port = int(re.search(r"localhost:(\d+)/", process.stdout.readline())[1])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        # The page is there before it is compiled what is played.
        connection.request("GET", "/")
        assert connection.getresponse().read().startswith(b"<!DOCTYPE html>")
        assert process.stdout.readline().startswith("compiling Nim: some seconds")
        assert process.stdout.readline().startswith("ready after")
        # The server closes a connection that stands idle for long.
        connection.close()
        connection.request("GET", "/api/v1/game")
        assert json.loads(connection.getresponse().read())["game"] == "nim"
        # A browser that goes away in the middle of a question.
        with socket.create_connection(("127.0.0.1", port)) as gone:
            gone.sendall(
                b"POST /api/v1/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
                b"Content-Type: application/json\r\n\r\n{"
            )
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (0, OWN)


@pytest.mark.slow
def test_ctrl_c_ends_the_page_while_it_is_compiled():
    command = [sys.executable, "-m", "jaxgbg.cli", "play", "lines_of_action", "--size", "5"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = int(re.search(r"localhost:(\d+)/", process.stdout.readline())[1])
        assert process.stdout.readline().startswith("compiling Lines of Action")
        # It is ended by Ctrl-C from when it answers.
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.recv(1024).startswith(b"HTTP/1.1 200")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (0, "")
