"""A user's own game, from a module in the working folder, does all that a shipped game does."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.extensions import import_modules
from jaxgbg.runs import RunFolder
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import SavedAgent, save_agent

PIG = Path(__file__).resolve().parents[1] / "games" / "pig.py"
TINY = ["--episodes", 40, "--eval-every", 20, "--batch", 4]


def test_it_is_unknown_until_its_module_is_imported(jaxgbg, user_folder):
    code, _, err = jaxgbg("train", "pebbles", *TINY)
    assert code == 2
    assert "unknown game 'pebbles'" in err
    code, _, _ = jaxgbg("games", "--import", "pebbles", "--json", user_folder / "games.json")
    assert code == 0
    assert json.loads((user_folder / "games.json").read_text())[-1]["game"] == "pebbles"


@pytest.mark.slow
def test_it_goes_through_every_command(jaxgbg, user_folder):
    def records(*arguments):
        code, out, err = jaxgbg(*arguments, "--import", "pebbles", "--json", "rows.json")
        assert code == 0, err
        return json.loads((user_folder / "rows.json").read_text()), out, err

    rows, _, _ = records("perft", "pebbles", "--depth", 2, "--parameters", "cups=3")
    assert [row["paths"] for row in rows] == [3, 9]
    rows, _, err = records("train", "pebbles", *TINY, "--seeds", 2)
    assert err.startswith("jaxgbg: no paper has parameters for pebbles; using our own")
    assert [(row["opponent"], row["n"], row["episodes"]) for row in rows] == [("random", 2, 40)]
    # Three who share 1 cannot have a win rate.
    assert rows[0]["unit"] == "reward"
    (run,) = (user_folder / "runs").glob("pebbles-*/")
    assert RunFolder.open(run).finished
    agent = run / "agents" / "seed1-farl.agent"
    rows, _, _ = records("eval", run, "--opponent", "random")
    assert [(row["agent"], row["games"]) for row in rows] == [
        ("seed0-farl.agent", 120),
        (agent.name, 120),
    ]
    rows, _, _ = records("ablate", "pebbles", *TINY, "--seeds", 2)
    assert [(row["variant"], row["n"]) for row in rows] == [("farl", 2), ("none", 2)]
    rows, _, _ = records("bench", "pebbles", "--batches", 4, "--seconds", 0.01, "--seeds", 1)
    assert rows[0]["moves_per_s"] > rows[0]["episodes_per_s"] > 0
    rows, out, err = records("results", "runs")
    assert err == ""
    # Those of train are two of ablate's.
    assert "2 agents are in several folders" in " ".join(out.split())
    assert {(row["game"], row["opponent"], row["unit"]) for row in rows} == {
        ("pebbles", "random", rows[0]["unit"])
    }
    assert [(row["variant"], row["n"]) for row in rows] == [("farl", 2), ("none", 2)]
    code, _, err = jaxgbg("report", "runs", "--import", "pebbles")
    assert (code, err) == (0, "")
    (page,) = user_folder.rglob("*.html")
    assert "pebbles" in page.read_text(encoding="utf-8")
    assert "damaged" not in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_a_sweep_of_it_is_done_by_all_workers(jaxgbg, user_folder, executor):
    (user_folder / "sweep.toml").write_text(
        'game = "pebbles"\nseeds = "0:2"\n[settings]\nepisodes = 40\neval_every = 40\nbatch = 4\n'
        '[axes]\ngame.cups = [3]\nvariants = ["farl"]\n'
    )
    options = ["--executor", executor, "--workers", 1, "--import", "pebbles"]
    code, _, err = jaxgbg("sweep", "sweep.toml", *options, "--json", user_folder / "units.json")
    assert code == 0, err
    units = json.loads((user_folder / "units.json").read_text())
    assert [(unit["game"], unit["runs"], unit["finished"]) for unit in units] == [
        ("pebbles", 1, "yes")
    ]
    cups = {RunFolder.open(path).run.game.cups for path in (user_folder / "runs").glob("pebbles-*")}
    assert cups == {3}


BROKEN = """
import dataclasses
from jaxgbg.games import TicTacToe, register

@dataclasses.dataclass(frozen=True)
class Endless(TicTacToe):
    name, max_plies = "endless", 5

@dataclasses.dataclass(frozen=True)
class Colourful(TicTacToe):
    name, num_cell_values = "colourful", 2

register("endless", Endless)
register("colourful", Colourful)
"""


@pytest.mark.parametrize(
    ("game", "complaint"),
    [("endless", "endless: .*max_plies"), ("colourful", "colourful: .*num_cell_values")],
)
def test_a_game_that_breaks_its_contract_is_not_trained(jaxgbg, user_folder, game, complaint):
    (user_folder / "broken.py").write_text(BROKEN)
    options = ["--import", "broken", "--opponents", "random", "--out", user_folder / "runs"]
    code, out, err = jaxgbg("train", game, *TINY, *options)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert re.search(complaint, line)
    assert not (user_folder / "runs").exists()


def test_who_trains_without_published_parameters_hears_which_values_have_them(
    jaxgbg, tmp_path, monkeypatch
):
    # It is said before anything is trained.
    monkeypatch.setattr("jaxgbg.cli.run_all.run_all", lambda *_, **__: None)
    options = ["--episodes", 20, "--eval-every", 20, "--opponents", "random", "--out", tmp_path]
    code, _, err = jaxgbg("train", "lines_of_action", "--size", 4, *options)
    assert code == 0
    assert "no paper has parameters for lines_of_action but with --value mlp;" in err
    code, _, err = jaxgbg("train", "lines_of_action", "--size", 4, "--value", "mlp", *options)
    assert code == 0
    assert "no paper" not in err


def test_a_module_that_cannot_be_imported_is_named(jaxgbg, user_folder):
    (user_folder / "broken.py").write_text("register(3")
    for name, complaint in (("nowhere", "neither in the current folder"), ("broken", "line 1")):
        code, out, err = jaxgbg("games", "--import", name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"cannot import {name}" in err
        assert complaint in err


def test_python_knows_it_as_soon_as_it_is_imported(user_folder):
    import_modules(["pebbles"])
    run = preset("pebbles")
    assert run.game.num_players == 3
    assert run.evaluation.opponents == ("random",)


@pytest.mark.slow
def test_a_dice_game_is_rated_among_players_for_games_of_chance(jaxgbg, user_folder):
    text = PIG.read_text() + '\n\nfrom jaxgbg.games import register\n\nregister("small_pig", Pig)\n'
    (user_folder / "mydice.py").write_text(text)
    players = ["random", "mcts-100", "expectimax", "maxn"]
    options = ["--game", "small_pig", "--import", "mydice", "--games", 20, "--json", "rows.json"]
    code, _, err = jaxgbg("tournament", *players, *options)
    assert code == 0, err
    rows = json.loads((user_folder / "rows.json").read_text())
    assert {row["player"] for row in rows} == {*players}
    assert all(row["games"] == 60 for row in rows)
    best = max(rows, key=lambda row: row["elo"])
    assert best["player"] in ("maxn", "mcts-100")


@pytest.mark.slow
def test_a_player_of_a_game_for_one_has_a_row_of_its_own(jaxgbg, user_folder):
    run = preset("2048", seeds=(0,), variants=("farl",), layout=((0, 1, 2, 3),))
    weights = np.zeros(run.make_learner().value.num_weights, np.float32)
    save_agent(user_folder / "zero.agent", SavedAgent(run, "farl", weights))
    options = ("--opponent", "expectimax-1", "--json", "rows.json")
    code, _, err = jaxgbg("eval", "zero.agent", *options)
    assert code == 0, err
    agent, player = json.loads((user_folder / "rows.json").read_text())[-2:]
    assert (agent["opponent"], agent["variant"]) == ("score", "farl")
    assert (player["agent"], player["opponent"], player["games"]) == ("expectimax-1", "score", 250)
    # Greed for points alone is worth twice random play, which gets 1,089.
    assert 1800 < player["mean"] < 2600
