"""`jaxgbg analyze` and `jaxgbg replay`: positions valued, games shown."""

import csv
import io
import json

import numpy as np
import pytest

from jaxgbg import load, position


@pytest.fixture(scope="module")
def nim(trained):
    (agent,) = (trained / "small").glob("nim*/agents/seed0-farl.agent")
    return agent


def test_values_are_those_of_the_agent_best_first(jaxgbg, nim, tmp_path):
    path, rows = tmp_path / "positions.txt", tmp_path / "rows.json"
    path.write_bytes(b"\xef\xbb\xbf# openings\r\n3+5+2 2\r\n\r\n0\r\n  0+2+2 2;5\r\n0+0+0 1\r\n")
    code, out, err = jaxgbg("analyze", nim, "--positions", path, "--json", rows, "--format", "csv")
    assert (code, err) == (0, "")
    records = json.loads(rows.read_text())
    printed = list(csv.DictReader(io.StringIO(out)))
    assert [row["move"] for row in printed] == [record["move"] for record in records]
    agent = load(nim)
    texts = {2: "3+5+2 2", 4: "0", 5: "0+2+2 2;5", 6: "0+0+0 1"}
    assert {record["line"]: record["position"] for record in records} == texts
    for line, text in texts.items():
        mine = [record for record in records if record["line"] == line]
        state = position(agent.game, text)
        if line == 6:
            assert [(each["move"], each["best"]) for each in mine] == [("player 2 wins", None)]
            continue
        values = np.asarray(agent.action_values(state))
        assert {each["action"] for each in mine} == set(np.flatnonzero(values > -np.inf))
        for each in mine:
            assert each["value"] == pytest.approx(float(values[each["action"]]), abs=1e-5)
        assert [each["best"] for each in mine] == [True] + [False] * (len(mine) - 1)
        assert mine[0]["value"] == max(each["value"] for each in mine)
        assert mine[0]["to_move"] == f"player {int(state.player) + 1}"


def test_a_search_counts_its_visits_and_other_players_mark_their_move(jaxgbg, nim):
    command = ["analyze", nim, "--position", "3+5+2 2", "0", "--format", "json"]
    code, out, err = jaxgbg(*command, "--search", "puct-30", "--top", 2)
    assert (code, err) == (0, "")
    records = json.loads(out)
    assert [record["line"] for record in records] == [1, 1, 2, 2]
    assert records[0]["visits"] >= records[1]["visits"] > 0
    code, out, err = jaxgbg("analyze", "maxn", "--game", "nim", "--position", "3+5+2 2")
    assert (code, err) == (0, "")
    # 3 xor 5 xor 2 is 4: the heap of 5 must become 1.
    assert "heap 2, take 4" in out.splitlines()[2]
    assert "1.00" in out.splitlines()[2]
    assert out.count("*") == 1
    code, out, _ = jaxgbg(
        "analyze", "mcts-8", "--game", "nim", "--position", "0", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["value"] for row in rows} == {""}
    assert [row["best"] for row in rows].count("True") == 1


def test_a_position_where_chance_is_due_is_refused(jaxgbg, tmp_path):
    start = "2 2 0 0/0 0 0 0/0 0 0 0/0 0 0 0 0"
    (tmp_path / "file").write_text(f"{start}\f\n\n{start} afterstate\n")
    options = ["--game", "2048", "--positions", tmp_path / "file"]
    code, out, err = jaxgbg("analyze", "random", *options)
    assert (code, out) == (2, "")
    assert err == (
        f"jaxgbg: {tmp_path / 'file'}, line 3: chance is due in this position of 2048, so nobody"
        " is to move: give one after its outcome\n"
    )


def test_games_of_an_evaluation_are_kept_from_a_position_and_replayed(jaxgbg, nim, tmp_path):
    path = tmp_path / "games.jsonl"
    command = ["eval", nim, "--opponent", "maxn", "--position", "3+5+2 2", "--record", path]
    code, out, err = jaxgbg(*command)
    assert (code, err) == (0, "")
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert f" {len(games)} " in f" {out.split()[-1]} "
    assert {game["moves"].partition(";")[0] for game in games} == {"3+5+2 2"}
    assert {name for game in games for name in game["players"]} == {"seed0-farl.agent", "maxn"}
    # Player 2 is to move and wins, whoever sits there against perfect play.
    won = [game["result"] for game in games if game["players"][1] == "maxn"]
    assert won
    assert all(result == [-1, 1] for result in won)
    code, out, err = jaxgbg("replay", path)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == len(games) + 2
    code, out, err = jaxgbg("replay", path, "--game", 1)
    assert (code, err) == (0, "")
    assert "1. player 2: heap" in out
    assert out.splitlines()[-1].startswith("0+0+0 ")
    for options, line in (
        (("--opponent", "maxn", "--keep"), "--keep evaluates as training does"),
        (("--position", "0+0+0 1"), "the game is over in this position"),
    ):
        code, _, err = jaxgbg("eval", nim, "--record", tmp_path / "other.jsonl", *options)
        assert (code, err.count("\n")) == (2, 1)
        assert line in err
    assert not (tmp_path / "other.jsonl").exists()
