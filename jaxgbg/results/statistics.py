"""Means over seeds and their confidence intervals."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

_Lane = TypeVar("_Lane", bound=Hashable)
_CLUSTER_DRAWS = 10_000


def mean_sem(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error of the mean; the error of a single value is NaN."""
    array = np.asarray(values, float)
    if array.size < 2:
        return float(array.mean()), float("nan")
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))


def agree(values: Sequence[float]) -> bool:
    """Whether all values are equal up to rounding."""
    return bool(np.ptp(values) <= 1e-9 * max(1.0, float(np.abs(values).max())))


def confidence_interval(
    values: Sequence[float],
    level: float = 0.95,
    span: tuple[float, float] | None = None,
    games: int | None = None,
) -> tuple[float, float]:
    """The confidence interval of the mean of `values`, one for each seed; NaN if it is unknown.

    Without `span`, or with a mean beyond it, it is Student's t interval. With `span` it stays
    within `span`: Wilson's score interval with Student's t and the effective number of trials,
    m (1 - m) / s.e.^2 for a mean m in [0, 1]. If all seeds agree, their standard error of 0 says
    nothing about another seed; the number of trials is then that of their games, `games` for each
    seed. A single value has no interval, and neither have values that agree without `span` and
    `games`. Source: Wilson 1927; Korn & Graubard 1998; Dean & Pagano 2015.
    """
    from scipy import special

    count = len(values)
    mean, sem = mean_sem(values)
    if count < 2 or (agree(values) and (span is None or not games)):
        return float("nan"), float("nan")
    t = float(special.stdtrit(count - 1, (1 + level) / 2))
    if span is None or not (agree(values) or span[0] < mean < span[1]):
        return mean - t * sem, mean + t * sem
    low, width = span[0], span[1] - span[0]
    share, error = min(max((mean - low) / width, 0.0), 1.0), sem / width
    trials = count * (games or 0) if agree(values) else share * (1 - share) / error**2
    shrunk = t**2 / trials
    centre = (share + shrunk / 2) / (1 + shrunk)
    spread = share * (1 - share) / trials + shrunk / (4 * trials)
    reach = t / (1 + shrunk) * float(np.sqrt(spread))
    ends = max(centre - reach, 0.0), min(centre + reach, 1.0)
    return min(low + width * ends[0], mean), max(low + width * ends[1], mean)


def cluster_interval(
    values: Sequence[float],
    level: float = 0.95,
    span: tuple[float, float] | None = None,
    games: int | None = None,
) -> tuple[float, float]:
    """The interval of the mean over clusters, whose means are `values`: a bootstrap of clusters.

    Whole clusters are resampled, so correlated values of a cluster count once. Percentiles are
    expanded according to Student's t for this number of clusters; otherwise the interval of ten
    clusters would be too narrow. If all clusters agree, `confidence_interval` is used. Source:
    Hesterberg 2015, "What teachers should know about the bootstrap" (expanded percentile).
    """
    from scipy import special

    count = len(values)
    if count < 2 or agree(values):
        return confidence_interval(values, level, span, games)
    array = np.asarray(values, float)
    drawn = np.random.default_rng(0).integers(count, size=(_CLUSTER_DRAWS, count))
    t = float(special.stdtrit(count - 1, (1 + level) / 2))
    tail = float(special.ndtr(-np.sqrt(count / (count - 1)) * t))
    low, high = np.quantile(array[drawn].mean(1), [tail, 1 - tail])
    return float(low), float(high)


def paired_difference(
    first: Mapping[_Lane, float],
    second: Mapping[_Lane, float],
    span: tuple[float, float] | None = None,
    games: int | None = None,
    interval: Callable[..., tuple[float, float]] = confidence_interval,
    cluster: Callable[[_Lane], Hashable] = lambda lane: lane,
) -> tuple[float, float, float] | None:
    """Mean and 95% interval of first - second over the lanes that both have; None without any.

    Lanes of one `cluster` count once, with their mean. If values lie in `span`, the `interval`
    stays within the possible differences; `games` is the number of games of a lane. If all
    differences are equal, their interval is made from those of the two means by their games.
    Source: Newcombe 1998, method 10.
    """
    clusters: dict[Hashable, list[tuple[float, float]]] = {}
    for lane in (lane for lane in first if lane in second):
        clusters.setdefault(cluster(lane), []).append((first[lane], second[lane]))
    if not clusters:
        return None
    # [clusters, 2]
    means = np.array([np.mean(pairs, axis=0) for pairs in clusters.values()])
    differences = [float(one - other) for one, other in means]
    mean = mean_sem(differences)[0]
    if len(means) > 1 and agree(differences):
        # All variation between seeds is equal on both sides.
        one, other = (float(side.mean()) for side in means.T)
        (low, high), (other_low, other_high) = (
            confidence_interval([side] * len(means), span=span, games=games)
            for side in (one, other)
        )
        below = math.hypot(one - low, other_high - other)
        return mean, mean - below, mean + math.hypot(high - one, other - other_low)
    reach = None if span is None else (span[0] - span[1], span[1] - span[0])
    return (mean, *interval(differences, span=reach, games=games))


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Mean of the middle half of all scores [..., seeds, tasks] -> [...].

    A quarter of them, rounded down, is dropped at either end. Source: Agarwal et al. 2021, "Deep
    RL at the edge of the statistical precipice".
    """
    flat = np.sort(np.asarray(scores, float).reshape(*np.shape(scores)[:-2], -1))
    cut = flat.shape[-1] // 4
    return flat[..., cut : flat.shape[-1] - cut].mean(-1)


def improvement_probability(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """P(X > Y) for one score of each, where ties count half: [..., seeds, tasks] of both -> [...].

    The mean over tasks of the share of pairs of seeds; the numbers of seeds may differ. Source:
    Agarwal et al. 2021; Mann & Whitney 1947.
    """
    x, y = np.asarray(first, float)[..., :, None, :], np.asarray(second, float)[..., None, :, :]
    return ((x > y) + 0.5 * (x == y)).mean((-3, -2, -1))


def bootstrap_interval(
    statistic: Callable[..., np.ndarray],
    *groups: np.ndarray,
    level: float = 0.95,
    repetitions: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval of a statistic of groups of scores [seeds, tasks] with the same tasks.

    Seeds are resampled within each task and group (stratified bootstrap); `statistic` takes the
    groups with a leading axis of repetitions. With few seeds the interval is too narrow, as for
    every bootstrap. NaN if both ends agree: such seeds say nothing about another seed. Raises
    ValueError for scores that are not such a table of finite numbers. Source: Agarwal et al. 2021.
    """
    tables = [np.asarray(group, float) for group in groups]
    if any(table.ndim != 2 or not table.size for table in tables):
        raise ValueError("scores must be a table [seeds, tasks] that is not empty")
    if len({table.shape[1] for table in tables}) > 1:
        raise ValueError("all groups need scores of the same tasks")
    if not all(np.isfinite(table).all() for table in tables):
        raise ValueError("a score is not a finite number: leave out such runs")
    if not 0 < level < 1 or repetitions < 1:
        raise ValueError("level must lie between 0 and 1, and repetitions be at least 1")
    random = np.random.default_rng(seed)
    estimates = []
    # In chunks, to bound the memory of large tables.
    for start in range(0, repetitions, 1000):
        drawn = [
            np.take_along_axis(
                table[None],
                random.integers(len(table), size=(min(1000, repetitions - start), *table.shape)),
                axis=1,
            )
            for table in tables
        ]
        estimates.append(statistic(*drawn))
    low, high = np.quantile(np.concatenate(estimates), [(1 - level) / 2, (1 + level) / 2])
    return (math.nan, math.nan) if agree([low, high]) else (float(low), float(high))
