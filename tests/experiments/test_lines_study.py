"""The study on a small board: what is trained is kept, judged once and counted."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from experiments.lines_of_action import judge, opponents, significance, study, tables, unlearning
from experiments.lines_of_action.judge import (
    Judged,
    figure_of,
    judged_networks,
    kept_networks,
    paired,
)
from experiments.lines_of_action.solve import code, rules, solve
from experiments.shared import Section
from jaxgbg.runs.presets import sasso2018

SETTINGS = ("itself", "itself, noise")


@pytest.mark.slow
def test_every_setting_is_a_run_of_its_own():
    runs = [study.run_of(setting, 0) for setting in study.SETTINGS]
    assert len({run.digest for run in runs}) == len(runs)
    thesis = study.run_of("itself", 0)
    assert (thesis.schedule.episodes, thesis.evaluation.every) == (250_000, 5_000)
    assert thesis.learner.replay_episodes == 500
    by_move, leaf = (study.run_of(f"itself, {learner}", 0) for learner in study.LEARNERS)
    assert (by_move.learner.kind, leaf.learner.kind) == ("td", "td-leaf")
    assert by_move.schedule.episodes == 250_000 > 5 * leaf.schedule.episodes
    assert by_move.variants == leaf.variants
    paths = {study.path_of(Path(), setting, 1) for setting in study.SETTINGS}
    assert len(paths) == len(runs)


def test_figures_are_paired_by_seed():
    gain = paired({0: 0.5, 1: 0.75, 7: 0.0}, {1: 0.5, 0: 0.5, 2: 0.9})
    assert gain is not None
    assert (gain["mean"], gain["n"], gain["sem"]) == (0.125, 2, 0.125)
    assert paired({0: 1.0}, {1: 1.0}) is None
    (row,) = [
        row
        for row in tables.partners(Judged([]), "noise", sasso2018.AVERAGES)
        if (row["trained against"], row["opponent"]) == ("COM", "SELF")
    ]
    assert row["paper"] == 0.304
    assert (
        tables.markdown("T", [row]).splitlines()[-1] == "| COM | SELF | 0.304 | not run | not run |"
    )


def test_networks_that_agree_have_no_interval():
    assert figure_of([1.0, 1.0]) == {"mean": 1.0, "n": 2, "sem": 0.0}
    about = figure_of([0.0, 1.0])
    assert about is not None
    low, high = about["interval"]
    assert low < 0.0
    assert high > 1.0


def test_the_thesis_took_sessions_of_a_curve_for_independent():
    for claim in sasso2018.CLAIMS:
        t, freedom, p = significance.of_tables(claim)
        if claim.table != "A.2":
            # Its own t, to what the rounding of its tables leaves of it.
            assert t == pytest.approx(claim.t, rel=0.05)
            assert freedom == pytest.approx(claim.freedom, abs=2)
            assert p < 0.05
    looking_ahead = [claim for claim in sasso2018.CLAIMS if claim.table == "A.2"]
    assert [significance.of_tables(claim)[2] < 0.05 for claim in looking_ahead] == [False, True]


def test_networks_are_paired_where_only_the_look_ahead_differs():
    def averages(setting, play, opponent):
        known = {"noise": {0: 0.1, 1: 0.5, 2: 0.9}, "look-ahead-noise": {1: 0.6, 2: 1.1, 7: 0.0}}
        return known[play] if setting == "COM" and opponent == "COM" else {}

    rows = significance.significance(averages)
    (ahead,) = [row for row in rows if row["p"]]
    assert (ahead["better"], ahead["networks"]) == ("COM, looking ahead", "2, 2")
    assert ahead["over our networks"] == "t(1) = 3.00"
    assert {row["over our networks"] for row in rows if row is not ahead} == {"not run"}


def test_what_is_played_at_the_end_stands_beside_what_it_took():
    def network(setting, seed, seconds, **shares):
        found = {f"noise {opponent}": [0.0] * 4 + [share] for opponent, share in shares.items()}
        about = {"config": "", "moves": 1, "seconds": seconds, "games": [0, 1, 2, 3, 4_000]}
        return {"setting": setting, "seed": seed, "shares": found} | about

    assert tables.ahead(Judged([])) == []
    leaf = "itself, TD-Leaf"
    judged = Judged([network(leaf, 0, 10.0, COM=0.5), network(leaf, 1, 30.0, COM=0.7)])
    by_one_ply, looking = tables.ahead(judged)
    assert (by_one_ply["games"], by_one_ply["seconds"]) == ("4,000", "20")
    assert (by_one_ply["COM"]["mean"], by_one_ply["COM"]["n"]) == (0.6, 2)
    assert by_one_ply["RAND"] is None is looking["COM"]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Two networks of a board of 3x3, 51 sessions each, judged."""
    folder = tmp_path_factory.mktemp("study")
    chosen = ["--out", str(folder), "--seeds", "0", "--settings", *SETTINGS]
    chosen += ["--results", str(folder)]
    study.main([*chosen, "--size", "3", "--games", "500"])
    judge.main(chosen)
    return folder


@pytest.mark.slow
def test_networks_are_kept_and_judged_once(out, capsys):
    sessions = study.load(study.path_of(out, "itself", 0))
    assert sessions.games.tolist() == [*range(0, 501, 10)]
    # Nothing is learned before the round of 500 games is over.
    assert (sessions.weights[0] == sessions.weights[-2]).all()
    assert (sessions.weights[0] != sessions.weights[-1]).any()
    path = study.path_of(out, "itself, noise", 0)
    found = judge.read_judged(path)
    assert [*found] == ["noise COM", "noise RAND"]
    assert all(
        len(shares) == 51 and 0 <= min(shares) <= max(shares) <= 1 for shares in found.values()
    )
    capsys.readouterr()
    again = ["--out", str(out), "--results", str(out), "--seeds", "0", "--settings", *SETTINGS]
    study.main(again)
    judge.main(again)
    assert capsys.readouterr().out == ""
    found["noise COM"] = [0.5] * 51
    path.with_suffix(".json").write_text(json.dumps(found))
    judged = Judged(judged_networks(out))
    assert judged.means("itself, noise", "noise", "COM") == {0: 0.5}


@pytest.mark.slow
def test_networks_that_are_gone_keep_their_figures(out, tmp_path):
    own = ["--out", str(tmp_path / "none"), "--results", str(tmp_path)]
    tables.main(["--out", str(out), "--results", str(tmp_path)])
    kept, figures = (tmp_path / name for name in ("judged.jsonl", "tables.md"))
    before = kept.read_text(), figures.read_text()
    tables.main(own)
    assert (kept.read_text(), figures.read_text()) == before
    assert [json.loads(line)["setting"] for line in before[0].splitlines()] == [*SETTINGS]
    # Judged again, a network takes the place of its line.
    newer = json.loads(before[0].splitlines()[0]) | {"shares": {"noise COM": [0.25] * 51}}
    one, two = kept_networks(kept, [newer])
    assert (one, two["setting"]) == (newer, SETTINGS[1])


@pytest.mark.slow
def test_positions_ask_for_moves_that_keep_the_value(out):
    game, solution = rules(3), solve(rules(3))
    number = {int(code): at for at, code in enumerate(solution.codes)}
    states, keeps = unlearning.critical_positions(solution, game, 12)
    for row, position in zip(keeps, code(game, states), strict=True):
        assert set(np.flatnonzero(row)) == set(solution.keeping(number[int(position)]))
        assert row.sum() < len(solution.moves(number[int(position)]))
    sessions = study.load(study.path_of(out, "itself", 0))
    kept = unlearning.value_kept(sessions, states, keeps)
    assert kept.shape == (51,)
    everything = unlearning.value_kept(sessions, states, np.ones_like(keeps))
    assert (everything == 1).all()


@pytest.mark.slow
def test_the_three_opponents_meet(tmp_path, monkeypatch):
    monkeypatch.setattr(opponents, "prepare_jax", lambda: None)
    shutil.copy(judge.self_path(Path(judge.__file__).parent), tmp_path)
    opponents.main(["--games", "4", "--results", str(tmp_path)])
    rows = Section(tmp_path, "opponents").read()
    assert [(row["first"], row["second"], row["games"]) for row in rows] == [
        (*pair, 4) for pair in opponents.PAIRS
    ]
    assert all(row["interval"][0] <= row["share"] <= row["interval"][1] for row in rows)
