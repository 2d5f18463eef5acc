"""The command for a GPU: it keeps its time, writes what it has, survives its parts, and runs here
whole with the core's packages alone.
"""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.connectfour import run as connectfour_study
from experiments.gpu import (
    connectfour,
    correctness,
    part,
    programs,
    run,
    speed,
    table1,
    tables,
)
from experiments.gpu.records import Records, Task
from experiments.gpu.speed import raw_rates
from experiments.shared import ARCHIVE, archived_runs
from jaxgbg.games import make
from jaxgbg.runs import train
from jaxgbg.runs.presets import GAMES, preset
from jaxgbg.runs.run import plain_game
from tests.experiments.pages import pages_of

ROOT = Path(__file__).parents[2]
HERE = {"device": "a test"}


def reference() -> dict[str, np.ndarray]:
    with np.load(correctness.REFERENCE) as kept:
        return {name: kept[name] for name in kept.files}


def test_parts_come_in_the_order_of_their_shares():
    assert [*part.PARTS] == [*run.SHARES]
    assert sum(run.SHARES.values()) == pytest.approx(1)


def test_what_a_part_leaves_is_shared_by_those_after_it(monkeypatch):
    monkeypatch.setattr(run.time, "time", lambda: now)
    now = 100.0
    keeper = run.Clock(60, {"a": 0.5, "b": 0.25, "c": 0.25})
    assert keeper.until(["a", "b", "c"]) == 130
    # The first took ten seconds instead of thirty.
    now = 110.0
    assert keeper.until(["b", "c"]) == 135
    now = 150.0
    assert keeper.until(["c"]) == 160
    now = 170.0
    assert keeper.until(["c"]) == 170


def test_results_are_on_disk_at_once_and_not_made_again(tmp_path):
    path = tmp_path / "speed.json"
    records = Records(path, HERE, ("game",))
    records.add({"game": "nim", "rate": 3})
    records.fail("hex: broken")
    again = Records(path, {"device": "another"}, ("game",))
    assert {"game": "nim"} in again
    assert {"game": "hex"} not in again
    again.add({"game": "hex"})
    content = json.loads(path.read_text())
    assert [one["machine"] for one in content["results"]] == [0, 1]
    assert content["machines"] == [HERE, {"device": "another"}]
    assert content["errors"] == ["hex: broken"]


@pytest.mark.parametrize(
    ("program", "seconds", "state"),
    [
        ("pass", 60, "done"),
        ("raise SystemExit(3)", 60, "failed with 3"),
        ("import os; os.abort()", 60, "killed by signal 6"),
        ("import time; time.sleep(60)", 0.2, "stopped"),
    ],
)
def test_what_became_of_a_part_is_told(program, seconds, state):
    start = time.monotonic()
    command, other = ([sys.executable, "-c", text] for text in (program, "pass"))
    assert run.watched([command], seconds) == state
    # Of several it is told that one has failed, whichever of them it is.
    assert run.watched([other, command], seconds) == state
    assert run.watched([command, other], seconds) == state
    assert time.monotonic() - start < 30


def test_processes_of_a_part_are_there_at_once(tmp_path):
    wait = "import sys, pathlib, time\nmine, other = map(pathlib.Path, sys.argv[1:])\nmine.touch()"
    wait += "\nwhile not other.exists(): time.sleep(.01)"
    pair = [str(tmp_path / "one"), str(tmp_path / "two")]
    commands = [[sys.executable, "-c", wait, *pair], [sys.executable, "-c", wait, *pair[::-1]]]
    assert run.watched(commands, 30) == "done"


def test_every_game_is_in_one_process_of_each_part():
    for name in part.PARTS:
        games = run.jobs(name, ["nim", "hex"])
        assert sorted(game for each in games for game in each) == ["hex", "nim"]
    # One more times the memory.
    assert [] in run.jobs("speed", ["nim"])


def test_processes_add_to_one_file_and_time_in_turn(tmp_path):
    program = """
import time
from pathlib import Path
from experiments.gpu.records import Records, Task
task = Task(Path({out!r}), (), 1.0, 0.0)
records = Records(task.out / "speed.json", {{"device": "a test"}}, ("number",))
for number in range(20):
    with task.alone():
        start = time.time()
        time.sleep(.005)
        end = time.time()
    records.add({{"number": [{first}, number], "from": start, "to": end}})
"""
    commands = [
        [sys.executable, "-c", program.format(out=str(tmp_path), first=first)] for first in "12"
    ]
    assert run.watched(commands, 60) == "done"
    content = json.loads((tmp_path / "speed.json").read_text())
    assert len({tuple(one["number"]) for one in content["results"]}) == 40
    assert content["machines"] == [HERE]
    spans = sorted((one["from"], one["to"]) for one in content["results"])
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_the_next_part_begins_whatever_became_of_one(tmp_path, monkeypatch, capsys):
    begun = []

    def watched(commands, seconds):
        (name,) = {command[3] for command in commands}
        begun.append(name)
        assert 0 < seconds <= 60
        return "killed by signal 6" if name == "speed" else "done"

    monkeypatch.setattr(run, "watched", watched)
    with pytest.raises(SystemExit) as stopped:
        run.main(["--minutes", "1", "--out", str(tmp_path)])
    assert stopped.value.code == 1
    assert begun == [*run.SHARES]
    told = json.loads((tmp_path / "parts.json").read_text())
    assert [name for name, one in told.items() if one["state"] != "done"] == ["speed"]
    assert "speed: killed by signal 6" in capsys.readouterr().out


@pytest.mark.parametrize(
    "option", [["--minutes", "0"], ["--scale", "-1"], ["--parts", "all"], ["--games"]]
)
def test_a_mistake_ends_before_anything_is_begun(tmp_path, capsys, option):
    with pytest.raises(SystemExit) as stopped:
        run.main([*option, "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert not (tmp_path / "out").exists()
    assert "error: " in capsys.readouterr().err


def test_the_reference_was_made_by_the_rules_of_today():
    kept = reference()
    experiments = [path.parent for path in ROOT.glob(f"experiments/*/{ARCHIVE}")]
    archived = [run for experiment in experiments for run in archived_runs(experiment)]
    for game in GAMES:
        configs = [run.files["config"] for run in archived if run.name.startswith(f"{game}-")]
        published = plain_game(make(game))
        known = {each["fingerprint"] for each in configs if each["game"] == published}
        assert known == {str(kept[f"{game}/fingerprint"])}


@pytest.mark.parametrize("name", ["weights", "counters", "one_ply", "two_plies"])
def test_numbers_beyond_rounding_are_found(name):
    expected = {key[4:]: array for key, array in reference().items() if key.startswith("nim/")}
    assert correctness.compared(expected, expected)["agrees"]
    number = np.unravel_index(
        np.nanargmax(np.where(np.isfinite(expected[name]), 1, 0)), (expected[name].shape)
    )
    for off, agrees in ((1e-5, True), (1.0, False)):
        found = expected | {name: expected[name].copy()}
        found[name][number] += off * np.sqrt(np.square(finite(expected[name])).mean())
        assert correctness.compared(found, expected)["agrees"] is agrees
    found[name][number] = np.nan
    assert not correctness.compared(found, expected)["agrees"]


def finite(array: np.ndarray) -> np.ndarray:
    return array[np.isfinite(array)]


PROGRAM = """
%fused (p: f32[9]) -> f32[9] {
  ROOT %add.1 = f32[9]{0} add(%p, %p)
}

%body.1 (arg: (f32[20,3], s32[4])) -> (f32[20,3], s32[4]) {
  %arg = (f32[20,3]{1,0}, s32[4]{0}) parameter(0)
  %gte.1 = f32[20,3]{1,0} get-tuple-element(%arg), index=0
  %gte.2 = s32[4]{0} get-tuple-element(%arg), index=1
  %copy.1 = f32[20,3]{1,0} copy(%gte.1)
  %copy.2 = s32[4]{0} copy(%gte.2)
  %fusion.1 = f32[20,3]{1,0} fusion(%copy.1, %copy.2), kind=kInput, calls=%fused
  ROOT %tuple.1 = (f32[20,3]{1,0}, s32[4]{0}) tuple(%fusion.1, %copy.2)
}

ENTRY %main.1 (a: f32[20,3], b: s32[4]) -> f32[20,3] {
  %copy.3 = f32[20,3]{1,0} copy(%a)
  %while.1 = (f32[20,3]{1,0}, s32[4]{0}) while(%tuple.0), condition=%less, body=%body.1
}
"""


def test_a_table_that_a_loop_copies_is_found():
    assert programs.kernels(PROGRAM) == 3
    # Not the one before the loop, nor that of a small array.
    assert programs.copies(PROGRAM, 60) == ("f32[20,3]",)
    assert programs.copies(PROGRAM, 61) == ()


def test_without_a_compiler_for_cuda_it_is_said(monkeypatch, capsys):
    def missing(**_):
        raise NotImplementedError("topology not implemented for cuda")

    monkeypatch.setattr(programs.topologies, "get_topology_desc", missing)
    with pytest.raises(SystemExit) as stopped:
        programs.main([])
    assert stopped.value.code == 2
    assert "no compiler for CUDA here" in capsys.readouterr().err


@pytest.mark.figures
def test_the_page_shows_what_the_kept_files_hold():
    page = pages_of("gpu")
    for piece in tables.sections():
        assert piece in page, piece


def test_what_was_measured_is_known_by_its_machine_and_source():
    for folder in (tables.NOW, tables.COPYING):
        # That of the parts, told by the command itself, is of no device.
        for file in (ROOT / "experiments" / "gpu" / folder).glob("[!p]*.json"):
            content = json.loads(file.read_text())
            assert content["errors"] == []
            (one,) = content["machines"]
            assert one["device"].startswith(f"NVIDIA {folder.upper()}")
            assert {each["machine"] for each in content["results"]} == {0}


def test_other_rules_and_other_moves_are_found():
    expected = {key[4:]: array for key, array in reference().items() if key.startswith("nim/")}
    for name in ("fingerprint", "states", "random_words", "played"):
        told = correctness.compared(expected | {name: np.array("other")}, expected)
        assert (told["agrees"], told[name]) == (False, False)
    moves = expected["moves_puct"].copy()
    moves[: len(moves) // 5] += 1
    told = correctness.compared(expected | {"moves_puct": moves}, expected)
    assert not told["agrees"]
    assert told["moves_puct"] < correctness.MOVES_ALIKE


@pytest.mark.parametrize(
    ("rate", "scale", "episodes"),
    # Three tenths of 1000 s of what one of two seeds makes a second, at most the published budget.
    [(2_000, 1.0, 300_000), (2e9, 1.0, 5_000_000), (2e9, 0.1, 500_000), (1e-9, 1.0, 12)],
)
def test_the_budget_fits_the_time(monkeypatch, tmp_path, rate, scale, episodes):
    monkeypatch.setattr(connectfour, "episodes_per_s", lambda run, task: rate)
    monkeypatch.setattr(Task, "left", lambda _: 1000.0)
    task = Task(tmp_path, ("connectfour",), scale, 0.0)
    told = connectfour.budget(task)
    assert told["seeds"] == 2
    assert told["budget"] == pytest.approx(episodes, rel=1e-3)


def test_too_little_memory_is_a_result_and_a_second_error_in_a_row_ends_it(monkeypatch, tmp_path):
    def bench(game, **_):
        raise ValueError("need 90 GB") if game == "2048" else RuntimeError("broken")

    monkeypatch.setattr(speed, "bench", bench)
    monkeypatch.setattr(speed, "raw_rates", lambda *_: iter([{"what": "copy", "bytes": 8}]))
    records = Records(tmp_path / "speed.json", HERE, speed.KEY)
    speed.measure(Task(tmp_path, ("2048",), 0.001, time.time() + 1000), records)
    assert records.results[-1]["not_run"] == "ValueError: need 90 GB"
    speed.measure(Task(tmp_path, ("nim",), 0.001, time.time() + 1000), records)
    assert records.errors == ["nim: RuntimeError: broken"]
    with pytest.raises(RuntimeError):
        speed.measure(Task(tmp_path, ("hex", "othello"), 0.001, time.time() + 1000), records)
    timed = [one["game"] for one in records.results if one["what"] == "training"]
    assert timed == ["2048", "nim", "hex", "othello"]


def test_known_rates_are_not_measured_again():
    found = [*raw_rates(1e-6, 1e-3, lambda about: about["what"] != "copy")]
    assert [one["what"] for one in found] == ["copy"]


def test_connectfour_is_trained_as_its_study_found_best():
    study = connectfour_study.run_of("off-policy, delaying", 0, 100)
    own = connectfour.run_of(1, 64, 100).for_seed(0)
    for part_ in ("value", "learner", "schedule", "averaging"):
        assert getattr(own, part_) == getattr(study, part_)


def test_connectfour_s_row_is_that_of_the_kept_runs():
    own = table1.run_of("connectfour", 1)
    kept = preset("connectfour", seeds=range(10), walks=(70, 8))
    assert (own.value, own.learner, own.schedule) == (kept.value, kept.learner, kept.schedule)


@pytest.mark.slow
def test_a_rate_is_above_zero_and_takes_no_more_than_its_time(tmp_path):
    run_ = connectfour.run_of(1, 2, 25)
    start = time.monotonic()
    assert connectfour.episodes_per_s(run_, Task(tmp_path, (), 1.0, time.time()), 1e9) > 0
    assert time.monotonic() - start < 60


@pytest.mark.slow
def test_seeds_play_and_then_as_one_agent(tmp_path, monkeypatch):
    pytest.importorskip("bitbully")
    monkeypatch.setattr(connectfour, "GAMES", 6)
    monkeypatch.setattr(connectfour, "MEMBERS", 2)
    # Tables of 140 n-tuples take longer to keep and to load than to train.
    monkeypatch.setitem(connectfour.BEST, "walks", (20, 8))
    folder = train(connectfour.run_of(3, 4, 50), tmp_path / "runs")
    task = Task(tmp_path, ("connectfour",), 1.0, time.time() + 1000)
    for _ in range(2):
        # What is known is not played again.
        records = Records(tmp_path / "connectfour.json", HERE, connectfour.KEY)
        connectfour.meet(task, records, folder)
        *singles, both = records.results
        assert {one["seed"] for one in singles} == {0, 1, 2}
        assert (both["what"], both["seed"], both["members"]) == ("ensemble", 0, 2)
        assert {one["won"] + one["drawn"] + one["lost"] for one in records.results} == {6}
        assert both["value_keeping"] not in {one["value_keeping"] for one in singles}


_BLOCKED = "tyro tqdm matplotlib jinja2 duckdb pandas bitbully ray fastapi uvicorn pgx ludax pytest"


@pytest.mark.slow
def test_it_runs_whole_with_the_packages_of_the_core_alone(tmp_path):
    blocked = f"import sys\nsys.modules.update(dict.fromkeys({_BLOCKED.split()}))\n"
    (tmp_path / "sitecustomize.py").write_text(blocked)
    command = [sys.executable, "-m", "experiments.gpu.run", "--scale", ".00001"]
    command += ["--games", "connectfour", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parts = {
        name: json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in part.PARTS
    }
    for content in parts.values():
        assert content["errors"] == []
        assert {"device", "versions", "revision", "source"} <= content["machines"][0].keys()
    (agreement,) = parts["correctness"]["results"]
    assert agreement["agrees"]
    assert {one["what"] for one in parts["speed"]["results"]} == {
        "copy",
        "look up",
        "add",
        "training",
    }
    assert all(one.get("moves_per_s", 1) > 0 for one in parts["speed"]["results"])
    budget, *curve, end, one, other = parts["connectfour"]["results"]
    assert (budget["budget"], curve[-1]["episodes"]) == (50, 50)
    assert end["what"] == "no matches"
    # Of solved positions no solver is needed; those of the best seed come first.
    assert {one["seed"], other["seed"]} == {0, 1}
    assert one["value_keeping"] >= other["value_keeping"]
    assert curve[-1]["episodes"] == one["budget"]
    (row,) = parts["table1"]["results"]
    assert {one["variant"] for one in row["rows"]} == {"farl", "none"}
