"""Settings that are no settings: numbers out of range, of another kind, too large for a machine."""

import os
import re

import pytest

from jaxgbg.runs import memory

from .cases import Case, run_case

HUGE, BEYOND_32_BITS = 10**30, 2**70
CYCLE = "--opening-cycle --opening-share 1 --opening-plies"

CASES = [
    # Seeds.
    Case("train nim --seeds 0", r"seeds must lie in \[1, 100,000\], not 0"),
    Case("train nim --seeds 1000000000", r"seeds must lie in \[1, 100,000\], not 1000000000"),
    Case("train tictactoe --seeds x", "--seeds must be a whole number, not 'x'"),
    Case(f"train nim --seed {BEYOND_32_BITS}", r"seed must lie in \[0, 4,294,967,295\]"),
    Case("train nim --seed 4294967296", r"seed must lie in \[0, 4,294,967,295\], not 4294967296"),
    Case("train nim --seed -1", r"seed must lie in \[0, 4,294,967,295\], not -1"),
    Case("train nim --seed 4294967295 --seeds 2", r"seeds must lie in .* not 4294967296"),
    Case(f"ablate nim --seeds {HUGE}", "seeds must have at most 100,000 entries"),
    Case("ablate nim --seeds nan", "--seeds nan: expected N or GAME=N"),
    Case("ablate nim --seeds nim=-1", "--seeds nim=-1: must be at least 1"),
    Case("table1 --games nim --seeds 1000000000", r"seeds must lie in \[1, 100,000\]"),
    Case("bench nim --seeds 0", r"seeds must lie in \[1, 100,000\], not 0"),
    Case("bench nim --seeds 1000000000", r"seeds must lie in \[1, 100,000\]"),
    # Budgets and batches.
    Case("train tictactoe --episodes 0", r"episodes must lie in \[1, 2,147,483,648\], not 0"),
    Case(f"train nim --episodes {2**63}", r"episodes must lie in \[1, 2,147,483,648\]"),
    Case(f"train nim --episodes {HUGE}", f"episodes must lie in .* not {HUGE}$"),
    Case("train nim --episodes 1.5", "--episodes"),
    Case(f"train nim --episodes {'9' * 5000}", "--episodes"),
    Case("train nim --batch 2147483648", r"batch must lie in \[1, 1,048,576\], not 2147483648"),
    Case("train nim --batch 1000000000", r"batch must lie in \[1, 1,048,576\], not 1000000000"),
    Case("ablate nim --batch 1000000000000", r"batch must lie in \[1, 1,048,576\]"),
    Case("ablate nim --episodes nim=1.5", "--episodes nim=1.5: expected N or GAME=N"),
    Case("bench nim --batches 64 0", r"batches must lie in \[1, 1,048,576\], not 0"),
    Case("train nim --opening-cycle --opening-plies 0", "set --opening-plies, and --opening-share"),
    Case("train nim --opening-cycle --opening-plies 2", "set --opening-plies, and --opening-share"),
    Case(f"train 2048 {CYCLE} 2", "--opening-cycle needs a game without chance"),
    Case(f"train hex {CYCLE} 3", "3 plies of hex lead to more than 10,000 positions"),
    Case(f"train tictactoe {CYCLE} 9", "9 plies of tictactoe lead to no positions"),
    Case("table1 --games nim --batch 0", r"batch must lie in \[1, .*\], not 0"),
    Case("table1 --games nim --batch x", "batch"),
    Case("table1 --games nim --seed -1", "seed must lie in"),
    Case("table1 --games nim --scale inf", "scale must be a number, not inf"),
    Case("table1 --games nim --scale nan", "scale must be a number, not nan"),
    Case("table1 --games nim --scale -1", r"scale must lie in \(0, 1,000,000\], not -1.0"),
    Case("table1 --games nim --scale 1e300", r"scale must lie in \(0, 1,000,000\], not 1e\+300"),
    Case("table1 --games connectfour --scale 100000", "episodes must lie in .* not 500000000000"),
    # Steps, traces, openings.
    Case("train nim --alpha 1e300", r"alpha must lie in \[1e-09, 1,000,000\], not 1e\+300"),
    Case("train nim --alpha 1e-300", r"alpha must lie in \[1e-09, 1,000,000\], not 1e-300"),
    Case("train nim --alpha nan", "alpha must be a number, not nan"),
    Case("train nim --beta inf", "beta must be a number, not inf"),
    Case("train nim --trace-decay nan", "--trace-decay must be a number, not nan"),
    Case("train nim --trace-decay 0.99999999", "lists of 230,258,507 states; at most 128"),
    Case("train nim --trace-decay 0.9999999999999999", "--trace-decay 0.9999999999999999 with"),
    Case("train nim --opening-plies 100000", r"--opening-plies must lie in \[0, 10,000\]"),
    Case("train nim --reset-traces maybe", "--reset-traces"),
    # Value functions.
    Case("train hex --walks 1000000000 3", r"walks must lie in \[0, 1,000\], not 1000000000"),
    Case("train hex --walks 3 1000000000", r"walks must lie in \[0, 1,000\], not 1000000000"),
    Case(
        "train tictactoe --walks 3 2 --layout layout.json",
        "choose layout or walks, not both",
        {"layout.json": "[[0]]"},
    ),
    Case("train hex --walks 3 5 --from-lines", "hex: has no winning lines"),
    Case("train connectfour --walks 3 3 --from-lines", "around a line holds 4 to 42 cells, not 3"),
    Case(
        "train connectfour --from-lines",
        "for walks: choose these, number and length, instead of a layout",
    ),
    Case("train othello --walks 0 6", "walks: draw at least 1 tuple, not 0"),
    Case("train connectfour --walks 0 6 --from-lines", "walks: draw at least 1 tuple, not 0"),
    Case("train hex --walks 3 37", "a tuple holds 1 to 36 cells, not 37"),
    Case("train nim --value mlp --hidden 1000000000000", r"hidden must lie in \[1, 1,048,576\]"),
    Case(f"train nim --value mlp --hidden {HUGE}", r"hidden must lie in \[1, 1,048,576\]"),
    Case("train nim --value mlp --hidden 1048576 1048576", "1,099,535,745,025 weights .* 4.4 TB"),
    Case("train nim --value mlp --bias inf", "bias must be a number, not inf"),
    # Games.
    Case("train tictactoe --opponents maxn maxn", "opponents must be all different, not .'maxn'"),
    Case("train nim --parameters heaps=1000000000", r"heaps must lie in \[1, 100\]"),
    Case(f"train nim --parameters players={HUGE}", r"players must lie in \[2, 127\]"),
    Case("train nim --parameters heaps=100", "tuples are too long"),
    Case(f"train nim --size {HUGE}", r"size must lie in \[1, 126\]"),
    Case("perft nim --parameters heaps=1000000000", r"heaps must lie in \[1, 100\]"),
    Case(f"perft connectfour --parameters draw_after={HUGE}", r"draw_after must lie in \[7, 42\]"),
    Case("perft othello --size 7", "size must be one of 4, 6, 8, not 7"),
    Case("perft nim --depth 0", r"depth must lie in \[1, 1,000\], not 0"),
    Case(f"perft nim --depth {HUGE}", r"depth must lie in \[1, 1,000\]"),
    Case("perft nim --depth 1.5", "--depth"),
    # Seconds.
    Case("train nim --checkpoint-every nan", "--checkpoint-every must be a number, not nan"),
    Case("train nim --checkpoint-every -1", "--checkpoint-every must lie in .* not -1.0"),
    Case("ablate nim --checkpoint-every inf", "--checkpoint-every must be a number, not inf"),
    Case("table1 --games nim --checkpoint-every nan", "--checkpoint-every must be a number"),
    Case("sweep x.toml --checkpoint-every nan", "--checkpoint-every must be a number, not nan"),
    Case("bench nim --seconds nan", "seconds must be a number, not nan"),
    Case("bench nim --seconds 0", r"seconds must lie in \(0, 3,600\], not 0.0"),
    Case("eval x --timeout 1e300", r"timeout must lie in \(0, 86,400\], not 1e\+300"),
    Case("eval x --timeout nan", "timeout must be a number, not nan"),
    Case("eval x --timeout 0", r"timeout must lie in \(0, 86,400\], not 0.0"),
    Case(f"eval x --seed {BEYOND_32_BITS}", r"seed must lie in \[0, 4,294,967,295\]"),
    # Comparisons.
    Case("compare a b --elo0 -1e308", r"elo0 must lie in \[-3,000, 3,000\], not -1e\+308"),
    Case("compare a b --elo1 nan", "elo1 must be a number, not nan"),
    Case("compare a b --alpha 0", r"alpha must lie in \(0, 0.5\), not 0.0"),
    Case("compare a b --beta 0.5", r"beta must lie in \(0, 0.5\), not 0.5"),
    Case("compare a b --batch 0", r"batch must lie in \[1, 100,000\], not 0"),
    Case("compare a b --opening-plies -1", r"--opening-plies must lie in \[0, 10,000\], not -1"),
    Case(f"compare a b --max-games {HUGE}", r"--max-games must lie in \[2, 10,000,000\]"),
    Case(f"compare a b --seed {BEYOND_32_BITS}", r"seed must lie in \[0, 4,294,967,295\]"),
    # Workers.
    Case("sweep x.toml --executor processes --workers -1", r"workers must lie in \[1, 4,096\]"),
    Case("sweep x.toml --executor processes --workers 0", r"workers must lie in \[1, 4,096\]"),
    # Look-ahead and ranks.
    Case("train tictactoe --look-ahead 0", r"--look-ahead must lie in \[1, 10\], not 0"),
    Case(
        "train tictactoe --replay-episodes 1.5",
        "--replay-episodes must be a whole number, not '1.5'",
    ),
    Case("train tictactoe --seed x", "--seed must be a whole number, not 'x'"),
    Case("bench --seconds z", "--seconds must be a number, not 'z'"),
    Case("train tictactoe --alpha x", "--alpha must be a number, not 'x'"),
    Case("train tictactoe --width x", "--width must be a whole number, not 'x'"),
    Case("train tictactoe --look-ahead 100", r"--look-ahead must lie in \[1, 10\], not 100"),
    Case("train tictactoe --look-ahead 3 --width 0", "width must lie in .* not 0"),
    Case("train tictactoe --width 3", "look ahead 2 plies or more"),
    Case("train tictactoe --search puct-x", "'puct-x': iterations must be a whole number"),
    Case(
        "train tictactoe --search mcts-50",
        "search mcts uses no agent: choose one of",
    ),
    Case(
        "train tictactoe --search puct-50,c=2",
        "unknown setting 'c'; known are iterations",
    ),
    Case(f"train tictactoe --search puct-{'9' * 5000}", "iterations must be a whole number"),
    Case("train tictactoe --search puct-0", r"iterations must lie in \[1, 16,777,215\], not 0"),
    Case("train tictactoe --search puct-9,width=0", "width must lie in"),
    Case("train tictactoe --search puct-9,temperature=nan", "temperature must be a number"),
    Case("train tictactoe --search puct-9,exploration=1e999", "exploration must be a number"),
    Case("train tictactoe --search puct-9,megabytes=0", "one tree of 9 iterations takes 1 mega"),
    Case("train nim3p --search puct-9,solver=1", "solver=1 needs two players, no chance and rew"),
    Case("train tictactoe --search puct-9,solver=2", "solver must be true or false, not '2'"),
    Case("train tictactoe --search puch-9", "unknown search 'puch-9': did you mean puct"),
    Case("train tictactoe --search puct-9,exploratoin=2", "did you mean exploration"),
    Case("train tictactoe --search puct-9,leaves=0", r"leaves must lie in \[1, 256\], not 0"),
    Case("train tictactoe --search puct-9 --look-ahead 2", "leave out --look-ahead and ranks"),
    Case("train tictactoe --ranks 0 0", "ranks must be probabilities"),
    Case("train tictactoe --play-ranks -1", "ranks must be probabilities"),
    Case("train tictactoe --ranks 1e-320", "the greatest of them at least 1e-09, not 9.99989e-321"),
    Case("train tictactoe --play-ranks 1e-40 0", "ranks must be probabilities, .* not 1e-40 0"),
    Case("train tictactoe --temperature -1", r"temperature must lie in \[0, 1,000,000\], not -1"),
    Case("train tictactoe --temperature nan", "temperature must be a number, not nan"),
    Case("train tictactoe --temperature .1 --ranks .6 .4", "choose ranks or a temperature"),
    Case("train nim --learner td-search --temperature .1", "a search chooses by its visits"),
    Case("train nim --one-explores --partner random", "is the only one who explores"),
    Case("train 2048 --one-explores", "is the only one who explores"),
    Case(
        "train lines_of_action --value mlp --extras freedom --learner td-leaf",
        "choose --extras-as inputs, or --train-plies 1",
    ),
    Case("train nim --learner td-leaf --train-width 0", "--train-width must lie in .* not 0"),
    Case("train nim --learner td-leaf --train-width 3000000000", "--train-width must lie in"),
    Case(f"train nim --learner td-leaf --train-width {'3 ' * 11}", "must have at most 10 entries"),
    Case("train nim --train-reply all", "--train-reply"),
    Case("train 2048 --learner td-leaf", "2048 is a game of chance"),
    Case("train nim --replay-episodes 5 --learner td-leaf", "--replay-episodes is for learner td"),
    Case("train nim --learner td-off-policy", "without traces: set --trace-decay 0"),
    Case("train hex --learner td-off-policy --loss-discount 2", "--loss-discount must lie in"),
    Case("train hex --loss-discount .5", "--loss-discount is for learner td-off-policy"),
    Case("train hex --learner td-off-policy --ranks 1 1", "choose a temperature"),
    Case("train tictactoe --value mlp --extras freedom", "tictactoe has no extra 'freedom'"),
    Case("train lines_of_action --value mlp --extras mobility", "its extras are immobility,"),
]

LAYOUTS = [
    ("[" * 100_000, "layout.json: nested more than"),
    ("[0]," * 5_000_000, "layout.json: 20,000,000 bytes long, and at most 16,777,216 are read"),
    (b"\xff\xfe", "layout.json, line 1: not valid UTF-8"),
    ("[" + "[0]," * 1_000 + "[0]]", "layout.json: holds more than 1,000 tuples"),
    ("[[true]]", "layout.json: tuple 0 is not a non-empty list of cell numbers"),
    ("[[NaN]]", "layout.json: NaN is not a JSON number"),
    (f"[[{HUGE}]]", f"layout.json: tuple 0 names cell {HUGE}"),
    (f"[[{'9' * 5000}]]", "layout.json: .*4300 digits"),
]


def fails_cleanly(case, jaxgbg, folder, monkeypatch):
    monkeypatch.chdir(folder)
    out, new = run_case(case, folder, jaxgbg)
    assert out == ""
    assert new == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case)[:70])
def test_it_is_named_and_nothing_is_left(case, jaxgbg, tmp_path, monkeypatch):
    fails_cleanly(case, jaxgbg, tmp_path, monkeypatch)


@pytest.mark.parametrize(("content", "line"), LAYOUTS, ids=[line for _, line in LAYOUTS])
def test_a_layout_is_a_small_regular_file(content, line, jaxgbg, tmp_path, monkeypatch):
    case = Case("train nim --layout layout.json", line, {"layout.json": content})
    fails_cleanly(case, jaxgbg, tmp_path, monkeypatch)


@pytest.mark.parametrize("command", ["train nim --layout {}", "sweep {}"])
def test_a_pipe_or_a_device_is_not_read(command, jaxgbg, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/zero", "."):
        case = Case(command.format(path), f"file {path}: not a regular file")
        fails_cleanly(case, jaxgbg, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("train nim --seeds 10000", "10,000 lanes .* need 306.2 MB of memory, and 200.0 MB are"),
        (
            "train hex --batch 1048576 --seeds 9",
            r"batch 1,048,576, --opening-plies 1, 36,450 weights",
        ),
        ("train 2048 --opening-plies 10000 --batch 65536", "--opening-plies 10,000"),
        ("train hex --walks 1000 8 --seeds 2", "13,122,000 weights of value ntuple"),
        ("train nim --value mlp --hidden 65536 65536", "weights of value mlp"),
        ("ablate nim --seeds 10000", "20,000 lanes"),
        ("table1 --games hex --seeds 1000", "2,000 lanes"),
        ("bench nim --seeds 10000 --batches 64", "20,000 lanes"),
    ],
)
def test_what_the_memory_cannot_hold_is_refused(command, line, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2e8)
    monkeypatch.chdir(tmp_path)
    fails_cleanly(Case(command, line), jaxgbg, tmp_path, monkeypatch)


def test_a_plan_that_the_memory_cannot_hold_is_shown(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2e8)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text('game = "nim"\nseeds = "0:10000"')
    code, out, err = jaxgbg("sweep", "x.toml", "--dry-run")
    assert code == 2
    assert "1 run in 1 unit of work" in out
    assert re.search("^jaxgbg: nim: .* lanes .* and 200.0 MB are available", err)
    assert err.count("\n") == 1
    # Other machines may have more.
    assert jaxgbg("sweep", "x.toml", "--dry-run", "--executor", "ray")[0] == 0


def test_a_machine_says_what_memory_it_has():
    assert 1e6 < memory.available_memory() < 1e15
