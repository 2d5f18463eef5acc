"""Means over seeds and how sure they are."""

from collections.abc import Mapping, Sequence

import numpy as np


def mean_sem(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error of the mean; the error of one value is not a number."""
    array = np.asarray(values, float)
    if array.size < 2:
        return float(array.mean()), float("nan")
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))


def confidence_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Student's t interval of the mean; not a number for one value."""
    from scipy import stats

    mean, sem = mean_sem(values)
    if not np.isfinite(sem):
        return float("nan"), float("nan")
    reach = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * sem
    return mean - reach, mean + reach


def paired_difference(
    first: Mapping[int, float], second: Mapping[int, float]
) -> tuple[float, float, float] | None:
    """Mean and 95 % interval of first - second over the seeds of both; None without any."""
    seeds = sorted(first.keys() & second.keys())
    if not seeds:
        return None
    differences = [first[seed] - second[seed] for seed in seeds]
    return (mean_sem(differences)[0], *confidence_interval(differences))
