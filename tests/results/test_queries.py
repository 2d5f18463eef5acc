"""Tables over many runs, and what is said of damaged ones."""

import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.games import make
from jaxgbg.players import MissingExtra
from jaxgbg.results import ask
from jaxgbg.results.rows import rows
from jaxgbg.results.statistics import mean_sem
from jaxgbg.runs import Result, RunFolder
from jaxgbg.runs.presets import preset
from jaxgbg.runs.settings import settings


def score(seed, variant, episodes):
    return {"farl": 0.1, "none": -0.7}[variant] + 0.1 * seed + episodes / 10_000


def write_run(out, game="nim", seeds=3, until=1000, opponent="maxn", finished=True, **changes):
    """A run of made-up scores, written as a run writes; returns its folder."""
    run = preset(game, seeds=range(seeds), episodes=1000, eval_every=100, **changes)
    folder = RunFolder(out, run)
    folder.path.mkdir(parents=True)
    (folder.path / "config.json").write_text(json.dumps(run.plain(), indent=1))
    for episodes in range(100, until + 1, 100):
        for seed, variant in run.lanes:
            made = score(seed, variant, episodes)
            folder.append(Result(seed, variant, episodes, opponent, made, 20, 0.25))
    if finished:
        summary = {"episodes": 9, "moves": 12, "training_seconds": 1.5, "moves_per_second": 8}
        (folder.path / "summary.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture
def said():
    """What was complained of."""
    return []


def test_a_row_has_the_last_fifth_and_the_last_evaluation_of_all_seeds(tmp_path, said):
    folder = write_run(tmp_path / "some" / "where" / "deep", alpha=0.25)
    frame = ask(tmp_path, complain=said.append)
    assert list(frame["variant"]) == ["farl", "none"]
    for row in frame.itertuples():
        late = [(score(seed, row.variant, 950) + 1) * 50 for seed in range(3)]
        last = [(score(seed, row.variant, 1000) + 1) * 50 for seed in range(3)]
        assert (row.mean, row.sem) == pytest.approx(mean_sem(late))
        assert (row.last, row.last_sem) == pytest.approx(mean_sem(last))
        assert (row.n, row.episodes, row.unit) == (3, 1000, "win rate (%)")
        assert row.digest == folder.run.digest
        assert row.folder == f"some/where/deep/nim-{folder.run.digest}"
        assert frame.attrs["scales"][row.folder, "maxn"].label == "win rate (%)"
    assert said == []


def agree(folder, where=None):
    expected = rows(folder.run, folder.results(), 1.5)
    frame = ask(folder.path, where=where)
    for name in ("variant", "mean", "sem", "last", "last_sem", "n", "episodes"):
        assert list(frame[name]) == pytest.approx([getattr(row, name) for row in expected])
    return expected


@pytest.mark.slow
def test_figures_agree_with_the_tables_that_runs_end_with(trained, tmp_path):
    path = next((trained / "small").glob("nim-*"))
    for row in agree(RunFolder.open(path)):
        # Else the two figures could be taken for each other.
        assert row.mean != row.last
    metrics = (path / "metrics.jsonl").read_text().splitlines(keepends=True)
    # Stopped, one seed ahead; an evaluation made again; a seed whose last fifth is lost.
    for number, lines in enumerate((metrics[:-7], [*metrics, metrics[0]], metrics[:8])):
        copy = Path(shutil.copytree(path, tmp_path / str(number)))
        (copy / "metrics.jsonl").write_text("".join(lines))
        agree(RunFolder.open(copy))
    folder = write_run(tmp_path / "lost", seeds=2, until=500)
    folder.append(Result(0, "farl", 1000, "maxn", 1.0, 20))
    kept = [result for result in folder.results() if (result.seed, result.episodes) != (0, 500)]
    text = "".join(json.dumps(result._asdict()) + "\n" for result in kept)
    (folder.path / "metrics.jsonl").write_text(text)
    assert agree(folder)[0].episodes == 500


def test_of_a_stopped_run_counts_what_all_seeds_have_reached(tmp_path):
    folder = write_run(tmp_path, until=500, finished=False)
    folder.append(Result(0, "farl", 600, "maxn", 1.0, 20))
    row = ask(tmp_path, where="variant = 'farl'").iloc[0]
    assert row["episodes"] == 500
    assert not row["finished"]
    assert row["last"] == pytest.approx((score(1, "farl", 500) + 1) * 50)


def test_an_evaluation_repeated_later_replaces_the_first(tmp_path):
    folder = write_run(tmp_path, seeds=1)
    folder.append(Result(0, "farl", 1000, "maxn", 1.0, 20))
    row = ask(tmp_path, where="variant = 'farl'").iloc[0]
    assert (row["last"], row["n"]) == (100.0, 1)
    assert row["mean"] == pytest.approx((100.0 + (score(0, "farl", 900) + 1) * 50) / 2)
    assert np.isnan(row["sem"])


def test_a_condition_chooses_the_evaluations_that_count(tmp_path):
    write_run(tmp_path)
    write_run(tmp_path, game="tictactoe", batch=7)
    condition = "variant = 'none' and seed < 2 and episodes <= 400 and batch = 7 -- a remark"
    found = ask(tmp_path, where=condition)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["game"], row["n"], row["episodes"]) == ("tictactoe", 2, 400)
    assert len(ask(tmp_path, where="game = 'hex'")) == 0


@pytest.mark.slow
def test_every_run_has_the_unit_of_its_game(tmp_path):
    write_run(tmp_path, game="2048", opponent="score", variants=("none",), seeds=1)
    write_run(tmp_path, game=make("nim", players=3), variants=("none",), seeds=1)
    write_run(tmp_path, game="connectfour", opponent="solver", variants=("none",), seeds=1)
    frame = ask(tmp_path).set_index("game")
    assert dict(frame["unit"]) == {"2048": "points", "nim": "reward", "connectfour": "share (%)"}
    made = score(0, "none", 1000)
    assert frame.loc["2048", "last"] == pytest.approx(made * make("2048").scale.factor)
    assert frame.loc["nim", "last"] == pytest.approx(made)
    assert frame.loc["connectfour", "last"] == pytest.approx(100 * made)


def test_runs_have_a_column_for_every_setting(tmp_path, said):
    old = write_run(tmp_path, game="nim3p", variants=("farl",), seeds=2, finished=False)
    new = write_run(tmp_path, game=make("hex", size=5), value="mlp", hidden=(20, 10))
    stored = old.run.plain()
    # Of before there was this setting, and before fingerprints.
    del stored["schedule"]["opening_share"], stored["fingerprint"]
    (old.path / "config.json").write_text(json.dumps(stored))
    frame = ask(tmp_path, sql="from runs order by game desc", complain=said.append)
    assert set(settings()) <= set(frame.columns)
    first, second = frame.iloc[0], frame.iloc[1]
    assert (first["opening_share"], first["batch"], first["learner"]) == (0.5, 256, "td")
    assert (first["seeds"], first["variants"], first["finished"]) == ("0 1", "farl", False)
    assert (first["layout"], first["tcl"], first["eval_every"]) == (2, "id", 100)
    assert first["digest"] == old.run.digest
    assert np.isnan(first["moves_per_second"])
    assert (second["game_parameters"].split()[0], second["value"]) == ("size=5", "mlp")
    assert (second["hidden"], second["fingerprint"]) == ("20 10", new.run.plain()["fingerprint"])
    assert (second["finished"], second["moves_per_second"]) == (True, 8)
    assert second["training_seconds"] == 1.5
    # An n-tuple has no hidden layers, and a network no temporal coherence.
    assert list(frame["hidden"].isna()) == [True, False]
    assert list(frame["tcl"].isna()) == [False, True]
    assert said == []


def test_runs_of_a_game_not_known_here_are_shown_with_raw_scores(tmp_path, said):
    for seeds in (1, 2):
        folder = write_run(tmp_path, seeds=seeds)
        stored = folder.run.plain()
        stored["game"] = {"name": "elsewhere", "size": 3}
        (folder.path / "config.json").write_text(json.dumps(stored))
    frame = ask(tmp_path, complain=said.append)
    assert set(frame["game"]) == {"elsewhere"}
    assert set(frame["unit"]) == {"reward"}
    assert len(frame) == 4
    assert frame["last"][0] == pytest.approx(score(0, "farl", 1000))
    assert said == [
        "no game 'elsewhere' is known here: 2 runs shown with raw scores;"
        " --import MODULE makes a game of your own known"
    ]


def test_a_query_replaces_the_table(tmp_path):
    write_run(tmp_path, seeds=2)
    counted = ask(
        tmp_path,
        sql="select variant, count(*) as lines, max(wins) as wins, max(line) as last,"
        " max(figure) as figure from evaluations group by variant order by variant",
    )
    assert list(counted["lines"]) == [20, 20]
    assert list(counted["last"]) == [39, 40]
    assert list(counted["wins"]) == [0.25, 0.25]
    assert counted["figure"][0] == pytest.approx((score(1, "farl", 1000) + 1) * 50)
    assert len(ask(tmp_path, sql="select * from summary where mean > 50")) == 1


def test_agents_are_a_table_where_a_run_tells_of_them(tmp_path, said):
    path = write_run(tmp_path, seeds=2).path / "summary.json"
    assert not len(ask(tmp_path, sql="select * from agents"))
    agents = [[0, "farl", 10, 80, 64, 16], [1, "none", 10, 40, 64, 4]]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"agents": agents}))
    share = "select variant, moves / episodes as plies, active_weights / weights as active"
    found = ask(tmp_path, sql=f"{share} from agents order by seed", complain=said.append)
    assert found.to_numpy().tolist() == [["farl", 8.0, 0.25], ["none", 4.0, 0.0625]]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"agents": [[0, "farl", 10]]}))
    assert not len(ask(tmp_path, sql="select * from agents", complain=said.append))
    assert len(said) == 1
    assert "summary.json: agents must be a list" in said[0]


def test_damaged_lines_are_named_and_the_others_kept(tmp_path, said):
    folder = write_run(tmp_path)
    path = folder.path / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n")
    good = len(lines) - 1
    lines[4] = lines[4][: len(lines[4]) // 2]
    lines[10:13] = [b"\xff\x00garbage", b"7", b'{"seed": 0}']
    lines[20] = lines[20].replace(b'"seed": ', b'"seed": "one", "other": ')
    lines[21] = lines[21].replace(b'"games": 20', b'"games": -20')
    lines[22] = b'{"seed": 0, "variant": "farl", "episodes": 1, "opponent": "maxn", "score": NaN,'
    lines[22] += b' "games": 1}'
    lines[24] = lines[24] + lines[25]
    lines[25] = b""
    # The last one is being written.
    lines[good - 1] = lines[good - 1][:-3]
    path.write_bytes(b"\n".join(lines[:good]))
    found = ask(tmp_path, sql="select line from evaluations", complain=said.append)
    damaged = {5, 11, 12, 13, 21, 22, 23, 25, 26, good}
    assert set(found["line"]) == set(range(1, good + 1)) - damaged
    assert len(said) == 1
    assert said[0].startswith(
        f"{path}, 10 lines, 5, 11 to 13, 21 to 23, 25 to 26, {good}: not valid JSON"
    )
    assert said[0].endswith("left out")


@pytest.mark.parametrize(("old", "new"), [(b"}\n{", b"},{"), (b', "variant"', b'\n"variant"')])
def test_lines_that_only_together_are_json_are_damaged_too(tmp_path, said, old, new):
    folder = write_run(tmp_path)
    path = folder.path / "metrics.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(old, new, 1))
    found = ask(tmp_path, sql="select line from evaluations", complain=said.append)
    # Two evaluations on one line, or one on two.
    joined = new == b"},{"
    assert len(found) == whole.count(b"\n") - (2 if joined else 1)
    assert len(said) == 1
    assert (", line 1: not valid JSON" if joined else ", 2 lines, 1 to 2: not valid JSON") in said[
        0
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "not a JSON object"),
        ('{"seed": 0, "variant": "farl"}', "no episodes"),
        ('{"seed": 0', "not valid JSON, Expecting ',' delimiter at column 11"),
        ("[" * 100_000, "nested more than"),
    ],
)
def test_the_reason_is_given(tmp_path, said, line, reason):
    folder = write_run(tmp_path, seeds=1)
    path = folder.path / "metrics.jsonl"
    path.write_text(line + "\n" + path.read_text())
    assert len(ask(tmp_path, complain=said.append)) == 2
    assert len(said) == 1
    assert reason in said[0]
    assert "line 1:" in said[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "config.json, line 1: not valid JSON"),
        (b'{\n "game": "nim",\n "batch"', "config.json, line 3: not valid JSON"),
        (b'{"game": "nim",\n\xff}', "config.json, line 2: not valid UTF-8"),
        (b"[]", "not a JSON object"),
        (b"[" * 100_000, "config.json: nested more than"),
        (b"{}", "not a known game: None"),
        ({"game": ["nim"]}, "not a known game: ['nim']"),
        ({"game": {"name": "nim", "heaps": "many"}}, "heaps must be a whole number, not 'many'"),
        ({"value": {"kind": "oracle"}}, "value must be one of mlp, ntuple, not 'oracle'"),
        ({"value": {"kind": ["mlp"]}}, "value must be one of mlp, ntuple, not ['mlp']"),
        ({"schedule": {"batch": "many"}}, "batch must be a whole number, not 'many'"),
        ({"schedule": {"batch": 1e99}}, "batch must be a whole number, not 1e+99"),
        ({"schedule": 3}, "schedule must be a table, not 3"),
        ({"evaluation": {"protocols": 3}}, "protocols must be a list, not 3"),
        ({"seeds": 3}, "seeds must be a list, not 3"),
        ({"variants": ["half"]}, "variants must be one of farl, part1, none, not 'half'"),
    ],
)
def test_a_damaged_config_is_named_and_its_run_left_out(tmp_path, said, content, reason):
    damaged = write_run(tmp_path)
    if isinstance(content, dict):
        content = json.dumps(damaged.run.plain() | content).encode()
    (damaged.path / "config.json").write_bytes(content)
    write_run(tmp_path, game="tictactoe")
    assert set(ask(tmp_path, complain=said.append)["game"]) == {"tictactoe"}
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
        stored = folder.run.plain()
        stored["schedule"]["horses"] = 3
        (folder.path / "config.json").write_text(json.dumps(stored))
    # Others keep a config.json too.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    frame = ask(tmp_path, sql="select folder[1] as at from runs", complain=said.append)
    assert list(frame["at"]) == list("bcdef")
    assert len(said) == 5
    for text, expected in zip(
        said,
        (
            "metrics.jsonl without config.json",
            "'schedule.horses' is not known here and left out and in 1 more",
            "the file is empty",
            "summary.json, line 1: not valid JSON",
            "no episodes, training_seconds, moves_per_second; moves must be a whole number, not"
            " 'three'; left out",
        ),
        strict=True,
    ):
        assert expected in text


def test_only_damage_gives_no_rows(tmp_path, said):
    (write_run(tmp_path).path / "config.json").write_text("x")
    assert len(ask(tmp_path, complain=said.append)) == 0
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
            ask(tmp_path, **options)
    assert rows_of_mine == 3


def test_no_folder_and_no_runs_are_mistakes(tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        ask(tmp_path / "missing")
    with pytest.raises(ValueError, match="has no runs"):
        ask(tmp_path)


@pytest.mark.parametrize("name", ["duckdb", "pandas"])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, name):
    write_run(tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name}: pip install 'jaxgbg\[analysis\]'"):
        ask(tmp_path)


@pytest.mark.slow
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
    found = ask(tmp_path)
    seconds = time.process_time() - start
    assert len(found) == 2002
    assert seconds < 3
