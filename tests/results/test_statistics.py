"""The statistics of many runs against SciPy's."""

import itertools

import numpy as np
import pytest
from scipy import stats

from jaxgbg.results import statistics
from jaxgbg.results.statistics import (
    bootstrap_interval,
    cluster_interval,
    confidence_interval,
    improvement_probability,
    interquartile_mean,
    paired_difference,
)


def test_values_beyond_their_span_have_the_interval_of_student():
    for values in ([105, 103, 110], [-105, -103, -110], [-1, 0, 1]):
        found = confidence_interval(values, span=(0, 100), games=10)
        assert found == confidence_interval(values)


@pytest.mark.parametrize("shape", [(4, 1), (10, 1), (7, 3), (1, 1), (5, 6)])
def test_the_interquartile_mean_is_the_trimmed_mean(shape):
    scores = np.random.default_rng(3).normal(size=(2, *shape))
    expected = [stats.trim_mean(one, 0.25, axis=None) for one in scores]
    np.testing.assert_allclose(interquartile_mean(scores), expected)


def test_the_interquartile_mean_does_not_feel_an_outlier():
    scores = np.array([[0.0], [1.0], [2.0], [1e9]])
    assert interquartile_mean(scores) == 1.5


def test_the_probability_of_improvement_is_that_of_mann_and_whitney():
    random = np.random.default_rng(5)
    # Whole numbers, so that there are ties.
    first, second = random.integers(0, 6, (8, 3)), random.integers(0, 5, (5, 3))
    each = [stats.mannwhitneyu(first[:, task], second[:, task]).statistic / 40 for task in range(3)]
    found = improvement_probability(first, second)
    assert found == pytest.approx(np.mean(each))
    assert improvement_probability(second, first) == pytest.approx(1 - found)
    assert improvement_probability(np.ones((2, 1)), np.ones((3, 1))) == 0.5


@pytest.mark.parametrize("statistic", ["iqm", "probability"])
def test_the_bootstrap_is_that_of_scipy(statistic):
    random = np.random.default_rng(0)
    groups = [random.normal(size=(12, 3)) * [1, 5, 0.2] + [0, 3, 9]]
    function = interquartile_mean
    if statistic == "probability":
        groups.append(random.normal(size=(9, 3)) * [1, 5, 0.2] + [0.5, 3, 9.1])
        function = improvement_probability
    # SciPy draws every sample by itself: with a sample for each task that is the strata.
    columns = [group[:, task] for group in groups for task in range(3)]

    def of_columns(*drawn, axis):
        assert axis == -1
        tables = [np.stack(drawn[at : at + 3], -1) for at in range(0, len(drawn), 3)]
        return function(*tables)

    expected = stats.bootstrap(
        columns,
        of_columns,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(1),
        batch=1000,
        axis=-1,
    )
    found = bootstrap_interval(function, *groups)
    # Quantiles of 10,000 draws: a few hundredths of the standard error of the statistic.
    np.testing.assert_allclose(
        found, expected.confidence_interval, atol=0.1 * expected.standard_error
    )
    inner = bootstrap_interval(function, *groups, level=0.5)
    assert found[0] < inner[0] < inner[1] < found[1]
    assert bootstrap_interval(function, *groups, seed=1) != found


def test_strata_do_not_mix():
    # Within a task all seeds agree: whatever is drawn, the mean is the same.
    scores = np.tile([[0.0, 10.0]], (5, 1))
    low, high = bootstrap_interval(lambda drawn: drawn.mean((-2, -1)), scores, repetitions=1500)
    # An interval of length 0 would say that another seed gives the same.
    assert np.isnan([low, high]).all()
    scores[0] += 1e-3
    low, high = bootstrap_interval(lambda drawn: drawn.mean((-2, -1)), scores, repetitions=1500)
    assert 5 <= low < high <= 5.001


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(11)
    covered = 0
    for trial in range(400):
        # Two tasks of one mean, symmetric: the interquartile mean of the population is 0.
        scores = random.normal(size=(40, 2))
        low, high = bootstrap_interval(
            interquartile_mean, scores, level=0.9, repetitions=400, seed=trial
        )
        covered += low <= 0 <= high
    # 360 expected, standard deviation 6; a bootstrap covers somewhat too little.
    assert 336 <= covered <= 378


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([np.ones(3)], "must be a table"),
        ([np.ones((0, 2))], "must be a table"),
        ([np.ones((3, 2)), np.ones((3, 1))], "the same tasks"),
        ([np.array([[1.0], [np.nan]])], "not a finite number"),
    ],
)
def test_what_is_no_table_of_scores_is_named(groups, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(interquartile_mean, *groups)
    with pytest.raises(ValueError, match="level"):
        bootstrap_interval(interquartile_mean, np.ones((2, 2)), level=95)


def test_a_bounded_interval_stays_within_its_bounds_and_ends_as_students():
    low, high = confidence_interval([0.02, 0.23], span=(0, 1))
    assert 0 <= low < 0.125 < high <= 1
    assert confidence_interval([0.02, 0.23])[0] < -1
    # Far from the bounds, with many seeds close together, the two agree.
    values = 0.5 + 0.01 * np.random.default_rng(0).normal(size=200)
    np.testing.assert_allclose(
        confidence_interval(values, span=(0, 1)), confidence_interval(values), atol=1e-5
    )
    # Of one win or loss each it is Wilson's own, but for Student's t and the sample's n - 1.
    games = [1.0] * 9 + [0.0] * 31
    own = stats.binomtest(9, 40).proportion_ci(method="wilson")
    np.testing.assert_allclose(confidence_interval(games, span=(0, 1)), own, atol=0.01)
    # In another unit it is the same interval.
    scaled = confidence_interval([100 * game - 20 for game in games], span=(-20, 80))
    np.testing.assert_allclose(
        (np.array(scaled) + 20) / 100, confidence_interval(games, span=(0, 1))
    )


def test_a_bounded_interval_covers_the_mean_about_as_often_as_it_says():
    random = np.random.default_rng(2)
    # Win rates of ten seeds near the upper end, of mean 0.9.
    samples = random.beta(9, 1, (600, 10))
    inside = [
        low <= 0.9 <= high for low, high in (confidence_interval(s, span=(0, 1)) for s in samples)
    ]
    assert 0.92 <= np.mean(inside) <= 0.98


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_interval_does_not_collapse_where_all_seeds_agree(share):
    for games in (10, 100):
        two, ten = (confidence_interval([share] * n, span=(0, 1), games=games) for n in (2, 10))
        assert 0 <= two[0] <= ten[0] <= share <= ten[1] <= two[1] <= 1
        assert two[1] - two[0] > 0.3
        # Never less than Wilson's own of as many games.
        own = stats.binomtest(round(share * 10 * games), 10 * games).proportion_ci(method="wilson")
        assert ten[0] <= own.low + 1e-9
        assert ten[1] >= own.high - 1e-9
    assert np.isnan(confidence_interval([share] * 10, span=(0, 1))).all()
    assert np.isnan(confidence_interval([share] * 10, games=100)).all()


def test_a_bootstrap_of_clusters_covers_where_one_of_agents_would_not():
    random = np.random.default_rng(4)
    clusters, agents = [], []
    for _ in range(600):
        # Ten seeds, each with five agents that differ little from each other.
        seeds = random.normal(size=(10, 1)) + 0.1 * random.normal(size=(10, 5))
        low, high = cluster_interval(list(seeds.mean(1)))
        clusters.append(low <= 0 <= high)
        low, high = confidence_interval(list(seeds.ravel()))
        agents.append(low <= 0 <= high)
    # 95 % asked for; fifty agents taken for independent cover less than two thirds.
    assert 0.92 <= np.mean(clusters) <= 0.98
    assert np.mean(agents) < 0.7


def wilson(share, games, z):
    """The interval of Wilson (1927) as the two roots of his quadratic equation."""
    roots = np.roots([1 + z**2 / games, -(2 * share + z**2 / games), share**2])
    return tuple(np.sort(roots.real))


def newcombe(one, other, games, z):
    (low, high), (other_low, other_high) = (wilson(share, games, z) for share in (one, other))
    below, above = np.hypot(one - low, other_high - other), np.hypot(high - one, other - other_low)
    return one - other - below, one - other + above


def test_seeds_that_agree_on_both_sides_have_newcombes_interval():
    # Newcombe 1998, table II, (c) 9/10 - 3/10, method 10.
    np.testing.assert_allclose(newcombe(0.9, 0.3, 10, 1.959964), (0.1705, 0.8090), atol=5e-5)
    seeds, t = range(10), stats.t.ppf(0.975, 9)
    first, second = dict.fromkeys(seeds, 0.9), dict.fromkeys(seeds, 0.3)
    found = paired_difference(first, second, span=(0, 1), games=4)
    np.testing.assert_allclose(found, (0.6, *newcombe(0.9, 0.3, 40, t)))
    # Each seed has its games.
    own = confidence_interval([0.9] * 10, span=(0, 1), games=4)
    np.testing.assert_allclose(own, wilson(0.9, 40, t))


def test_differences_have_a_span_of_their_own():
    """Twice as wide as that of the values: from the lowest less the highest to the reverse."""
    first, second = {0: 1.0, 1: 0.96, 2: 0.9}, dict.fromkeys(range(3), -0.9)
    differences = [1.9, 1.86, 1.8]
    mean, low, high = paired_difference(first, second, span=(-1, 1))
    assert mean == pytest.approx(np.mean(differences))
    assert (low, high) == pytest.approx(confidence_interval(differences, span=(-2, 2)))
    assert high < 2 - 0.01


def test_agents_of_a_cluster_count_once_with_their_mean():
    first = {(seed, agent): seed + agent / 10 for seed in range(4) for agent in range(seed + 1)}
    second = dict.fromkeys(first, 0.0)
    found = paired_difference(first, second, cluster=lambda lane: lane[0])
    means = [0, 1.05, 2.1, 3.15]
    assert found == pytest.approx((np.mean(means), *confidence_interval(means)))


def test_the_ends_of_a_bootstrap_of_clusters_are_hesterbergs(monkeypatch):
    """Among the means of all 6^6 samples as many lie beyond as by the expanded percentile."""
    monkeypatch.setattr(statistics, "_CLUSTER_DRAWS", 400_000)
    values = [0.0, 0.31, 0.47, 0.62, 1.13, 1.71]
    means = np.array([*itertools.product(values, repeat=6)]).mean(1)
    tail = stats.norm.cdf(-np.sqrt(6 / 5) * stats.t.ppf(0.975, 5))
    low, high = cluster_interval(values)
    # A few samples have the very mean at which the interval ends.
    for beyond, at in (means < low, means <= low + 1e-9), (means > high, means >= high - 1e-9):
        assert beyond.mean() < 1.1 * tail
        assert at.mean() > 0.9 * tail
