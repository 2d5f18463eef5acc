"""Locks on folders: one process at a time works in one, and others can see that it does.

The lock of `runs/NAME` is the empty file `runs/.NAME.lock`, which the process holds locked and
deletes at its end. A process that is killed lets go of the lock, but leaves the file.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from jaxgbg.runs.storage.files import Folder
from jaxgbg.system import try_lock

# Who looks whether a folder is locked holds its lock for less than that.
_INSTANT = 0.05
_GLANCE = 0.002
_FLAGS = sum(getattr(os, f"O_{name}", 0) for name in ("NONBLOCK", "CLOEXEC", "NOFOLLOW"))


class Busy(ValueError):
    """Another process is at work in a run's folder."""


@contextlib.contextmanager
def only_here(folder: Folder) -> Iterator[None]:
    """Keep other processes out of a folder; raises Busy where one is at work in it.

    Raises ValueError where the place of the lock is taken by something else.
    """
    path = _lock_of(folder.path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_lock(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
    except OSError as error:
        raise folder.unwritable(error) from error
    try:
        # Where there are no locks, all go on without them.
        if _try_twice(descriptor, _INSTANT) is False:
            raise _busy(folder)
        # The last holder of the lock deleted the file: another process may hold a new one.
        if not _is_file(path, descriptor):
            raise _busy(folder)
        with _removed_after(path, descriptor):
            yield
    finally:
        os.close(descriptor)
        if sys.platform == "win32":
            # Windows does not delete open files, so no process holds this lock.
            with contextlib.suppress(OSError):
                path.unlink()


def at_work(path: Path) -> bool:
    """Whether a process is at work in a run's folder; one that was killed there is not."""
    lock = _lock_of(path)
    if not _is_lock(lock):
        return False
    try:
        descriptor = os.open(lock, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return False
    except OSError:
        # Who may not look there takes it for what it seems.
        return True
    try:
        # Without locks, too, it is taken for what it seems.
        return not _try_twice(descriptor, _GLANCE)
    finally:
        os.close(descriptor)


def killed(path: Path) -> bool:
    """Whether a process was at work in a run's folder that ended before it could tidy up."""
    return _is_lock(_lock_of(path)) and not at_work(path)


def _try_twice(descriptor: int, patience: float) -> bool | None:
    """`try_lock`; False where another process is at work, and does not only look for an instant."""
    locked = try_lock(descriptor)
    if locked is False:
        time.sleep(patience)
        locked = try_lock(descriptor)
    return locked


def _is_lock(path: Path) -> bool:
    """Whether there is a lock of ours: a regular file without content."""
    try:
        return _is_empty_file(path.lstat())
    except OSError:
        return False


def _check_lock(path: Path) -> None:
    """Raise ValueError where something else is in the place of a lock."""
    with contextlib.suppress(FileNotFoundError):
        if not _is_empty_file(path.lstat()):
            raise ValueError(
                f"{path} is not a lock of jaxgbg, which is an empty file: move it away, or choose"
                " another --out"
            )


def _is_empty_file(about: os.stat_result) -> bool:
    return stat.S_ISREG(about.st_mode) and not about.st_size


def _is_file(path: Path, descriptor: int) -> bool:
    """Whether an open file is still the one of that path."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except OSError:
        return False


@contextlib.contextmanager
def _removed_after(path: Path, descriptor: int) -> Iterator[None]:
    """Delete the file of a lock, which is still held, at the end of the block."""
    try:
        yield
    finally:
        if _is_file(path, descriptor):
            with contextlib.suppress(OSError):
                path.unlink()


def _lock_of(path: Path) -> Path:
    return (real := Path(os.path.realpath(path))).with_name(f".{real.name}.lock")  # "." has none


def _busy(folder: Folder) -> Busy:
    return Busy(
        f"another process is at work in {folder.path}: wait for it, or choose another --out"
    )
