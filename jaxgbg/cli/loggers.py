"""Send evaluations to TensorBoard or Weights & Biases. Off by default.

metrics.jsonl is the authoritative record. A resumed run sends only new evaluations. Both loggers
draw a curve for each opponent, variant and seed, in the unit of the tables.
"""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxgbg.evaluation import scale_of
from jaxgbg.players import MissingExtra
from jaxgbg.runs import Result, Run

Logger = tuple[Callable[[str, float, int], object], Callable[[], object]]
"""(log, finish): log(curve, figure, episodes) adds a point; finish() writes what is pending."""


def _tensorboard(folder: Path, run: Run) -> Logger:
    """Write to `folder`/tensorboard, with tensorboardX."""
    from tensorboardX import SummaryWriter

    del run
    writer = SummaryWriter(str(folder / "tensorboard"))
    return writer.add_scalar, writer.close


def _wandb(folder: Path, run: Run) -> Logger:
    """Write to `folder`/wandb, offline until `wandb sync`."""
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
"""Name -> (required package, function that makes the logger of a run)."""


class Loggers:
    """All loggers of one run. They start with its first evaluation, when its folder exists.

    Raises MissingExtra, before any training, if a logger's package is missing.
    """

    def __init__(self, names: Sequence[str], folder: Path, run: Run) -> None:
        for name in names:
            package = LOGGERS[name][0]
            if importlib.util.find_spec(package) is None:
                raise MissingExtra(f"--log {name} needs {package}: pip install 'jaxgbg[{name}]'")
        self._names, self._folder, self._run = names, folder, run
        self._begun: list[Logger] = []

    def log(self, result: Result) -> None:
        """Send one evaluation to all loggers."""
        if not self._begun:
            self._begun = [LOGGERS[name][1](self._folder, self._run) for name in self._names]
        figure = scale_of(result.opponent, self._run.game).figure(result.score)
        for show, _ in self._begun:
            name = f"{result.opponent}/{result.variant}/seed{result.seed}"
            show(name, figure, result.episodes)

    def close(self) -> None:
        """Let all loggers write what is pending."""
        for _, finish in self._begun:
            finish()
