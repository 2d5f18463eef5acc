"""From rules to a rated agent: all files are there, and what was interrupted goes on."""

import json
import re
from importlib import resources

import pytest

from jaxgbg import build_agent, make
from jaxgbg.games import ludax_game
from jaxgbg.runs.storage.agents import load_agent

FILES = {"card.md", "plan.json", "play.html", "report.html", "scores.json"}


@pytest.mark.slow
def test_a_game_of_ones_own_goes_all_the_way(jaxgbg, user_folder):
    code, out, err = jaxgbg("agent", "pebbles.py", "--minutes", 0.03)
    assert code == 0, err
    folder = user_folder / "agents" / "pebbles"
    assert FILES | {"pebbles.agent"} <= {path.name for path in folder.iterdir()}
    steps = [line.partition(":")[0] for line in out.splitlines()]
    assert steps[:6] == ["game", "rules", "symmetries", "value", "learner", "budget"]
    assert [step for step in steps if step in ("training", "matches")] == ["training", "matches"]
    scores = json.loads((folder / "scores.json").read_text())["scores"]
    assert scores[0]["opponent"] == "random"
    assert scores[0]["low"] <= scores[0]["mean"] <= scores[0]["high"]
    card = (folder / "card.md").read_text()
    assert f"| random | {scores[0]['games']} | reward |" in card
    play, evaluate = re.findall("^jaxgbg (.*)$", card, re.MULTILINE)
    assert play == "--import pebbles play agents/pebbles/pebbles.agent"
    assert jaxgbg(*evaluate.replace("mcts-100", "random").split())[0] == 0
    code, out, _ = jaxgbg("agent", "pebbles.py", "--minutes", 0.03)
    assert (code, out) == (0, "finished already: agents/pebbles/card.md\n")
    code, _, err = jaxgbg("agent", "pebbles.py", "--minutes", 1)
    assert code == 2
    assert "has an agent of pebbles in 0.03 minutes: choose another --out" in err


@pytest.mark.slow
def test_what_was_interrupted_goes_on_with_the_same_plan(tmp_path):
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        if line.startswith("training"):
            raise KeyboardInterrupt

    def build(out=say):
        return build_agent("nim", 0.03, tmp_path / "nim", progress=False, say=out)

    with pytest.raises(KeyboardInterrupt):
        build()
    plan = json.loads((tmp_path / "nim" / "plan.json").read_text())
    assert plan["games"] == 0
    trained = load_agent(tmp_path / "nim" / "nim.agent").weights
    assert not (tmp_path / "nim" / "card.md").exists()
    folder = build(lines.append)
    assert f"resuming {folder}" in lines
    # The matches were still to be planned.
    later = json.loads((folder / "plan.json").read_text())
    assert later["games"] >= 20
    assert "matches" in later["steps"]
    assert later | {"games": 0, "steps": plan["steps"]} == plan
    assert (load_agent(folder / "nim.agent").weights == trained).all()
    card = (folder / "card.md").read_text()
    assert "## Ladder" in card
    # Only the agent has met the others.
    games = (folder / "ladder" / "games.jsonl").read_text().splitlines()
    assert games
    assert all("agent" in json.loads(line)["names"] for line in games)


def test_a_mistake_leaves_nothing_behind(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, wrong in (
        (["no.py"], "no.py does not exist"),
        (["nim", "--minutes", 0], "minutes must lie in (0, 1,000,000], not 0"),
        (["nim", "--parameters", "heaps=x"], "expected a whole number"),
        (["no.ldx"], "ludax:no.ldx: No such file or directory"),
    ):
        code, _, err = jaxgbg("agent", *arguments)
        assert (code, err.count("\n")) == (2, 1)
        assert wrong in err
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("")
    code, _, err = jaxgbg("agent", "nim", "--out", other)
    assert (code, "holds something else: choose another --out" in err) == (2, True)
    assert [path.name for path in tmp_path.rglob("*")] == ["other", "file"]


@pytest.mark.slow
def test_rules_in_a_file_of_ludax(tmp_path):
    ludax = pytest.importorskip("ludax")
    text = (resources.files(ludax) / "games" / "tic_tac_toe.ldx").read_text(encoding="utf-8")
    file = tmp_path / "mine.ldx"
    file.write_text(text)
    game = make(f"ludax:{file}")
    assert game.name == f"ludax:{file}"
    known = ludax_game("tic_tac_toe")()
    assert (game.num_cells, game.num_actions) == (known.num_cells, known.num_actions)
    file.write_text("(game)")
    ludax_game.cache_clear()
    with pytest.raises(ValueError, match="not a game of Ludax: Unexpected"):
        make(f"ludax:{file}")


@pytest.mark.slow
def test_a_training_has_a_budget_of_time(jaxgbg, tmp_path):
    rows = tmp_path / "rows.json"
    begin = ("train", "nim", "--opponents", "random", "--out", tmp_path, "--json", rows)
    code, _, err = jaxgbg(*begin, "--minutes", 0.03)
    assert code == 0
    named = re.search(
        r"minutes are about [\d,]+ episodes.* use (--episodes \d+ --eval-every \d+)", err
    )
    again = named[1].split()
    assert json.loads(rows.read_text())[0]["episodes"] == int(again[1])
    before = {path.name for path in tmp_path.iterdir()}
    # The command that the line names finds the run finished.
    assert jaxgbg(*begin, *again)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == before
    code, _, err = jaxgbg("train", "nim", "--minutes", 1, "--episodes", 9)
    assert (code, err) == (2, "jaxgbg: --minutes sets the episodes: leave out --episodes\n")
