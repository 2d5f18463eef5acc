"""What a run leaves on disk: `<out>/<game>-<hash>/`.

config.json (all it takes to repeat it), metrics.jsonl (a line for each evaluation, appended as they
come), provenance.json (versions, device, revision), agents/, and at the end summary.json: a folder
with a summary is finished and not run again.
"""

import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from jaxgbg.runs.agents import SavedAgent, save_agent
from jaxgbg.runs.config import Config
from jaxgbg.runs.files import write_json
from jaxgbg.runs.train import Evaluation, Progress, Training


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
        """Make the folder, emptied of what an unfinished run has left there."""
        try:
            if self.path.exists():
                if any(self.path.iterdir()) and not (self.path / "config.json").exists():
                    raise ValueError(f"{self.path} holds something else; choose another --out")
                shutil.rmtree(self.path)
            (self.path / "agents").mkdir(parents=True)
            write_json(self.path / "config.json", self.config.as_json())
            write_json(self.path / "provenance.json", provenance())
        except OSError as error:
            raise ValueError(
                f"cannot write {self.path}: {error.strerror}; choose another folder with --out"
            ) from error

    def append(self, evaluation: Evaluation) -> None:
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(evaluation._asdict()) + "\n")

    def evaluations(self) -> list[Evaluation]:
        """All evaluations so far, in the order in which they came."""
        try:
            lines = (self.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
            return [Evaluation(**json.loads(line)) for line in lines]
        except FileNotFoundError:
            return []
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path / 'metrics.jsonl'} is damaged: {error}") from error

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


def run(
    config: Config,
    out: str | Path,
    on_chunk: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[Evaluation], None] = lambda _: None,
) -> RunFolder:
    """Train and evaluate `config` unless its folder under `out` is finished already.

    Interrupted (KeyboardInterrupt goes on to the caller), the folder keeps all evaluations made.
    """
    folder = RunFolder(out, config)
    if folder.finished:
        return folder
    training = Training(config)
    folder.begin()
    for evaluation in training.evaluations(on_chunk):
        folder.append(evaluation)
        on_evaluation(evaluation)
    value = training.learner.value
    for (seed, farl), params in training.agents().items():
        agent = SavedAgent(config.of_seed(seed), seed, farl, value.weights_of(params))
        save_agent(folder.path / "agents" / f"seed{seed}-{farl}.agent", agent)
    progress = training.progress()
    write_json(
        folder.path / "summary.json",
        {
            "episodes": progress.episodes,
            "moves": progress.moves,
            "training_seconds": round(progress.seconds, 3),
            "moves_per_second": round(progress.moves / progress.seconds),
            **({"diverged": training.diverged} if training.diverged else {}),
        },
    )
    return folder
