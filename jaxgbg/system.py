"""Differences between operating systems, and features that a bare machine may lack.

filelock, psutil and platformdirs are imported where they are used. Without them, as in a source
tree with JAX alone, there is no lock, no limit on memory and no cache.
"""

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_REFUSED_BY_WINDOWS = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_DEVICES_OF_WINDOWS = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def warn(text: str) -> None:
    """Print a line about the user's files or settings on standard error."""
    print(f"jaxgbg: {text}", file=sys.stderr)


def core_numbers() -> list[int]:
    """The CPU cores that this process may use; all of them where the system does not say which."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pin_to_core(core: int) -> None:
    """Keep this process on one core, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def cache_folder() -> Path | None:
    """The folder of this user's cache of jaxgbg; None without a home folder.

    `XDG_CACHE_HOME` moves it if it is an absolute path.
    """
    try:
        import platformdirs
    except ImportError:
        return None
    try:
        path = platformdirs.user_cache_path("jaxgbg", appauthor=False)
    except RuntimeError:
        return None
    # Older versions give a path in a folder named "~" here, where there is no home folder.
    return path if path.is_absolute() else None


def memory_limit() -> int | None:
    """Bytes of address space that this process may have; None where there is no limit."""
    try:
        import psutil

        soft, _ = psutil.Process().rlimit(psutil.RLIMIT_AS)
    except (ImportError, AttributeError):
        # Windows and macOS know no such limit.
        return None
    return None if soft == psutil.RLIM_INFINITY else int(soft)


@contextlib.contextmanager
def limited_memory(more: int) -> Iterator[None]:
    """Let this process take at most `more` bytes within the block, where the system can do that."""
    try:
        import psutil

        process, kind = psutil.Process(), psutil.RLIMIT_AS
        soft, hard = process.rlimit(kind)
        taken = process.memory_info().vms
    except (ImportError, AttributeError, OSError):
        yield
        return
    most = taken + more
    process.rlimit(kind, (most if soft == psutil.RLIM_INFINITY else min(most, soft), hard))
    try:
        yield
    finally:
        process.rlimit(kind, (soft, hard))


def free_memory() -> float:
    """Bytes of free memory of this machine; infinite if unknown."""
    try:
        import psutil
    except ImportError:
        return float("inf")
    return float(psutil.virtual_memory().available)


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process that was started in a separate session, and the processes it has started.

    On systems without process groups, only the process.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file until it is closed or this process ends; False where another has it.

    None where the system, the file system or this installation has no locks.
    """
    try:
        from filelock import lock_descriptor
    except ImportError:
        return None
    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError:
        return None


def file_name(text: str) -> str:
    """`text` as the name of a file or folder that Windows takes too."""
    name = _REFUSED_BY_WINDOWS.sub("-", text).rstrip(". ")
    return f"_{name}" if not name or _DEVICES_OF_WINDOWS.fullmatch(name) else name


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Turn off the garbage collector: runs and their evaluations have no reference cycles.

    It would scan all existing objects again and again, which takes half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
