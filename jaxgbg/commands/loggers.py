"""Evaluations shown elsewhere while they come: TensorBoard, Weights & Biases. Off by default.

What counts is metrics.jsonl; a logger only shows it. A run that goes on shows what is new.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from jaxgbg.players import MissingExtra
from jaxgbg.training import Result, Run


class Logger(Protocol):
    """Shows the evaluations of one run somewhere."""

    def log(self, result: Result) -> None:
        """Show one evaluation."""
        ...

    def close(self) -> None:
        """Write what has not been written yet."""
        ...


class TensorBoardLogger:
    """A curve for each opponent, variant and seed, in `folder`/tensorboard, by tensorboardX."""

    def __init__(self, folder: Path, run: Run) -> None:
        from tensorboardX import SummaryWriter

        del run
        self._writer: Any = SummaryWriter(str(folder / "tensorboard"))

    def log(self, result: Result) -> None:
        self._writer.add_scalar(_curve(result), result.score, result.episodes)

    def close(self) -> None:
        self._writer.close()


class WandbLogger:
    """The same curves as a run of Weights & Biases, kept in `folder`/wandb until `wandb sync`."""

    def __init__(self, folder: Path, run: Run) -> None:
        import wandb

        self._run: Any = wandb.init(
            project="jaxgbg",
            name=folder.name,
            dir=str(folder),
            config=run.plain(),
            mode="offline",
            settings=wandb.Settings(silent=True, console="off"),
        )

    def log(self, result: Result) -> None:
        self._run.log({"episodes": result.episodes, _curve(result): result.score})

    def close(self) -> None:
        self._run.finish()


def _curve(result: Result) -> str:
    return f"{result.opponent}/{result.variant}/seed{result.seed}"


LOGGERS: dict[str, tuple[str, type[TensorBoardLogger] | type[WandbLogger]]] = {
    "tensorboard": ("tensorboardX", TensorBoardLogger),
    "wandb": ("wandb", WandbLogger),
}
"""Name -> (the package that it needs, what shows a run there)."""


def check_loggers(names: Sequence[str]) -> None:
    """Raise MissingExtra, before anything is trained, where a logger's package is missing."""
    for name in names:
        package = LOGGERS[name][0]
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(f"--log {name} needs {package}: pip install 'jaxgbg[{name}]'")


class Loggers:
    """All loggers of one run; they begin with its first evaluation, when its folder is there."""

    def __init__(self, names: Sequence[str], folder: Path, run: Run) -> None:
        check_loggers(names)
        self._names, self._folder, self._run = names, folder, run
        self._begun: list[Logger] = []

    def log(self, result: Result) -> None:
        """Show one evaluation everywhere."""
        if not self._begun:
            self._begun = [LOGGERS[name][1](self._folder, self._run) for name in self._names]
        for logger in self._begun:
            logger.log(result)

    def close(self) -> None:
        """Let all of them write what they have."""
        for logger in self._begun:
            logger.close()
