"""From the evaluations of a run to the rows of a table."""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgbg.papers.figures import PAPER, to_unit, unit
from jaxgbg.results.statistics import mean_sem, paired_difference
from jaxgbg.training import Config, Evaluation


@dataclasses.dataclass(frozen=True)
class Row:
    """One game, opponent and FARL variant over all seeds; figures in `unit`.

    `mean` ± `sem` are over seeds, each seed giving the mean of its evaluations in the last fifth of
    the training (`per_seed`); `final` is the mean of the last evaluations alone. `difference` is
    FARL minus none, paired by seed, with its 95 % interval; None on other rows. `seconds` are those
    of the whole run's training.
    """

    game: str
    opponent: str
    farl: str
    unit: str
    mean: float
    sem: float
    n: int
    per_seed: tuple[float, ...]
    final: float
    episodes: int
    seconds: float
    paper_mean: float | None
    paper_error: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None


def rows(config: Config, evaluations: Sequence[Evaluation], seconds: float) -> list[Row]:
    """The rows of a run, finished or stopped: of a stopped one, what all its seeds have reached."""
    curves: dict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(dict)
    for found in evaluations:
        curve = curves[found.opponent, found.farl].setdefault(found.seed, {})
        curve[found.episodes] = to_unit(config.game, found.opponent, found.score)
    per_seed = {}
    reached = {}
    for key, seeds in curves.items():
        reached[key] = min(max(curve) for curve in seeds.values())
        per_seed[key] = {seed: _late_mean(curve, reached[key]) for seed, curve in seeds.items()}
    table = []
    others = sorted({opponent for opponent, _ in curves} - set(config.opponents))
    for opponent in (*config.opponents, *others):
        for farl in config.farl:
            if (opponent, farl) not in curves:
                continue
            figures = per_seed[opponent, farl]
            last = [curve[max(curve)] for curve in curves[opponent, farl].values()]
            mean, sem = mean_sem(list(figures.values()))
            published = PAPER.get((config.game, opponent, farl), (None, None))
            without = per_seed.get((opponent, "none"), {})
            difference = paired_difference(figures, without) if farl == "farl" else None
            table.append(
                Row(
                    game=config.game,
                    opponent=opponent,
                    farl=farl,
                    unit=unit(config.game, opponent),
                    mean=mean,
                    sem=sem,
                    n=len(figures),
                    per_seed=tuple(figures[seed] for seed in sorted(figures)),
                    final=float(np.mean(last)),
                    episodes=reached[opponent, farl],
                    seconds=seconds,
                    paper_mean=published[0],
                    paper_error=published[1],
                    difference=difference[0] if difference else None,
                    difference_low=difference[1] if difference else None,
                    difference_high=difference[2] if difference else None,
                )
            )
    return table


def _late_mean(curve: dict[int, float], reached: int) -> float:
    """Mean over the evaluations in the last fifth of the episodes reached, the last among them."""
    late = [score for episodes, score in curve.items() if 0.8 * reached < episodes <= reached]
    return float(np.mean(late))


def as_records(table: Sequence[Row]) -> list[dict[str, Any]]:
    """Flat records for JSON, rounded to what they mean; a figure that is no number becomes None."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        if isinstance(value, float):
            return round(value, 5) if math.isfinite(value) else None
        return value

    return [
        {name: plain(value) for name, value in dataclasses.asdict(row).items()} for row in table
    ]
