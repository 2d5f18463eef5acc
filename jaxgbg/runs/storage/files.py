"""Files that appear whole or not at all."""

import contextlib
import errno
import itertools
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from jaxgbg.types import JSON

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that is full, or that is to hold no more of this user or in this file."""
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.\d+\.tmp")
_DAMAGED = ".damaged"
_SET_ASIDE = re.compile(rf"(?P<name>.+){re.escape(_DAMAGED)}(-\d+)?")


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
        """The error to raise if a folder cannot be written."""
        ...


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path whose file becomes that of `path` if the block ends well, else is gone.

    At the end of all symbolic links a regular file is replaced, whole or not at all. A device, a
    pipe or this process's own output stays what it is, and is written to. Raises CannotWrite.
    """
    try:
        with _replaced(path) if replaceable(path) else _written_through(path) as temporary:
            yield temporary
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise CannotWrite(error.errno, reason, str(path)) from error


def write_json(path: Path, content: JSON) -> None:
    """Write `content` as JSON, whole or not at all; raises CannotWrite."""
    with written_whole(path) as temporary:
        text = json.dumps(content, indent=1) + "\n"
        temporary.write_text(text, encoding="utf-8", newline="\n")


def leftovers(folder: Path, is_own: Callable[[str], bool]) -> list[Path]:
    """The temporary files in `folder` that killed processes have left of `written_whole`.

    Only those of files whose names are our own, and nothing below the folder.
    """
    return _own_files(folder, _TEMPORARY, is_own)


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be read, so that nothing of it is lost; returns its new path."""
    for number in itertools.count(1):
        aside = path.with_name(path.name + _DAMAGED + f"-{number}" * (number > 1))
        if not os.path.lexists(aside):
            return path.rename(aside)
    raise AssertionError


def were_set_aside(folder: Path, is_own: Callable[[str], bool]) -> list[Path]:
    """The files in `folder` that `set_aside` has made of those whose names are our own."""
    return _own_files(folder, _SET_ASIDE, is_own)


def _own_files(folder: Path, form: re.Pattern[str], is_own: Callable[[str], bool]) -> list[Path]:
    """The regular files in a folder, no links to any, made from names that are our own."""
    try:
        with os.scandir(folder) as entries:
            files = [each.name for each in entries if each.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    matches = map(form.fullmatch, files)
    return [folder / each[0] for each in matches if each is not None and is_own(each["name"])]


def check_writable(*paths: Path | None) -> None:
    """Find out before long work that a file could not be written after it; raises CannotWrite."""
    for path in paths:
        if path is None:
            continue
        try:
            target = Path(os.path.realpath(path)) if path.is_symlink() else path
            if replaceable(path):
                if not target.parent.is_dir():
                    raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}")
                # The temporary file has the longer name: one that is too long is refused here.
                with contextlib.suppress(FileNotFoundError):
                    os.stat(_temporary(target))
                _try_to_write(target.parent)
        except OSError as error:
            raise CannotWrite(error.errno, error.strerror, str(path)) from error


def check_can_make(folder: Path) -> None:
    """See that `folder` can be made and written to, and leave no trace.

    Raises ValueError, before long work, where that cannot be.
    """
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    try:
        _try_to_write(there)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _try_to_write(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder):
        pass


def check_folder(path: Path) -> None:
    """Make the folder `path` and those above it, and see that it can be written to.

    Raises ValueError, before long work, where that cannot be.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        _try_to_write(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(folder: Path, error: OSError) -> ValueError:
    """The error to raise if the folder for results cannot be written."""
    if isinstance(error, FileExistsError):
        # A link that leads nowhere, or to itself, exists too.
        try:
            os.stat(error.filename or folder)
        except OSError as reason:
            error = reason
    return ValueError(f"cannot write {folder}: {error.strerror}; choose another folder with --out")


def replaceable(path: Path) -> bool:
    """Whether `path` leads to a regular file that no process writes to, or to no file yet."""
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
    temporary = _new_temporary(target)
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _new_temporary(target: Path) -> Path:
    """Make an empty file next to `target`; never replace an existing file."""
    for number in itertools.count(os.getpid()):
        temporary = target.with_name(f".{target.name}.{number}.tmp")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            return temporary
    raise AssertionError


@contextlib.contextmanager
def _written_through(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / path.name
        yield temporary
        # If output is redirected to this file, opening it again would write from its start.
        own = _own_output(os.stat(path))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with (
            temporary.open("rb") as content,
            open(path if own is None else own, "wb", closefd=own is None) as sink,
        ):
            shutil.copyfileobj(content, sink)
