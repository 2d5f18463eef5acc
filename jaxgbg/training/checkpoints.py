"""Checkpoints of a training: the last two, written beside it, each under a checksum of its own.

Orbax writes them (a temporary name, renamed when whole; leftovers of a killed process are removed).
Its own checks do not cover every byte, so the SHA-256 of all that counts is kept with it.
"""

import hashlib
import json
import logging
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgbg.training.kept import About, read_kept

FORMAT = 1
# A checkpoint may cost this share of the time, whatever interval was asked for.
_SHARE = 0.025


class Checkpoint(NamedTuple):
    """`leaves`, the arrays of a state; milestones `reached`, `seconds` of training, and
    how many bytes of each run's metrics belong to it.
    """

    leaves: Sequence[Any]
    reached: int
    seconds: float
    metrics: list[int]


class Checkpoints:
    """The checkpoints of one training in `folder`; `run` names it, and no other's are read."""

    def __init__(self, folder: Path, run: str, every: float) -> None:
        import orbax.checkpoint as orbax

        # Orbax reports every step it takes.
        logging.getLogger("absl").setLevel(logging.ERROR)
        self.folder = folder.resolve()
        self.run = run
        self._every = every
        self._orbax = orbax
        self._manager = orbax.CheckpointManager(
            self.folder,
            options=orbax.CheckpointManagerOptions(
                max_to_keep=2, cleanup_tmp_directories=True, enable_async_checkpointing=True
            ),
        )
        self._last = time.monotonic()
        self._begun = self._last
        self._cost = 0.0

    def due(self) -> bool:
        """Whether it is time for another one, and the last one is written."""
        if self._manager.is_saving_in_progress():
            # The writing of the last one is still taking its share of the machine.
            self._cost = time.monotonic() - self._begun
            return False
        return time.monotonic() - self._last >= max(self._every, self._cost / _SHARE)

    def save(self, checkpoint: Checkpoint, wait: bool = False) -> None:
        """Write a checkpoint, in the background unless `wait`; a full disk is told, not fatal."""
        self._begun = time.monotonic()
        # One array: of many, a damaged one would leave Orbax with the reading of the others.
        state = pack(checkpoint.leaves)
        number = max(self._manager.all_steps(), default=0) + 1
        about = {
            "format": FORMAT,
            "run": self.run,
            "reached": checkpoint.reached,
            "seconds": checkpoint.seconds,
            "metrics": checkpoint.metrics,
        }
        about["sha256"] = _seal(about, state)
        save = self._orbax.args
        try:
            self._manager.save(
                number,
                args=save.Composite(state=save.ArraySave(state), about=save.JsonSave(about)),
                force=True,
            )
            if wait:
                self._manager.wait_until_finished()
        except (OSError, ValueError, RuntimeError) as error:
            print(f"jaxgbg: no checkpoint could be written: {_line(error)}", file=sys.stderr)
        self._last = time.monotonic()
        self._cost = self._last - self._begun

    def restore(self, like: Sequence[Any]) -> Checkpoint | None:
        """The newest checkpoint that is whole, None without any; damaged ones are named.

        `like` has the shapes and types of the state's leaves. Raises ValueError for one that a
        newer version or another run has written: nothing may be deleted then.
        """
        for number in sorted(self._manager.all_steps(), reverse=True):
            try:
                about = self._read(number, about=self._orbax.args.JsonRestore())
                version = about["format"]
                held = read_kept(About, about) if version <= FORMAT else None
                seal = about.pop("sha256")
            except Exception as error:  # Orbax has no one error for damaged files.
                self._skip(number, _line(error))
                continue
            if held is None:
                raise ValueError(
                    f"{self.folder / str(number)} was written by a newer jaxgbg (format {version},"
                    f" here {FORMAT}): update jaxgbg, or delete the folder to begin anew"
                )
            if held.run != self.run:
                raise ValueError(
                    f"{self.folder / str(number)} belongs to another run ({held.run}, here"
                    f" {self.run}): delete it to begin anew"
                )
            try:
                state = np.asarray(self._read(number, state=self._orbax.args.ArrayRestore()))
            except Exception as error:
                self._skip(number, _line(error))
                continue
            if _seal(about, state) != seal:
                self._skip(number, "its checksum does not fit")
                continue
            leaves = unpack(state, like)
            return Checkpoint(leaves, held.reached, held.seconds, list(held.metrics))
        return None

    def _read(self, number: int, **part: Any) -> Any:
        """One part of a checkpoint, by its name and what Orbax must know to read it."""
        restored = self._manager.restore(number, args=self._orbax.args.Composite(**part))
        return restored[next(iter(part))]

    def _skip(self, number: int, reason: str) -> None:
        """Put a checkpoint that cannot be used out of the way."""
        place = self.folder / str(number)
        print(f"jaxgbg: checkpoint {place} is damaged and left out: {reason}", file=sys.stderr)
        shutil.rmtree(place, ignore_errors=True)
        self._manager.reload()

    def close(self) -> None:
        """Wait for what is being written."""
        try:
            self._manager.close()
        except (OSError, ValueError, RuntimeError) as error:
            print(f"jaxgbg: no checkpoint could be written: {_line(error)}", file=sys.stderr)

    def remove(self) -> None:
        """Delete all checkpoints of a run that is finished."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def pack(leaves: Sequence[Any]) -> np.ndarray:
    """The bytes of all `leaves`, one after the other, in memory of their own."""
    return np.concatenate([np.asarray(leaf).reshape(-1).view(np.uint8) for leaf in leaves])


def unpack(state: np.ndarray, like: Sequence[Any]) -> list[np.ndarray]:
    """Undo `pack` for leaves of the shapes and types of `like`; ValueError if these do not fit."""
    leaves, place = [], 0
    for leaf in like:
        part = state[place : place + leaf.nbytes]
        place += leaf.nbytes
        if part.size == leaf.nbytes:
            leaves.append(np.frombuffer(part.tobytes(), leaf.dtype).reshape(leaf.shape))
    if len(leaves) != len(like) or place != state.size:
        raise ValueError("the checkpoint is none of this program's: delete it to begin anew")
    return leaves


def checksum(leaves: Iterable[np.ndarray]) -> str:
    """SHA-256 of types, shapes and numbers of `leaves`."""
    digest = hashlib.sha256()
    for leaf in leaves:
        digest.update(f"{leaf.dtype}{leaf.shape}".encode())
        digest.update(np.ascontiguousarray(leaf).data)
    return digest.hexdigest()


def _seal(about: dict[str, Any], state: np.ndarray) -> str:
    """The checksum of a whole checkpoint, of what is said about it as of its numbers."""
    text = json.dumps(about, sort_keys=True).encode()
    return checksum([np.frombuffer(text, np.uint8), state])


def _line(error: Exception) -> str:
    """The first line of what an error says."""
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
