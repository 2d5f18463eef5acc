"""Checkpoints of a training: the last two, each a file with its own checksum.

A file has a line with the number of the format, a line with the SHA-256 of the rest, a line of JSON
and the compressed bytes of the state. A thread writes it to a temporary name and renames it when it
is complete and on the disk. Only this module has to handle a full disk.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from jax.typing import ArrayLike

from jaxgbg.contents import open_file, parse_json
from jaxgbg.runs.storage.files import (
    NoRoom,
    leftovers,
    set_aside,
    were_set_aside,
    written_whole,
)
from jaxgbg.runs.storage.metrics import MetricsMark
from jaxgbg.runs.storage.schemas import About, validate
from jaxgbg.types import JSON

FORMAT = 2
_MAGIC = b"jaxgbg checkpoint "
_SUFFIX = ".checkpoint"
_TOGETHER = "together-"
_KEPT = 2
# A checkpoint may take at most this share of the time, with any interval.
_SHARE = 0.025
# Tables are mostly zeros: at this level compressing takes less time than writing what it saves.
_LEVEL = 1
_PIECE = 2**24
_LONGEST_LINE = 100
_LONGEST_ABOUT = 2**26
_NAME = re.compile(rf"[1-9][0-9]{{0,17}}{re.escape(_SUFFIX)}")
# A run that has no room for a checkpoint usually soon ends with its own message.
_PATIENCE = 60.0


class Checkpoint(NamedTuple):
    """`leaves`, the arrays of a state; milestones `reached`, `seconds` of training, and the mark of
    each run's metrics at that time.
    """

    leaves: Sequence[np.ndarray]
    reached: int
    seconds: float
    metrics: list[MetricsMark]


class Damaged(ValueError):
    """A file that has changed since it was written."""


class Checkpoints:
    """The checkpoints of one training in `folder`; only those of `run` are read."""

    def __init__(self, folder: Path, run: str, every: float) -> None:
        self.folder = folder.resolve()
        self._linked = folder.is_symlink()
        self.run = run
        self._every = every
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None
        self._last = time.monotonic()
        self._cost = 0.0
        self._complaint: tuple[str, float] | None = None
        self._reported = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.close()
        if not isinstance(error, NoRoom):
            self._report()

    def due(self) -> bool:
        """Whether the last checkpoint is written, and it is time for the next one."""
        if self._writing is not None and not self._writing.done():
            return False
        self._settle()
        self._report(_PATIENCE)
        return time.monotonic() - self._last >= max(self._every, self._cost / _SHARE)

    def save(self, checkpoint: Checkpoint, wait: bool = False) -> None:
        """Write a checkpoint, in the background unless `wait`.

        A full disk is not fatal. It is reported after a minute, or at the end unless the run itself
        ends because of it.
        """
        self._settle()
        begun = time.monotonic()
        # A copy: the training goes on while it is written.
        state = pack(checkpoint.leaves)
        about = {
            "run": self.run,
            "reached": checkpoint.reached,
            "seconds": checkpoint.seconds,
            "metrics": [size for size, _ in checkpoint.metrics],
            "metrics_sha256": [digest for _, digest in checkpoint.metrics],
            "bytes": state.nbytes,
        }

        def write() -> None:
            try:
                self._write(about, state)
            finally:
                # Writing uses the machine too.
                self._cost = time.monotonic() - begun

        self._writing = self._thread.submit(write)
        if wait:
            self._settle()
        self._last = time.monotonic()

    def _write(self, about: dict[str, JSON], state: np.ndarray) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        numbers = numbers_in(self.folder)
        with (
            written_whole(self._path(max(numbers, default=0) + 1)) as temporary,
            temporary.open("wb") as file,
        ):
            file.write(_head() + bytes(64) + b"\n")
            digest = hashlib.sha256()
            for piece in _body(about, state):
                digest.update(piece)
                file.write(piece)
            file.seek(len(_head()))
            file.write(digest.hexdigest().encode())
            file.flush()
            os.fsync(file.fileno())
        for number in numbers[: 1 - _KEPT]:
            self._remove(number)

    def _settle(self) -> None:
        """Wait for the write in progress; note the first of several failures in a row."""
        writing, self._writing = self._writing, None
        if writing is None:
            return
        try:
            writing.result()
            self._complaint, self._reported = None, False
        except OSError as error:
            if self._complaint is None:
                self._complaint = f"no checkpoint could be written: {error}", time.monotonic()

    def _report(self, patience: float = 0.0) -> None:
        """Print the noted failure once, if it is at least `patience` seconds old."""
        if self._complaint is None or self._reported:
            return
        text, since = self._complaint
        if time.monotonic() - since >= patience:
            print(f"jaxgbg: {text}", file=sys.stderr)
            self._reported = True

    def restore(
        self,
        like: Sequence[np.ndarray],
        fits: Callable[[Sequence[MetricsMark]], bool] = lambda _: True,
    ) -> Checkpoint | None:
        """Return the latest valid checkpoint, or None; report damaged ones.

        `like` has the shapes and types of the state's leaves; `fits` says whether the metrics on
        disk are those of a checkpoint. Raises ValueError for one that a
        newer version or another run has written: nothing may be deleted then.
        """
        for leftover in leftovers(self.folder, _is_name):
            leftover.unlink()
        for number in reversed(numbers_in(self.folder)):
            path = self._path(number)
            try:
                checkpoint = self._read(path, like)
                if fits(checkpoint.metrics):
                    return checkpoint
            except Damaged as error:
                print(
                    f"jaxgbg: checkpoint {path} is damaged and left out: {error}; it is kept as"
                    f" {set_aside(path).name} until the run is finished",
                    file=sys.stderr,
                )
        return None

    def _read(self, path: Path, like: Sequence[np.ndarray]) -> Checkpoint:
        with open_checkpoint(path) as file:
            about = read_about(file, path)
            if about.run != self.run:
                raise ValueError(
                    f"{path} belongs to another run ({about.run}, here {self.run}):"
                    " delete it to begin again"
                )
            # The size of the state must be that of the training.
            if about.bytes != sum(leaf.nbytes for leaf in like):
                raise ValueError(f"{path} was not written by jaxgbg: delete it to begin again")
            deflated = file.read()
        try:
            unpacked = zlib.decompressobj().decompress(deflated, about.bytes + 1)
        except zlib.error as error:
            raise Damaged(str(error)) from error
        if len(unpacked) != about.bytes:
            raise Damaged("its state has another size")
        leaves = unpack(np.frombuffer(unpacked, np.uint8), like)
        pairs = zip(about.metrics, about.metrics_sha256, strict=True)
        marks = [MetricsMark(*pair) for pair in pairs]
        return Checkpoint(leaves, about.reached, about.seconds, marks)

    def _path(self, number: int) -> Path:
        return path_of(self.folder, number)

    def close(self) -> None:
        """Wait for the write in progress."""
        self._settle()
        self._thread.shutdown()

    def remove(self) -> None:
        """Delete the checkpoints of a run that is finished, and nothing else in their folder."""
        self.close()
        with contextlib.suppress(OSError):
            for number in numbers_in(self.folder):
                self._remove(number)
            for path in were_set_aside(self.folder, _is_name):
                path.unlink()
            if not self._linked:
                self.folder.rmdir()

    def _remove(self, number: int) -> None:
        """Delete a checkpoint if it is of this run; keep it if that fails."""
        path = self._path(number)
        with contextlib.suppress(OSError, ValueError):
            with open_checkpoint(path) as file:
                of_this_run = _begin(file, path)[1].run == self.run
            if of_this_run and not path.is_symlink():
                path.unlink()


def numbers_in(folder: Path) -> list[int]:
    """The numbers of the checkpoints in a folder, the oldest first."""
    names = [path.name for path in folder.glob(f"*{_SUFFIX}")]
    return sorted(int(name.removesuffix(_SUFFIX)) for name in names if _is_name(name))


def _is_name(name: str) -> bool:
    """Whether this is the name of a checkpoint."""
    return _NAME.fullmatch(name) is not None


def path_of(folder: Path, number: int) -> Path:
    """The file of a checkpoint by its number."""
    return folder / f"{number}{_SUFFIX}"


def together_folder(out: Path, run: str) -> Path:
    """The folder for the checkpoints of several runs in one program; `run` joins their digests."""
    return out / f"{_TOGETHER}{hashlib.sha256(run.encode()).hexdigest()[:8]}"


def begun_together(out: Path) -> list[tuple[str, ...]]:
    """The digests of runs that have a checkpoint together, group by group, the latest first."""
    groups = []
    for folder in out.glob(f"{_TOGETHER}*"):
        # Another process may just remove it.
        with contextlib.suppress(FileNotFoundError):
            groups.append((folder.stat().st_mtime, _run_of(folder)))
    return [tuple(run.split("-")) for _, run in sorted(groups, reverse=True) if run]


def _run_of(folder: Path) -> str:
    """Whose checkpoints are in a folder, by the latest one with a header; empty if unknown."""
    for path in (path_of(folder, number) for number in reversed(numbers_in(folder))):
        with contextlib.suppress(OSError, ValueError), open_checkpoint(path) as file:
            return _begin(file, path)[1].run
    return ""


def open_checkpoint(path: Path) -> BufferedReader:
    """Open a checkpoint for `read_about`, which limits how much is read.

    Raises OSError if it cannot be opened, Damaged for a folder, a pipe or a device.
    """
    try:
        return open_file(path, sys.maxsize)
    except ValueError as error:
        raise Damaged(str(error)) from error


def read_about(file: BufferedReader, path: Path) -> About:
    """Return the header of a checkpoint, its checksum verified; `file` is then at its state.

    Reads no more than a checkpoint with a state of that size can have. Raises Damaged, and
    ValueError for another version; messages name `path`.
    """
    seal, about = _begin(file, path)
    place = file.tell()
    # Data that cannot be compressed is stored, with a few more bytes for each piece.
    most = place + about.bytes + about.bytes // 1000 + _LONGEST_LINE
    if (size := file.seek(0, os.SEEK_END)) > most:
        raise Damaged(f"it is {size:,} bytes long, and at most {most:,} can be its own")
    file.seek(len(_head()) + len(seal) + 1)
    if hashlib.file_digest(file, "sha256").hexdigest().encode() != seal:
        raise Damaged("its checksum does not fit")
    file.seek(place)
    return about


def _head() -> bytes:
    """The first line of a file."""
    return _MAGIC + b"%d\n" % FORMAT


def _begin(file: BufferedReader, path: Path) -> tuple[bytes, About]:
    """The checksum, not yet verified, and the header of a checkpoint."""
    head = file.readline(_LONGEST_LINE).removesuffix(b"\n")
    version = head.removeprefix(_MAGIC)
    if version == head or not version.isdigit():
        raise Damaged("it has no header")
    if int(version) != FORMAT:
        raise ValueError(
            f"{path} was written by another version of jaxgbg (format {int(version)}, here"
            f" {FORMAT}): use that one, or delete the file to begin again"
        )
    seal = file.readline(_LONGEST_LINE).removesuffix(b"\n")
    try:
        return seal, validate(About, parse_json(file.readline(_LONGEST_ABOUT)))
    except ValueError as error:
        raise Damaged(str(error)) from error


def _body(about: dict[str, JSON], state: np.ndarray) -> Iterator[bytes]:
    """The part of a file that its checksum covers, piece by piece."""
    yield json.dumps(about).encode() + b"\n"
    deflater = zlib.compressobj(_LEVEL)
    for place in range(0, state.size, _PIECE):
        yield deflater.compress(state[place : place + _PIECE].data)
    yield deflater.flush()


def pack(leaves: Sequence[ArrayLike]) -> np.ndarray:
    """Copy the bytes of all `leaves`, one after the other."""
    return np.concatenate([np.asarray(leaf).reshape(-1).view(np.uint8) for leaf in leaves])


def unpack(state: np.ndarray, like: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Undo `pack` for leaves with the shapes and types of `like`."""
    leaves, place = [], 0
    for leaf in like:
        part = state[place : place + leaf.nbytes]
        place += leaf.nbytes
        leaves.append(np.frombuffer(part.tobytes(), leaf.dtype).reshape(leaf.shape))
    return leaves


def checksum(leaves: Iterable[np.ndarray]) -> str:
    """SHA-256 of types, shapes and numbers of `leaves`."""
    digest = hashlib.sha256()
    for leaf in leaves:
        digest.update(f"{leaf.dtype}{leaf.shape}".encode())
        digest.update(np.ascontiguousarray(leaf).data)
    return digest.hexdigest()
