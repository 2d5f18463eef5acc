"""What a run leaves on disk: `<out>/<game>-<hash>/`.

config.json (all it takes to repeat it), metrics.jsonl (a line for each evaluation, appended as they
come), provenance.json (versions, device, revision), checkpoints/ until it is done, histograms.json
(of weights and TC factors), agents/, and at the end summary.json: a folder with a summary is
finished and not run again. One that was stopped early by itself has stopped.json, which says why,
until it goes on.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import jax
import jax.numpy as jnp

from jaxgbg.contents import defect, read_json, read_object
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import GreedyAgent
from jaxgbg.training.agents import load_agent
from jaxgbg.training.files import NO_ROOM, Folder, NoRoom, cannot_write, write_json
from jaxgbg.training.kept import Provenance, Summary, read_kept
from jaxgbg.training.loop import Result
from jaxgbg.training.metrics import evaluation_columns
from jaxgbg.training.origin import provenance, resumed
from jaxgbg.training.run import LaneName, RulesChanged, Run

_INSTANT = 0.05


class Busy(ValueError):
    """Another process is at work in a run's folder."""


class RunFolder:
    """The folder of one run; raises ValueError where it cannot be written."""

    def __init__(self, out: str | Path, run: Run) -> None:
        self.run = run
        self.path = Path(out) / run.name

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """The run whose folder is `path`, whatever its name; raises ValueError if it is none."""
        path = Path(path)
        try:
            run = Run.read(read_json(path / "config.json"))
        except OSError as error:
            raise ValueError(
                f"{path} is no folder of a run: config.json: {error.strerror}"
            ) from error
        except RulesChanged as error:
            raise ValueError(f"{path} was {error}") from error
        except ValueError as error:
            raise ValueError(
                f"{path / 'config.json'} is damaged or not readable by this version"
                f" ({defect(path / 'config.json', error)})"
            ) from error
        folder = cls(path.parent, run)
        folder.path = path
        return folder

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be done; raises ValueError where it was under other rules."""
        if not (self.path / "summary.json").exists():
            return False
        self._check_config()
        return True

    def _check_config(self) -> None:
        """Refuse a folder of another run, or one that was made when the game had other rules."""
        try:
            stored = read_object(self.path / "config.json")
        except FileNotFoundError:
            return
        except ValueError as error:
            raise ValueError(f"{error}; choose another --out, or delete the folder") from error
        if stored.get("fingerprint") != fingerprint(self.run.game):
            raise ValueError(
                f"{self.path} was made under other rules of {self.run.game.name}:"
                " choose another --out, or delete it"
            )
        other = _differing(stored, self.run.plain())
        if other:
            raise ValueError(
                f"{self.path / 'config.json'} is of another run than its folder: {other} differs;"
                " choose another --out, or delete the folder"
            )

    def begin(self) -> None:
        """Make the folder; what an unfinished run has left there stays."""
        try:
            # A process that was killed may have left these; it is gone, for the folder is locked.
            for leftover in self.path.rglob(".*.tmp"):
                leftover.unlink()
            strange = self.path.exists() and not (self.path / "config.json").exists()
            if strange and any(self.path.iterdir()):
                raise ValueError(f"{self.path} holds something else; choose another --out")
            self._check_config()
            # First of all what says whose folder it is.
            self.path.mkdir(parents=True, exist_ok=True)
            write_json(self.path / "config.json", self.run.plain())
            (self.path / "agents").mkdir(exist_ok=True)
            if not (self.path / "provenance.json").exists():
                write_json(self.path / "provenance.json", provenance())
            self._stopped.unlink(missing_ok=True)
        except OSError as error:
            raise self.unwritable(error) from error

    def resume(self, metrics: int | None) -> None:
        """Cut the metrics to the `metrics` bytes that belong to a checkpoint; None begins anew."""
        try:
            origin = provenance()
            if metrics is not None:
                with contextlib.suppress(OSError, ValueError):
                    earlier = read_kept(Provenance, read_json(self.path / "provenance.json"))
                    origin = resumed(earlier, self.path).plain()
            write_json(self.path / "provenance.json", origin)
            if self.metrics_size() > (metrics or 0):
                os.truncate(self._metrics, metrics or 0)
        except OSError as error:
            raise self.unwritable(error) from error

    def stop_early(self, reason: str) -> None:
        """Note that this run was stopped before its end, on purpose, and why."""
        try:
            write_json(self._stopped, {"reason": reason})
        except OSError as error:
            raise self.unwritable(error) from error

    @property
    def stopped_early(self) -> bool:
        """Whether it was stopped before its end, on purpose, and has not gone on since."""
        return self._stopped.exists() and not self.finished

    @property
    def begun_alone(self) -> bool:
        """Whether it is unfinished and has checkpoints of its own, trained with no other run."""
        return (self.path / "checkpoints").is_dir() and not self.finished

    @property
    def _stopped(self) -> Path:
        return self.path / "stopped.json"

    @property
    def _metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def metrics_size(self) -> int:
        """Bytes of the metrics written so far."""
        return self._metrics.stat().st_size if self._metrics.exists() else 0

    def metrics_mark(self) -> tuple[int, str]:
        """How many bytes of metrics there are, and their SHA-256."""
        size = self.metrics_size()
        return size, self._metrics_digest(size)

    def has_metrics_of(self, mark: Sequence[Any]) -> bool:
        """Whether the metrics begin with those that had this `metrics_mark`."""
        size, digest = mark
        return self.metrics_size() >= size and self._metrics_digest(size) == digest

    def _metrics_digest(self, size: int) -> str:
        if not size:
            return hashlib.sha256().hexdigest()
        with self._metrics.open("rb") as file:
            return hashlib.sha256(file.read(size)).hexdigest()

    def append(self, result: Result) -> None:
        """Add a line to the metrics; ValueError where there is no room for it."""
        before = self.metrics_size()
        try:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result._asdict()) + "\n")
        except OSError as error:
            # The beginning of a line may have found room.
            with contextlib.suppress(OSError):
                os.truncate(self._metrics, before)
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError) -> ValueError:
        """What to tell a user whose folder could not be written."""
        if error.errno in NO_ROOM:
            return NoRoom(
                f"no space left to write {self.path} ({error.strerror}): make room and start the"
                " same command again, it goes on from the last checkpoint"
            )
        return cannot_write(self.path, error)

    def results(self) -> list[Result]:
        """All evaluations so far, in the order in which they came."""
        if not self.metrics_size():
            return []
        columns = evaluation_columns(self._metrics, _refuse)
        return [Result(*fields) for fields in zip(*columns[1:], strict=True)]

    @in_32_bits
    def agents(self, lanes: Sequence[LaneName]) -> GreedyAgent:
        """Trained agents as one player of several, in the order of `lanes`.

        Raises ValueError where the file of one is missing or damaged.
        """
        run = self.run
        value = run.make_learner().value
        params = [
            value.with_weights(
                load_agent(self.path / "agents" / lane.file, run.game.name).weights,
                run.value.drawn(run.game, lane.seed),
            )
            for lane in lanes
        ]
        together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
        return GreedyAgent(run.game, value, together, run.learner.valuation, several=True)

    def summary(self) -> dict[str, Any]:
        """What summary.json holds; raises ValueError where that is damaged."""
        path = self.path / "summary.json"
        try:
            return read_kept(Summary, read_json(path)).plain()
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{defect(path, error)}; delete this file, and the same command makes the run again"
            ) from error


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text}; delete the line, or the folder to make the run again")


def _differing(stored: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """The first setting, as a path, that two plain runs both have and not alike; else empty."""
    for name in sorted(stored.keys() & own.keys()):
        if isinstance(stored[name], dict) and isinstance(own[name], dict):
            inner = _differing(stored[name], own[name])
            if inner:
                return f"{name}.{inner}"
        elif stored[name] != own[name]:
            return name
    return ""


@contextlib.contextmanager
def only_here(folder: Folder) -> Iterator[None]:
    """Keep other processes out of a folder; raises Busy where one is at work in it."""
    path = _lock_of(folder.path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise folder.unwritable(error) from error
    with file:
        if not _lock(file, fcntl.LOCK_EX):
            # It may be no other process at work, but one that looks (`at_work`), for an instant.
            time.sleep(_INSTANT)
            if not _lock(file, fcntl.LOCK_EX):
                raise _busy(folder)
        # Whoever let go of the lock has deleted the file: then somebody else may hold a new one.
        if not (path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino):
            raise _busy(folder)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def at_work(path: Path) -> bool:
    """Whether a process is at work in a run's folder; one that was killed there is not."""
    try:
        with _lock_of(path).open("rb") as file:
            # A process that ends in any way lets go of its lock, not of the file.
            return not _lock(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False
    except OSError:
        # Who may not look there takes it for what it seems.
        return True


def killed(path: Path) -> bool:
    """Whether a process was at work in a run's folder that ended before it could tidy up."""
    return _lock_of(path).exists() and not at_work(path)


def _lock(file: IO[Any], kind: int) -> bool:
    """Lock a file until it is closed, LOCK_EX or LOCK_SH; False where another has it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_of(path: Path) -> Path:
    return (real := Path(os.path.realpath(path))).with_name(f".{real.name}.lock")  # "." has none


def _busy(folder: Folder) -> Busy:
    return Busy(
        f"another process is at work in {folder.path}: wait for it, or choose another --out"
    )
