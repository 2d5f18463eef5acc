"""Runs that are stopped, killed or damaged: nothing is lost, nothing doubled, nothing guessed."""

import functools
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.evaluation import MatchJudge
from jaxgbg.runs import (
    Result,
    StopTraining,
    Training,
    execution,
    placement,
    train,
    train_together,
)
from jaxgbg.runs.presets import preset
from jaxgbg.runs.stopping import Stopped
from jaxgbg.runs.storage import checkpoints as checkpoints_module
from jaxgbg.runs.storage import metrics, run_folder
from jaxgbg.runs.storage.checkpoints import Checkpoint, Checkpoints
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.runs.storage.run_folder import RunFolder

EVERY = 0.0


def small(**changes):
    fields = {"episodes": 3_000, "eval_every": 1_000, "batch": 16, "seeds": (0, 1), **changes}
    return preset("tictactoe", **fields)


@pytest.fixture(autouse=True)
def _many_checkpoints(monkeypatch):
    """Short chunks of one lane after another, and a checkpoint after each of them."""
    monkeypatch.setattr(checkpoints_module, "_SHARE", 1e9)
    monkeypatch.setattr(placement, "GAMES_AT_ONCE", 16)
    monkeypatch.setattr(sys.modules[Training.__module__], "SECONDS_A_CHUNK", 0.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return train(small(), tmp_path_factory.mktemp("undisturbed"))


def same(folder: RunFolder, other: RunFolder) -> None:
    """Tables, counters, games and random state, metrics and agents are equal bit for bit."""
    assert folder.summary()["state_sha256"] == other.summary()["state_sha256"]
    metrics = [f.path / "metrics.jsonl" for f in (folder, other)]
    assert metrics[0].read_bytes() == metrics[1].read_bytes()
    agents = [sorted((f.path / "agents").iterdir()) for f in (folder, other)]
    assert [a.name for a in agents[0]] == [a.name for a in agents[1]]
    for mine, theirs in zip(*agents, strict=True):
        assert mine.read_bytes() == theirs.read_bytes()


def stop_after(chunks: int, number: int = signal.SIGTERM):
    """An `on_chunk` that sends this process a signal after so many chunks."""
    left = [chunks]

    def on_chunk(_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), number)

    return on_chunk


def stopped(run, out, chunks=12, number=signal.SIGTERM) -> RunFolder:
    with pytest.raises(Stopped) as stop:
        train(run, out, stop_after(chunks, number), checkpoint_every=EVERY)
    assert stop.value.signal_number == number
    return RunFolder(out, run)


def stopped_halfway(out) -> RunFolder:
    """A run of which all checkpoints are from after its first evaluation."""

    def halfway(progress):
        if progress.episodes > progress.total_episodes / 2:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped):
        train(small(), out, halfway, checkpoint_every=EVERY)
    folder = RunFolder(out, small())
    assert folder.metrics.size > 0
    return folder


@pytest.fixture
def default_handlers():
    """As in a terminal: a shell that runs tests in the background has them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_goes_on_as_if_nothing_had_happened(tmp_path, undisturbed, number):
    before = signal.getsignal(number)
    folder = stopped(small(), tmp_path, number=number)
    assert signal.getsignal(number) == before
    assert not folder.finished
    assert len(list((folder.path / "checkpoints").iterdir())) == 2
    same(train(small(), tmp_path), undisturbed)
    assert not (folder.path / "checkpoints").exists()
    assert len(json.loads((folder.path / "provenance.json").read_text())["resumed"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"averaging": "tail"},
        {"averaging": "exponential", "value": "mlp", "alpha": 0.01, "averaging_samples": 30},
    ],
)
def test_a_mean_of_weights_goes_on_as_if_nothing_had_happened(tmp_path, changes):
    run = small(seeds=(0,), episodes=1_500, eval_every=500, **changes)
    whole = train(run, tmp_path / "whole")
    assert any(one.variant == "farl-mean" for one in whole.results())
    # Once before the first sample of the tail, and once within it.
    for chunks in (6, 12):
        stopped(run, tmp_path, chunks)
    same(train(run, tmp_path), whole)


def test_it_goes_on_from_the_checkpoint_and_not_from_the_start(tmp_path):
    stopped(small(), tmp_path)
    seen = []
    train(small(), tmp_path, seen.append)
    assert seen[0].episodes > 100


def test_a_run_goes_on_where_its_folder_was_moved_to(tmp_path, undisturbed):
    stopped(small(), tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    seen = []
    same(train(small(), tmp_path / "there", seen.append), undisturbed)
    assert seen[0].episodes > 100
    assert not (tmp_path / "here").exists()


def test_a_stop_while_an_evaluation_runs_leaves_no_half_of_it(tmp_path, undisturbed, monkeypatch):
    honest, calls = MatchJudge.scores, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return honest(*arguments)

    monkeypatch.setattr(MatchJudge, "scores", interrupted)
    with pytest.raises(Stopped):
        train(small(), tmp_path)
    assert len(RunFolder(tmp_path, small()).results()) == 4
    same(train(small(), tmp_path), undisturbed)


@pytest.mark.parametrize(("writer", "finished"), [("save_agent", True), ("stop_early", False)])
def test_a_stop_while_results_are_written_is_obeyed_after_them(
    tmp_path, monkeypatch, writer, finished
):
    where = execution if finished else RunFolder
    honest = getattr(where, writer)

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGTERM)
        monkeypatch.setattr(where, writer, honest)
        honest(*arguments)

    def enough(_):
        if not finished:
            raise StopTraining("enough")

    monkeypatch.setattr(where, writer, interrupted)
    run = small(episodes=100, eval_every=50, seeds=(0,), variants=("farl",))
    with pytest.raises(Stopped):
        train(run, tmp_path, on_evaluation=enough)
    folder = RunFolder(tmp_path, run)
    assert (folder.finished, folder.stopped_early) == (finished, not finished)
    assert (folder.path / "checkpoints").exists() is not finished


@pytest.mark.slow
def test_a_run_that_was_killed_before_it_had_settings_begins(tmp_path, undisturbed, monkeypatch):
    def killed(path, _):
        path.with_name(f".{path.name}.4711.tmp").write_text('{"ga')
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "write_json", killed)
        with pytest.raises(SystemExit):
            train(small(), tmp_path)
    folder = RunFolder(tmp_path, small())
    assert folder.path.is_dir()
    same(train(small(), tmp_path), undisturbed)
    assert list(folder.path.rglob(".*.tmp")) == []


def test_metrics_beyond_the_checkpoint_are_cut_off(tmp_path, undisturbed):
    folder = stopped(small(), tmp_path, chunks=40)
    with (folder.path / "metrics.jsonl").open("a") as file:
        file.write('{"seed": 0, "variant": "none", "epis')
    same(train(small(), tmp_path), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [lambda path: path.write_text(""), Path.unlink])
def test_metrics_that_were_lost_are_made_anew(tmp_path, undisturbed, capsys, harm):
    folder = stopped_halfway(tmp_path)
    harm(folder.path / "metrics.jsonl")
    same(train(small(), tmp_path), undisturbed)
    assert "metrics.jsonl" in capsys.readouterr().err


def test_metrics_that_lack_their_end_take_the_checkpoint_before(two_checkpoints, tmp_path):
    folder = shutil.copytree(two_checkpoints, tmp_path / "kept")
    kept = Checkpoints(folder, "a", 0.0)
    checkpoint = kept.restore(LEAVES, lambda marks: marks[0].size < 14)
    kept.close()
    assert checkpoint is not None
    assert checkpoint.reached == 1


def test_results_are_on_the_disk_before_the_checkpoints_are_removed(tmp_path, monkeypatch):
    synced, honest, removed = [], os.fsync, Checkpoints.remove

    def sync(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve())
        honest(descriptor)

    def remove(checkpoints):
        monkeypatch.setattr(os, "fsync", honest)
        removed(checkpoints)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Checkpoints, "remove", remove)
    folder = train(small(episodes=100, seeds=(0,)), tmp_path, checkpoint_every=EVERY)
    results = [path for path in folder.path.rglob("*") if path.is_file()]
    assert len(results) >= 6
    assert set(results) <= set(synced)


def test_metrics_are_on_the_disk_before_a_checkpoint_counts_on_them(tmp_path, monkeypatch):
    synced, honest = [], os.fsync

    def sync(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve())
        honest(descriptor)

    folder = RunFolder(tmp_path, small())
    folder.begin()
    folder.append(Result(0, "farl", 100, "maxn", 0.5, 20))
    monkeypatch.setattr(os, "fsync", sync)
    with execution._checkpoints([folder], 0.0) as checkpoints:
        state = Checkpoint(LEAVES, 1, 1.0, [folder.metrics.mark()])
        checkpoints.save(state, wait=True)
    assert [path.name for path in synced][:1] == ["metrics.jsonl"]
    assert len(synced) == 2


@pytest.mark.slow
def test_metrics_with_another_byte_are_made_anew(tmp_path, undisturbed, capsys):
    folder = stopped_halfway(tmp_path)
    metrics, aside = folder.path / "metrics.jsonl", folder.path / "metrics.jsonl.damaged"
    flip(metrics)
    altered, meanwhile = metrics.read_bytes(), []
    same(train(small(), tmp_path, lambda _: meanwhile.append(aside.read_bytes())), undisturbed)
    assert "metrics.jsonl has been changed" in capsys.readouterr().err
    assert set(meanwhile) == {altered}
    assert not aside.exists()


def newest(folder: RunFolder):
    return max((folder.path / "checkpoints").iterdir(), key=lambda path: int(path.stem))


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("harm", [flip, cut], ids=["flip", "cut"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(
    tmp_path, undisturbed, capsys, harm
):
    folder = stopped(small(), tmp_path)
    harm(newest(folder))
    seen = []
    same(train(small(), tmp_path, seen.append), undisturbed)
    assert "is damaged and left out" in capsys.readouterr().err
    assert seen[0].episodes > 100


@pytest.mark.slow
def test_with_all_checkpoints_damaged_the_run_begins_anew(tmp_path, undisturbed, capsys):
    folder = stopped(small(), tmp_path)
    kept = folder.path / "checkpoints"
    for checkpoint in kept.iterdir():
        cut(checkpoint)
    damaged = {f"{path.name}.damaged": path.read_bytes() for path in kept.iterdir()}
    foreign = kept / "letter.txt"
    foreign.write_text("not ours")
    meanwhile = []

    def look(_):
        meanwhile.append({path.name: path.read_bytes() for path in kept.glob("*.damaged")})

    same(train(small(), tmp_path, look), undisturbed)
    assert capsys.readouterr().err.count("is damaged and left out") == 2
    # They stay until the run is finished, and what is not ours stays for good.
    assert all(seen == damaged for seen in meanwhile)
    assert [path.name for path in kept.iterdir()] == ["letter.txt"]


LEAVES = [np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(0, np.int8)]


@pytest.fixture(scope="module")
def two_checkpoints(tmp_path_factory):
    """A folder with an older checkpoint, 1, and a newer one, 2, of other numbers."""
    folder = tmp_path_factory.mktemp("kept")
    kept = Checkpoints(folder, "a", 0.0)
    for number in (1, 2):
        leaves = [number * LEAVES[0], LEAVES[1]]
        kept.save(Checkpoint(leaves, number, 1.5 * number, [(7 * number, "ab")]), wait=True)
    kept.close()
    return folder


def read(folder):
    """The number of the checkpoint that the reader takes, all of it as it was; None for none."""
    kept = Checkpoints(folder, "a", 0.0)
    checkpoint = kept.restore(LEAVES)
    kept.close()
    if checkpoint is None:
        return None
    number = checkpoint.reached
    assert checkpoint[1:] == (number, 1.5 * number, [(7 * number, "ab")])
    np.testing.assert_array_equal(checkpoint.leaves[0], number * LEAVES[0])
    return number


def rewrite(path, old: bytes, new: bytes, seal: bool = False) -> None:
    """Change a few bytes of a checkpoint; `seal` it as if it had been written so."""
    head, digest, body = path.read_bytes().split(b"\n", 2)
    assert old in head + b"\n" + body
    head, body = head.replace(old, new), body.replace(old, new, 1)
    digest = hashlib.sha256(body).hexdigest().encode() if seal else digest
    path.write_bytes(b"\n".join((head, digest, body)))


def numbers_of_the_one_before(newest) -> None:
    """Numbers that are whole, but those of another checkpoint."""
    start = newest.read_bytes().split(b"\n", 3)[:3]
    numbers = newest.with_name("1.checkpoint").read_bytes().split(b"\n", 3)[3]
    newest.write_bytes(b"\n".join((*start, numbers)))


HARMS = {
    "a byte of the numbers": flip,
    "half of it": cut,
    "nothing in it": lambda newest: newest.write_bytes(b""),
    "the last byte missing": lambda newest: newest.write_bytes(newest.read_bytes()[:-1]),
    "a byte too many": lambda newest: newest.write_bytes(newest.read_bytes() + b"0"),
    "other numbers": numbers_of_the_one_before,
    "milestones": lambda newest: rewrite(newest, b'"reached": 2', b'"reached": 1'),
    "seconds": lambda newest: rewrite(newest, b'"seconds": 3.0', b'"seconds": 4.0'),
    "bytes of metrics": lambda newest: rewrite(newest, b"[14]", b"[13]"),
    "a checksum too many": lambda newest: rewrite(newest, b'["ab"]', b'["ab", "cd"]', seal=True),
    "something else": lambda newest: newest.write_text("[1]"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_the_reader_notices_harm_and_takes_the_checkpoint_before(
    two_checkpoints, tmp_path, capsys, harm
):
    folder = shutil.copytree(two_checkpoints, tmp_path / "kept")
    assert read(folder) == 2
    harm(folder / "2.checkpoint")
    assert read(folder) == 1
    complaint = f"checkpoint {folder / '2.checkpoint'} is damaged and left out"
    assert complaint in capsys.readouterr().err
    names = ["1.checkpoint", "2.checkpoint.damaged"]
    assert sorted(path.name for path in folder.iterdir()) == names


def test_no_byte_of_a_checkpoint_can_change_unnoticed(two_checkpoints, tmp_path):
    """Whatever byte is flipped, the reader gives what was written, refuses, or falls back."""
    whole = (two_checkpoints / "2.checkpoint").read_bytes()
    folder = shutil.copytree(two_checkpoints, tmp_path / "kept")
    refusals = []
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 1
        (folder / "2.checkpoint").write_bytes(content)
        try:
            taken = read(folder)
        except ValueError as error:
            refusals.append(str(error))
        else:
            assert taken == 1
    # One byte is the number of the format; with another one it is another version's.
    assert len(refusals) == 1
    assert "another version" in refusals[0]


def test_numbers_that_fit_no_program_are_refused_and_not_deleted(two_checkpoints):
    kept = Checkpoints(two_checkpoints, "a", 0.0)
    with pytest.raises(ValueError, match="not written by jaxgbg"):
        kept.restore(LEAVES[:1] + [np.zeros(3, np.int8)])
    kept.close()
    names = sorted(path.name for path in two_checkpoints.iterdir())
    assert names == ["1.checkpoint", "2.checkpoint"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"checkpoint 2", b"checkpoint 3", "was written by another version"),
        (b'"run": "', b'"run": "1', "belongs to another run"),
    ],
)
def test_a_strange_checkpoint_is_refused_and_not_deleted(tmp_path, old, new, complaint):
    folder = stopped(small(), tmp_path)
    for path in (folder.path / "checkpoints").iterdir():
        rewrite(path, old, new, seal=True)
    with pytest.raises(ValueError, match=complaint):
        train(small(), tmp_path)
    assert len(list((folder.path / "checkpoints").iterdir())) == 2


def test_the_rest_of_a_killed_process_is_cleared_away(two_checkpoints, tmp_path):
    folder = shutil.copytree(two_checkpoints, tmp_path / "kept")
    (folder / ".3.checkpoint.4711.tmp").write_bytes(b"jaxgbg check")
    assert read(folder) == 2
    assert sorted(path.name for path in folder.iterdir()) == ["1.checkpoint", "2.checkpoint"]


def test_a_checkpoint_of_another_config_is_refused(tmp_path):
    other = stopped(small(alpha=0.5), tmp_path)
    folder = RunFolder(tmp_path, small())
    shutil.copytree(other.path, folder.path)
    with pytest.raises(ValueError, match=r"of another run than its folder: schedule.alpha differs"):
        train(small(), tmp_path)
    (folder.path / "config.json").write_text(json.dumps(small().plain()))
    with pytest.raises(ValueError, match="belongs to another run"):
        train(small(), tmp_path)


@pytest.mark.slow
def test_two_processes_do_not_share_a_folder(tmp_path):
    folder = RunFolder(tmp_path, small())
    with only_here(folder), pytest.raises(ValueError, match="another process is at work"):
        train(small(), tmp_path)
    train(small(), tmp_path)
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_what_another_process_has_just_finished_is_left_alone(tmp_path, monkeypatch):
    from jaxgbg.runs import execution

    folder, honest = RunFolder(tmp_path, small()), execution.Training
    times = {}

    def slow_to_begin(*runs):
        monkeypatch.setattr(execution, "Training", honest)
        train(small(), tmp_path)
        times.update({path: path.stat().st_mtime_ns for path in folder.path.rglob("*")})
        return honest(*runs)

    monkeypatch.setattr(execution, "Training", slow_to_begin)
    train(small(), tmp_path)
    assert times
    assert times == {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}


def test_a_lock_file_that_was_deleted_meanwhile_locks_nobody_out_of_nothing(tmp_path, monkeypatch):
    import fcntl

    folder, honest = RunFolder(tmp_path, small()), fcntl.flock

    def after_it_was_let_go(descriptor, how):
        honest(descriptor, how)
        (lock,) = tmp_path.glob(".*.lock")
        lock.unlink()

    monkeypatch.setattr(fcntl, "flock", after_it_was_let_go)
    with pytest.raises(ValueError, match="another process is at work"), only_here(folder):
        raise AssertionError("the lock is on a file that nobody else can find")


@pytest.mark.slow
def test_a_full_disk_ends_the_run_with_one_line_and_keeps_the_checkpoint(
    tmp_path, undisturbed, monkeypatch
):
    folder = stopped(small(), tmp_path, chunks=6)
    assert folder.metrics.size == 0
    # Whatever is written to this device fails as on a full disk.
    full = functools.partial(Path("/dev/full").open, "ab")
    with monkeypatch.context() as patch:
        patch.setattr(metrics, "open_own", lambda _: full())
        with pytest.raises(ValueError, match="no space left"):
            train(small(), tmp_path)
    same(train(small(), tmp_path), undisturbed)


@pytest.mark.slow
def test_a_checkpoint_that_finds_no_room_is_told_and_training_goes_on(
    tmp_path, undisturbed, capsys, monkeypatch
):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    same(train(small(), tmp_path, checkpoint_every=EVERY), undisturbed)
    # Once, however many of them found none.
    assert capsys.readouterr().err.count("no checkpoint could be written") == 1


@pytest.mark.slow
def test_no_room_for_a_checkpoint_and_then_for_the_results_is_told_once(
    tmp_path, capsys, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(execution, "write_json", full)
    with pytest.raises(ValueError, match="no space left"):
        train(small(), tmp_path, checkpoint_every=EVERY)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_no_room_for_a_checkpoint_is_told_after_a_minute_while_the_run_goes_on(
    tmp_path, undisturbed, capsys, monkeypatch
):
    def full(_):
        raise OSError(28, "No space left on device")

    told = []

    def look(_):
        told.append("no checkpoint could be written" in capsys.readouterr().err)

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(checkpoints_module, "_PATIENCE", 0.0)
    same(train(small(), tmp_path, look, checkpoint_every=EVERY), undisturbed)
    assert told.count(True) == 1


@pytest.mark.slow
def test_a_clock_that_jumps_back_harms_nothing(tmp_path, undisturbed, monkeypatch):
    start = time.time()
    ticks = iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: start - 3600 * next(ticks))
    stopped(small(), tmp_path)
    same(train(small(), tmp_path, checkpoint_every=EVERY), undisturbed)


@pytest.mark.slow
def test_runs_trained_together_resume_together(tmp_path):
    runs = [small(alpha=alpha) for alpha in (1.0, 0.5)]
    apart = train_together(runs, tmp_path / "undisturbed")
    assert len({folder.summary()["state_sha256"] for folder in apart}) == 2
    out = tmp_path / "stopped"
    with pytest.raises(Stopped):
        train_together(runs, out, stop_after(12), checkpoint_every=EVERY)
    for folder, other in zip(train_together(runs, out), apart, strict=True):
        same(folder, other)
    # One of them lost its summary: it is made again, and the other is left alone.
    lost, kept = (RunFolder(out, run) for run in runs)
    (lost.path / "summary.json").unlink()
    times = {path: path.stat().st_mtime_ns for path in kept.path.rglob("*")}
    train_together(runs, out)
    same(lost, apart[0])
    assert times == {path: path.stat().st_mtime_ns for path in kept.path.rglob("*")}
    assert sorted(path.name for path in out.iterdir()) == sorted(f.path.name for f in apart)


def test_runs_of_two_programs_are_not_trained_together(tmp_path):
    with pytest.raises(ValueError, match="lanes of one program"):
        train_together([small(), small(batch=8)], tmp_path)


PROGRAM = """
import sys
from jaxgbg.runs import Training
from jaxgbg.runs.storage import checkpoints
checkpoints._SHARE = 1e9
sys.modules[Training.__module__].SECONDS_A_CHUNK = 0.05
from jaxgbg.cli.app import main
main()
"""


def command(out, *more):
    arguments = ["train", "nim", "--seeds", "2", "--episodes", "400000", "--eval-every", "40000"]
    arguments += ["--batch", "16", "--checkpoint-every", "0", "--out", str(out), *more]
    return [sys.executable, "-c", PROGRAM, *arguments]


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_a_run_killed_ten_times_ends_as_an_undisturbed_one(tmp_path):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    subprocess.run(command(tmp_path / "a"), check=True, **quiet)
    (undisturbed,) = (tmp_path / "a").glob("nim-????????")
    draw, kills, second_signals = random.Random(0), 0, 0
    while kills < 10:
        process = subprocess.Popen(command(tmp_path / "b"), **quiet)
        try:
            # From the moment training can have begun. It goes on where it was, so that the kills
            # come all along its way.
            while process.poll() is None and not list(tmp_path.glob("b/nim-????????/checkpoints")):
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 1.5))
            if process.poll() is None:
                kills += 1
                # One that was about to end by itself does not count.
                if kills >= 5 and not second_signals:
                    # Asked twice, a process does not even wait for its checkpoint.
                    process.send_signal(signal.SIGTERM)
                    process.send_signal(signal.SIGTERM)
                    second_signals += process.wait(60) in (-signal.SIGTERM, 128 + signal.SIGTERM)
                process.kill()
        finally:
            process.kill()
            process.communicate()
        if list(tmp_path.glob("b/nim-????????/summary.json")):
            shutil.rmtree(tmp_path / "b")
    done = subprocess.run(command(tmp_path / "b"), check=True, **quiet)
    assert done.stderr is not None
    (killed,) = (tmp_path / "b").glob("nim-????????")
    run = json.loads((killed / "config.json").read_text())
    assert run == json.loads((undisturbed / "config.json").read_text())
    sums = [json.loads((f / "summary.json").read_text()) for f in (killed, undisturbed)]
    assert sums[0]["state_sha256"] == sums[1]["state_sha256"]
    names = ["metrics.jsonl", *(f"agents/{p.name}" for p in (killed / "agents").iterdir())]
    for name in names:
        assert (killed / name).read_bytes() == (undisturbed / name).read_bytes()
    assert second_signals == 1
    assert not (killed / "checkpoints").exists()


@pytest.mark.slow
def test_a_callback_stops_a_training_which_says_so_and_goes_on_to_the_same_end(
    tmp_path, undisturbed
):
    seen = []

    def enough(result):
        seen.append(result)
        if result.episodes == 1_000:
            raise StopTraining("enough for today")

    folder = train(small(), tmp_path, on_evaluation=enough)
    # All are told, whoever of them had enough.
    assert len(seen) == len(folder.run.lanes)
    assert not folder.finished
    assert folder.stopped_early
    assert json.loads((folder.path / "stopped.json").read_text()) == {"reason": "enough for today"}
    assert len(folder.results()) == len(folder.run.lanes)
    again = train(small(), tmp_path)
    same(again, undisturbed)
    assert not (folder.path / "stopped.json").exists()


@pytest.mark.slow
def test_a_training_cannot_be_stopped_after_its_last_evaluation(tmp_path, undisturbed):
    def late(result):
        if result.episodes == 3_000:
            raise StopTraining("too late")

    folder = train(small(), tmp_path, on_evaluation=late)
    assert folder.finished
    same(folder, undisturbed)
