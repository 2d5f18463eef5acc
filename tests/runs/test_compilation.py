"""A long compilation is seen, and a signal interrupts it."""

import os
import re
import resource
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import psutil
import pytest
from jax._src import compiler

from jaxgbg.runs import compilation, execution, train
from jaxgbg.runs import progress_bar as bars
from jaxgbg.runs.compilation import COMPILE, LOWER, TRACE, CompileTimer, visible_compilation
from jaxgbg.runs.presets import preset
from jaxgbg.runs.stopping import Stopped
from jaxgbg.runs.storage.locks import at_work, killed

ROOT = Path(__file__).parents[2]
NAME = compilation._FUNCTION


@pytest.fixture(autouse=True)
def _no_long_wait(monkeypatch):
    # An interrupted compilation would end the process of the tests with it.
    monkeypatch.setattr(compilation.atexit, "register", lambda *_: None)


class Slow:
    """A compiler that takes its time from the `first`-th program on, until it is released."""

    def __init__(self, monkeypatch, first=1):
        self.compile, self.first, self.count = getattr(compiler, NAME), first, 0
        self.reached, self.released = threading.Event(), threading.Event()
        self.threads = []
        monkeypatch.setattr(compiler, NAME, self)

    def __call__(self, *arguments, **options):
        self.count += 1
        self.threads.append(threading.current_thread().name)
        if self.count >= self.first:
            self.reached.set()
            self.released.wait(20)
        return self.compile(*arguments, **options)

    def signalled_once_reached(self, number):
        def wait():
            self.reached.wait(60)
            time.sleep(0.2)
            self.at = time.monotonic()
            signal.raise_signal(number)

        # Of a thread, as of another process: only the main one runs the handler.
        thread = threading.Thread(target=wait, daemon=True)
        thread.start()


def fresh(number):
    """A program that nothing has compiled before."""
    return jax.jit(lambda x: x * number + 1)(jnp.float32(2))


def test_jax_still_compiles_by_the_function_that_is_replaced(monkeypatch):
    slow = Slow(monkeypatch, first=10**9)
    jax.clear_caches()
    monkeypatch.setattr(compiler, "_cache_read", lambda *_: (None, None), raising=False)
    with visible_compilation():
        assert fresh(secrets.randbits(24)) > 0
    assert slow.threads[-1:] == ["compilation"], (
        f"JAX {jax.__version__} compiles by another function than jax._src.compiler.{NAME}:"
        " write its name in runs/compilation.py"
    )
    assert getattr(compiler, NAME) is slow


def test_without_that_function_programs_compile_as_ever(monkeypatch):
    monkeypatch.setattr(compilation, "_FUNCTION", "no_such_function")
    with visible_compilation():
        assert fresh(3) == 7


def test_what_the_compiler_raises_is_raised(monkeypatch):
    def fail():
        raise RuntimeError("of the compiler")

    with pytest.raises(RuntimeError, match="of the compiler"):
        compilation._interruptible(fail, None)


def test_lines_come_after_some_seconds_and_ever_more_rarely(monkeypatch, capsys):
    monkeypatch.setattr(bars, "FIRST_LINE", 5.0)
    now = [100.0]
    monkeypatch.setattr(compilation.time, "monotonic", lambda: now[0])
    lines = compilation._Lines()
    lines.begin()
    for _ in range(200):
        now[0] += 1
        lines.show()
    lines.end()
    written = capsys.readouterr().err.splitlines()
    assert written[:4] == [f"compiling ... {seconds} s" for seconds in (5, 10, 20, 40)]
    assert len(written) == 7
    now[0] += 1
    lines.begin()
    lines.show()
    assert not capsys.readouterr().err, "one program soon after the other counts together"


def test_a_signal_interrupts_a_compilation(monkeypatch):
    slow = Slow(monkeypatch)
    monkeypatch.setattr(slow, "compile", lambda: None)
    slow.signalled_once_reached(signal.SIGINT)
    with visible_compilation(), pytest.raises(KeyboardInterrupt):
        getattr(compiler, NAME)()
    # Otherwise the compiler had taken its 20 s.
    assert time.monotonic() - slow.at < 15
    slow.released.set()


def test_a_run_that_is_stopped_while_its_first_chunk_compiles_begins_anew(monkeypatch, tmp_path):
    run = preset("nim", seeds=(0,), episodes=64, eval_every=64, opponents=("random",))
    whole = train(run, tmp_path / "whole").summary()["state_sha256"]
    advance, signalled = execution.Training.advance, []

    def stopped(self, limit):
        chunk = self._chunk

        def compiling(*arguments):
            # Noted, as while JAX traces; obeyed while XLA compiles.
            signalled.append(time.monotonic())
            signal.raise_signal(signal.SIGTERM)
            compilation._interruptible(lambda: time.sleep(30), None)
            return chunk(*arguments)

        self._chunk = compiling
        advance(self, limit)

    monkeypatch.setattr(execution.Training, "advance", stopped)
    with pytest.raises(Stopped):
        train(run, tmp_path / "out")
    assert time.monotonic() - signalled[0] < 25
    folder = tmp_path / "out" / run.name
    assert not list(folder.rglob("*.tmp"))
    assert not list(folder.rglob("*.checkpoint"))
    assert not at_work(folder)
    assert not killed(folder)
    monkeypatch.setattr(execution.Training, "advance", advance)
    assert train(run, tmp_path / "out").summary()["state_sha256"] == whole


SLOW_GAME = """
import dataclasses

import jax
import jax.numpy as jnp

from jaxgbg.games import register, time_limit
from jaxgbg.games.nim import Nim
from jaxgbg.runs import progress_bar

# Machines differ: what takes 8 s to compile here may take 3 s or a minute elsewhere.
progress_bar.FIRST_LINE = 2.0
time_limit.PATIENCE = time_limit.SECONDS_OF_A_CALL = 3600.0


@dataclasses.dataclass(frozen=True)
class SlowNim(Nim):
    @property
    def name(self):
        return "slownim"

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        heaps = jnp.stack([after.heaps, after.heaps])
        keys = [heaps + jnp.int8(number % 100) for number in range(1600)]
        last = jax.lax.sort(keys, num_keys=len(keys))[-1]
        return after._replace(terminal=after.terminal | (last.min() > 125))


register("slownim", SlowNim)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_ends_within_two_seconds_while_xla_compiles(number, tmp_path):
    (tmp_path / "slownim.py").write_text(SLOW_GAME)
    command = [sys.executable, "-m", "jaxgbg.cli", "--import", "slownim", "train", "slownim"]
    # Not the programs that other tests have compiled.
    caches = dict.fromkeys(("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"), str(tmp_path / "cache"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [*command, "--episodes", "64", "--seeds", "1", "--opponents", "random"],
        cwd=tmp_path,
        env=os.environ | caches | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    line = ""
    while not line.startswith("compiling"):
        line = process.stderr.readline()
        assert line, "it ended before it has compiled for two seconds"
    assert re.fullmatch(r"compiling \.\.\. \d+ s\n", line)
    times = psutil.Process(process.pid).cpu_times()
    process.send_signal(number)
    _, rest = process.communicate(timeout=60)
    # Of the processor, which compiles to the end: the machine may be busy with others.
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    assert used - times.user - times.system < 2
    # Before the run has its folder a signal of SIGTERM is nothing to be handled.
    assert process.returncode in (128 + number, -number), rest
    assert "Traceback" not in rest


def test_the_time_to_compile_is_measured(monkeypatch):
    slow, timer = Slow(monkeypatch), CompileTimer()

    def release() -> None:
        slow.reached.wait(60)
        time.sleep(0.5)
        slow.released.set()

    threading.Thread(target=release, daemon=True).start()
    begun = time.monotonic()
    # A number of this run: an earlier run has left its program in the compile cache.
    fresh(secrets.randbits(24))
    whole = time.monotonic() - begun
    assert 0.4 < timer.seconds() <= whole, (
        "JAX reports compilations otherwise: mend jaxgbg.runs.compilation.CompileTimer"
    )
    assert CompileTimer().seconds() == 0


def test_what_is_traced_or_compiled_within_something_else_counts_once(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(compilation.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(CompileTimer, "_spans", {TRACE: [], LOWER: [], COMPILE: []})
    early, timers = CompileTimer(), []
    for event, start, end in (
        (TRACE, 1, 2), (COMPILE, 2, 3), (TRACE, 1, 4),
        (TRACE, 0, 5), (LOWER, 5, 6), (COMPILE, 6, 9),
    ):  # fmt: skip
        now[0] = end
        CompileTimer._note(event, end - start)
        timers.append(CompileTimer())
    assert (early.seconds(TRACE), early.seconds(LOWER), early.seconds(COMPILE)) == (5, 1, 4)
    assert early.durations(COMPILE) == [1, 3]
    assert early.seconds() == 9
    assert [timer.seconds() for timer in timers] == [7, 6, 5, 4, 3, 0]
    assert timers[2].durations(COMPILE) == [3]
