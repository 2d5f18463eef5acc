"""From the evaluations of a run to the rows of a table."""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgbg import papers
from jaxgbg.arena import scale_of
from jaxgbg.games import Game, Scale
from jaxgbg.results.statistics import mean_sem, paired_difference
from jaxgbg.training import Result, Run


@dataclasses.dataclass(frozen=True)
class Row:
    """One game, opponent and FARL variant over all seeds; figures in the unit of `scale`.

    `mean` ± `sem` are over seeds, each seed giving the mean of its evaluations in the last fifth of
    the training (`per_seed`), as published; `last` ± `last_sem` are of the last evaluations alone.
    `difference` is FARL minus none of these means, paired by seed, with its 95 % interval; None on
    other rows. `seconds` are those of the whole run's training.
    """

    game: Game
    opponent: str
    variant: str
    scale: Scale
    mean: float
    sem: float
    last: float
    last_sem: float
    n: int
    per_seed: tuple[float, ...]
    episodes: int
    seconds: float
    paper_mean: float | None
    paper_error: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None


def rows(run: Run, results: Sequence[Result], seconds: float) -> list[Row]:
    """The rows of a run, finished or stopped: of a stopped one, what all its seeds have reached."""
    curves: dict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(dict)
    for result in results:
        figure = scale_of(result.opponent, run.game).figure(result.score)
        curve = curves[result.opponent, result.variant].setdefault(result.seed, {})
        curve[result.episodes] = figure
    table = []
    for opponent in opponents_met(run, results):
        reached = {
            variant: _reached(curves[opponent, variant])
            for variant in run.variants
            if (opponent, variant) in curves
        }
        for variant, (episodes, late, last) in reached.items():
            published = papers.figure(run.game, opponent, variant) or (None, None)
            without = reached["none"][1] if "none" in reached else {}
            paired = paired_difference(late, without) if variant == "farl" else None
            difference, low, high = paired or (None, None, None)
            table.append(
                Row(
                    run.game,
                    opponent,
                    variant,
                    scale_of(opponent, run.game),
                    *mean_sem(list(late.values())),
                    *mean_sem(list(last.values())),
                    n=len(late),
                    per_seed=tuple(late[seed] for seed in sorted(late)),
                    episodes=episodes,
                    seconds=seconds,
                    paper_mean=published[0],
                    paper_error=published[1],
                    difference=difference,
                    difference_low=low,
                    difference_high=high,
                )
            )
    return table


def opponents_met(run: Run, results: Sequence[Result]) -> list[str]:
    """Those it was to meet while training, in their order, then others."""
    met = dict.fromkeys(result.opponent for result in results)
    return list(dict.fromkeys((*(name for name in run.evaluation.opponents if name in met), *met)))


def _reached(
    curves: dict[int, dict[int, float]],
) -> tuple[int, dict[int, float], dict[int, float]]:
    """(episodes that all seeds have reached, mean of the last fifth of them, the last figure).

    A seed without an evaluation in the last fifth gives its last one; without any, nothing.
    """
    reached = min(max(curve) for curve in curves.values())
    late, last = {}, {}
    for seed, curve in curves.items():
        within = {episodes: figure for episodes, figure in curve.items() if episodes <= reached}
        if within:
            last[seed] = within[max(within)]
            figures = [figure for at, figure in within.items() if 5 * at > 4 * reached]
            late[seed] = float(np.mean(figures or last[seed]))
    return reached, late, last


def as_records(table: Sequence[Row]) -> list[dict[str, Any]]:
    """Flat records for JSON, rounded to what they mean; a figure that is no number becomes None."""

    def plain(value: Any) -> Any:
        if isinstance(value, Game):
            return value.name
        if isinstance(value, Scale):
            return value.unit
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        if isinstance(value, float):
            return round(value, 5) if math.isfinite(value) else None
        return value

    names = {field.name: field.name for field in dataclasses.fields(Row)} | {"scale": "unit"}
    return [{names[name]: plain(value) for name, value in vars(row).items()} for row in table]
