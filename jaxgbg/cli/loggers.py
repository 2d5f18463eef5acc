"""Evaluations shown elsewhere while they come: TensorBoard, Weights & Biases. Off by default.

What counts is metrics.jsonl; a logger only shows it. A run that goes on shows what is new. Both
draw a curve for each opponent, variant and seed, in the unit of the tables.
"""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxgbg.evaluation import scale_of
from jaxgbg.players import MissingExtra
from jaxgbg.runs import Result, Run

Logger = tuple[Callable[[str, float, int], object], Callable[[], object]]
"""What shows a figure of a curve after some episodes, and what writes the last of them."""


def _tensorboard(folder: Path, run: Run) -> Logger:
    """In `folder`/tensorboard, by tensorboardX."""
    from tensorboardX import SummaryWriter

    del run
    writer = SummaryWriter(str(folder / "tensorboard"))
    return writer.add_scalar, writer.close


def _wandb(folder: Path, run: Run) -> Logger:
    """In `folder`/wandb, until `wandb sync`."""
    import wandb

    logged = wandb.init(
        project="jaxgbg",
        name=folder.name,
        dir=str(folder),
        config=run.plain(),
        mode="offline",
        settings=wandb.Settings(silent=True, console="off"),
    )
    return lambda curve, figure, at: logged.log({"episodes": at, curve: figure}), logged.finish


LOGGERS = {"tensorboard": ("tensorboardX", _tensorboard), "wandb": ("wandb", _wandb)}
"""Name -> (the package that it needs, what shows a run there)."""


class Loggers:
    """All loggers of one run; they begin with its first evaluation, when its folder is there.

    Raises MissingExtra, before anything is trained, where a logger's package is missing.
    """

    def __init__(self, names: Sequence[str], folder: Path, run: Run) -> None:
        for name in names:
            package = LOGGERS[name][0]
            if importlib.util.find_spec(package) is None:
                raise MissingExtra(f"--log {name} needs {package}: pip install 'jaxgbg[{name}]'")
        self._names, self._folder, self._run = names, folder, run
        self._begun: list[Logger] = []

    def log(self, result: Result) -> None:
        """Show one evaluation everywhere."""
        if not self._begun:
            self._begun = [LOGGERS[name][1](self._folder, self._run) for name in self._names]
        figure = scale_of(result.opponent, self._run.game).figure(result.score)
        for show, _ in self._begun:
            name = f"{result.opponent}/{result.variant}/seed{result.seed}"
            show(name, figure, result.episodes)

    def close(self) -> None:
        """Let all of them write what they have."""
        for _, finish in self._begun:
            finish()
