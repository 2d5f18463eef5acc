"""Stopping a training by Ctrl-C or SIGTERM so that it can go on later."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

_GIVEN_AGAIN_AFTER = 0.05  # seconds


class Stopped(KeyboardInterrupt):
    """A training was asked to stop and has kept its state; `signal_number` says how."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class StopTraining(Exception):
    """Raised by a callback to end a training early: it keeps all it has, and can go on later.

    Its text says why; the run's folder keeps it in stopped.json.
    """


def call_all(calls: Iterable[Callable[[], object]]) -> None:
    """Make all calls; StopTraining, where one of them raises it, comes after the last."""
    asked: StopTraining | None = None
    for call in calls:
        try:
            call()
        except StopTraining as stop:
            asked = asked or stop
    if asked is not None:
        raise asked


class StopRequest:
    """Whether a stop was requested, and by which signal.

    `while_compiling` says whether it may take effect while the main thread waits for XLA.
    """

    def __init__(self, while_compiling: Callable[[], bool] = lambda: False) -> None:
        self.signal_number: int | None = None
        self.while_compiling = while_compiling

    def obey(self) -> None:
        """Raise Stopped if a stop was asked for."""
        if self.signal_number is not None:
            raise Stopped(self.signal_number)


_requests: list[StopRequest] = []
"""Of the blocks of `stop_signals` that the main thread is in."""


def obey_while_compiling() -> None:
    """Raise Stopped if a stop was asked for and may be obeyed while XLA compiles."""
    for request in _requests:
        if request.while_compiling():
            request.obey()


@contextlib.contextmanager
def stop_signals(
    interruptible: Callable[[], bool], while_compiling: Callable[[], bool] = lambda: False
) -> Iterator[StopRequest]:
    """Note SIGINT and SIGTERM within the block instead of dying of them.

    The first is noted, for `obey` between two chunks, and raises Stopped at once only where work is
    `interruptible`, or, `while_compiling`, where the main thread waits for XLA. A second one ends
    the process on the spot. A signal that the process was told to ignore stays ignored. Outside the
    main thread, where signals cannot be caught, nothing is noted.
    """
    request = StopRequest(while_compiling)
    unraisable_before = sys.unraisablehook

    def send(number: int) -> None:
        if request.signal_number is None:
            os.kill(os.getpid(), number)

    def give_again(lost: "sys.UnraisableHookArgs") -> None:
        # A signal that comes while Python runs a finalizer or a callback of its garbage collector
        # (JAX has one) raises into nothing.
        if isinstance(lost.exc_value, Stopped):
            request.signal_number = None
            threading.Timer(_GIVEN_AGAIN_AFTER, send, (lost.exc_value.signal_number,)).start()
        else:
            unraisable_before(lost)

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        if request.signal_number is not None:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        request.signal_number = number
        if interruptible():
            raise Stopped(number)

    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, note)
    sys.unraisablehook = give_again
    _requests.append(request)
    try:
        yield request
    finally:
        _requests.remove(request)
        sys.unraisablehook = unraisable_before
        for number, handler in before.items():
            signal.signal(number, handler)
