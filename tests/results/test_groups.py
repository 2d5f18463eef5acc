"""Many runs as one table: a row for each setting that differs, seeds pooled over folders."""

import json
import math
import os

import numpy as np
import pytest
from scipy import stats

import jaxgbg
from jaxgbg.games import make
from jaxgbg.results.axes import find_axes, value_text
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.figures import draw
from jaxgbg.results.groups import read_table, shortened
from jaxgbg.results.rows import as_records, group, source_of
from jaxgbg.results.table import notes
from jaxgbg.runs import Result, RunFolder
from jaxgbg.runs.presets import preset


def write_run(
    out, seeds=(0,), level=0.0, game="nim3p", opponent="maxn", until=1000, wins=None, **changes
):
    """A run whose seeds score `level`, and 0.01 more a seed, written as a run writes."""
    changes = {"episodes": 1000, "eval_every": 100, "variants": ("farl",)} | changes
    run = preset(game, seeds=seeds, **changes)
    folder = RunFolder(out, run)
    folder.path.mkdir(parents=True)
    (folder.path / "config.json").write_text(json.dumps(run.plain()))
    for episodes in range(100, until + 1, 100):
        for seed, variant in run.lanes:
            made = level + 0.01 * seed - 0.1 * (variant == "none")
            folder.append(Result(seed, variant, episodes, opponent, made, 20, wins))
    summary = {"episodes": 9, "moves": 12, "training_seconds": 1.5, "moves_per_second": 8}
    (folder.path / "summary.json").write_text(json.dumps(summary))
    return folder


def write_sweep(out, decays=(0.0, 0.5, 0.9), seeds=4, chunk=2, **changes):
    """Lambda by seeds, some seeds a run."""
    for decay in decays:
        for first in range(0, seeds, chunk):
            chosen = range(first, first + chunk)
            write_run(out, chosen, level=0.1 + decay / 10, trace_decay=decay, **changes)
    return out


def settings_of(table):
    return [dict(row.settings) for row in table.rows]


def test_settings_of_one_short_form_and_those_named_as_figures_have_columns_of_their_own(tmp_path):
    for episodes in (1000, 2000):
        write_run(tmp_path, until=300, episodes=episodes)
    for game_ranks in (False, True):
        for ranks in ((), (0.5, 0.5)):
            game = make("maedn", ranks=game_ranks)
            write_run(tmp_path, game=game, until=300, ranks=ranks, opponent="random")
    table = read_table(tmp_path)
    records = as_records(table.rows)
    nim = [each for each in records if each["game"] == "nim3p"]
    assert [(each["schedule.episodes"], each["episodes"]) for each in nim] == [
        (1000, 300),
        (2000, 300),
    ]
    assert {(each["game.ranks"], each["learner.ranks"]) for each in records if each not in nim} == {
        (game_ranks, ranks) for game_ranks in (False, True) for ranks in ("none", "0.5 0.5")
    }
    draw(table, tmp_path / "means.svg", "means")
    assert len(read_table(tmp_path, by=["schedule.episodes"]).rows) == len(table.rows)


def test_values_are_in_the_order_of_their_numbers(tmp_path):
    for width in (8, 128, 16, 32):
        write_run(tmp_path, until=300, value="mlp", hidden=(width,))
    for partner in ("mcts-50", "self", "mcts-100"):
        write_run(tmp_path, until=300, game="nim", partner=partner)
    table = read_table(tmp_path)
    (hidden,) = (axis.values for axis in table.axes if axis.short == "hidden")
    assert [value for value in hidden if value] == [(8,), (16,), (32,), (128,)]
    (partner,) = (axis.values for axis in table.axes if axis.short == "partner")
    assert partner == ("mcts-50", "mcts-100", "self")


def test_one_variant_and_lists_of_variants_have_an_order():
    values = ["none", ("farl", "none"), "farl", ("farl",)]
    (axis,) = find_axes([("nim", {"variants": value}) for value in values]).others
    assert axis.values == ("farl", "none", ("farl",), ("farl", "none"))


def test_numbers_that_differ_have_labels_that_differ():
    assert [value_text(value) for value in (0.5, 1e-7, 20000.0, math.nan)] == [
        "0.5",
        "1e-07",
        "20000",
        "nan",
    ]
    assert value_text(0.1234567) != value_text(0.1234568)


def test_games_won_take_the_place_of_scores(tmp_path):
    network = {"value": "mlp", "hidden": (30, 22), "game": "tictactoe", "opponent": "random"}
    for decay, won in ((0.0, 0.75), (0.5, 0.625)):
        changes = {"trace_decay": decay, "parameter_traces": decay > 0, "discount": 0.9}
        write_run(tmp_path, (0, 1), wins=won, opponents=["random"], **changes, **network)
    write_run(tmp_path, wins=None, opponents=["maxn"], game="nim")
    rows = [row for row in read_table(tmp_path).rows if row.game == "tictactoe"]
    assert [row.mean for row in rows] == pytest.approx([50.25, 50.25])
    assert [row.paper_mean for row in rows] == [None, None]
    won = read_table(tmp_path, wins=True).rows
    assert [(row.game, row.scale.label) for row in won] == [("tictactoe", "games won (%)")] * 2
    assert [row.mean for row in won] == pytest.approx([75, 62.5])
    # Both seeds won the same share: the interval is that of their 20 games each.
    assert (won[0].low, won[0].high) == pytest.approx((11.3, 98.6), abs=0.1)
    # D'Ambra's slides.
    assert [row.paper_mean for row in won] == [91.5, 88.52]
    assert list(jaxgbg.results(tmp_path, wins=True)["mean"]) == [75, 62.5]
    with pytest.raises(ValueError, match="no evaluation there has the number of games won"):
        read_table(tmp_path, where="game = 'nim'", wins=True)


def test_a_sweep_is_a_row_for_each_value_with_all_its_seeds(tmp_path):
    table = read_table(write_sweep(tmp_path))
    assert [(axis.path, axis.short) for axis in table.axes] == [
        ("learner.trace_decay", "trace_decay")
    ]
    assert settings_of(table) == [{"trace_decay": decay} for decay in (0.0, 0.5, 0.9)]
    for row, decay in zip(table.rows, (0.0, 0.5, 0.9), strict=True):
        figures = 0.1 + decay / 10 + 0.01 * np.arange(4)
        assert row.n == 4
        assert row.per_seed == pytest.approx(figures)
        assert (row.mean, row.sem) == pytest.approx((figures.mean(), stats.sem(figures)))
        assert row.low < row.mean < row.high
        assert row.difference is None


def test_what_differs_between_games_alone_names_nothing(tmp_path):
    for game in ("nim", "tictactoe"):
        for alpha in (0.1, 0.2):
            write_run(tmp_path, game=game, alpha=alpha)
    table = read_table(tmp_path)
    # Layout, lambda and more are each game's own.
    assert [axis.short for axis in table.axes] == ["alpha"]
    assert [(row.game, row.settings["alpha"]) for row in table.rows] == [
        ("tictactoe", 0.1),
        ("tictactoe", 0.2),
        ("nim", 0.1),
        ("nim", 0.2),
    ]


def test_what_another_learner_has_not_does_not_go_together_with_it(tmp_path):
    write_run(tmp_path, learner="td")
    write_run(tmp_path, learner="sarsa")
    write_run(tmp_path, learner="sarsa", replan=True)
    table = read_table(tmp_path)
    assert settings_of(table) == [
        {"learner": "sarsa", "replan": False},
        {"learner": "sarsa", "replan": True},
        {"learner": "td", "replan": None},
    ]
    assert table.notes == []
    # Table 1 is of TD with n-tuples: no other row stands next to its figures.
    write_run(tmp_path, value="mlp")
    told = {(r.settings["learner"], r.settings["value"]) for r in read_table(tmp_path).rows}
    assert told == {("sarsa", "ntuple"), ("td", "ntuple"), ("td", "mlp")}
    for row in read_table(tmp_path).rows:
        theirs = (row.settings["learner"], row.settings["value"]) == ("td", "ntuple")
        assert (row.paper_mean is not None) == theirs


def test_of_settings_that_go_together_the_first_is_the_axis(tmp_path):
    write_run(tmp_path, value="mlp", alpha=0.01)
    write_run(tmp_path, value="ntuple", alpha=0.5)
    table = read_table(tmp_path)
    assert [axis.short for axis in table.axes] == ["value"]
    assert "alpha" in table.axes[0].follows
    assert any(note.startswith("These differ together: value and") for note in table.notes)
    # A network has no tables: that it lacks their settings is no difference of its own.
    assert settings_of(table) == [{"value": "mlp"}, {"value": "ntuple"}]


def write_two_axes(out, seeds=range(3)):
    """Two step sizes by two lambdas, the second 0.02 better for every seed."""
    for alpha, more in ((0.1, 0.0), (0.2, 0.05)):
        for decay in (0.0, 0.5):
            level = 0.1 + more + 0.02 * (decay > 0)
            write_run(out, seeds, level, alpha=alpha, trace_decay=decay)


def test_what_is_not_named_is_told_apart_too_and_a_line_says_so(tmp_path):
    write_two_axes(tmp_path)
    table = read_table(tmp_path, ["learner.trace_decay"], ["trace_decay=0"])
    assert [tuple(row.settings) for row in table.rows] == [("trace_decay", "alpha")] * 4
    assert [row.n for row in table.rows] == [3] * 4
    assert table.notes == ["Listed separately, as they differ: alpha; --pool alpha pools them."]
    both = read_table(tmp_path, ["alpha", "trace_decay"])
    assert [tuple(row.settings) for row in both.rows] == [("alpha", "trace_decay")] * 4
    assert both.notes == []


def test_over_pooled_settings_a_seed_counts_once(tmp_path):
    write_two_axes(tmp_path)
    table = read_table(tmp_path, ["trace_decay"], ["trace_decay=0"], pool=["alpha"])
    assert settings_of(table) == [{"trace_decay": 0.0}, {"trace_decay": 0.5}]
    for row, mean in zip(table.rows, (0.135, 0.155), strict=True):
        figures = mean + np.array([-0.01, 0.0, 0.01])
        assert (row.n, row.agents, row.pooled) == (3, 6, ("alpha",))
        assert row.per_seed == pytest.approx(figures)
        # Student's over the three seeds, not over the six agents.
        assert (row.mean, row.sem) == pytest.approx((mean, stats.sem(figures)))
        assert [curve[1000] for curve in row.curves] == pytest.approx(figures)
        assert min(figures) - 1e-9 <= row.low < mean < row.high <= max(figures) + 1e-9
    # Within each step size the two differ by 0.02 for every seed, whatever lies between step sizes.
    row = table.rows[1]
    assert (row.difference, row.pairs) == (pytest.approx(0.02), 3)
    assert row.difference_low < 0.02 < row.difference_high
    assert table.rows[0].difference is None
    with pytest.raises(ValueError, match="alpha cannot be in both --by and --pool"):
        read_table(tmp_path, ["alpha"], pool=["alpha"])


def test_settings_that_do_not_matter_do_not_make_an_interval_narrower(tmp_path):
    # The same agents under five names, as those without FARL are in a sweep of lambda.
    one = tmp_path / "one"
    write_run(one, range(6))
    (alone,) = read_table(one).rows
    for decay in (0.0, 0.2, 0.4, 0.6, 0.8):
        write_run(tmp_path / "five", range(6), trace_decay=decay)
    (pooled,) = read_table(tmp_path / "five", pool=["trace_decay"]).rows
    assert (pooled.n, pooled.agents) == (alone.n, 30)
    assert (pooled.mean, pooled.sem) == pytest.approx((alone.mean, alone.sem))
    width = alone.high - alone.low
    assert pooled.high - pooled.low == pytest.approx(width, rel=0.25)


def test_only_seeds_of_all_pooled_settings_count(tmp_path):
    write_run(tmp_path, (0, 1, 2), trace_decay=0.0)
    write_run(tmp_path, (1, 2, 3), trace_decay=0.5, level=0.2)
    table = read_table(tmp_path, pool=["trace_decay"])
    assert [(row.n, row.agents) for row in table.rows] == [(2, 4)]
    assert table.rows[0].mean == pytest.approx(0.115)
    assert table.notes == [
        "nim3p, maxn: 2 seeds not used, because some trace_decay does not have them."
    ]
    write_run(tmp_path, (7,), trace_decay=0.9)
    with pytest.raises(ValueError, match="no seed is in all settings to be pooled"):
        read_table(tmp_path, pool=["trace_decay"])


def test_seeds_that_all_agree_claim_no_certainty(tmp_path):
    for seed in (0, 1):
        write_run(tmp_path, (seed,), level=-1.0 - 0.01 * seed, game="nim", wins=0.0)
    (row,) = read_table(tmp_path).rows
    assert (row.mean, row.sem) == (0.0, 0.0)
    assert row.low == 0.0
    assert row.high > 50
    (text,) = (note for note in notes([row]) if "all seeds agree" in note)
    assert "games" in text
    # A score without bounds has no such interval.
    free = source_of(preset("2048", seeds=(0, 1), variants=("none",)), [])._replace(
        evaluations=Evaluations.of([Result(s, "none", 100, "score", 512.0, 20) for s in (0, 1)])
    )
    (row,) = group([free]).rows
    assert np.isnan([row.low, row.high]).all()


def test_without_a_baseline_variants_are_compared_with_none(tmp_path):
    write_run(tmp_path, range(3), variants=("farl", "none"))
    write_run(tmp_path, range(3), variants=("farl", "none"), level=0.3, trace_decay=0.25)
    table = read_table(tmp_path)
    assert table.compared == "none"
    assert settings_of(table)[:2] == [
        {"trace_decay": 0.25, "variant": "farl"},
        {"trace_decay": 0.25, "variant": "none"},
    ]
    differences = [row.difference for row in table.rows]
    assert differences == [pytest.approx(0.1), None] * 2


def test_only_shared_seeds_are_paired(tmp_path):
    write_run(tmp_path, (0, 1, 2), trace_decay=0.0)
    write_run(tmp_path, (2, 3), trace_decay=0.5, level=0.2)
    row = read_table(tmp_path, baseline=["trace_decay=0"]).rows[1]
    assert (row.n, row.pairs, row.difference) == (2, 1, pytest.approx(0.2))
    assert np.isnan(row.difference_low)


def test_an_agent_in_two_folders_counts_once_and_that_is_said(tmp_path):
    write_run(tmp_path / "a", (0, 1))
    write_run(tmp_path / "b", (1, 2))
    table = read_table(tmp_path)
    assert [row.n for row in table.rows] == [3]
    assert "1 agents are in several folders" in table.notes[0]


def test_lanes_of_one_setting_count_as_far_as_all_have_come(tmp_path):
    write_run(tmp_path, (0,), until=500)
    write_run(tmp_path, (1,), until=1000)
    assert [row.episodes for row in read_table(tmp_path).rows] == [500]


def test_parameters_of_the_game_are_settings_too(tmp_path):
    for heaps in (2, 3):
        write_run(tmp_path, game=make("nim", heaps=heaps), opponent="random")
    table = read_table(tmp_path)
    assert settings_of(table) == [{"heaps": 2}, {"heaps": 3}]
    assert settings_of(read_table(tmp_path, ["game.heaps"])) == settings_of(table)


def test_an_agent_that_never_learned_is_counted(tmp_path):
    folder = write_run(tmp_path, (0, 1))
    counts = [
        {"seed": seed, "variant": "farl", "counts": [full, 0]} for seed, full in ((0, 0), (1, 7))
    ]
    histograms = {"weights": {"edges": [-1.0, 0.0, 1.0], "agents": counts}}
    (folder.path / "histograms.json").write_text(json.dumps(histograms))
    (row,) = read_table(tmp_path).rows
    assert (row.untrained, row.diverged) == (1, 0)
    # Of one that has diverged no weight is counted either.
    summary = json.loads((folder.path / "summary.json").read_text())
    (folder.path / "summary.json").write_text(json.dumps(summary | {"diverged": [[0, "farl"]]}))
    (row,) = read_table(tmp_path).rows
    assert (row.untrained, row.diverged) == (0, 1)


def test_agents_that_do_not_count_are_in_no_sum(tmp_path):
    def write(name, seeds, **changes):
        folder = write_run(tmp_path / name, seeds, **changes)
        summary = json.loads((folder.path / "summary.json").read_text())
        diverged = {"diverged": [[seed, "farl"] for seed in seeds]}
        (folder.path / "summary.json").write_text(json.dumps(summary | diverged))

    # The first stopped early: the second, of the same lanes, takes its place.
    write("a", (0, 1), until=500)
    write("b", (0, 1))
    (row,) = read_table(tmp_path).rows
    assert (row.n, row.diverged, row.runs, row.seconds) == (2, 2, 1, 1.5)
    # Seed 2 and 3 are not in both of the settings that are pooled.
    write("c", (1, 2), alpha=0.5)
    write("d", (3,), alpha=0.5)
    (row,) = read_table(tmp_path, pool=["alpha"]).rows
    assert (row.n, row.agents, row.diverged, row.runs, row.seconds) == (1, 2, 2, 2, 3.0)


@pytest.mark.parametrize("game", ["nim", "nim3p"])
def test_intervals_stay_within_what_a_figure_can_be(tmp_path, game):
    # Two seeds far apart: Student's t would leave the scale by far.
    run = preset(game, seeds=(0, 1), episodes=100, eval_every=100)
    results = [
        Result(seed, variant, 100, "maxn", score, 20)
        for seed, score in ((0, 0.2), (1, 0.9))
        for variant in ("farl", "none")
    ]
    for row in group([source_of(run, results)]).rows:
        low, high = row.scale.span
        assert low <= row.low < row.mean < row.high <= high


def test_lines_of_no_lane_and_runs_without_evaluations_are_no_rows(tmp_path):
    folder = write_run(tmp_path)
    folder.append(Result(0, "other", 1000, "maxn", 0.5, 20))
    begun = RunFolder(tmp_path, preset("nim", seeds=(0,)))
    begun.begin()
    assert [(row.game, row.n) for row in read_table(tmp_path).rows] == [("nim3p", 1)]
    assert read_table(begun.path).rows == []


def test_a_condition_chooses_evaluations(tmp_path):
    write_sweep(tmp_path)
    table = read_table(tmp_path, where="trace_decay > 0 and seed < 3")
    assert settings_of(table) == [{"trace_decay": 0.5}, {"trace_decay": 0.9}]
    assert [row.n for row in table.rows] == [3, 3]
    with pytest.raises(ValueError, match=r"--where .*lamda.* not found"):
        read_table(tmp_path, where="lamda = 0")


def test_the_package_is_called_for_a_data_frame(tmp_path):
    write_sweep(tmp_path)
    frame = jaxgbg.results(tmp_path, by="trace_decay", baseline="trace_decay=0")
    assert list(frame["trace_decay"]) == [0.0, 0.5, 0.9]
    expected = as_records(read_table(tmp_path, ["trace_decay"], ["trace_decay=0"]).rows)
    assert list(frame["mean"]) == [record["mean"] for record in expected]
    assert list(frame["unit"]) == ["reward"] * 3
    assert frame["difference"][2] == pytest.approx(0.09)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ["lamda"]}, "no run has a setting 'lamda'"),
        ({"by": ["seeds"]}, "seeds are always pooled"),
        ({"baseline": ["trace_decay=0.3"]}, "trace_decay is one of 0, 0.5, 0.9"),
        ({"baseline": ["alpha=0.3"]}, "with SETTING one of trace_decay"),
        ({"baseline": ["trace_decay"]}, "expected SETTING=VALUE"),
    ],
)
def test_a_name_or_value_that_is_not_there_is_named(tmp_path, options, message):
    write_sweep(tmp_path)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path, **options)


def test_without_settings_that_differ_no_baseline_can_be_named(tmp_path):
    write_run(tmp_path)
    with pytest.raises(ValueError, match="no setting differs between these runs"):
        read_table(tmp_path, baseline=["foo=1"])


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ValueError, match=f"^{tmp_path}: Permission denied$"):
        read_table(tmp_path)


def test_runs_that_were_stopped_early_are_said_to_be_so(tmp_path):
    whole = write_run(tmp_path, trace_decay=0.0)
    early = write_run(tmp_path, trace_decay=0.5, until=300)
    (early.path / "summary.json").unlink()
    early.stop_early("racing")
    # It went on once, and was finished: what it said before counts no more.
    whole.stop_early("racing")
    table = read_table(tmp_path)
    assert [row.episodes for row in table.rows] == [1000, 300]
    assert [note for note in table.notes if "stopped" in note] == [
        "1 of the runs stopped before their end, and count as far as they have come."
    ]


def test_of_many_rows_the_best_are_for_the_eye(tmp_path):
    table = read_table(write_sweep(tmp_path))
    short = shortened(table, most=2)
    assert [row.settings["trace_decay"] for row in short.rows] == [0.5, 0.9]
    assert short.notes[-1].startswith("nim3p, maxn: showing the 2 highest means of 3 rows")
    assert shortened(table) == table


def test_a_game_by_itself_names_what_differs_in_it(tmp_path):
    for decay in (0.0, 0.5):
        write_run(tmp_path, trace_decay=decay)
    for alpha in (0.1, 0.2):
        write_run(tmp_path, game="tictactoe", alpha=alpha, variants=("farl", "none"))
    games = {table.rows[0].game: table for table in read_table(tmp_path).of_games()}
    assert [axis.short for axis in games["nim3p"].axes] == ["trace_decay"]
    assert [row.settings for row in games["nim3p"].rows] == [
        {"trace_decay": 0.0},
        {"trace_decay": 0.5},
    ]
    assert [axis.short for axis in games["tictactoe"].axes] == ["alpha", "variant"]
    assert games["tictactoe"].axes[0].values == (0.1, 0.2)
    assert games["tictactoe"].compared == "none"
