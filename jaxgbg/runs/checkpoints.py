"""Checkpoints of a training: the last two, written beside it, each under a checksum of its own.

Orbax writes them (a temporary name, renamed when whole; leftovers of a killed process are removed).
Its own checks do not cover every byte, so the SHA-256 of all numbers is kept with them.
"""

import hashlib
import logging
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FORMAT = 1
# A checkpoint may cost this share of the time, whatever interval was asked for.
_SHARE = 0.025


class Checkpoint(NamedTuple):
    """`leaves` of the training's state, milestones `reached`, `seconds` of training, and how many
    bytes of each run's metrics belong to it.
    """

    leaves: list[np.ndarray]
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
        number = max(self._manager.all_steps(), default=0) + 1
        about = {
            "format": FORMAT,
            "run": self.run,
            "sha256": checksum(checkpoint.leaves),
            "reached": checkpoint.reached,
            "seconds": checkpoint.seconds,
            "metrics": checkpoint.metrics,
        }
        names = [f"{place:03}" for place in range(len(checkpoint.leaves))]
        # Orbax takes no empty arrays and no scalars; shapes are the training's to know.
        state = {
            name: leaf.reshape(-1)
            for name, leaf in zip(names, checkpoint.leaves, strict=True)
            if leaf.size
        }
        save = self._orbax.args
        try:
            self._manager.save(
                number,
                args=save.Composite(state=save.StandardSave(state), about=save.JsonSave(about)),
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
                read = self._orbax.args
                found = self._manager.restore(
                    number, args=read.Composite(about=read.JsonRestore())
                )["about"]
                version, run = found["format"], found["run"]
            except Exception as error:  # Orbax has no one error for damaged files.
                self._skip(number, _line(error))
                continue
            if version > FORMAT:
                raise ValueError(
                    f"{self.folder / str(number)} was written by a newer jaxgbg (format {version},"
                    f" here {FORMAT}): update jaxgbg, or delete the folder to begin anew"
                )
            if run != self.run:
                raise ValueError(
                    f"{self.folder / str(number)} belongs to another run ({run}, here {self.run}):"
                    " delete it to begin anew"
                )
            try:
                saved = self._manager.restore(
                    number, args=read.Composite(state=read.StandardRestore())
                )["state"]
                leaves = [
                    np.asarray(saved[f"{place:03}"]).reshape(leaf.shape)
                    if leaf.size
                    else np.zeros(leaf.shape, leaf.dtype)
                    for place, leaf in enumerate(like)
                ]
            except Exception as error:
                self._skip(number, _line(error))
                continue
            if checksum(leaves) != found["sha256"]:
                self._skip(number, "its checksum does not fit")
                continue
            return Checkpoint(leaves, found["reached"], found["seconds"], found["metrics"])
        return None

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


def checksum(leaves: Iterable[np.ndarray]) -> str:
    """SHA-256 of types, shapes and numbers of `leaves`."""
    digest = hashlib.sha256()
    for leaf in leaves:
        digest.update(f"{leaf.dtype}{leaf.shape}".encode())
        digest.update(np.ascontiguousarray(leaf).data)
    return digest.hexdigest()


def _line(error: Exception) -> str:
    """The first line of what an error says."""
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
