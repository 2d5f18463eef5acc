"""Storage of runs: local folders, or object storage by URL (fsspec)."""

import contextlib
import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from jaxgbg.contents import too_long
from jaxgbg.players import MissingExtra
from jaxgbg.runs.storage.metrics import Complain
from jaxgbg.specs import shown

FILES = ("config.json", "metrics.jsonl", "summary.json", "histograms.json")
"""The files of a run that tables need."""
LADDER = "tournament.json"
"""The file that marks the folder of a tournament."""
# A run or tournament has at least one of these files.
_MARKS = frozenset((*FILES[:2], LADDER))
# Subfolders of a run that contain no runs.
_WITHIN = ("agents", "checkpoints")
# For each file: modification and change time in ns, size, inode.
_STATUS = struct.Struct("qqqQ" * len(FILES))
_ABSENT = (0, 0, -1, 0)


class RemotePath:
    """A file or folder of an fsspec file system, with the methods of Path that readers need."""

    def __init__(self, system: Any, path: str) -> None:
        self.system, self.path = system, path.rstrip("/")

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(self.system, f"{self.path}/{name}")

    def __str__(self) -> str:
        return str(self.system.unstrip_protocol(self.path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def parent(self) -> "RemotePath":
        """The folder that contains it."""
        return RemotePath(self.system, self.path.rpartition("/")[0])

    def exists(self) -> bool:
        """Whether the file or folder exists; raises OSError if that is unknown."""
        with _as_os_errors():
            return bool(self.system.exists(self.path))

    def open_bounded(self, most: int) -> io.BufferedReader:
        """Open it like `contents.open_file` opens a local file."""
        with _as_os_errors():
            about = self.system.info(self.path)
            if about["type"] != "file":
                raise ValueError("not a regular file")
            size = about["size"]
            if size is None or size > most:
                raise ValueError(too_long(size, most))
            content = io.BytesIO(self.system.cat_file(self.path))
            # Buffered like a local file: checksum code would restart at the start of BytesIO.
            return io.BufferedReader(content)  # type: ignore[type-var]


Place: TypeAlias = Path | RemotePath


class NoRuns(ValueError):
    """There is no such folder, or no run in it."""


class Found(NamedTuple):
    """A possible run or tournament: its folder, its path below the searched folder, its files.

    `signature` changes with any of `FILES`; it is empty if it is unknown.
    """

    path: Place
    name: str
    files: frozenset[str]
    signature: bytes = b""

    @property
    def last_change(self) -> float:
        """The time of the last change of its files, in seconds; raises struct.error if unknown."""
        status = _STATUS.unpack(self.signature)
        return max(*status[::4], *status[1::4]) / 1e9


def place_of(text: str | Path) -> Place:
    """The folder of a path or URL.

    Raises ValueError for an unknown type of URL, MissingExtra if the package for it is not
    installed.
    """
    if not isinstance(text, str | Path):
        raise ValueError(f"folder must be a path or a URL, not {shown(text)}")
    protocol, separator, _ = str(text).partition("://")
    if isinstance(text, Path) or not separator:
        return Path(text)
    if protocol == "file":
        return Path(unquote(urlsplit(text).path))
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra(f"{text} needs fsspec: pip install 'jaxgbg[remote]'") from error
    try:
        with _as_os_errors():
            return RemotePath(*fsspec.core.url_to_fs(text))
    except ImportError as error:
        why = " ".join(str(error).split())
        raise MissingExtra(f"{text}: {why} (pip install; fsspec has it)") from error


def find(root: Place, complain: Complain) -> Iterator[Found]:
    """Find `root` and all folders below it that have a config or evaluations, in order.

    This includes folders of tournaments. Raises NoRuns if there is no such folder.
    """
    if isinstance(root, RemotePath):
        return _find_remote(root)
    if not root.is_dir():
        raise NoRuns(f"{root} is not a folder; name the folder that has the runs, such as runs")
    return _find_local(root, complain)


def _find_local(root: Path, complain: Complain) -> Iterator[Found]:
    left = [(str(root), "")]
    while left:
        folder, name = left.pop()
        files: dict[str, os.DirEntry[str]] = {}
        below = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    # Links are not followed: they may form a cycle.
                    if entry.is_dir(follow_symlinks=False):
                        below.append(entry.name)
                    else:
                        files[entry.name] = entry
        except OSError as error:
            if not name:
                raise NoRuns(f"{error.filename}: {error.strerror}") from error
            complain(f"{error.filename}: {error.strerror}; left out")
            continue
        if not _MARKS.isdisjoint(files):
            path = Path(folder)
            yield Found(path, name or path.name, frozenset(files), _signature(files))
            below = [each for each in below if each not in _WITHIN]
        prefix = f"{name}/" if name else ""
        left += [(f"{folder}/{each}", prefix + each) for each in sorted(below, reverse=True)]


def _signature(files: dict[str, "os.DirEntry[str]"]) -> bytes:
    """The signature of a folder; see `Found`."""
    status: list[int] = []
    for name in FILES:
        entry = files.get(name)
        if entry is None:
            status += _ABSENT
            continue
        try:
            about = entry.stat()
        except OSError:
            return b""
        status += (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
    return _STATUS.pack(*status)


def _find_remote(root: RemotePath) -> Iterator[Found]:
    with _as_os_errors():
        listed = root.system.find(root.path)
    if not listed:
        raise NoRuns(f"{root} has no files; name the folder that has the runs")
    folders: dict[str, set[str]] = {}
    for path in listed:
        folder, _, file = path.rpartition("/")
        folders.setdefault(folder, set()).add(file)
    start = len(root.path) + 1
    for folder, files in sorted(folders.items()):
        if files.intersection(_MARKS):
            path = RemotePath(root.system, folder)
            yield Found(path, folder[start:] or path.name, frozenset(files))


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    """Turn any error of a storage client into OSError with one line."""
    try:
        yield
    except (OSError, ValueError, ImportError):
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {' '.join(str(error).split())}") from error
