"""Rows, statistics and pictures from evaluations that we make up."""

import io
import re

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console
from scipy import stats

from jaxgbg.games import make
from jaxgbg.results.curves import span_of_shares, title
from jaxgbg.results.figures import draw_curves
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.statistics import confidence_interval, mean_sem, paired_difference
from jaxgbg.results.table import notes, print_table
from jaxgbg.runs import Result
from jaxgbg.runs.presets import preset


def made_up(seeds=3, until=1000, game="nim", opponent="maxn", **changes):
    """FARL scores rise to 0, no-FARL ones stay at -0.8; seeds differ by 0.02."""
    run = preset(game, seeds=range(seeds), episodes=1000, eval_every=100, **changes)
    results = [
        Result(seed, variant, episodes, opponent, score + 0.02 * seed, 20)
        for episodes in range(100, until + 1, 100)
        for seed in range(seeds)
        for variant, score in (("farl", episodes / 1000 - 1), ("none", -0.8))
    ]
    return run, results


def test_statistics_agree_with_scipy():
    values = [0.3, 0.1, 0.7, 0.4]
    mean, sem = mean_sem(values)
    assert (mean, sem) == pytest.approx((np.mean(values), stats.sem(values)))
    expected = stats.t.interval(0.95, 3, loc=mean, scale=sem)
    assert confidence_interval(values) == pytest.approx(expected)
    assert np.isnan(mean_sem([1.0])[1])


def test_the_difference_is_paired_by_seed():
    first, second = {0: 0.5, 1: 0.9, 2: 0.7, 7: 100.0}, {0: 0.1, 1: 0.4, 2: 0.4, 8: -100.0}
    mean, low, high = paired_difference(first, second)
    assert mean == pytest.approx(0.4)
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 2, 0.4, 0.1 / np.sqrt(3)))
    assert paired_difference({1: 0.0}, {2: 0.0}) is None


def test_a_row_is_the_mean_over_the_last_fifth_of_each_seed():
    farl, none = rows(*made_up(), 12.0)
    # The evaluations after 800 episodes: 900 and 1000, scores -0.1 and 0 and 0.02 more a seed.
    assert farl.per_seed == pytest.approx((47.5, 48.5, 49.5))
    assert farl.mean == pytest.approx(48.5)
    assert farl.last == pytest.approx(51)
    assert farl.last_sem == pytest.approx(1 / np.sqrt(3))
    assert (farl.n, farl.episodes, farl.scale.label) == (3, 1000, "win rate (%)")
    assert (farl.paper_mean, none.paper_mean) == (50.0, 12.0)
    assert farl.difference == pytest.approx(farl.mean - none.mean)
    assert none.difference is None


def test_a_stopped_run_gives_what_all_seeds_have_reached():
    run, results = made_up(until=500)
    results.append(Result(0, "farl", 600, "maxn", 1.0, 20))
    farl = rows(run, results, 1.0)[0]
    assert farl.episodes == 500
    assert farl.per_seed[1] == pytest.approx((1 - 0.5 + 0.02) * 50)
    assert farl.last == pytest.approx((1 - 0.5 + 0.02) * 50)


def test_one_seed_has_no_error_and_still_a_row():
    record = as_records(rows(*made_up(seeds=1), 1.0))[0]
    assert (record["game"], record["unit"]) == ("nim", "win rate (%)")
    assert record["sem"] is None
    assert record["last_sem"] is None
    assert record["n"] == 1
    assert record["difference_low"] is None


@pytest.mark.parametrize(
    ("game", "opponent", "mean", "text", "published"),
    [
        ("nim", "maxn", 49.5, "49.5", 50.0),
        ("nim3p", "maxn", -0.01, "-0.010", 0.33),
        ("2048", "score", -39_321.56, "-39,322", 142_000),
        ("connectfour", "solver", -1, "-1.0", None),
    ],
)
def test_figures_are_in_the_unit_of_the_game_or_judge(game, opponent, mean, text, published):
    run, results = made_up(seeds=1, game=game, opponent=opponent, variants=("farl",))
    late = [result._replace(score=-0.01) for result in results]
    row = rows(run, late, 1.0)[0]
    assert row.mean == pytest.approx(mean)
    assert row.scale.text(row.mean) == text
    assert row.paper_mean == published


def test_notes_say_what_the_figures_of_these_rows_are():
    def told(*games):
        table = [row for game, met in games for row in rows(*made_up(game=game, opponent=met), 1)]
        return " ".join(notes(table))

    assert told(("nim", "maxn")).startswith("Scores: win rate in %, a draw counts half. Mean")
    three = told(("nim", "maxn"), ("nim3p", "maxn"), ("connectfour", "ab"))
    assert "a draw counts half (nim, connectfour); mean reward (nim3p);" in three
    assert "in nim3p perfect players earn 0.4" in three
    assert "moving first, so twice" in three
    # Another game's rewards are no win rates, and nim3p's note is its own.
    other = told((make("nim", players=3), "random"))
    assert other.startswith("Scores: mean reward. Mean")
    assert "nim3p" not in other
    assert "share in % (connectfour against solver)" in told(
        ("connectfour", "solver"), ("connectfour", "mcts")
    )


def test_axes_of_shares_end_where_anybody_can_get():
    def row(game, opponent):
        return rows(*made_up(game=game, opponent=opponent), 1)[0]

    assert span_of_shares(row("nim", "maxn")) == pytest.approx((-1.5, 51.5))
    assert span_of_shares(row("nim", "random")) == pytest.approx((-3, 103))
    assert span_of_shares(row("connectfour", "solver")) == pytest.approx((-3, 103))
    assert span_of_shares(row("nim3p", "maxn")) is None
    assert title(row("connectfour", "ab")) == "connectfour against ab"
    assert title(row("2048", "score")) == "2048"


def test_the_table_shows_mean_error_and_difference():
    text = io.StringIO()
    print_table(rows(*made_up(), 12.0), Console(file=text, width=120))
    assert "48.5 ± 0.6" in text.getvalue()
    assert "50.0 ± 1.0" in text.getvalue()
    assert "51.0" in text.getvalue()
    # All differences are the same: their interval is that of 3 times 20 games.
    assert re.search(r"\+37\.5 \([+-][0-9.]+ to [+][0-9.]+\)", text.getvalue())


def test_curves_are_drawn_whole_or_not_at_all(tmp_path):
    made = made_up()
    others = [made_up(game=game) for game in ("tictactoe", "nim3p", "connectfour")]
    draw_curves([made, *others], tmp_path / "curves.png")
    height, width, _ = imread(tmp_path / "curves.png").shape
    # Four panels stand in two lines of three.
    assert width > 1.5 * height
    draw_curves([made], tmp_path / "one.png")
    assert imread(tmp_path / "one.png").shape[1] < width / 2
    with pytest.raises(OSError, match="missing"):
        draw_curves([made], tmp_path / "missing" / "curves.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.png", "one.png"]
