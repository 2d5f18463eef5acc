"""Reading files that may be damaged: sizes are limited before reading, and JSON is strict.

Every error is one line that names the file.
"""

import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import IO, NoReturn, Protocol

from jaxgbg.types import JSON

MOST_BYTES = 2**24
"""A file of settings or figures may be so long; nothing of ours comes near."""

# What our files hold is five deep; Python's own functions stop somewhere below a thousand.
_DEEPEST = 50
_LONGEST_REASON = 300
_GROWTH = 2**16
# Otherwise opening a pipe would wait for its other end. Not all systems have all of these.
_FLAGS = sum(getattr(os, f"O_{name}", 0) for name in ("NONBLOCK", "CLOEXEC", "BINARY"))
_NOT_REGULAR = "not a regular file"


class Elsewhere(Protocol):
    """A file that is not on this machine's disks; as text it is its address."""

    def open_bounded(self, most: int) -> BufferedReader:
        """As `open_file`."""
        ...


Readable = str | Path | Elsewhere


def open_file(path: Readable, most: int = MOST_BYTES) -> BufferedReader:
    """Open a regular file of at most `most` bytes for reading, without waiting.

    Raises OSError where it cannot be opened, ValueError, without the name, for another file.
    """
    if not isinstance(path, str | Path):
        if not hasattr(path, "open_bounded"):
            raise ValueError(f"a file is named by its path, not by a {type(path).__name__}")
        return path.open_bounded(most)
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        about = os.fstat(descriptor)
        # Python makes no file of a directory, and says so without its name.
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(_NOT_REGULAR)
        if about.st_size > most:
            raise ValueError(too_long(about.st_size, most))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def open_own(path: Path) -> IO[bytes]:
    """Open a file of this program for reading and appending, or make it, without waiting.

    Raises OSError where it cannot be opened, and ValueError as `check_regular_file` does.
    """
    check_regular_file(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | _FLAGS
    descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path}: {_NOT_REGULAR}")
        return os.fdopen(descriptor, "a+b")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular_file(path: Path) -> None:
    """Raise ValueError where a link, a pipe or the like is in the place of a file of ours.

    This program writes regular files; the target of a link does not belong to it.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = "a link, " * stat.S_ISLNK(mode) + _NOT_REGULAR
        raise ValueError(f"{path} is {what}: move it away, or choose another --out")


def too_long(size: int, most: int) -> str:
    """Why a file is not read."""
    return f"{size:,} bytes long, and at most {most:,} are read"


def read_bytes(path: Readable, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; raises as `open_file` does."""
    with open_file(path, most) as file:
        # Python makes room for all that it is asked for. The file may still grow.
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        return file.read(min(most, size + _GROWTH))


def parse_json(data: bytes | str) -> JSON:
    """Parse JSON; raises ValueError, without the file's name, if it is not valid."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    try:
        content = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(too_deep(_DEEPEST)) from None
    if text.count("[") + text.count("{") > _DEEPEST:
        check_depth(content, _DEEPEST)
    if "\\u" in text:
        # Half a character, written as an escape, could be neither shown nor written again.
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("invalid Unicode (unpaired surrogate)") from None
    return content


def read_json(path: Readable, most: int = MOST_BYTES) -> JSON:
    """Read a JSON file.

    Raises FileNotFoundError where there is none, for all else ValueError that names file and line.
    """
    try:
        return parse_json(read_bytes(path, most))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise ValueError(defect(path, error)) from error


def read_object(path: Readable) -> dict[str, JSON]:
    """`read_json` of a file that holds an object."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: not a JSON object")
    return content


def defect(path: Readable, error: Exception) -> str:
    """The file, the line where that is known, and what is wrong there, unless `error` says that."""
    where = str(path)
    if str(error).startswith(where):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        where += f", line {error.lineno}"
    if isinstance(error, UnicodeDecodeError):
        where += f", line {error.object[: error.start].count(10) + 1}"
    return f"{where}: {reason(error)}"


def reason(error: Exception) -> str:
    """The reason of an error, on one readable line."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON, {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    text = str(error.strerror if isinstance(error, OSError) else error) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} ..."


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def check_depth(content: JSON, most: int) -> None:
    """Raise ValueError for more than `most` levels of lists and tables; many would stop Python."""
    level = [content] if isinstance(content, list | dict) else []
    for _ in range(most):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, list | dict)
        ]
        if not level:
            return
    raise ValueError(too_deep(most))


def too_deep(most: int) -> str:
    return f"nested more than {most} levels deep"
