"""Verdicts on Table 1: one criterion, computed as other programs compute it."""

import numpy as np
import pytest
from scipy import stats

from experiments.table1 import verdicts
from experiments.table1.verdicts import AGREES, DIFFERS, RUNS, UNDECIDED, Verdict, difference
from jaxgbg.games.scale import WIN_RATE
from jaxgbg.results.statistics import mean_sem

SEEDS = [48.0, 52.0, 50.5, 47.5]


def verdict(low: float, high: float) -> str:
    found = Verdict("nim", "maxn", "64", "farl", 4, 50.0, 50.0, low, high, WIN_RATE)
    return found.outcome


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_interval_is_welch_s(level: float) -> None:
    paper = 45.0, 1.5
    mean, error = mean_sem(SEEDS)
    found = stats.ttest_ind_from_stats(
        mean, error * 2, 4, paper[0], paper[1] * RUNS**0.5, RUNS, equal_var=False
    )
    # Both ends are where Welch's p is 1 - level.
    low, high = difference(SEEDS, paper, WIN_RATE, games=40, level=level)
    middle = mean - paper[0]
    assert high - middle == pytest.approx(middle - low)
    at_end = stats.ttest_ind_from_stats(
        mean - low, error * 2, 4, paper[0], paper[1] * RUNS**0.5, RUNS, equal_var=False
    )
    assert at_end.pvalue == pytest.approx(1 - level)
    assert (low > 0) == (found.pvalue < 1 - level)


def test_seeds_that_all_agree_bound_no_more_than_their_games() -> None:
    few, many = (difference([0.0, 0.0], (7.0, 0.2), WIN_RATE, games) for games in (40, 4000))
    assert few[1] > 50 > many[1]
    assert few[0] == many[0] < -7
    assert np.isnan(difference([0.0], (7.0, 0.2), WIN_RATE, 40)).all()


def test_a_figure_differs_agrees_or_is_undecided() -> None:
    assert verdict(0.1, 0.2) == verdict(-0.2, -0.1) == verdict(0.1, 50.0) == DIFFERS
    assert verdict(-5.0, 5.0) == AGREES
    assert verdict(-5.0, 5.1) == UNDECIDED
    assert verdict(np.nan, np.nan) == UNDECIDED


@pytest.mark.slow
@pytest.mark.figures
def test_every_figure_of_the_paper_that_was_run_has_a_verdict() -> None:
    found = {one.key: one for one in verdicts.verdicts()}
    assert len(found) == len(verdicts.verdicts()) == 46
    one = found["othello", "bench", "64", "none"]
    # By hand from 96.752 ± 0.182 (ten seeds) and 96.0 ± 0.2: t = 2.78, 18 degrees of freedom.
    assert one.difference == pytest.approx((0.752, 0.183, 1.321), abs=2e-3)
    assert verdicts.outcomes_in_table(found.values()) == [26, 13, 8, 5]
