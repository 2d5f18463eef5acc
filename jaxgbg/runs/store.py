"""What a run leaves on disk: `<out>/<game>-<hash>/`.

config.json (all it takes to repeat it), metrics.jsonl (a line for each evaluation, appended as they
come), provenance.json (versions, device, revision), checkpoints/ until it is done, histograms.json
(of weights and TC factors), agents/, and at the end summary.json: a folder with a summary is
finished and not run again.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgbg.runs.agents import SavedAgent, save_agent
from jaxgbg.runs.checkpoints import Checkpoint, Checkpoints, checksum
from jaxgbg.runs.config import Config
from jaxgbg.runs.files import write_json
from jaxgbg.runs.histograms import histograms
from jaxgbg.runs.stopping import Stopped, stop_signals
from jaxgbg.runs.train import Evaluation, Progress, Training

CHECKPOINT_EVERY = 60.0
"""Seconds of training between two checkpoints, where nothing else is asked for."""


class RunFolder:
    """The folder of one run; raises ValueError where it cannot be written."""

    def __init__(self, out: str | Path, config: Config) -> None:
        self.config = config
        self.path = Path(out) / f"{config.game}-{config.digest}"

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """The run whose folder is `path`, whatever its name; raises ValueError if it is none."""
        path = Path(path)
        try:
            fields = json.loads((path / "config.json").read_text(encoding="utf-8"))
            config = Config.from_json(fields)
        except OSError as error:
            raise ValueError(
                f"{path} is no folder of a run: config.json: {error.strerror}"
            ) from error
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{path / 'config.json'}: not readable by this version ({error})"
            ) from error
        folder = cls(path.parent, config)
        folder.path = path
        return folder

    @property
    def finished(self) -> bool:
        return (self.path / "summary.json").exists()

    def begin(self) -> None:
        """Make the folder; what an unfinished run has left there stays."""
        try:
            strange = self.path.exists() and not (self.path / "config.json").exists()
            if strange and any(self.path.iterdir()):
                raise ValueError(f"{self.path} holds something else; choose another --out")
            (self.path / "agents").mkdir(parents=True, exist_ok=True)
            write_json(self.path / "config.json", self.config.as_json())
        except OSError as error:
            raise self._unwritable(error) from error

    def resume(self, metrics: int | None) -> None:
        """Cut the metrics to the `metrics` bytes that belong to a checkpoint; None begins anew."""
        try:
            origin = provenance()
            if metrics is not None:
                with contextlib.suppress(OSError, ValueError):
                    earlier = json.loads((self.path / "provenance.json").read_text("utf-8"))
                    origin = earlier | {"resumed": [*earlier.get("resumed", ()), origin["started"]]}
            write_json(self.path / "provenance.json", origin)
            if self.metrics_size() > (metrics or 0):
                os.truncate(self._metrics, metrics or 0)
        except OSError as error:
            raise self._unwritable(error) from error

    @property
    def _metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def metrics_size(self) -> int:
        """Bytes of the metrics written so far."""
        return self._metrics.stat().st_size if self._metrics.exists() else 0

    def append(self, evaluation: Evaluation) -> None:
        """Add a line to the metrics; ValueError where there is no room for it."""
        try:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(evaluation._asdict()) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ValueError:
        if error.errno == errno.ENOSPC:
            return ValueError(
                f"no space left to write {self.path}: make room and start the same command again,"
                " it goes on from the last checkpoint"
            )
        return ValueError(
            f"cannot write {self.path}: {error.strerror}; choose another folder with --out"
        )

    def evaluations(self) -> list[Evaluation]:
        """All evaluations so far, in the order in which they came."""
        try:
            lines = self._metrics.read_text(encoding="utf-8").splitlines()
            return [Evaluation(**json.loads(line)) for line in lines]
        except FileNotFoundError:
            return []
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._metrics} is damaged: {error}") from error

    def summary(self) -> dict[str, Any]:
        return json.loads((self.path / "summary.json").read_text(encoding="utf-8"))


def provenance() -> dict[str, Any]:
    """Versions, device and revision behind a result."""
    packages = ("jaxgbg", "jax", "jaxlib", "numpy", "bitbully")
    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    revision = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "command": sys.argv,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions,
        "devices": [str(device) for device in jax.devices()],
        "revision": revision or "unknown",
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@contextlib.contextmanager
def only_here(folder: RunFolder) -> Iterator[None]:
    """Keep other processes out of a run's folder; ValueError where one is at work in it."""
    path = folder.path.with_name(f".{folder.path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise folder._unwritable(error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(
                f"another process is at work in {folder.path}: wait for it, or choose another --out"
            ) from error
        try:
            yield
        finally:
            # The name goes while the lock still holds, so that nobody waits on a file without one.
            path.unlink(missing_ok=True)


def run(
    config: Config,
    out: str | Path,
    on_chunk: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[Evaluation], None] = lambda _: None,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> RunFolder:
    """Train and evaluate `config` unless its folder under `out` is finished already.

    An unfinished one goes on from its last checkpoint. Interrupted (Stopped, a KeyboardInterrupt,
    goes on to the caller), the folder keeps all evaluations made and a checkpoint.
    """
    return run_together([config], out, on_chunk, on_evaluation, checkpoint_every)[0]


def run_together(
    configs: Sequence[Config],
    out: str | Path,
    on_chunk: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[Evaluation], None] = lambda _: None,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> list[RunFolder]:
    """`run` for several configs that are lanes of one program; each has a folder of its own.

    As long as one of them is unfinished all are trained, for a lane's last bits depend on how many
    lanes its program has; finished folders are left as they are.
    """
    folders = [RunFolder(out, config) for config in configs]
    unfinished = {number: f for number, f in enumerate(folders) if not f.finished}
    if not unfinished:
        return folders
    name = "-".join(config.digest for config in configs)
    if len(folders) == 1:
        kept = folders[0].path / "checkpoints"
    else:
        name = hashlib.sha256(name.encode()).hexdigest()[:8]
        kept = Path(out) / f"together-{name}"
    # A mistake in the configs is found here, before anything is written.
    training = Training(*configs)
    with contextlib.ExitStack() as stack:
        for folder in unfinished.values():
            stack.enter_context(only_here(folder))
        for folder in unfinished.values():
            folder.begin()
        checkpoints = Checkpoints(kept, name, checkpoint_every)
        stack.callback(checkpoints.close)
        _begin_or_resume(training, unfinished, checkpoints)
        request = stack.enter_context(stop_signals(lambda: training.evaluating))

        def between_chunks(progress: Progress) -> None:
            on_chunk(progress)
            request.obey()
            if checkpoints.due():
                checkpoints.save(_checkpoint(training, folders))

        try:
            for found in training.rounds(between_chunks):
                for owner, evaluation in found:
                    if owner in unfinished:
                        unfinished[owner].append(evaluation)
                        on_evaluation(evaluation)
                request.obey()
        except Stopped:
            checkpoints.save(_checkpoint(training, folders), wait=True)
            raise
        for number, folder in unfinished.items():
            _finish(training, number, folder)
        checkpoints.remove()
    return folders


def _checkpoint(training: Training, folders: Sequence[RunFolder]) -> Checkpoint:
    """All that it takes to go on from here."""
    metrics = [folder.metrics_size() for folder in folders]
    return Checkpoint(
        jax.tree.leaves(training.changing()), training.reached, training.seconds, metrics
    )


def _begin_or_resume(
    training: Training, unfinished: Mapping[int, RunFolder], checkpoints: Checkpoints
) -> None:
    """Bring `training` and the folders to the last checkpoint, or to the start."""
    found = checkpoints.restore(jax.tree.leaves(training.changing()))
    if found is not None and all(
        folder.metrics_size() >= found.metrics[number] for number, folder in unfinished.items()
    ):
        training.restore(found.leaves, found.reached, found.seconds)
    else:
        found = None
    for number, folder in unfinished.items():
        folder.resume(found.metrics[number] if found else None)


def _finish(training: Training, number: int, folder: RunFolder) -> None:
    """Write the agents of run `number` and, last of all, its summary."""
    config, value = folder.config, training.learner.value
    try:
        agents = training.agents(number)
        write_json(folder.path / "histograms.json", histograms(value, agents))
        for (seed, farl), params in agents.items():
            agent = SavedAgent(config.of_seed(seed), seed, farl, value.weights_of(params))
            save_agent(folder.path / "agents" / f"seed{seed}-{farl}.agent", agent)
        lanes = [at for at, owner in enumerate(training.owners) if owner == number]
        # Runs that were trained together share the time by their lanes.
        seconds = training.seconds * len(lanes) / len(training.lanes)
        moves = int(np.asarray(training.state.moves, np.uint64)[lanes].sum())
        diverged = [training.lanes[lane] for lane in lanes if lane in training.diverged]
        mine = (np.asarray(leaf)[lanes] for leaf in jax.tree.leaves(training.changing()))
        write_json(
            folder.path / "summary.json",
            {
                "episodes": int(np.asarray(training.state.finished)[lanes].sum()),
                "moves": moves,
                "training_seconds": round(seconds, 3),
                "moves_per_second": round(moves / seconds),
                # Tables, counters, games and random state: equal for equal runs.
                "state_sha256": checksum(mine),
                **({"diverged": diverged} if diverged else {}),
            },
        )
    except OSError as error:
        raise folder._unwritable(error) from error
