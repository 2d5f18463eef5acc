"""Tables over many runs, and what is said of damaged ones."""

import json
import sys
import time

import numpy as np
import pytest

from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.players import MissingExtra
from jaxgbg.results.results import results
from jaxgbg.results.rows import rows
from jaxgbg.results.statistics import mean_sem
from jaxgbg.training import Evaluation, RunFolder, preset


def score(seed, farl, episodes):
    return {"farl": 0.1, "none": -0.7}[farl] + 0.1 * seed + episodes / 10_000


def write_run(out, game="nim", seeds=3, until=1000, opponent="maxn", finished=True, **changes):
    """A run of made-up scores, written as a run writes; returns its folder."""
    config = preset(game, seeds=tuple(range(seeds)), episodes=1000, eval_every=100, **changes)
    folder = RunFolder(out, config)
    folder.path.mkdir(parents=True)
    (folder.path / "config.json").write_text(json.dumps(config.as_json(), indent=1))
    for episodes in range(100, until + 1, 100):
        for seed, farl in config.lanes:
            made = score(seed, farl, episodes)
            folder.append(Evaluation(seed, farl, episodes, opponent, made, 20, 0.25))
    if finished:
        summary = {"moves": 12, "training_seconds": 1.5, "moves_per_second": 8}
        (folder.path / "summary.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture
def said():
    """What was complained of."""
    return []


def test_a_row_is_the_last_evaluation_of_all_seeds_in_its_unit(tmp_path, said):
    folder = write_run(tmp_path / "some" / "where" / "deep", alpha_start=0.25)
    found = results(tmp_path, complain=said.append)
    assert list(found["farl"]) == ["farl", "none"]
    for row in found.itertuples():
        shares = [(score(seed, row.farl, 1000) + 1) / 2 for seed in range(3)]
        assert (row.mean, row.sem) == pytest.approx(mean_sem(shares))
        assert (row.n, row.episodes, row.unit) == (3, 1000, "win rate")
        assert row.digest == folder.config.digest
        assert row.folder == f"some/where/deep/nim-{folder.config.digest}"
    assert said == []


def test_figures_agree_with_the_tables_that_runs_end_with(tmp_path):
    folder = write_run(tmp_path)
    expected = rows(folder.config, folder.evaluations(), 1.5)
    found = results(tmp_path)
    assert list(found["mean"]) == pytest.approx([row.final for row in expected])


def test_of_a_stopped_run_counts_what_all_seeds_have_reached(tmp_path):
    folder = write_run(tmp_path, until=500, finished=False)
    folder.append(Evaluation(0, "farl", 600, "maxn", 1.0, 20))
    found = results(tmp_path, where="farl = 'farl'").iloc[0]
    assert found["episodes"] == 500
    assert not found["finished"]
    assert found["mean"] == pytest.approx((score(1, "farl", 500) + 1) / 2)


def test_an_evaluation_repeated_later_replaces_the_first(tmp_path):
    folder = write_run(tmp_path, seeds=1)
    folder.append(Evaluation(0, "farl", 1000, "maxn", 1.0, 20))
    found = results(tmp_path, where="farl = 'farl'").iloc[0]
    assert (found["mean"], found["n"]) == (1.0, 1)
    assert np.isnan(found["sem"])


def test_a_condition_chooses_the_evaluations_that_count(tmp_path):
    write_run(tmp_path)
    write_run(tmp_path, game="tictactoe", batch=7)
    condition = "farl = 'none' and seed < 2 and episodes <= 400 and batch = 7 -- a remark"
    found = results(tmp_path, where=condition)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["game"], row["n"], row["episodes"]) == ("tictactoe", 2, 400)
    assert len(results(tmp_path, where="game = 'hex'")) == 0


def test_points_have_their_own_unit(tmp_path):
    write_run(tmp_path, game="2048", opponent="score", farl=("none",), seeds=1)
    row = results(tmp_path).iloc[0]
    assert row["unit"] == "points"
    assert row["mean"] == pytest.approx(score(0, "none", 1000) * MAX_SCORE)


def test_runs_hold_the_config_flattened_and_completed(tmp_path, said):
    config = {"game": "nim3p", "choose_start": True, "farl": ["farl"], "seeds": [4, 5]}
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_run(tmp_path, game="hex", game_parameters=(("size", 5),), value="mlp", hidden=(20, 10))
    found = results(tmp_path, sql="from runs order by folder desc", complain=said.append)
    old, new = found.iloc[0], found.iloc[1]
    # `choose_start` is what one opening ply was called; batch and learner are today's defaults.
    assert (old["opening_plies"], old["batch"], old["learner"]) == (1, 64, "td")
    assert (old["seeds"], old["variants"], old["finished"]) == (2, "farl", False)
    assert np.isnan(old["moves_per_second"])
    assert (new["game_parameters"], new["value"], new["hidden"]) == ("size=5", "mlp", "20 10")
    assert (new["seeds"], new["finished"], new["moves_per_second"]) == (3, True, 8)
    assert new["training_seconds"] == 1.5
    assert said == []


def test_a_query_replaces_the_table(tmp_path):
    write_run(tmp_path, seeds=2)
    counted = results(
        tmp_path,
        sql="select farl, count(*) as lines, max(wins) as wins, max(line) as last,"
        " max(figure) as figure from evaluations group by farl order by farl",
    )
    assert list(counted["lines"]) == [20, 20]
    assert list(counted["last"]) == [39, 40]
    assert list(counted["wins"]) == [0.25, 0.25]
    assert counted["figure"][0] == pytest.approx((score(1, "farl", 1000) + 1) / 2)
    assert len(results(tmp_path, sql="select * from summary where mean > 0.5")) == 1


def test_damaged_lines_are_named_and_the_others_kept(tmp_path, said):
    folder = write_run(tmp_path)
    path = folder.path / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n")
    good = len(lines) - 1
    lines[4] = lines[4][: len(lines[4]) // 2]
    lines[10:13] = [b"\xff\x00garbage", b"7", b'{"seed": 0}']
    lines[20] = lines[20].replace(b'"seed": ', b'"seed": "one", "other": ')
    lines[21] = lines[21].replace(b'"games": 20', b'"games": -20')
    lines[22] = b'{"seed": 0, "farl": "farl", "episodes": 1, "opponent": "maxn", "score": NaN,'
    lines[22] += b' "games": 1}'
    lines[24] = lines[24] + lines[25]
    lines[25] = b""
    # The last one is being written.
    lines[good - 1] = lines[good - 1][:-3]
    path.write_bytes(b"\n".join(lines[:good]))
    found = results(tmp_path, sql="select line from evaluations", complain=said.append)
    damaged = {5, 11, 12, 13, 21, 22, 23, 25, 26, good}
    assert set(found["line"]) == set(range(1, good + 1)) - damaged
    assert len(said) == 1
    assert said[0].startswith(f"{path}, 10 lines, 5, 11 to 13, 21 to 23, 25 to 26, {good}: no JSON")
    assert said[0].endswith("left out")


@pytest.mark.parametrize(("old", "new"), [(b"}\n{", b"},{"), (b', "farl"', b'\n"farl"')])
def test_lines_that_only_together_are_json_are_damaged_too(tmp_path, said, old, new):
    folder = write_run(tmp_path)
    path = folder.path / "metrics.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(old, new, 1))
    found = results(tmp_path, sql="select line from evaluations", complain=said.append)
    # Two evaluations on one line, or one on two.
    joined = new == b"},{"
    assert len(found) == whole.count(b"\n") - (2 if joined else 1)
    assert len(said) == 1
    assert (", line 1: no JSON" if joined else ", 2 lines, 1 to 2: no JSON") in said[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "no JSON object"),
        ('{"seed": 0, "farl": "farl"}', "no episodes"),
        ('{"seed": 0', "no JSON, Expecting ',' delimiter at column 11"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_the_reason_is_given(tmp_path, said, line, reason):
    folder = write_run(tmp_path, seeds=1)
    path = folder.path / "metrics.jsonl"
    path.write_text(line + "\n" + path.read_text())
    assert len(results(tmp_path, complain=said.append)) == 2
    assert len(said) == 1
    assert reason in said[0]
    assert "line 1:" in said[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "config.json, line 1: no JSON"),
        (b'{\n "game": "nim",\n "batch"', "config.json, line 3: no JSON"),
        (b'{"game": "nim",\n\xff}', "config.json, line 2: no UTF-8"),
        (b"[]", "no JSON object"),
        (b"[" * 100_000, "config.json: nested too deep"),
        (b"{}", "no game that we know: None"),
        (b'{"game": ["nim"]}', "no game that we know: ['nim']"),
        (b'{"game": "chess"}', "no game that we know: 'chess'"),
        (b'{"game": "nim", "batch": "many"}', "batch cannot be 'many'"),
        (b'{"game": "nim", "batch": 1e99}', "batch cannot be 1e+99"),
        (b'{"game": "nim", "seeds": 3}', "seeds cannot be 3"),
        (b'{"game": "nim", "game_parameters": [3]}', "game_parameters cannot be [3]"),
    ],
)
def test_a_damaged_config_is_named_and_its_run_left_out(tmp_path, said, content, reason):
    damaged = write_run(tmp_path)
    (damaged.path / "config.json").write_bytes(content)
    write_run(tmp_path, game="tictactoe")
    assert set(results(tmp_path, complain=said.append)["game"]) == {"tictactoe"}
    assert len(said) == 1
    assert reason in said[0]
    assert str(damaged.path) in said[0]


def test_what_else_is_missing_or_strange_is_named(tmp_path, said):
    (write_run(tmp_path / "a").path / "config.json").unlink()
    (write_run(tmp_path / "b").path / "metrics.jsonl").write_text("")
    (write_run(tmp_path / "c").path / "summary.json").write_text('{"moves": 3')
    (write_run(tmp_path / "d").path / "summary.json").write_text('{"moves": "three"}')
    for name in "ef":
        folder = write_run(tmp_path / name)
        stored = json.loads((folder.path / "config.json").read_text())
        (folder.path / "config.json").write_text(json.dumps({**stored, "horses": 3}))
    found = results(tmp_path, sql="select folder[1] as at from runs", complain=said.append)
    assert list(found["at"]) == list("bcdef")
    assert len(said) == 5
    for text, expected in zip(
        said,
        (
            "metrics.jsonl without config.json",
            "the file is empty",
            "summary.json, line 1: no JSON",
            "moves cannot be 'three'",
            "field 'horses' is not known here and left out and in 1 more",
        ),
        strict=True,
    ):
        assert expected in text


def test_only_damage_gives_no_rows(tmp_path, said):
    (write_run(tmp_path).path / "config.json").write_text("x")
    assert len(results(tmp_path, complain=said.append)) == 0
    assert len(said) == 1


def test_a_wrong_question_is_one_line(tmp_path):
    write_run(tmp_path)
    rows_of_mine = 3
    for options, message in (
        ({"where": "gmae = 'nim'"}, "--where .*gmae.* not found"),
        ({"where": "true) select ("}, "--where .*syntax error"),
        ({"sql": "select * form runs"}, "--sql .*syntax error"),
        ({"sql": "select * from rows_of_mine"}, "rows_of_mine does not exist"),
        ({"sql": ""}, "no query"),
        ({"sql": "from runs", "where": "true"}, "not both"),
    ):
        with pytest.raises(ValueError, match=message):
            results(tmp_path, **options)
    assert rows_of_mine == 3


def test_no_folder_and_no_runs_are_mistakes(tmp_path):
    with pytest.raises(ValueError, match="is no folder"):
        results(tmp_path / "missing")
    with pytest.raises(ValueError, match="holds no runs"):
        results(tmp_path)


@pytest.mark.parametrize("name", ["duckdb", "pandas"])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, name):
    write_run(tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name}: pip install 'jaxgbg\[analysis\]'"):
        results(tmp_path)


def test_a_thousand_runs_take_seconds(tmp_path):
    write_run(tmp_path)
    origin = next(tmp_path.iterdir())
    texts = {path.name: path.read_bytes() for path in origin.iterdir()}
    for number in range(1000):
        folder = tmp_path / f"{number % 7}" / f"nim-{number}"
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_bytes(text)
    # Of this process: the machine may be busy with others.
    start = time.process_time()
    found = results(tmp_path)
    seconds = time.process_time() - start
    assert len(found) == 2002
    assert seconds < 3
