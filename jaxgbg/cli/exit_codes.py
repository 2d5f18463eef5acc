"""Ends of programs: after any error, one line that says what to do, and an exit code."""

import contextlib
import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable

from jaxgbg.extensions import described, user_frame
from jaxgbg.runs.stopping import Stopped
from jaxgbg.specs import printable

# What JAX calls it.
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED: Out of memory"


def end_in_a_line(
    run: Callable[[], object], show_traceback: bool = False, user_code: bool = False
) -> None:
    """Call `run`; a mistake of the user or an interruption ends in one line and an exit code.

    2 for a mistake, 1 if the reader of the output is gone, 128 plus the number of a signal.
    With `user_code` any exception raised in a user's own file, such as the rules of a game, is a
    mistake too. `show_traceback` prints the traceback of a mistake before its line.
    """
    _prepare_output()
    try:
        _end_in_a_line(run, show_traceback, user_code)
    except SystemExit as stop:
        from jaxgbg.games.time_limit import calls_go_on

        if calls_go_on():
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            os._exit(stop.code if isinstance(stop.code, int) else 0)
        raise


def _end_in_a_line(run: Callable[[], object], show_traceback: bool, user_code: bool) -> None:
    try:
        try:
            run()
        finally:
            # What cannot be written must fail here, where it is told in a line.
            sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has enough, as `head`. Rich ends so too.
        _give_output_up()
        sys.exit(1)
    except KeyboardInterrupt as stop:
        print("jaxgbg: stopped", file=sys.stderr)
        sys.exit(128 + (stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT))
    except SystemExit as stop:
        if show_traceback and stop.__cause__ is not None:
            traceback.print_exception(stop.__cause__)
        raise
    except Exception as error:
        line = _line(error, user_code)
        if line is None and isinstance(error, RuntimeError | AssertionError):
            from jaxgbg.games.backend import NoBackend, check_backend

            try:
                check_backend()
            except NoBackend as missing:
                line = str(missing)
        if line is None:
            raise
        if show_traceback:
            traceback.print_exception(error)
        _fail(line)


def _prepare_output() -> None:
    """Streams that were closed lead nowhere; what an encoding lacks is written as an escape."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _give_output_up() -> None:
    """Else what is left of it would be tried again, and fail, at the end of the program."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _line(error: Exception, user_code: bool) -> str | None:
    """The message for an error of the user; None for an error of this package."""
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and _OUT_OF_MEMORY in str(error)
    ):
        return "out of memory: ask for less, such as fewer agents, games or plies"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        # Of files the name is known.
        return f"cannot write the output: {error.strerror}"
    if isinstance(error, OSError) and type(error).__str__ is OSError.__str__ and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, ValueError | OSError):
        return str(error)
    from jaxgbg.players.core import EngineError, MissingExtra

    if isinstance(error, EngineError | MissingExtra):
        return str(error)
    if user_code and user_frame(error) is not None:
        return f"{described(error)}; --traceback shows all"
    return None


def _fail(line: str) -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _give_output_up()
    with contextlib.suppress(OSError):
        print(f"jaxgbg: {printable(' '.join(line.split()))}", file=sys.stderr, flush=True)
    sys.exit(2)
