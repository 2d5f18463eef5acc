"""The study of ConnectFour: its scripts run, and its tables are those of its kept figures."""

from pathlib import Path

import numpy as np
import pytest

from experiments.connectfour import ensembles, matches, mistakes, run, tables
from experiments.shared import Section
from tests.experiments.pages import pages_of

HERE = Path(run.__file__).parent


def kept(name, folder=HERE):
    return Section(folder, name).read()


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Run a script in this process, with other values of its constants."""

    def call(script, *arguments, **constants):
        for constant, value in {"prepare_jax": lambda *devices: None, **constants}.items():
            monkeypatch.setattr(script, constant, value, raising=script is not tables)
        script.main([*arguments, "--results", str(tmp_path), "--out", str(tmp_path / "runs")])

    return call


@pytest.mark.figures
def test_tables_are_made_of_the_kept_figures():
    assert all(kept(name) for name in tables.NAMES)
    page = tables.page(*(kept(name) for name in tables.NAMES))
    assert (HERE / "tables.md").read_text() == page
    # README shows the tables that it shows as they are there.
    lines = page.splitlines()
    shown = [line for line in (HERE / "README.md").read_text().splitlines() if line[:2] == "| "]
    assert len(shown) > 10
    assert [line for line in shown if line not in lines] == []


def test_a_level_is_reached_where_the_last_weights_first_are_there():
    curve = {"10": 0.84, "20": 0.86, "30": 0.83, "40": 0.91}
    network = {"condition": "base", "episodes": 40, "seconds": 240.0, "last": curve}
    assert [tables.minutes_to(level, network) for level in (80, 85, 90, 92)] == [1, 2, 4, np.inf]
    slower = network | {"last": {"40": 0.851}}
    # Two of three are there, so that the median is the slower one; one of two has none.
    never = network | {"last": {"40": 0.7}}
    (line,) = tables.reached([network, slower, never])[2:]
    assert line == "| 40 | base | 3 | 4.0 (2 of 3) | (1 of 3) |  |"
    assert tables.reached([never])[2:] == []


def test_no_condition_is_left_that_was_not_run():
    assert {row["condition"] for row in kept("networks")} == set(run.CONDITIONS)


def readme() -> str:
    return " ".join(pages_of("connectfour").split())


@pytest.mark.figures
def test_what_readme_says_of_thirty_networks_is_what_was_kept():
    rows = [row for row in kept("mistakes") if row["condition"] == "off-policy, delaying"]
    given = {r["seed"]: r["first mistakes by ply"] for r in rows if r["episodes"] == 2_000_000}
    assert len(given) == 30
    late = [seed for seed, plies in given.items() if 17 in (plies.get("18"), plies.get("20"))]
    assert late == [0, 11, 12, 13, 14, 17, 18, 19, 29]
    early = {s: {p: n for p, n in given[s].items() if int(p) < 18} for s in given}
    assert {seed: plies for seed, plies in early.items() if plies} == {
        12: {"14": 19, "16": 42},
        26: {"12": 67},
        28: {"12": 67},
    }
    assert "seeds 0, 11 to 14, 17 to 19 and 29" in readme()
    assert "seeds 26 and 28 give away 67 games each at ply 12, seed 12 another 61" in readme()


def test_no_network_comes_to_95():
    figures = kept("networks")
    assert max(max(row[agent].values()) for row in figures for agent in ("last", "mean")) < 0.95
    assert "none of any comes to 95" in readme()


@pytest.mark.slow
def test_kept_figures_are_those_of_the_script():
    for name in ("networks", "matches", "mistakes"):
        for row in kept(name):
            # Of the list that we may not copy nothing can be made again.
            if row["condition"] != run.AUTHORS:
                again = run.run_of(row["condition"], row["seed"], row["episodes"])
                assert row["config"] == again.digest
    for row in kept("ensembles"):
        about = (row["condition"], row["seed"], row["members"], row["episodes"])
        assert row["config"] == ensembles.config_of(ensembles.runs_of(*about))


@pytest.mark.slow
def test_networks_are_compared_and_play(call, tmp_path, monkeypatch):
    pytest.importorskip("bitbully")
    # Evaluations would take most of the time; those after 48 and 60 have a mean of weights, too.
    monkeypatch.setattr(run, "_EVALUATIONS", 5)
    tiny = ["--episodes", "60", "--seeds", "0", "1"]
    call(run, *tiny, "--only", "base", "70 from lines")
    figures = kept("networks", tmp_path)
    assert [(row["condition"], row["seed"]) for row in figures] == [
        *(("base", 0), ("base", 1)),
        *(("70 from lines", 0), ("70 from lines", 1)),
    ]
    assert [sum(row["fours"].values()) for row in figures[2:]] == [69, 69]
    assert (tmp_path / "figures.png").stat().st_size > 10_000
    call(matches, *tiny[:-1], "--condition", "base", GAMES=4)
    rows = kept("matches", tmp_path)
    assert [row["opponent"] for row in rows] == ["ab-dl", "ab"] * 2
    assert {row["wins"] + row["draws"] + row["losses"] for row in rows} == {4}
    # The training was there; what stands there is not played again.
    assert kept("networks", tmp_path) == figures
    call(matches, *tiny[:-1], "--condition", "base", played=None)
    call(mistakes, *tiny[:-1], "--condition", "base", GAMES=6)
    (row,) = kept("mistakes", tmp_path)
    assert row["wins"] + row["draws"] + row["losses"] == 6
    # From the empty board the first player wins, and AB-DL gives nothing back.
    given = sum(row["first mistakes by ply"].values())
    assert given == 6 - row["wins"]
    assert 0 < row["different positions of them"] <= given
    call(tables)
    page = (tmp_path / "tables.md").read_text()
    assert "\n| base | 60 | 1 | " in page
    assert page.count("\n## ") == 6
    call(ensembles, *tiny[:2], "--condition", "base", "--members", "2")
    (row,) = kept("ensembles", tmp_path)
    assert sum(row["ab-dl"].values()) == 4
    assert sum(row["first mistakes by ply"].values()) == 6 - row["wins"]
    assert 0 < row["value kept"] < 1
    assert kept("networks", tmp_path) == figures
    call(ensembles, *tiny[:2], "--condition", "base", "--members", "2", record_of=None)
