"""Robust statistics of rows by stratified bootstrap. Source: Agarwal et al. 2021."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.results.axes import Axis, Values
from jaxgbg.results.rows import Row, Table
from jaxgbg.results.statistics import (
    bootstrap_interval,
    confidence_interval,
    improvement_probability,
    interquartile_mean,
)
from jaxgbg.types import SettingValue


class Robust(NamedTuple):
    """The interquartile mean of a row in its unit, and its probability of improvement.

    `better` is P(a lane of this row is better than one of the baseline), where a tie counts half;
    None without a baseline. Intervals are 95% intervals, with None for an end that is unknown.
    """

    iqm: float
    iqm_low: float | None
    iqm_high: float | None
    better: float | None = None
    better_low: float | None = None
    better_high: float | None = None


def robust(table: Table) -> list[Robust]:
    """The statistics of each row; the bootstrap resamples seeds within each row."""
    rows = {_key(row, row.settings): row for row in table.rows}
    found = []
    for row in table.rows:
        scores = _scores(row)
        iqm = float(interquartile_mean(scores))
        one = Robust(iqm, *_ends(interquartile_mean, scores))
        other = rows.get(_key(row, {**row.settings, **_by_short(table.axes, table.baseline)}))
        if table.baseline and other is not None and other is not row:
            groups = scores, _scores(other)
            better = float(improvement_probability(*groups))
            one = Robust(*one[:3], better, *_ends(improvement_probability, *groups))
        found.append(one)
    return found


def columns(rows: Sequence[Row], told: Sequence[Robust], baseline: str) -> dict[str, list[str]]:
    """The statistics as columns of a table, a cell for each row."""
    words: dict[str, list[str]] = {"IQM (95 %)": [], f"P(> {baseline}) (95 %)": []}
    for row, each in zip(rows, told, strict=True):
        iqm = each.iqm, each.iqm_low, each.iqm_high
        better = each.better, each.better_low, each.better_high
        words["IQM (95 %)"].append(_in_words(iqm, row.scale.text))
        words[f"P(> {baseline}) (95 %)"].append(_in_words(better, "{:.2f}".format))
    return {name: cells for name, cells in words.items() if any(cells)}


def profile(row: Row, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The performance profile: shares of lanes above `levels` [L], and its 95% band, each [L].

    The band is that of a share of so many lanes, level by level; NaN for a single lane.
    """
    above = np.array(row.per_seed)[:, None] > levels
    ends = [confidence_interval(lanes, span=(0.0, 1.0), games=1) for lanes in above.T.astype(float)]
    low, high = np.array(ends).T
    return above.mean(0), low, high


def _ends(
    statistic: Callable[..., np.ndarray], *groups: np.ndarray
) -> tuple[float | None, float | None]:
    """The interval of a statistic, None where it is unknown."""
    low, high = bootstrap_interval(statistic, *groups)
    return (None, None) if math.isnan(low) else (low, high)


def _in_words(
    figures: tuple[float | None, float | None, float | None], text: Callable[[float], str]
) -> str:
    """A figure and its interval, as far as they are known."""
    figure, low, high = figures
    if figure is None:
        return ""
    return text(figure) + ("" if low is None or high is None else f" ({text(low)} to {text(high)})")


def _scores(row: Row) -> np.ndarray:
    return np.array(row.per_seed)[:, None]


def _by_short(axes: Sequence[Axis], values: Values) -> dict[str, SettingValue]:
    return {axis.short: values[axis.path] for axis in axes if axis.path in values}


def _key(
    row: Row, settings: Mapping[str, SettingValue]
) -> tuple[str, str, tuple[SettingValue, ...]]:
    return row.game, row.opponent, tuple(settings.items())
