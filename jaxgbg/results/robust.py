"""Robust statistics of rows by stratified bootstrap. Source: Agarwal et al. 2021."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.results.axes import Axis, Values
from jaxgbg.results.rows import Row, Table
from jaxgbg.results.statistics import (
    bootstrap_interval,
    improvement_probability,
    interquartile_mean,
)
from jaxgbg.types import SettingValue


class Robust(NamedTuple):
    """The interquartile mean of a row in its unit, and its probability of improvement.

    `better` is P(a lane of this row is better than one of the baseline), where a tie counts half;
    None without a baseline. Intervals are 95% intervals.
    """

    iqm: float
    iqm_low: float
    iqm_high: float
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
        told = Robust(iqm, *bootstrap_interval(interquartile_mean, scores))
        other = rows.get(_key(row, {**row.settings, **_by_short(table.axes, table.baseline)}))
        if table.baseline and other is not None and other is not row:
            groups = scores, _scores(other)
            better = float(improvement_probability(*groups))
            told = Robust(*told[:3], better, *bootstrap_interval(improvement_probability, *groups))
        found.append(told)
    return found


def columns(rows: Sequence[Row], told: Sequence[Robust], baseline: str) -> dict[str, list[str]]:
    """The statistics as columns of a table, a cell for each row."""
    words: dict[str, list[str]] = {"IQM (95 %)": [], f"P(> {baseline}) (95 %)": []}
    for row, each in zip(rows, told, strict=True):
        text = row.scale.text
        words["IQM (95 %)"].append(
            f"{text(each.iqm)} ({text(each.iqm_low)} to {text(each.iqm_high)})"
        )
        probability = ""
        if each.better is not None:
            probability = f"{each.better:.2f} ({each.better_low:.2f} to {each.better_high:.2f})"
        words[f"P(> {baseline}) (95 %)"].append(probability)
    return {name: cells for name, cells in words.items() if any(cells)}


def profile(row: Row, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The performance profile: shares of lanes above `levels` [L], and its 95% band, each [L].

    The band comes from the same bootstrap, pointwise.
    """
    scores = np.array(row.per_seed)
    drawn = np.random.default_rng(0).choice(scores, (2000, len(scores)))
    shares = (drawn[..., None] > levels).mean(1)
    low, high = np.quantile(shares, [0.025, 0.975], axis=0)
    return (scores[:, None] > levels).mean(0), low, high


def _scores(row: Row) -> np.ndarray:
    return np.array(row.per_seed)[:, None]


def _by_short(axes: Sequence[Axis], values: Values) -> dict[str, SettingValue]:
    return {axis.short: values[axis.path] for axis in axes if axis.path in values}


def _key(
    row: Row, settings: Mapping[str, SettingValue]
) -> tuple[str, str, tuple[SettingValue, ...]]:
    return row.game, row.opponent, tuple(settings.items())
