"""The study of ConnectFour: its scripts run, and its tables are those of its kept figures."""

import json
from pathlib import Path

import pytest

from experiments.connectfour import budgets, ensembles, matches, mistakes, run

HERE = Path(run.__file__).parent
SCRIPTS = {"figures": run, "matches": matches, "mistakes": mistakes, "ensembles": ensembles}


def kept(name, folder=HERE):
    return json.loads((folder / f"{name}.json").read_text())


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Run a script in this process, with other values of its constants."""

    def call(script, *arguments, **constants):
        for constant, value in {"prepare_jax": lambda *devices: None, **constants}.items():
            monkeypatch.setattr(script, constant, value, raising=script is not budgets)
        script.main([*arguments, "--results", str(tmp_path), "--out", str(tmp_path / "runs")])

    return call


@pytest.mark.parametrize("name", SCRIPTS)
def test_tables_are_made_of_the_kept_figures(name):
    assert kept(name)
    assert "\n".join(SCRIPTS[name].table_of(kept(name))) in (HERE / "README.md").read_text()


def test_the_table_of_budgets_is_made_of_the_kept_figures():
    lines = budgets.table_of(*(kept(name) for name in ("figures", "matches", "mistakes")))
    assert "\n".join(lines) in (HERE / "README.md").read_text()


@pytest.mark.slow
def test_kept_figures_are_those_of_the_script():
    for name in ("figures", "matches", "mistakes"):
        for row in kept(name):
            # Of the list that we may not copy nothing can be made anew.
            if row["condition"] != run.AUTHORS:
                again = run.run_of(row["condition"], row["seed"], row["episodes"])
                assert row["config"] == again.digest
    for row in kept("ensembles"):
        about = (row["condition"], row["seed"], row["members"], row["episodes"])
        assert row["config"] == ensembles.config_of(ensembles.runs_of(*about))


@pytest.mark.slow
def test_networks_are_compared_and_play(call, tmp_path):
    pytest.importorskip("bitbully")
    tiny = ["--episodes", "60", "--seeds", "0", "1"]
    call(run, *tiny, "--only", "base", "70 from lines")
    figures = kept("figures", tmp_path)
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
    assert kept("figures", tmp_path) == figures
    call(matches, *tiny[:-1], "--condition", "base", played=None)
    call(mistakes, *tiny[:-1], "--condition", "base", GAMES=6)
    (row,) = kept("mistakes", tmp_path)
    assert row["wins"] + row["draws"] + row["losses"] == 6
    # From the empty board the first player wins, and AB-DL gives nothing back.
    given = sum(row["first mistakes by ply"].values())
    assert given == 6 - row["wins"]
    assert 0 < row["different positions of them"] <= given
    call(budgets)
    (line,) = (tmp_path / "budgets.md").read_text().splitlines()[2:]
    assert line.startswith("| base | 60 | 1 | ")
    call(ensembles, *tiny[:2], "--condition", "base", "--members", "2")
    (row,) = kept("ensembles", tmp_path)
    assert sum(row["ab-dl"].values()) == 4
    assert sum(row["first mistakes by ply"].values()) == 6 - row["wins"]
    assert 0 < row["value kept"] < 1
    assert kept("figures", tmp_path) == figures
    call(ensembles, *tiny[:2], "--condition", "base", "--members", "2", record_of=None)
