"""What the experiments share: their options, the scores of a run as arrays, and pictures."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from jaxgbg.results.figures import new_figure as new_figure
from jaxgbg.results.statistics import mean_sem
from jaxgbg.training import RunFolder
from jaxgbg.training.files import written_whole


def make_parser(script: str, doc: str | None) -> argparse.ArgumentParser:
    """The options of every experiment: where runs are trained, and where figures go."""
    here = Path(script).parent
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs") / here.name, help="runs")
    parser.add_argument("--results", type=Path, default=here, help="figures and pictures")
    return parser


def sessions(folder: RunFolder, opponent: str, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """(episodes int[T], scores float[T, seeds]) of all evaluations against an opponent."""
    figures: dict[int, list[float]] = {}
    for result in sorted(folder.results(), key=lambda result: result.seed):
        if (result.opponent, result.variant) == (opponent, variant):
            figures.setdefault(result.episodes, []).append(result.score)
    episodes = sorted(figures)
    return np.array(episodes), np.array([figures[at] for at in episodes])


def standard_error(figures: np.ndarray) -> float | None:
    """Of the mean over seeds float[seeds], to two digits; None of one seed."""
    if len(figures) < 2:
        return None
    return round(mean_sem(list(figures))[1], 2)


def save_figure(figure: Any, path: Path) -> None:
    """Write a picture, whole or not at all."""
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
