"""`jaxgbg tournament`: a table of 80 columns, records, a figure, and games that are kept."""

import json

import pytest


@pytest.mark.slow
def test_players_meet_and_are_ranked(jaxgbg, tmp_path, monkeypatch):
    rows, picture = tmp_path / "rows.json", tmp_path / "ladder.png"
    players = ["random", "the perfect one=maxn", "mcts-2"]
    command = ["tournament", *players, "--game", "nim", "--size", 3, "--games", 40, "--plies", 1]
    command += ["--out", tmp_path / "kept", "--plot", picture, "--json", rows]
    code, out, err = jaxgbg(*command)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    records = json.loads(rows.read_text())
    assert [record["rank"] for record in records] == [1, 2, 3]
    assert {record["player"] for record in records} == {"random", "the perfect one", "mcts-2"}
    assert sum(record["games"] for record in records) == 3 * 40 * 2
    (random,) = [record for record in records if record["player"] == "random"]
    assert (random["elo"], random["low"], random["high"]) == (0, 0, 0)
    assert picture.read_bytes().startswith(b"\x89PNG")
    code, again, _ = jaxgbg(*command)
    assert (code, again) == (0, out)
    code, out, _ = jaxgbg(*command, "--format", "json")
    assert json.loads(out) == records
