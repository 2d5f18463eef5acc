"""The command line: records for machines, one line and exit code 2 for mistakes."""

import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas
import pytest

from jaxgbg import __version__
from jaxgbg.cli import ablate as ablating
from jaxgbg.games import make
from jaxgbg.runs import Result, RunFolder, SavedAgent, save_agent
from jaxgbg.runs.presets import konen2021, preset
from tests.results.test_groups import write_sweep


def test_games_are_listed(jaxgbg, tmp_path):
    code, out, _ = jaxgbg("games", "--json", tmp_path / "games.json")
    records = json.loads((tmp_path / "games.json").read_text())
    assert code == 0
    assert [record["game"] for record in records] == [
        "tictactoe",
        "nim",
        "nim3p",
        "connectfour",
        "hex",
        "othello",
        "2048",
        "lines_of_action",
        "pig",
        "ewn",
        "sim",
        "yavalath",
        "chinese_checkers",
        "maedn",
        "backgammon",
    ]
    assert all(record["game"] in out for record in records)


def test_perft_prints_the_counts(jaxgbg, tmp_path):
    code, out, _ = jaxgbg("perft", "nim", "--depth", 4, "--json", tmp_path / "perft.json")
    records = json.loads((tmp_path / "perft.json").read_text())
    assert code == 0
    assert [record["paths"] for record in records] == [15, 180, 1680, 12015]
    assert "12,015" in out


@pytest.mark.slow
def test_a_board_may_have_another_size(jaxgbg, tmp_path):
    assert jaxgbg("perft", "hex", "--size", 3, "--depth", 2, "--json", tmp_path / "p.json")[0] == 0
    assert [row["paths"] for row in json.loads((tmp_path / "p.json").read_text())] == [9, 72]
    options = ["--episodes", 20, "--eval-every", 20, "--opponents", "random", "--batch", 2]
    assert jaxgbg("train", "hex", "--size", 3, *options, "--out", tmp_path / "runs")[0] == 0
    config = json.loads(next((tmp_path / "runs").glob("hex-*/config.json")).read_text())
    assert config["game"]["size"] == 3


@pytest.mark.slow
def test_a_game_may_have_other_parameters(jaxgbg, tmp_path):
    file = tmp_path / "p.json"
    chosen = ["--parameters", "heaps=1", "rule=last_loses", "size=4"]
    assert jaxgbg("perft", "nim", *chosen, "--depth", 9, "--json", file)[0] == 0
    assert [row["paths"] for row in json.loads(file.read_text())] == [4, 6, 4, 1]
    options = ["--episodes", 20, "--eval-every", 20, "--opponents", "random", "--batch", 2]
    options += ["--size", 3, "--parameters", "misere=true", "--out", tmp_path / "runs"]
    assert jaxgbg("train", "hex", *options)[0] == 0
    config = json.loads(next((tmp_path / "runs").glob("hex-*/config.json")).read_text())
    assert (config["game"]["size"], config["game"]["misere"]) == (3, True)


@pytest.mark.slow
def test_ablate_trains_compares_and_draws(jaxgbg, tmp_path):
    arguments = ["ablate", "tictactoe", "nim", "--seeds", 2, "nim=3", "--episodes", 300]
    arguments += ["--eval-every", 100, "--out", tmp_path, "--json", tmp_path / "rows.json"]
    code, out, _ = jaxgbg(*arguments)
    assert code == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {(row["game"], row["variant"], row["n"]) for row in rows} == {
        ("tictactoe", "farl", 2),
        ("tictactoe", "none", 2),
        ("nim", "farl", 3),
        ("nim", "none", 3),
    }
    for row in rows:
        assert row["episodes"] == 300
        assert len(row["per_seed"]) == row["n"]
    (picture,) = tmp_path.glob("tictactoe-nim-????????-curves.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "tictactoe" in out

    folder = next(tmp_path.glob("nim-*/"))
    code, out, _ = jaxgbg("eval", folder, "--opponent", "maxn")
    assert code == 0
    assert "seed2-farl.agent" in out
    code, out, _ = jaxgbg("eval", folder, folder / "agents" / "seed2-none.agent")
    assert (code, out.count(f"{folder.name}/seed2-farl.agent")) == (0, 1)
    assert out.count("random") == 6
    other = next(tmp_path.glob("tictactoe-*/agents/seed0-farl.agent"))
    assert jaxgbg("eval", folder, other)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nim", "--episodes", "many"], "--episodes"),
        (["train", "nim", "--horses", "3"], "--horses"),
        (["fly"], "fly"),
        (["train", "chess"], "unknown game 'chess'"),
        (["ablate", "chess"], "unknown game 'chess'"),
        (["perft", "chess"], "unknown game 'chess'"),
        (["train", "nim", "--episodes", "-5"], "episodes must lie in [1, 2,147,483,648], not -5"),
        (["train", "nim", "--seeds", "0"], "seeds must lie in [1, 100,000], not 0"),
        (["ablate", "nim", "--seeds", "many"], "expected N or GAME=N"),
        (["ablate", "nim", "--seeds", "hex=3"], "'hex' is not among the games"),
        (["train", "nim", "--opponents", "kasparov"], "unknown player 'kasparov'"),
        (
            ["train", "nim", "--opponents", "randon"],
            "unknown player 'randon': did you mean random?",
        ),
        (
            ["train", "nim", "--opponents", "mcts-\u0663"],
            "'mcts-\u0663': iterations must be a",
        ),
        (["train", "nim", "--partner", "mxan"], "unknown player 'mxan': did you mean maxn?"),
        (["train", "nim", "--json", "x" * 250], "File name too long"),
        (["train", "nimm"], "did you mean nim?"),
        (["train", "nim", "--opponents", "ab"], "alpha-beta plays connectfour only"),
        (["train", "nim", "--layout", "missing.json"], "layout file missing.json"),
        (["train", "nim", "--hidden", "9"], "hidden is for value mlp"),
        (["train", "nim", "--value", "mlp", "--tcl", "id"], "tcl is for value ntuple"),
        (["train", "nim", "--value", "mlp", "--layout", "x"], "layout file x"),
        (["eval", "missing.agent"], "agent file missing.agent"),
        (["train", "hex", "--size", "99"], "size must lie in [2, 11], not 99"),
        (["perft", "tictactoe", "--size", "4"], "tictactoe"),
        (["perft", "nim", "--parameters", "heaps=x"], "heaps=x: expected a whole number"),
        (["perft", "nim", "3"], "unexpected argument: 3 (`jaxgbg perft --help`"),
        (["perft", "nim", "--parameters", "heaps"], "expected NAME=VALUE; nim has heaps, size"),
        (
            ["perft", "nim", "--parameters", "a=1"],
            "nim has no parameter 'a'; known are heaps, size",
        ),
        (["perft", "hex", "--parameters", "misere=1"], "misere=1: expected true or false"),
        (["train", "nim", "--parameters", "rule=misere"], "rule must be one of last_wins"),
        (["train", "hex", "--size", "3", "--parameters", "size=4"], "size is given twice"),
        (["train", "connectfour", "--parameters", "draw_after=9"], "a draw after 9 plies"),
        (["table1", "--games", "go"], "no row of 'go'"),
        (["table1", "--games", "nim", "--scale", "0"], "scale must lie in (0, 1,000,000], not 0"),
        (["train", "2048", "--opponents", "random"], "'random' does not evaluate 2048"),
        (["train", "hex", "--opponents", "bench"], "bench plays othello only"),
        (["gtp", "mcts"], "mcts is no agent file: name one, or the --game that it plays"),
        (["gtp", "mcts", "--game", "pig"], "two players without chance, which pig is not"),
        (["gtp", "random", "--game", "hex", "--search", "puct-9"], "for an agent's file alone"),
        (["gtp", "missing.agent"], "agent file missing.agent"),
        (["results", "missing"], "missing is not a folder"),
        (["results", "."], "has no runs"),
        (["results", ".", "--csv", "missing/rows.csv"], "there is no folder missing"),
        (["compare", "missing.agent", "random"], "agent file missing.agent"),
        (["compare", "missing.agent", "random", "--elo0", "10"], "elo0 must be less than elo1"),
    ],
)
def test_a_mistake_ends_with_one_line_and_code_2(jaxgbg, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = jaxgbg(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_results_are_shown_and_written(jaxgbg, tmp_path):
    for game in ("nim", "tictactoe"):
        run = preset(game, seeds=(0, 1), variants=("farl",))
        folder = RunFolder(tmp_path / "runs" / game, run)
        folder.begin()
        for seed, score in ((0, 0.25), (1, -0.5)):
            folder.append(Result(seed, "farl", 30, "maxn", -1.0, 20, 0.0))
            folder.append(Result(seed, "farl", 60, "maxn", score, 20, 0.5))
    metrics = next(tmp_path.glob("runs/nim/nim-*/metrics.jsonl"))
    with metrics.open("a") as file:
        file.write('{"seed": 0, "va')
    files = {kind: tmp_path / f"rows.{kind}" for kind in ("csv", "parquet", "json")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", path)]
    code, out, err = jaxgbg("results", tmp_path / "runs", *options)
    assert code == 0
    assert err.startswith(f"jaxgbg: {metrics}, line 5: not valid JSON")
    assert err.count("\n") == 1
    assert "tictactoe" in out
    records = json.loads(files["json"].read_text())
    assert [(one["game"], one["n"], one["episodes"]) for one in records] == [
        ("tictactoe", 2, 60),
        ("nim", 2, 60),
    ]
    assert f"{records[0]['mean']:.1f} ± {records[0]['sem']:.1f}" in out
    expected = [f"{one['mean']:.5f}" for one in records]
    table = pandas.read_csv(files["csv"])
    assert [f"{mean:.5f}" for mean in table["mean"]] == expected
    stored = duckdb.sql(f"select mean from '{files['parquet']}'").fetchall()
    assert [f"{mean:.5f}" for (mean,) in stored] == expected
    assert list(table) == list(records[0])

    query = "select game, max(wins) as wins from evaluations group by game having game = 'nim'"
    code, out, _ = jaxgbg("results", tmp_path / "runs", "--sql", query)
    assert code == 0
    assert "wins" in out
    assert "tictactoe" not in out
    code, out, err = jaxgbg("results", tmp_path / "runs", "--where", "game = 'hex'")
    assert (code, out) == (0, "no rows\n")
    code, _, err = jaxgbg("results", tmp_path / "runs", "--where", "gmae = 'hex'")
    assert code == 2
    assert "gmae" in err.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "rows.csv",
        "rows.json",
        "rows.parquet",
        "runs",
    ]


@pytest.mark.slow
def test_agents_are_compared(jaxgbg, tmp_path):
    for size in (3, 5):
        run = preset(make("nim", size=size), seeds=(0,))
        weights = np.random.default_rng(size).normal(size=run.make_learner().value.num_weights)
        saved = SavedAgent(run, "farl", weights.astype(np.float32))
        save_agent(tmp_path / f"{size}.agent", saved)
    small, agent = tmp_path / "3.agent", tmp_path / "5.agent"
    play = ["--opening-plies", 1, "--batch", 20, "--json", tmp_path / "rows.json"]
    code, out, _ = jaxgbg("compare", agent, agent, *play)
    assert code == 0
    assert "above -50 Elo" in out
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert row["wins"] + row["losses"] == row["games"]
    assert row["opponent"] == "5.agent"
    bounds = ["--elo0", 790, "--elo1", 800]
    code, out, _ = jaxgbg("compare", agent, agent, *play, *bounds)
    assert code == 0
    assert "reject: below +800 Elo" in " ".join(out.split())
    code, out, _ = jaxgbg("compare", agent, "random", *play, "--max-games", 40, "--elo0", -1)
    assert code == 0
    assert json.loads((tmp_path / "rows.json").read_text())[0]["games"] == 40
    (tmp_path / "run" / "agents").mkdir(parents=True)
    (tmp_path / "run" / "agents" / "seed0-farl.agent").write_bytes(agent.read_bytes())
    assert jaxgbg("compare", tmp_path / "run", agent, *play)[0] == 0
    assert json.loads((tmp_path / "rows.json").read_text())[0]["agent"] == "seed0-farl.agent"
    code, _, err = jaxgbg("compare", tmp_path / "run", tmp_path / "run")
    assert code == 2
    assert "is given twice, and stands for its first agent" in " ".join(err.split())
    code, _, err = jaxgbg("compare", agent, small)
    assert code == 2
    assert "other parameters" in err
    code, _, err = jaxgbg("compare", agent, "random", "--opening-plies", 15)
    assert code == 2
    assert "random plies: choose fewer" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "message"),
    [("[[0, 1", "not valid JSON"), ("[[0, 3]]", "names cell 3"), ("7", "expected a list")],
)
def test_a_bad_layout_is_named(jaxgbg, tmp_path, content, message):
    layout = tmp_path / "layout.json"
    layout.write_text(content)
    code, _, err = jaxgbg("train", "nim", "--layout", layout, "--out", tmp_path / "runs")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_named(jaxgbg, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, _, err = jaxgbg("train", "nim", "--episodes", 100, "--out", tmp_path / "file")
    assert code == 2
    assert "cannot write" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_table1_does_only_what_is_not_on_disk(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setitem(konen2021.FINAL_OPPONENTS, "nim3p", ("mcts-50",))
    arguments = ["table1", "--games", "nim3p", "--seeds", 2, "--scale", 0.001, "--out", tmp_path]
    code, _, err = jaxgbg(*arguments, "--json", tmp_path / "rows.json")
    assert code == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["opponent"], row["variant"], row["n"]) for row in rows] == [
        ("maxn", "farl", 2),
        ("maxn", "none", 2),
        ("mcts-50", "farl", 2),
        ("mcts-50", "none", 2),
    ]
    assert "nim3p: mcts-50" in err
    assert len([*tmp_path.glob("table1-????????-curves.png")]) == 1
    folder = next(tmp_path.glob("nim3p-*/"))
    metrics = (folder / "metrics.jsonl").read_bytes()
    assert jaxgbg(*arguments)[0] == 0
    assert (folder / "metrics.jsonl").read_bytes() == metrics


@pytest.mark.slow
def test_what_agents_come_to_afterwards_is_kept_by_their_run(jaxgbg, tmp_path, trained):
    folder = Path(shutil.copytree(trained / "small", tmp_path / "runs"))
    (run,) = folder.glob("nim-*")
    before = (run / "metrics.jsonl").read_text()
    for refused in (["--seed", 3], ["--look-ahead", 2]):
        code, _, err = jaxgbg("eval", run, "--opponent", "random", "--keep", *refused)
        assert (code, err.count("\n")) == (2, 1)
        assert "--keep evaluates as training does" in err
    (begun,) = trained.glob("tictactoe-*")
    shutil.copytree(begun, tmp_path / "begun")
    shutil.copytree(run / "agents", tmp_path / "begun" / "agents", dirs_exist_ok=True)
    code, _, err = jaxgbg("eval", tmp_path / "begun", "--keep")
    assert code == 2
    assert "is not finished" in err
    assert (run / "metrics.jsonl").read_text() == before

    code, out, _ = jaxgbg("eval", run, "--opponent", "random", "--keep")
    assert code == 0
    assert "nim against random" in out
    after = (run / "metrics.jsonl").read_text()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    lanes = {(seed, variant) for seed in (0, 1) for variant in ("farl", "none")}
    assert {(each["seed"], each["variant"]) for each in added} == lanes
    assert {(each["opponent"], each["episodes"]) for each in added} == {("random", 300)}
    # What is there already is not done again.
    assert jaxgbg("eval", run, "--opponent", "random", "--keep")[0] == 0
    assert (run / "metrics.jsonl").read_text() == after
    # Of several runs the rows say which is which.
    settings = ("--seeds", 2, "--episodes", 300, "--eval-every", 300, "--out", tmp_path / "more")
    assert jaxgbg("train", "nim", *settings, "--alpha", 0.125)[0] == 0
    (other,) = (tmp_path / "more").glob("nim-*/")
    code, out, _ = jaxgbg("eval", run, other, "--opponent", "random", "--keep")
    assert (code, out.count("0.125")) == (0, 1)
    code, out, _ = jaxgbg("results", folder)
    assert "nim against maxn" in out
    assert "nim against random" in out


@pytest.mark.slow
def test_an_engine_judges_agents_and_a_bad_one_is_named(jaxgbg, tmp_path):
    engine = f"{sys.executable} {Path(__file__).parents[1] / 'players' / 'fake_engine.py'}"
    folder, run = tmp_path / "othello", preset("othello", seeds=(0,), layout=[[0, 1, 2]])
    (folder / "agents").mkdir(parents=True)
    weights = np.zeros(run.make_learner().value.num_weights, np.float32)
    save_agent(folder / "agents" / "seed0-farl.agent", SavedAgent(run, "farl", weights))
    code, _, err = jaxgbg("eval", folder, "--engine", f"{engine} illegal")
    assert code == 2
    assert "which is not legal here" in err
    assert err.count("\n") == 1
    code, _, err = jaxgbg("eval", folder, "--engine", "no-such-engine -gtp")
    assert code == 2
    assert "'no-such-engine' cannot be started" in err
    code, _, err = jaxgbg("eval", folder, "--engine", engine, "--opponent", "bench")
    assert code == 2
    assert "not both" in err


def test_a_missing_extra_is_named(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bitbully", None)
    code, _, err = jaxgbg("train", "connectfour", "--episodes", 100, "--out", tmp_path)
    assert code == 2
    assert "jaxgbg[connectfour]" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_control_c_keeps_the_evaluations_made_so_far(tmp_path):
    # A shell that runs tests in the background ignores Ctrl-C, and so would its children; a
    # preexec_fn would fork this process, which JAX warns of.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from jaxgbg.cli.app import main; main()"
    command = [sys.executable, "-c", program, "train", "tictactoe", "--episodes", "100000000"]
    command += ["--eval-every", "500", "--out", str(tmp_path)]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        deadline = time.monotonic() + 600
        while not any(tmp_path.glob("*/metrics.jsonl")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "evaluations kept in" in err
    assert "Traceback" not in err
    lines = next(tmp_path.glob("*/metrics.jsonl")).read_text().splitlines()
    assert all(json.loads(line)["opponent"] == "maxn" for line in lines)
    assert "results:" in out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["train", "nim", "--lambda", "0.5"], "did you mean --trace-decay"),
        (["train", "nim", "--learning-rate", "0.5"], "did you mean --alpha"),
        (["train", "nim", "--episods", "5"], "did you mean --episodes"),
        (
            ["results", "runs", "--by", "lambda"],
            "no run has a setting 'lambda': here it is trace_de",
        ),
        (["results", "runs", "--by", "schedule.trace_decay"], "here it is trace_decay"),
    ],
)
def test_another_word_for_a_setting_gets_a_hint(jaxgbg, tmp_path, monkeypatch, arguments, hint):
    monkeypatch.chdir(tmp_path)
    folder = RunFolder(tmp_path / "runs", preset("nim", seeds=(0,)))
    folder.begin()
    folder.append(Result(0, "farl", 30, "maxn", -1.0, 20, 0.0))
    code, out, err = jaxgbg(*arguments)
    assert (code, out) == (2, "")
    assert hint in err
    assert err.count("\n") == 1


def test_the_version_is_told(jaxgbg):
    assert jaxgbg("--version") == (0, f"jaxgbg {__version__}\n", "")


def test_every_setting_of_train_is_one_of_ablate():
    from jaxgbg.cli.options import run_options

    by_game = {"episodes", "eval_every", "batch", "opponents"}
    shared = run_options(*by_game).__dataclass_fields__.keys()
    assert run_options().__dataclass_fields__.keys() - shared == by_game
    assert by_game <= inspect.signature(ablating.ablate).parameters.keys()


@pytest.mark.parametrize(
    ("entries", "opponents"),
    [
        ([], {}),
        (["random"], {"nim": ("random",), "hex": ("random",)}),
        (["hex=mcts-10", "hex=random"], {"hex": ("mcts-10", "random")}),
        (["random", "hex=mcts-10"], {"nim": ("random",), "hex": ("mcts-10",)}),
        (["nim=a.agent:look-ahead=2"], {"nim": ("a.agent:look-ahead=2",)}),
    ],
)
def test_opponents_may_be_those_of_one_game(monkeypatch, entries, opponents):
    asked = {}

    def preset(game, **changes):
        if "opponents" in changes:
            asked[game] = changes["opponents"]

    monkeypatch.setattr(ablating, "preset", preset)
    monkeypatch.setattr("jaxgbg.cli.run_all.run_all", lambda *_: None)
    ablating.ablate(("nim", "hex"), opponents=tuple(entries))
    assert asked == opponents


def test_an_opponent_of_a_game_that_is_not_trained_is_refused(jaxgbg, tmp_path):
    code, _, err = jaxgbg("ablate", "nim", "--opponents", "hex=random", "--out", tmp_path / "runs")
    assert code == 2
    assert "unknown player 'hex=random'" in err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("option", ["--opponent", "--opponents"])
def test_numbers_may_have_an_exponent_and_both_words_name_opponents(jaxgbg, tmp_path, option):
    # Nothing is trained: the opponent is refused after all options are read.
    arguments = ["train", "nim", "--episodes", "5e3", "--eval-every", "1_000", "--batch", "2e9"]
    code, _, err = jaxgbg(*arguments, option, "random", "--out", tmp_path / "runs")
    assert code == 2
    assert "batch must lie in [1, 1,048,576], not 2000000000" in err


def test_choices_stand_in_the_help(jaxgbg):
    code, out, _ = jaxgbg("train", "--help")
    words = " ".join(out.replace("│", " ").split())
    assert code == 0
    assert "tictactoe, nim, nim3p, connectfour" in words
    assert "agent files: random, maxn, ab, ab-dl" in words


@pytest.mark.parametrize("command", ["train", "replay", "bench", "eval", "tournament"])
def test_help_shows_what_an_option_takes(jaxgbg, command):
    _, out, _ = jaxgbg(command, "--help")
    words = " ".join(out.replace("│", " ").split())
    assert "--import MODULE" in words
    assert "--traceback" in words
    assert not re.search(r"--[\w-]+ (INT|FLOAT)\b", words)
    for flag, value in (
        ("symmetries", "true|false"),
        ("timeout", "SECONDS"),
        ("seconds", "SECONDS"),
        ("seed", "N"),
        ("alpha", "X"),
    ):
        assert set(re.findall(rf"--{flag} ([A-Z]+|true\S*)\b", words)) <= {value}
    if command == "train":
        assert "--symmetries true|false ntuple:" in words


def test_help_has_the_text_of_each_learner_and_all_choices(jaxgbg):
    _, out, _ = jaxgbg("train", "--help")
    words = " ".join(out.replace("│", " ").split())
    assert "Which updates to skip around random moves, without learn_from_random; see" in words
    assert "gbg: as the program GBG, current for td, adapted for sarsa and q. --" in words
    assert (
        "mlp: Whether the errors of one tick are summed or averaged. ntuple: How updates" in words
    )
    assert "are combined: sum, mean, saturating." in words


def test_an_invalid_choice_lists_what_may_be_given(jaxgbg):
    code, _, err = jaxgbg("train", "nim", "--random-test", "none")
    assert code == 2
    assert "Expected one of adapted, current, gbg, letter. (" in err
    code, _, err = jaxgbg("train", "nim", "--combine", "saturating", "--episodes", "0")
    assert "episodes must lie in" in err
    code, _, err = jaxgbg("train", "nim", "--value", "mlp", "--combine", "saturating")
    assert code == 2
    assert "combine must be one of sum, mean, not 'saturating'" in err


def test_a_sweep_is_results_and_a_figure_by_two_commands(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    write_sweep(tmp_path / "runs")
    code, out, err = jaxgbg("results", tmp_path / "runs", "--baseline", "trace_decay=0")
    assert (code, err) == (0, "")
    assert "0.5  0.165 ± 0.006" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = jaxgbg("plot", tmp_path / "runs", "--out", tmp_path / "figure.svg")
    assert code == 0
    assert "trace_decay" in (tmp_path / "figure.svg").read_text()
    code, out, _ = jaxgbg("results", tmp_path / "runs", "--statistics", "--format", "markdown")
    assert "| IQM (95 %) |" in out
    code, out, _ = jaxgbg("results", tmp_path / "runs", "--runs")
    assert out.count("nim3p-") == 6
    assert jaxgbg("plot", tmp_path / "runs", "--out", "x.gif")[0] == 2


@pytest.mark.slow
def test_a_figure_has_one_unit_in_every_command(jaxgbg, trained, tmp_path):
    folder = next((trained / "small").glob("nim-*"))
    rows = []
    for command in (["eval", folder, "--opponent", "maxn"], ["results", folder]):
        code, out, _ = jaxgbg(*command, "--json", tmp_path / "rows.json")
        assert code == 0
        rows.append(json.loads((tmp_path / "rows.json").read_text()))
        assert "win rate (%)" in out
        # As many digits everywhere.
        assert f"{rows[-1][0]['mean']:.1f}" in out
    assert {row["unit"] for each in rows for row in each} == {"win rate (%)"}
    query = "select figure, score, unit from evaluations"
    assert jaxgbg("results", folder, "--sql", query, "--json", tmp_path / "rows.json")[0] == 0
    for row in json.loads((tmp_path / "rows.json").read_text()):
        assert row["figure"] == pytest.approx(50 + 50 * row["score"])
        assert row["unit"] == "win rate (%)"
