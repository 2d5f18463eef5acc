"""Who does a sweep: the same results, whoever it is and whatever happens to the workers."""

import contextlib
import itertools
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from jaxgbg.runs.stopping import Stopped
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.sweeps import EXECUTORS, executors, worker
from jaxgbg.sweeps.executors import ExecutorSettings, Resources
from jaxgbg.sweeps.spec import units

FIELDS = {
    "game": "tictactoe",
    "seeds": "0:4",
    "chunk": 2,
    "settings": {"episodes": 600, "eval_every": 300, "opponents": ["maxn"], "batch": 16},
    "axes": {"alpha": [0.5, 1.0], "variants": ["farl", "none"]},
}

SHORT = {"episodes": 16, "eval_every": 16, "opponents": ["random"], "batch": 16}


def results(out, wanted) -> dict[str, bytes]:
    """What every run has left that must not depend on who did it."""
    found = {}
    for unit in wanted:
        for run in unit.runs:
            folder = RunFolder(out, run)
            found[run.digest] = folder.summary()["state_sha256"].encode()
            for path in (folder.path / "metrics.jsonl", *(folder.path / "agents").iterdir()):
                found[f"{run.digest}/{path.name}"] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def wanted():
    return units(FIELDS | {"lanes": 4})


@pytest.fixture(scope="module")
def inline(wanted, tmp_path_factory):
    out = tmp_path_factory.mktemp("inline")
    done: list = []
    assert EXECUTORS["inline"](wanted, ExecutorSettings(out, 60.0, 1), done.append) == []
    assert done == wanted
    return results(out, wanted)


@pytest.mark.slow
def test_processes_do_the_same(wanted, inline, tmp_path):
    done: list = []
    assert EXECUTORS["processes"](wanted, ExecutorSettings(tmp_path, 60.0, 2), done.append) == []
    assert sorted(unit.name for unit in done) == sorted(unit.name for unit in wanted)
    assert results(tmp_path, wanted) == inline


@pytest.mark.slow
def test_workers_take_no_file_of_the_working_folder_for_a_module(tmp_path, monkeypatch):
    short = units(FIELDS | {"settings": SHORT, "axes": {}, "chunk": 4})
    monkeypatch.setenv("PYTHONPATH", str(Path(worker.__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('taken for json')")
    assert EXECUTORS["processes"](short, ExecutorSettings(tmp_path, 60.0, 1), lambda _: None) == []


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(wanted, inline, tmp_path, monkeypatch):
    started, honest = [], executors._start

    def start(*arguments):
        process = honest(*arguments)
        started.append(process)
        if len(started) == 1:
            process.kill()
        return process

    monkeypatch.setattr(executors, "_start", start)
    assert (
        EXECUTORS["processes"](wanted[:1], ExecutorSettings(tmp_path, 60.0, 1), lambda _: None)
        == []
    )
    assert len(started) == 2
    expected = {name: content for name, content in inline.items() if "/" not in name}
    digests = {run.digest for run in wanted[0].runs}
    assert {n: c for n, c in results(tmp_path, wanted[:1]).items() if n in digests} == {
        n: c for n, c in expected.items() if n in digests
    }


@pytest.mark.parametrize("program", ["sys.stderr.write('x' * 200_000)", "sys.stdin.close()"])
def test_a_worker_that_says_much_or_reads_nothing_blocks_no_sweep(tmp_path, monkeypatch, program):
    many = units(FIELDS | {"settings": SHORT, "axes": {}, "chunk": 1, "lanes": 1})[:2]
    program = f"import sys; {program}; sys.exit('\\nat fault')"
    monkeypatch.setattr(executors, "module_command", lambda _: [sys.executable, "-c", program])
    # More than a pipe holds.
    monkeypatch.setattr(executors, "as_text", lambda _: "x" * 200_000)
    monkeypatch.setattr(executors, "_POLL_SECONDS", 0.001)
    settings = ExecutorSettings(tmp_path, 60.0, 1)
    failures = EXECUTORS["processes"](many, settings, lambda _: None)
    assert failures == [(unit, "at fault") for unit in many]


@pytest.mark.slow
def test_sigterm_stops_the_workers_too_and_they_keep_a_checkpoint(tmp_path, monkeypatch):
    endless = FIELDS["settings"] | {"episodes": 10**9, "eval_every": 10**9}
    wanted = units(FIELDS | {"settings": endless, "axes": {}, "chunk": 4})
    started, honest = [], executors._start
    monkeypatch.setattr(
        executors, "_start", lambda *given: started.append(honest(*given)) or started[-1]
    )

    kept = RunFolder(tmp_path, wanted[0].runs[0]).path / "checkpoints"
    seen: list[int] = []

    def numbers():
        found = kept.iterdir() if kept.is_dir() else ()
        return [int(path.stem) for path in found if path.suffix == ".checkpoint"]

    def terminate():
        while not seen:
            time.sleep(0.1)
            seen.extend(numbers())
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=terminate, daemon=True).start()
    with pytest.raises(Stopped):
        EXECUTORS["processes"](wanted, ExecutorSettings(tmp_path, 1.0, 1), lambda _: None)
    assert [process.poll() is None for process in started] == [False]
    assert max(numbers()) > max(seen)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_a_unit_that_fails_is_told_and_stops_no_other(wanted, tmp_path, executor):
    # Something else lies where the first unit's results should go.
    folder = RunFolder(tmp_path, wanted[0].runs[0])
    folder.path.mkdir()
    (folder.path / "thesis.txt").write_text("do not delete")
    done: list = []
    settings = ExecutorSettings(tmp_path, 60.0, 2)
    (failure,) = EXECUTORS[executor](wanted[:2], settings, done.append)
    assert failure.unit == wanted[0]
    assert "holds something else" in failure.reason
    assert done == [wanted[1]]


@pytest.mark.slow
def test_a_stopped_sweep_does_only_the_rest(wanted, inline, tmp_path, monkeypatch):
    seen = []

    def stop(unit):
        seen.append(unit)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EXECUTORS["inline"](wanted, ExecutorSettings(tmp_path, 60.0, 1), stop)
    rest = [unit for unit in wanted if not unit.finished(tmp_path)]
    assert rest == wanted[1:]
    assert executors.inline(rest, ExecutorSettings(tmp_path, 60.0, 1), lambda _: None) == []
    assert results(tmp_path, wanted) == inline


@pytest.mark.slow
def test_slurm_is_spoken_to_by_submitit(wanted, inline, tmp_path):
    pytest.importorskip("submitit")
    settings = ExecutorSettings(tmp_path, 60.0, 1, address="local")
    done: list = []
    assert EXECUTORS["slurm"](wanted[:2], settings, done.append) == []
    assert done == wanted[:2]
    found = results(tmp_path, wanted[:2])
    assert found == {name: inline[name] for name in found}


@pytest.mark.slow
def test_a_unit_whose_folder_is_busy_is_waited_for(tmp_path, monkeypatch):
    (unit,) = units(FIELDS | {"seeds": [0], "axes": {}, "settings": SHORT})
    with contextlib.ExitStack() as elsewhere:
        elsewhere.enter_context(only_here(RunFolder(tmp_path, unit.runs[0])))
        waits = []

        def wait(seconds):
            waits.append(seconds)
            elsewhere.close()

        monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=time.monotonic, sleep=wait))
        assert EXECUTORS["inline"]([unit], ExecutorSettings(tmp_path, 60.0, 1), print) == []
    assert len(waits) == 1
    assert unit.finished(tmp_path)


def test_nobody_waits_for_ever(tmp_path, monkeypatch):
    (unit,) = units(FIELDS | {"seeds": [0], "axes": {}, "settings": SHORT})
    hours = itertools.count(0, 3600)
    late = SimpleNamespace(monotonic=lambda: next(hours), sleep=lambda _: None)
    monkeypatch.setattr(worker, "time", late)
    with only_here(RunFolder(tmp_path, unit.runs[0])):
        (failure,) = EXECUTORS["inline"]([unit], ExecutorSettings(tmp_path, 60.0, 1), print)
    assert "another process" in failure.reason


@pytest.mark.slow
def test_two_sweeps_of_the_same_units_at_once_both_end_well(wanted, inline, tmp_path):
    failures: dict[int, list] = {}

    def sweep(number):
        failures[number] = EXECUTORS["inline"](
            wanted, ExecutorSettings(tmp_path, 60.0, 1), lambda _: None
        )

    threads = [threading.Thread(target=sweep, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == {0: [], 1: []}
    assert results(tmp_path, wanted) == inline


def test_resources_of_slurm_stand_in_the_batch_file(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    (tmp_path / "bin").mkdir()
    # A Slurm that refuses the job, once its file is written.
    for name in ("srun", "sbatch"):
        fake = tmp_path / "bin" / name
        fake.write_text(f"#!/bin/sh\ncp $1 {tmp_path}/batch\necho no such partition >&2\nexit 1\n")
        fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    given = Resources(4, 1, 64.0, 90, "gpu", "lab")
    settings = ExecutorSettings(tmp_path, 60.0, 8, resources=given)
    wanted = units(FIELDS | {"settings": SHORT, "lanes": 1})
    with pytest.raises(Exception, match="no such partition"):
        EXECUTORS["slurm"](wanted, settings, lambda _: None)
    lines = (tmp_path / "batch").read_text().splitlines()
    asked = {line.removeprefix("#SBATCH --") for line in lines if line.startswith("#SBATCH")}
    assert asked >= {
        "partition=gpu",
        "account=lab",
        "gpus-per-node=1",
        "cpus-per-task=4",
        "mem=64GB",
        "time=90",
        f"array=0-{len(wanted) - 1}%8",
    }


def test_resources_of_ray_are_those_of_each_task(tmp_path, monkeypatch):
    asked = []

    def remote(**options):
        asked.append(options)
        return lambda work: SimpleNamespace(remote=lambda *given: work(*given))

    ray = SimpleNamespace(
        is_initialized=lambda: True,
        nodes=lambda: [
            {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0, "memory": 16e9}},
            {"Alive": True, "Resources": {"CPU": 4.0, "GPU": 2.0, "memory": 64e9}},
            {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0, "memory": 512e9}},
        ],
        remote=remote,
        wait=lambda pending, num_returns: (pending[:1], pending[1:]),
        get=lambda done: done,
        cancel=lambda _: None,
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    done = []
    monkeypatch.setattr(executors, "run_unit", lambda *given: done.append(given[-1]) or len(done))
    wanted = units(FIELDS | {"settings": SHORT, "lanes": 1})
    settings = ExecutorSettings(
        tmp_path, 60.0, 1, resources=Resources(cpus=3, gpus=1, job_memory_gb=2.0)
    )
    assert EXECUTORS["ray"](wanted, settings, lambda _: None) == []
    assert asked == [{"num_cpus": 3, "num_gpus": 1, "memory": 2e9, "max_retries": 3}]
    assert done == [3] * len(wanted)
    # The cluster has as much of each, and no node has it alone.
    for given in ({"gpus": 4}, {"cpus": 9}, {"cpus": 5, "job_memory_gb": 32.0}):
        many = settings._replace(resources=Resources(**given))
        with pytest.raises(ValueError, match=r"as much: 8 CPUs, 2 GPUs and 16 GB; 4 CPUs"):
            EXECUTORS["ray"](wanted, many, lambda _: None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gpus", "1"], "--gpus is for --executor ray or slurm"),
        (["--executor", "ray", "--partition", "gpu"], "--partition is for --executor slurm"),
        (["--executor", "slurm", "--gpus", "-1"], "gpus must lie in [0, 4,096], not -1"),
        (["--time"], "--time goes with --dry-run"),
    ],
)
def test_what_an_executor_does_not_give_is_refused(jaxgbg, tmp_path, options, message):
    (tmp_path / "x.toml").write_text('game = "nim"')
    code, _, err = jaxgbg("sweep", tmp_path / "x.toml", "--out", tmp_path / "runs", *options)
    assert code == 2
    assert message in err
    assert not (tmp_path / "runs").exists()
