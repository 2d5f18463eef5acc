"""The page on runs in progress: what it tells of them, and that it changes nothing."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jaxgbg.runs import Result, RunFolder
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.checkpoints import path_of
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.web.watch import game as game_module
from jaxgbg.web.watch import runs as runs_module
from jaxgbg.web.watch.game import LatestGame
from jaxgbg.web.watch.pace import Budget, Pace
from jaxgbg.web.watch.runs import Watched
from jaxgbg.web.watch.server import application
from tests.web.test_play_server import HERE, Client


@pytest.fixture
def begun(tmp_path):
    """A run of TicTacToe of two evaluations, begun 200 s ago, at whose last one it is still."""
    folder = RunFolder(tmp_path / "runs", preset("tictactoe", seeds=(0, 1), episodes=900))
    folder.begin()
    origin = json.loads((folder.path / "provenance.json").read_text())
    now = int(time.time())
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 200))
    (folder.path / "provenance.json").write_text(json.dumps(origin | {"started": started}))
    for episodes in (100, 200):
        for seed in (0, 1):
            folder.append(Result(seed, "farl", episodes, "maxn", -0.5, 20))
    # However long that took.
    os.utime(folder.path / "metrics.jsonl", (now, now))
    return folder


@pytest.fixture
def watched():
    """What opens a folder to watch; it is closed again."""
    opened = []

    def watch(root, wait=False):
        opened.append(Watched(root, wait))
        return opened[-1]

    yield watch
    for each in opened:
        each.close()


def looked(watched) -> dict:
    """What it tells now, however soon it looks again."""
    watched.wait()
    watched.hurry()
    return watched.state()


def files(root) -> dict:
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (root, *root.rglob("*"))
    }


def facts(run: dict) -> dict:
    return dict(run["facts"])


def test_a_run_in_progress_has_a_curve_a_rate_and_the_time_left(begun, watched):
    with only_here(begun):
        before = files(begun.path.parent)
        seen = watched(begun.path)
        (run,) = seen.state()["runs"]
        seen.wait()
        assert files(begun.path.parent) == before
    assert (run["state"], run["words"]) == ("running", "In progress")
    assert run["share"] == pytest.approx(200 / 900)
    told = facts(run)
    assert told["Episodes of each agent"] == "200 of 900"
    # 200 episodes of two agents, without FARL none, in 200 s. The other 700 last for 11 min 40 s,
    # of which some seconds are over.
    lanes = len(begun.run.lanes)
    rate = float(told["Rate"].split()[0])
    assert rate == lanes
    assert told["Remaining time"].startswith("about 11 min")
    assert "against maxn" in seen.curves()
    assert '<svg class="chart"' in seen.curves()


@pytest.mark.parametrize(("within", "root"), [(".", "."), ("agents", "..")])
def test_a_run_is_watched_from_its_own_folder(begun, watched, monkeypatch, within, root):
    monkeypatch.chdir(begun.path / within)
    with only_here(begun):
        state = looked(watched(Path(root)))
    assert (state["name"], state["runs"][0]["name"]) == (begun.path.name, begun.path.name)
    assert state["runs"][0]["state"] == "running"


def test_how_far_a_run_is_stands_there_before_its_curves_are_drawn(begun, watched, monkeypatch):
    drawn = threading.Event()
    draw = runs_module._curves
    monkeypatch.setattr(runs_module, "_curves", lambda runs: drawn.wait(60) and draw(runs))
    with only_here(begun):
        seen = watched(begun.path)
        state = seen.state()
        assert facts(state["runs"][0])["Episodes of each agent"] == "200 of 900"
        assert (state["curves"], state["curves_line"]) == ("", "The curves are being drawn …")
        drawn.set()
        state = looked(seen)
    assert state["curves"]


def test_before_the_first_checkpoint_an_untrained_agent_plays(begun, watched):
    with only_here(begun):
        seen = watched(begun.path)
        looked(seen)
        seen.game.wait()
        state = looked(seen)
    assert state["game"]
    assert state["game_line"] == ""
    assert "No checkpoint yet: the agent of seed 0, FARL, as it was before" in seen.game.html


def test_what_comes_is_seen(begun, watched):
    with only_here(begun):
        seen = watched(begun.path)
        first = looked(seen)
        assert looked(seen)["curves"] == first["curves"]
        begun.append(Result(0, "farl", 300, "maxn", 0.0, 20))
        os.utime(begun.path / "metrics.jsonl", (time.time() + 5, time.time() + 5))
        second = looked(seen)
    assert second["curves"] != first["curves"]
    assert facts(second["runs"][0])["Episodes of each agent"] == "300 of 900"
    # The process is gone.
    assert looked(seen)["runs"][0]["state"] == "paused"
    begun.stop_early("enough")
    assert looked(seen)["runs"][0]["state"] == "stopped"


@pytest.mark.slow
def test_a_run_that_was_killed_by_force_is_not_in_progress(begun, watched):
    write_json(begun.path / "provenance.json", {"command": ["jaxgbg", "train", "nim", "a b"]})
    program = (
        "import sys, time; from pathlib import Path; from types import SimpleNamespace\n"
        "from jaxgbg.runs.storage.locks import only_here\n"
        "with only_here(SimpleNamespace(path=Path(sys.argv[1]))):\n"
        "    print('at work', flush=True); time.sleep(600)"
    )
    seen = watched(begun.path)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(begun.path)], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == b"at work\n"
            assert looked(seen)["runs"][0]["state"] == "running"
            with pytest.raises(ValueError, match="another process is at work"), only_here(begun):
                raise AssertionError("two are at work")
        finally:
            process.kill()
    (run,) = looked(seen)["runs"]
    assert run["state"] == "killed"
    assert "Killed: the same command resumes" in run["words"]
    assert facts(run)["Begun by"] == "jaxgbg train nim 'a b'"
    # The same command goes on, and tidies up.
    with only_here(begun):
        assert looked(seen)["runs"][0]["state"] == "running"
    assert looked(seen)["runs"][0]["state"] == "paused"


def test_a_run_that_is_resumed_is_as_fast_as_since_then(begun, watched):
    metrics, now = begun.path / "metrics.jsonl", int(time.time())
    with only_here(begun):
        os.utime(metrics, (now - 15, now - 15))
        seen = watched(begun.path)
        assert "Rate" in facts(looked(seen)["runs"][0])
        # Nothing else is changed: it goes on from where it was.
        begun.resume(begun.metrics.size)
        state = looked(seen)
        assert "Rate" not in facts(state["runs"][0])
        assert facts(state["runs"][0])["Episodes of each agent"] == "200 of 900"
        begun.append(Result(0, "farl", 300, "maxn", 0.0, 20))
        os.utime(metrics, (time.time() + 100, time.time() + 100))
        rate = float(facts(looked(seen)["runs"][0])["Rate"].split()[0])
    assert rate == pytest.approx(len(begun.run.lanes), rel=0.2)


def test_a_wish_to_hurry_is_not_lost_while_the_files_are_read(begun, watched, monkeypatch):
    reading, read = threading.Event(), threading.Event()
    seen = watched(begun.path)
    seen.wait()
    monkeypatch.setattr(seen, "_read", lambda: (reading.set(), read.wait(60)))
    # It took so much that the next look would be far away.
    monkeypatch.setattr(runs_module.time, "thread_time", iter((0.0, 60.0)).__next__)
    looking = threading.Thread(target=seen.state)
    looking.start()
    assert reading.wait(60)
    hurrying = threading.Thread(target=seen.hurry)
    hurrying.start()
    hurrying.join(0.2)
    read.set()
    looking.join()
    hurrying.join()
    assert seen._budget.due(time.monotonic())


def test_a_finished_run_says_so_and_its_agent_plays(trained, watched):
    seen = watched(next((trained / "small").glob("nim-*")))
    state = looked(seen)
    (run,) = state["runs"]
    assert (run["state"], run["share"], state["line"]) == ("finished", 1.0, "")
    assert "moves/s" in facts(run)["Training"]
    seen.game.wait()
    state = looked(seen)
    assert state["game"]
    assert state["game_line"] == ""
    for part in ("plays against itself", "Value estimates of each player", 'class="record"'):
        assert part in seen.game.html
    # All rewards are on the axis, so that no small difference fills the panel.
    ticks = re.findall(r'class="tick y">([^<]*)<', seen.game.html)
    assert {"−1.00", "0.00", "1.00"} <= set(ticks)
    assert "estimated value" in seen.game.html
    before = seen.game.html
    looked(seen)
    seen.game.wait()
    assert seen.game.html is before, "the same agent plays once"


def test_a_folder_of_several_runs_has_all_their_curves(trained, watched):
    state = looked(watched(trained))
    assert {run["state"] for run in state["runs"]} == {"finished", "paused"}
    assert len(state["runs"]) == 2
    assert state["settings"] == []


def test_what_is_damaged_is_named_and_the_rest_is_shown(begun, watched):
    with (begun.path / "metrics.jsonl").open("a") as file:
        file.write('{"seed": 0, "vari\n')
    path_of(begun.path / "checkpoints", 1).parent.mkdir()
    path_of(begun.path / "checkpoints", 1).write_bytes(b"half a checkpoint")
    seen = watched(begun.path)
    state = looked(seen)
    assert any("metrics.jsonl, line 5" in problem for problem in state["problems"])
    assert state["curves"]
    seen.game.wait()
    assert (
        "No game of 1.checkpoint: checkpoint 1.checkpoint is damaged" in looked(seen)["game_line"]
    )
    assert path_of(begun.path / "checkpoints", 1).exists()


def test_a_folder_that_is_deleted_is_said_and_may_come_back(begun, watched, tmp_path):
    seen = watched(begun.path)
    assert looked(seen)["line"] == ""
    begun.path.rename(tmp_path / "elsewhere")
    state = looked(seen)
    assert "is not a folder" in state["line"]
    assert [run["words"] for run in state["runs"]] == ["The folder was deleted"]
    assert state["curves"]
    (tmp_path / "elsewhere").rename(begun.path)
    assert looked(seen)["line"] == ""


def test_nothing_is_waited_for_unless_asked(tmp_path, watched, monkeypatch, begun):
    with pytest.raises(ValueError, match="is not a folder"):
        watched(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="has no runs"):
        watched(tmp_path / "empty")
    seen = watched(tmp_path / "later", wait=True)
    assert looked(seen)["line"] == f"Nothing to show yet in {tmp_path / 'later'}"
    shutil.copytree(begun.path, tmp_path / "later" / begun.path.name)
    state = looked(seen)
    assert (state["line"], len(state["runs"])) == ("", 1)
    monkeypatch.setattr(runs_module, "MOST_RUNS", 0)
    with pytest.raises(ValueError, match="more than 0 runs: name one"):
        watched(begun.path)


def test_one_who_waits_is_told_what_cannot_be_shown(begun, watched, monkeypatch):
    monkeypatch.setattr(runs_module, "MOST_RUNS", 0)
    state = looked(watched(begun.path, wait=True))
    assert state["line"].endswith("more than 0 runs: name one, or a folder with fewer")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(runs_module, "find", refuse)
    line = looked(watched(begun.path, wait=True))["line"]
    assert line == f"{begun.path}: Permission denied"


def test_a_search_that_finds_nothing_takes_its_share_too(tmp_path, watched, monkeypatch):
    taken = []
    seen = watched(tmp_path, wait=True)
    monkeypatch.setattr(seen._budget, "spent", lambda seconds, _: taken.append(seconds))
    for _ in range(2):
        seen.state()
    assert min(taken) > 0


def test_a_run_of_an_unknown_game_has_curves_and_no_game(begun, watched):
    config = json.loads((begun.path / "config.json").read_text())
    config["game"]["name"] = "not_here"
    (begun.path / "config.json").write_text(json.dumps(config))
    seen = watched(begun.path.parent)
    state = looked(seen)
    assert any("not_here" in problem for problem in state["problems"])
    assert state["curves"]
    assert state["game"] == ""


def test_the_rate_is_that_of_the_latest_points():
    pace = Pace()
    assert (pace.rate(), pace.left(100, 0.0), pace.latest) == (None, None, None)
    pace.note(10.0, 0)
    pace.note(10.0, 0)
    assert pace.rate() is None
    pace.note(20.0, 50)
    assert pace.rate() == 5.0
    # Ten more seconds of work, of which four are over.
    assert pace.left(100, 24.0) == pytest.approx(6.0)
    assert pace.left(100, 1000.0) == 0.0
    # The beginning, when programs are compiled, counts no more.
    pace.note(22.0, 70)
    assert pace.rate() == 10.0
    # Older news changes nothing; a run that begins again does.
    pace.note(15.0, 20)
    assert pace.latest == (22.0, 70)
    pace.note(30.0, 10)
    assert (pace.latest, pace.rate()) == ((30.0, 10), None)


def test_the_time_before_a_resume_does_not_count():
    pace = Pace(since=100.0)
    # An evaluation and then a checkpoint, from which it went on, are of before.
    pace.note(10.0, 40)
    pace.note(20.0, 50)
    assert (pace.latest, pace.rate()) == ((100.0, 50), None)
    pace.note(110.0, 70)
    assert pace.rate() == 2.0
    # What is compiled again counts no more either.
    pace.note(120.0, 110)
    assert pace.rate() == 4.0


def test_work_keeps_below_its_share():
    budget = Budget(0.01, most=60.0)
    assert budget.due(100.0)
    budget.spent(0.2, 100.0)
    assert not budget.due(119.9)
    assert budget.due(120.1)
    budget.spent(10.0, 200.0)
    assert budget.due(260.0)


@pytest.fixture
def game():
    """Where the latest agent plays whenever it is asked to, and the seconds that counted."""
    game, taken = LatestGame(0.5), []
    game._budget.spent = lambda seconds, _: taken.append(seconds)
    yield game, taken
    game.close()


def test_a_new_game_takes_its_share_of_the_time(trained, game):
    (game, taken), folder = game, RunFolder.open(next((trained / "small").glob("nim-*")))
    for run in (folder.run, folder.run, dataclasses.replace(folder.run, seeds=(0,))):
        game._tried = None
        game.show(folder.path, run, "")
        game.wait()
    # What is compiled for the very first game alone is not counted.
    assert (len(taken), game.line) == (2, "")
    assert min(taken) > 0


def test_what_goes_wrong_in_a_game_is_told(trained, game, monkeypatch):
    def refuse(*_):
        raise KeyError("a game of one's own")

    monkeypatch.setattr(game_module, "record_games", refuse)
    (game, taken), folder = game, RunFolder.open(next((trained / "small").glob("nim-*")))
    game.show(folder.path, folder.run, "")
    game.wait()
    assert "No game of" in game.line
    assert "a game of one's own" in game.line
    assert len(taken) == 1


def test_the_server_answers_its_own_page_alone(begun, watched):
    seen = watched(begun.path)
    client = Client(application(seen))
    try:
        assert client.get("/api/v1/game").json() == {"html": ""}
        # Curves and game are drawn in threads of their own.
        looked(seen)
        seen.game.wait()
        assert client.get("/api/v1/state").json()["name"] == begun.path.name
        assert "<svg" in client.get("/api/v1/curves").json()["html"]
        game = client.get("/api/v1/game").json()
        assert game == {"html": seen.game.html}
        assert "plays against itself" in game["html"]
        page = client.get("/")
        assert (page.status_code, "<main>" in page.text) == (200, True)
        assert "default-src 'self'" in page.headers["content-security-policy"]
        for name in ("watch.js", "watch.css", "page.js", "page.css", "board.js", "board.css"):
            assert client.get(f"/{name}").status_code == 200
        foreign = {"Host": "evil.example"}, {"Origin": "http://evil.example"}
        assert [client.get("/api/v1/state", headers=each).status_code for each in foreign] == [
            403,
            403,
        ]
        assert client.get("/api/v1/state", headers={"Origin": HERE}).status_code == 200
        assert client.post("/api/v1/state").status_code == 405
        assert client.get("/watched_game.html.j2").status_code == 404
    finally:
        client.close()
