"""Files that appear whole or not at all."""

import contextlib
import errno
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that is full, or that is to hold no more of this user or in this file."""


class NoRoom(ValueError):
    """A run that ended because its folder could not be written for want of room."""


class CannotWrite(OSError):
    """A file that could not be written; what it says is one line that names it."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


class Folder(Protocol):
    """A folder that one process at a time works in."""

    path: Path

    def unwritable(self, error: OSError) -> ValueError:
        """What to tell a user whose folder could not be written."""
        ...


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path whose file becomes that of `path` if the block ends well, else is gone.

    At the end of all symbolic links a regular file is replaced, whole or not at all. A device, a
    pipe or this process's own output stays what it is, and is written to. Raises CannotWrite.
    """
    try:
        with _replaced(path) if _replaceable(path) else _written_through(path) as temporary:
            yield temporary
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise CannotWrite(error.errno, reason, str(path)) from error


def write_json(path: Path, content: Any) -> None:
    """Write `content` as JSON, whole or not at all; raises CannotWrite."""
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def check_writable(*paths: Path | None) -> None:
    """Find out before long work that a file could not be written after it; raises CannotWrite."""
    for path in paths:
        if path is None:
            continue
        try:
            target = Path(os.path.realpath(path)) if path.is_symlink() else path
            if _replaceable(path):
                if not target.parent.is_dir():
                    raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}")
                # The temporary file has the longer name: one that is too long is refused here.
                with contextlib.suppress(FileNotFoundError):
                    os.stat(_temporary(target))
        except OSError as error:
            raise CannotWrite(error.errno, error.strerror, str(path)) from error


def check_folder(path: Path) -> None:
    """Make the folder `path` and those above it, and see that it can be written to.

    Raises ValueError, before long work, where that cannot be.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(folder: Path, error: OSError) -> ValueError:
    """What to tell a user whose folder for the results could not be written."""
    return ValueError(f"cannot write {folder}: {error.strerror}; choose another folder with --out")


def _replaceable(path: Path) -> bool:
    """Whether `path` leads to a regular file that nobody writes to, or to none yet."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_ISREG(status.st_mode) and _own_output(status) is None


def _own_output(status: os.stat_result) -> int | None:
    """The descriptor of standard output or error, if it is the file of this status."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.fstat(descriptor)):
                return descriptor
    return None


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    target = Path(os.path.realpath(path))
    temporary = _temporary(target)
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _written_through(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / path.name
        yield temporary
        # Opened anew, a file that output is redirected to would be written from its start.
        own = _own_output(os.stat(path))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with (
            temporary.open("rb") as content,
            open(path if own is None else own, "wb", closefd=own is None) as sink,
        ):
            shutil.copyfileobj(content, sink)
