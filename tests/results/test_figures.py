"""Figures of many runs: one panel a game and opponent, a line a setting, the same axes."""

import dataclasses
import re

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.image import imread

from jaxgbg.games import make
from jaxgbg.results import draw, figures
from jaxgbg.results.curves import curve, panels_of, span_of, styles_of
from jaxgbg.results.groups import read_table
from jaxgbg.results.robust import columns, profile, robust
from jaxgbg.results.table import panel_tables
from tests.results.test_groups import write_run, write_sweep


def test_each_setting_has_a_look_of_its_own(tmp_path):
    for decay in (0.0, 0.25, 0.5, 0.75, 0.9):
        write_run(tmp_path, variants=("farl", "none"), trace_decay=decay)
    table = read_table(tmp_path)
    styles = styles_of(table)
    assert len({(str(look.colour), look.dashes) for look in styles.values()}) == 10
    assert styles[0.25, "none"].label == "trace_decay 0.25, no FARL"
    # Numbers are told by colour, FARL by the kind of line.
    assert styles[0.25, "none"].colour == styles[0.25, "farl"].colour
    assert styles[0.25, "none"].dashes != styles[0.25, "farl"].dashes


def test_panels_of_a_game_have_the_same_axes(tmp_path):
    write_run(tmp_path, level=0.1, opponent="maxn")
    write_run(tmp_path, level=0.9, opponent="random", trace_decay=0.0)
    rows = read_table(tmp_path, ["variant"]).rows
    first, second = panels_of(rows)
    low, high = span_of(first, rows)
    assert (low, high) == span_of(second, rows)
    assert low < 0.1 < 0.9 < high


def test_win_rates_and_rewards_of_one_game_do_not_share_a_table_or_an_axis(tmp_path):
    for players, level in ((2, 0.5), (3, 0.9), (5, 0.2)):
        game = make("pig", players=players, target=10)
        write_run(tmp_path, level=level, game=game, opponent="random")
    rows = read_table(tmp_path, ["players"]).rows
    two, more = panels_of(rows)
    assert [[row.settings["players"] for row in panel] for panel in (two, more)] == [[2], [3, 5]]
    # All curves of a panel lie within its axis, although the lowest rewards differ.
    low, high = span_of(more, rows)
    assert low < 0.2 < 0.9 < high
    tables = list(panel_tables(rows, ""))
    assert [re.search(r"random: (.*?),", heading)[1] for heading, *_ in tables] == [
        "win rate (%)",
        "reward",
    ]
    # The setting that tells the tables apart is shown in each of them.
    assert all(columns[0].name == "players" for *_, columns in tables)


def test_a_curve_is_of_the_lanes_that_have_come_so_far(tmp_path):
    write_run(tmp_path, (0,), until=300)
    write_run(tmp_path, (2,), until=500)
    episodes, mean, _ = curve(read_table(tmp_path).rows[0])
    assert list(episodes) == [100, 200, 300, 400, 500]
    assert list(mean) == pytest.approx([0.01] * 3 + [0.02] * 2)


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_figure_is_written_in_every_form_and_is_the_same_again(tmp_path, form):
    table = read_table(write_sweep(tmp_path / "runs"))
    for name in ("a", "b"):
        draw(table, tmp_path / f"{name}.{form}")
    first, second = ((tmp_path / f"{name}.{form}").read_bytes() for name in ("a", "b"))
    assert first == second
    if form == "svg":
        text = first.decode()
        assert all(word in text for word in ("trace_decay", ">0.9<", "nim3p against maxn"))


@pytest.mark.parametrize("kind", ["curves", "means", "heatmap", "profile"])
def test_every_kind_is_drawn(tmp_path, kind):
    for decay in (0.0, 0.5):
        for alpha in (0.1, 0.2):
            write_run(tmp_path, (0, 1), level=decay, trace_decay=decay, alpha=alpha)
    table = read_table(tmp_path)
    draw(table, tmp_path / "figure.png", kind, "interval")
    assert imread(tmp_path / "figure.png").shape[0] > 300


def test_the_last_of_many_settings_is_told_by_the_kind_of_line(tmp_path):
    for changes in ({"learner": "td"}, {"learner": "sarsa"}, {"learner": "sarsa", "replan": True}):
        write_run(tmp_path, variants=("farl", "none"), **changes)
    styles = list(styles_of(read_table(tmp_path)).values())
    assert [look.label for look in styles] == [
        f"{learner}, {variant}"
        for learner in ("learner sarsa, replan no", "learner sarsa, replan yes", "learner td")
        for variant in ("FARL", "no FARL")
    ]
    assert [look.dashes for look in styles] == ["-", "--"] * 3
    assert len({look.colour for look in styles}) == 3
    assert all(one.colour == two.colour for one, two in zip(styles[::2], styles[1::2], strict=True))


def test_too_many_colours_leave_the_kinds_of_lines_to_tell_them_apart(tmp_path):
    for alpha in (0.1, 0.2, 0.3):
        for decay in (0.0, 0.2, 0.5):
            for epsilon in (0.1, 0.2):
                write_run(tmp_path, alpha=alpha, trace_decay=decay, epsilon=epsilon)
    styles = styles_of(read_table(tmp_path)).values()
    assert len({(look.colour, look.dashes) for look in styles}) == 18


def test_nothing_is_drawn_between_words(tmp_path, monkeypatch):
    write_run(tmp_path, (0, 1), variants=("farl", "none"))
    drawn = []
    errorbar, set_xticks = Axes.errorbar, Axes.set_xticks
    monkeypatch.setattr(
        Axes, "errorbar", lambda *a, **named: [drawn.append(named["ls"]), errorbar(*a, **named)][1]
    )
    monkeypatch.setattr(
        Axes, "set_xticks", lambda *a, **named: [drawn.append(a[2]), set_xticks(*a, **named)][1]
    )
    draw(read_table(tmp_path), tmp_path / "figure.png", "means")
    assert drawn == ["", ["FARL", "no FARL"]]


@pytest.mark.parametrize("lines", [5, 30])
def test_a_long_legend_is_not_cut_off(tmp_path, monkeypatch, lines):
    for seeds in range(lines):
        write_run(tmp_path, (0, 1), alpha=0.1 * (seeds + 1))
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, _: drawn.append(figure))
    draw(read_table(tmp_path), tmp_path / "figure.png")
    (figure,) = drawn
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len(legend.get_texts()) >= lines
    assert box.y0 > 0
    assert box.y1 < figure.bbox.height


def test_bars_of_several_lines_stand_side_by_side(tmp_path, monkeypatch):
    for decay in (0.0, 0.5):
        write_run(tmp_path, (0, 1), variants=("farl", "none"), trace_decay=decay)
    drawn = []
    errorbar = Axes.errorbar
    monkeypatch.setattr(
        Axes, "errorbar", lambda *a, **named: [drawn.append(a[1]), errorbar(*a, **named)][1]
    )
    draw(read_table(tmp_path), tmp_path / "figure.png", "means")
    (first, last), (other, _) = drawn
    assert last - first == pytest.approx(0.5)
    assert 0 < other - first < 0.05


def test_means_stand_beside_what_is_published(tmp_path, monkeypatch):
    for decay in (0.0, 0.2, 0.5):
        changes = {"value": "mlp", "hidden": (100,), "parameter_traces": decay > 0}
        changes |= {"game": "tictactoe", "opponent": "random", "opponents": ["random"]}
        write_run(tmp_path, (0, 1), wins=0.9, trace_decay=decay, **changes)
    drawn = []
    plot = Axes.plot

    def spy(axis, *values, **options):
        drawn.append((list(values[0]), list(values[1]), options.get("gid")))
        return plot(axis, *values, **options)

    monkeypatch.setattr(Axes, "plot", spy)
    draw(read_table(tmp_path, wins=True), tmp_path / "figure.png", "means")
    assert ([0.0, 0.2, 0.5], [93.1, 89.22, 74.4], "paper") in drawn
    drawn.clear()
    draw(read_table(tmp_path), tmp_path / "figure.png", "means")
    assert not [gid for _, _, gid in drawn if gid == "paper"]


def test_what_cannot_be_drawn_is_named(tmp_path):
    table = read_table(write_sweep(tmp_path))
    with pytest.raises(ValueError, match=r"a heatmap needs two axes, and trace_decay differs here"):
        draw(table, tmp_path / "x.png", "heatmap")
    with pytest.raises(
        ValueError, match=r"x.gif: the name of a figure must end in .png, .svg or .pdf"
    ):
        draw(table, tmp_path / "x.gif")
    assert not list(tmp_path.glob("x.*"))


def test_robust_statistics_are_those_of_the_lanes(tmp_path):
    table = read_table(write_sweep(tmp_path, decays=(0.0, 0.2)), baseline=["trace_decay=0"])
    first, second = robust(table)
    assert first.better is None
    # Seeds 0 to 3 at 0.01 apart, 0.02 further up: 13 of 16 pairs are better, and two are ties.
    assert second.better == pytest.approx((13 + 0.5 * 2) / 16)
    assert second.iqm == pytest.approx(0.135)
    assert 0 <= second.better_low <= second.better <= second.better_high <= 1
    shares, low, high = profile(table.rows[0], [0.0, 0.115, 1.0])
    assert list(shares) == [1, 0.5, 0]
    # Four of four, two of four, none of four: Wilson's, with Student's t.
    np.testing.assert_allclose(low, [0.28, 0.06, 0], atol=0.01)
    np.testing.assert_allclose(high, 1 - low[::-1])


def test_robust_statistics_of_equal_seeds_have_no_interval(tmp_path):
    table = read_table(write_sweep(tmp_path, decays=(0.0, 0.2)), baseline=["trace_decay=0"])
    rows = [
        dataclasses.replace(row, per_seed=(mean,) * row.n)
        for row, mean in zip(table.rows, (0.25, 0.5), strict=True)
    ]
    found = robust(table._replace(rows=rows))
    assert [tuple(each) for each in found] == [
        (0.25, None, None, None, None, None),
        (0.5, None, None, 1, None, None),
    ]
    (cells, probabilities) = columns(rows, found, "0").values()
    assert (cells, probabilities) == (["0.250", "0.500"], ["", "1.00"])


def test_the_paper_s_line_ends_with_the_run_and_stands_where_it_applies(tmp_path, monkeypatch):
    write_run(tmp_path, (0, 1), variants=("farl", "none"), trace_decay=0.5)
    write_run(tmp_path, (0, 1), variants=("farl", "none"), trace_decay=0.9)
    table = read_table(tmp_path)
    published = [row.settings["trace_decay"] for row in table.rows if row.as_published]
    assert published == [0.5, 0.5]
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, _: drawn.append(figure))
    draw(table, tmp_path / "figure.png")
    (axis,) = drawn[0].axes
    lines = [list(line.get_xdata()) for line in axis.lines if line.get_gid() == "paper"]
    assert lines == [[0, 1000]] * 2
    assert {text.get_text() for text in axis.texts} == {"paper, after 300,000 episodes"}


def test_one_agent_has_no_mean_and_no_error(tmp_path):
    write_run(tmp_path, (0,))
    rows = read_table(tmp_path).rows
    assert figures._caption(rows, "curves", "sem") == "1 agent"
    write_run(tmp_path, (0, 1), trace_decay=0.0)
    both = read_table(tmp_path, ["trace_decay"]).rows
    assert figures._caption(both, "curves", "sem").startswith("mean over 1 to 2 agents, band ±")


@pytest.mark.parametrize("settings", [1, 3])
def test_a_legend_covers_no_panel(tmp_path, monkeypatch, settings):
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    for number in range(settings):
        write_run(tmp_path, variants=("farl", "none"), trace_decay=number / 4)
    draw(read_table(tmp_path), tmp_path / "x.png")
    (figure,) = drawn
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert not any(axis.get_window_extent().overlaps(box) for axis in figure.axes)
    assert all(axis.get_legend() is None for axis in figure.axes)
