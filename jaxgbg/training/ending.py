"""How programs end: in one line that says what to do, whatever went wrong."""

import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Callable

from jaxgbg.games.backend import NoBackend, check_backend
from jaxgbg.players import EngineError, MissingExtra
from jaxgbg.specs import printable
from jaxgbg.training.stopping import Stopped

# What JAX calls it.
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED: Out of memory"


def end_in_a_line(run: Callable[[], object]) -> None:
    """Do `run`; what the user did wrong, and what stops it, ends in one line and an exit code.

    2 for a mistake, 1 where nobody reads on, 128 and the signal's number where a signal stopped it.
    """
    _prepare_output()
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
    except (ValueError, OSError, EngineError, MissingExtra) as error:
        _fail(error)
    except (RuntimeError, AssertionError) as error:
        if _OUT_OF_MEMORY in str(error):
            _fail(MemoryError())
        try:
            check_backend()
        except NoBackend as missing:
            _fail(missing)
        raise
    except MemoryError as error:
        _fail(error)
    except KeyboardInterrupt as stop:
        print("jaxgbg: stopped", file=sys.stderr)
        sys.exit(128 + (stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT))


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


def _fail(error: Exception) -> None:
    line = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        line = "out of memory: take fewer --seeds, a smaller --batch, or a larger machine"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        # Of files the name is known.
        line = f"cannot write the output: {error.strerror}"
    try:
        sys.stdout.flush()
    except OSError:
        _give_output_up()
    with contextlib.suppress(OSError):
        print(f"jaxgbg: {printable(line)}", file=sys.stderr, flush=True)
    sys.exit(2)
