"""Long compilations: say that XLA compiles, let a signal interrupt it, measure how long it takes.

Python runs no signal handler while its main thread is inside XLA. So XLA compiles in another
thread, and the main thread waits for it. JAX has no public hook for this: `_compiler` is the only
place that knows which function of JAX is replaced. Where JAX has no such function, programs compile
as without this module.
"""

import atexit
import contextlib
import functools
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import ClassVar, TypeVar

import jax.monitoring

from jaxgbg.runs import progress_bar as bars
from jaxgbg.runs.stopping import obey_while_compiling

_T = TypeVar("_T")
_FUNCTION = "backend_compile_and_load"
_POLL_SECONDS = 0.1
# Some systems give a thread half a megabyte; XLA is written for the stack of a main thread.
_STACK_BYTES = 2**26
TRACE = "/jax/core/compile/jaxpr_trace_duration"
LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE = "/jax/core/compile/backend_compile_duration"
"""What JAX reports of each program (jax.monitoring)."""


class CompileTimer:
    """Measures how long JAX traces, lowers and compiles from now on."""

    _spans: ClassVar[dict[str, list[tuple[float, float]]]] = {TRACE: [], LOWER: [], COMPILE: []}
    """(start, end) of each event of this process, as `time.monotonic()`, disjoint."""
    _cpu: ClassVar[list[tuple[float, float]]] = []
    """(end, processor time since the last event) of each event, without what else was done."""
    _cpu_before = 0.0
    _listening = False

    def __init__(self) -> None:
        self._since = time.monotonic()
        if not CompileTimer._listening:
            CompileTimer._listening = True
            # JAX has no public way to take a listener off again.
            jax.monitoring.register_event_duration_secs_listener(self._note)

    @classmethod
    def _note(cls, event: str, duration_secs: float, **_: str | int) -> None:
        if event in cls._spans:
            end, spans = time.monotonic(), cls._spans[event]
            # Tracing a function includes tracing those that it calls.
            while spans and spans[-1][0] >= end - duration_secs:
                spans.pop()
            spans.append((end - duration_secs, end))
            now = time.process_time()
            used, cls._cpu_before = now - cls._cpu_before, now
            # XLA compiles in several threads, as soon as a program is lowered. Tracing and lowering
            # take one thread, and programs may have run before.
            cls._cpu.append((end, used if event == COMPILE else min(used, duration_secs)))

    def durations(self, event: str) -> list[float]:
        """The seconds of each `event` since this object was made."""
        spans = self._spans[event]
        return [end - max(start, self._since) for start, end in spans if end > self._since]

    def seconds(self, *events: str) -> float:
        """The seconds since this object was made in which one of `events` went on, all if none."""
        spans = sorted(itertools.chain(*(self._spans[event] for event in events or self._spans)))
        covered, reached = 0.0, self._since
        # Tracing a function may include compiling others.
        for start, end in spans:
            covered += max(end - max(start, reached), 0.0)
            reached = max(reached, end)
        return covered

    def cpu_seconds(self) -> float:
        """The processor time of all events since this object was made, on one idle core."""
        return sum(used for end, used in self._cpu if end > self._since)

    def text(self) -> str:
        """The seconds for a progress line; nothing below a second."""
        seconds = self.seconds()
        return f"{bars.duration(seconds)} of compilation" if seconds >= 1 else ""


def _compiler() -> ModuleType:
    """The module of JAX whose `backend_compile_and_load` calls XLA."""
    from jax._src import compiler

    return compiler


@contextlib.contextmanager
def visible_compilation(shown: bool = True) -> Iterator[None]:
    """Within the block, signals interrupt a compilation of the main thread.

    If `shown`, a line on standard error says after some seconds that XLA compiles, then ever more
    rarely. A compilation that was interrupted goes on in its thread until the process ends.
    """
    compiler = _compiler()
    compile_ = getattr(compiler, _FUNCTION, None)
    if compile_ is None or hasattr(compile_, "visible"):
        yield
        return
    lines = _Lines() if shown else None

    @functools.wraps(compile_)
    def visible(*arguments: object, **options: object) -> object:
        call = functools.partial(compile_, *arguments, **options)
        if threading.current_thread() is not threading.main_thread():
            return call()
        return _interruptible(call, lines)

    visible.visible = True  # type: ignore[attr-defined]
    setattr(compiler, _FUNCTION, visible)
    try:
        yield
    finally:
        setattr(compiler, _FUNCTION, compile_)


def _interruptible(call: Callable[[], _T], lines: "_Lines | None") -> _T:
    """Make `call` in a thread; returns or raises what it does, unless a signal comes first."""
    outcome: list[_T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    _start(run)
    try:
        if lines is not None:
            lines.begin()
        while not done.wait(_POLL_SECONDS):
            obey_while_compiling()
            if lines is not None:
                lines.show()
    except BaseException as stop:
        # XLA cannot be told to stop, and Python would abort if it ended while XLA compiles.
        number = getattr(stop, "signal_number", signal.SIGINT)
        atexit.register(_end_unless, done, 128 + number)
        raise
    if lines is not None:
        lines.end()
    if failure:
        raise failure[0]
    return outcome[0]


def _start(run: Callable[[], None]) -> None:
    """Start a thread with a stack that suffices for XLA."""
    before = threading.stack_size(_STACK_BYTES)
    try:
        threading.Thread(target=run, name="compilation", daemon=True).start()
    finally:
        threading.stack_size(before)


def _end_unless(done: threading.Event, code: int) -> None:
    """End the process at once unless the compilation is over."""
    if done.is_set():
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


class _Lines:
    """Lines that say how long XLA has compiled; programs within a minute count together."""

    def __init__(self) -> None:
        self._begun = self._ended = -float("inf")
        self._before = self._next = 0.0

    def begin(self) -> None:
        """A program is compiled from now on."""
        self._begun = time.monotonic()
        if self._begun - self._ended > bars.LINE_SECONDS:
            self._before, self._next = 0.0, bars.FIRST_LINE

    def show(self) -> None:
        """Say how long it takes, if it is time to."""
        seconds = self._seconds()
        if seconds >= self._next:
            print(f"compiling ... {bars.duration(seconds)}", file=sys.stderr, flush=True)
            self._next += min(self._next, bars.LINE_SECONDS)

    def end(self) -> None:
        """The program is compiled."""
        self._before, self._ended = self._seconds(), time.monotonic()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun
