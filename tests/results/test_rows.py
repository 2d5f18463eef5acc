"""Rows, statistics and pictures from evaluations that we make up."""

import io

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console
from scipy import stats

from jaxgbg.results.curves import draw_curves
from jaxgbg.papers.figures import PAPER, in_words, to_unit, unit
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.statistics import confidence_interval, mean_sem, paired_difference
from jaxgbg.results.table import print_table
from jaxgbg.training import Evaluation, preset


def made_up(seeds=3, until=1000, **changes):
    """FARL scores rise to 0, no-FARL ones stay at -0.8; seeds differ by 0.02."""
    config = preset("nim", seeds=tuple(range(seeds)), episodes=1000, eval_every=100, **changes)
    found = [
        Evaluation(seed, farl, episodes, "maxn", score + 0.02 * seed, 20)
        for episodes in range(100, until + 1, 100)
        for seed in range(seeds)
        for farl, score in (("farl", episodes / 1000 - 1), ("none", -0.8))
    ]
    return config, found


def test_statistics_agree_with_scipy():
    values = [0.3, 0.1, 0.7, 0.4]
    mean, sem = mean_sem(values)
    assert (mean, sem) == pytest.approx((np.mean(values), stats.sem(values)))
    expected = stats.t.interval(0.95, 3, loc=mean, scale=sem)
    assert confidence_interval(values) == pytest.approx(expected)
    assert np.isnan(mean_sem([1.0])[1])


def test_the_difference_is_paired_by_seed():
    first, second = {0: 0.5, 1: 0.9, 2: 0.7, 7: 100.0}, {0: 0.1, 1: 0.5, 2: 0.3, 8: -100.0}
    mean, low, high = paired_difference(first, second)
    assert (mean, low, high) == pytest.approx((0.4, 0.4, 0.4))
    assert paired_difference({1: 0.0}, {2: 0.0}) is None


def test_a_row_is_the_mean_over_the_last_fifth_of_each_seed():
    farl, none = rows(*made_up(), 12.0)
    # The evaluations after 800 episodes: 900 and 1000, scores -0.1 and 0 and 0.02 more a seed.
    assert farl.per_seed == pytest.approx((0.475, 0.485, 0.495))
    assert farl.mean == pytest.approx(0.485)
    assert farl.final == pytest.approx(0.51)
    assert (farl.n, farl.episodes, farl.unit) == (3, 1000, "win rate")
    assert (farl.paper_mean, none.paper_mean) == (0.50, 0.12)
    assert farl.difference == pytest.approx(farl.mean - none.mean)
    assert none.difference is None


def test_a_stopped_run_gives_what_all_seeds_have_reached():
    config, found = made_up(until=500)
    found.append(Evaluation(0, "farl", 600, "maxn", 1.0, 20))
    farl = rows(config, found, 1.0)[0]
    assert farl.episodes == 500
    assert farl.per_seed[1] == pytest.approx(to_unit("nim", "maxn", -0.5 + 0.02))


def test_one_seed_has_no_error_and_still_a_row():
    config, found = made_up(seeds=1)
    record = as_records(rows(config, found, 1.0))[0]
    assert record["sem"] is None
    assert record["n"] == 1
    assert record["difference_low"] is None


def test_units_and_published_figures():
    assert to_unit("connectfour", "ab", -1.0) == 0.0
    assert to_unit("tictactoe", "maxn", 0.0) == 0.5
    assert to_unit("nim3p", "maxn", 0.4) == 0.4
    assert to_unit("2048", "score", 0.01) == pytest.approx(39_321.56)
    assert to_unit("connectfour", "solver", 0.8) == 0.8
    assert unit("nim3p", "maxn") == "reward"
    assert (unit("2048", "score"), unit("connectfour", "solver")) == ("points", "share")
    assert in_words("points", 142_000.4) == "142,000"
    assert (in_words("win rate", 0.9346), in_words("reward", 0.33)) == ("93.5", "0.330")
    assert {farl for _, _, farl in PAPER} == {"farl", "none"}


def test_the_table_shows_mean_error_and_difference():
    text = io.StringIO()
    print_table(rows(*made_up(), 12.0), Console(file=text, width=120))
    assert "48.5 ± 0.6" in text.getvalue()
    assert "50.0 ± 1.0" in text.getvalue()
    assert "+37.5 (+37.5 to +37.5)" in text.getvalue()


def test_curves_are_drawn_whole_or_not_at_all(tmp_path):
    config, found = made_up()
    draw_curves([(config, found)] * 4, tmp_path / "curves.png")
    height, width, _ = imread(tmp_path / "curves.png").shape
    # Four panels stand in two lines of three.
    assert width > 1.5 * height
    draw_curves([(config, found)], tmp_path / "one.png")
    assert imread(tmp_path / "one.png").shape[1] < width / 2
    with pytest.raises(OSError, match="missing"):
        draw_curves([(config, found)], tmp_path / "missing" / "curves.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.png", "one.png"]
