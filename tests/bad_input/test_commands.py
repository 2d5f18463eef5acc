"""What is typed after a command's name, what a user's module does, and where the output goes."""

import os
import subprocess
import sys

import pytest

from jaxgbg.cli import exit_codes as ending
from jaxgbg.cli.common import print_records

from .cases import Case, run_case
from .files import agent

_ODD = {
    "odd.py": """
import functools, sys
class Base(BaseException): pass
class Ends:
    def __init__(self): raise SystemExit(0)
def ends(): sys.exit(0)
def raises(): raise Base("no\\nmore")
def hinted() -> "Nowhere": pass
part = functools.partial(int, "x")
number = 3
def three(): return 3
"""
}
_KEPT = (
    '{"game": {"name": "tictactoe"}, "players": ["a", "b"], "moves": "MOVES", "result": [0, 0]}\n'
)
CASES = [
    Case("--import ends games", "SystemExit: 0", {"ends.py": "import sys; sys.exit(0)"}),
    Case("--import syntax games", "SyntaxError: .*line 1", {"syntax.py": "def ("}),
    Case("--import raises games", "KeyError: ", {"raises.py": "raise KeyError('\\x1b[31m\\n')"}),
    Case(
        "--import base games", "B: gone", {"base.py": "class B(BaseException): 0\nraise B('gone')"}
    ),
    Case("--import closes games", "GeneratorExit", {"closes.py": "raise GeneratorExit"}),
    Case("--import a/b games", "neither in the current folder nor installed"),
    Case("--import \udcff games", "neither in the current folder nor installed"),
    *(
        Case(f"check odd:{name}", line, _ODD)
        for name, line in {
            "Ends": "SystemExit",
            "ends": "SystemExit",
            "raises": "Base: no more",
            "hinted": "Nowhere",
            "part": "invalid literal",
            "number": "no class",
            "three": "int is not a jaxgbg.games.Game",
        }.items()
    ),
    Case("check ':'", "cannot import"),
    Case("check 'a\nb\x1b[31m'", r"unknown game 'a\\nb\\x1b\[31m'"),
    Case("eval 'a\nb\x1b[31m'", r"a b\\x1b\[31m: No such file"),
    Case(f"perft {'x' * 10_000}", "unknown game 'xxx"),
    Case(f"results {'x' * 10_000}", "File name too long"),
    Case("results file", "is not a folder", {"file": "x"}),
    Case("report file/below --out x.html", "is not a folder", {"file": "x"}),
    Case("results . --horses nothing", "unknown option --horses"),
    Case("nothing", "unknown command 'nothing': choose one of games, zoo"),
    Case("help", "`jaxgbg --help`"),
    Case("train tictactoe --walks 3", "--walks must be 2 whole numbers, not '3' "),
    Case("train tictactoe --walks 3 3 3", "--walks must be 2 whole numbers, not '3', '3', '3' "),
    Case("train tictactoe --symmetries yes", "--symmetries must be true or false, not 'yes'"),
    Case("train tictactoe --no-symmetries", "use --symmetries false"),
    Case("train tictactoe --learner.trace_decay 1", "did you mean --trace-decay?"),
    Case("train tictactoe --episods 1", "unknown option --episods: did you mean --episodes?"),
    Case("train mygame.py", "use --import mygame and the name that it registers"),
    Case("show tictactoe --size 3", "tictactoe: has no parameter size"),
    Case("eval runs/x/agents", "such as runs/x", {"runs/x/agents/a.agent": "x"}),
    Case("eval runs", "such as runs/x", {"runs/x/agents/a.agent": "x"}),
    Case("train nim --games 3", "unknown option --games [(]"),
    Case("eval file", "file: not an agent", {"file": "x"}),
    Case("play folder --export x.html", "not the folder of a finished run", {"folder/file": ""}),
    Case("eval a.agent --keep", "--keep needs the folder of a finished run", {"a.agent": agent()}),
    Case("tournament", "name participants and the game"),
    Case("compare a b --max-games 1", "^jaxgbg: --max-games must lie in"),
    Case("eval a.agent --ranks 1e9", "^jaxgbg: --ranks must", {"a.agent": agent()}),
    Case("train nim --hidden 3", "add --value mlp"),
    Case("train nim --minutes 0", r"^jaxgbg: --minutes must lie in \(0, "),
    Case("table1 --games", "--games needs a value"),
    Case("table1 --games --seeds 1", "--games needs a value"),
    Case("ablate nim --seeds", "--seeds needs a value"),
    Case("train nim --opponents", "--opponents needs a value"),
    Case("eval a.agent --ranks", "--ranks needs a value"),
    Case("eval a.agent --opponent ''", "unknown player ''", {"a.agent": agent()}),
    Case("train nim --tcl none --beta 3", "--beta needs --tcl id or exp"),
    Case("ablate nim --tcl none --beta 3", "--beta needs --tcl id or exp"),
    Case("train nim --trace-decay 0 --trace-cut .2", "--trace-cut needs --trace-decay above 0"),
    Case("train nim --reply value", "--reply needs --look-ahead"),
    Case("eval a.agent --reply value", "--reply needs --look-ahead", {"a.agent": agent()}),
    Case("train tictactoe --opening-plies 99", "games of tictactoe end within 9 plies"),
    Case("train nim --watch-port 5", "--watch-port goes with --watch"),
    Case("bench --rules --learner q", "--learner and --value do not go with --rules"),
    Case("check hex:Hex --size 4", "need the name of a game, not MODULE:CLASS"),
    Case("check hex --size 400", "size must lie in"),
    Case("play a.agent:look-ahead=2", "name the agent alone", {"a.agent": agent()}),
    Case("tran nim", "unknown command 'tran': did you mean train"),
    Case("train nim --dry-run", "--dry-run .*jaxgbg train --help"),
    Case("eval", "name an agent file, or the folder of a run"),
    Case("eval runs/none", "runs/none: No such file; name an agent file"),
    Case("play runs/none --no-browser", "'runs/none' does not exist: name the folder of a run"),
    Case(
        "sweep s.toml --out file/below",
        "choose another folder",
        {"file": "", "s.toml": 'game = "nim"'},
    ),
    Case("ensemble out.agent", "two agents or more"),
    Case("ensemble out.agent a.agent b.agent", "a.agent: No such file"),
    Case("ensemble no/out.agent a.agent b.agent", "there is no folder no"),
    Case("ensemble out.agent a.agent b.agent", "out.agent exists already", {"out.agent": "x"}),
    Case("tournament random kasparov --game nim", "unknown player 'kasparov'"),
    Case("tournament random maxn", r"name the game \(--game, .*: no agent plays"),
    Case("tournament random --game nim", "needs at least 2 participants, not 1"),
    Case("tournament random maxn --game nim3p", "needs at least 3 participants, not 2"),
    Case("tournament --game nim", "needs at least 2 participants, not 0"),
    Case("tournament random random --game nim", "random takes part twice"),
    Case("tournament random one=random --game nim", "random and one are the same player"),
    Case("tournament random maxn --game 2048", "2048 is a game of one player"),
    Case("tournament random maxn mcts --game nim3p --swiss 2", "nim3p is played by 3: leave out"),
    Case("tournament random maxn mcts --game nim --swiss 3", "can be paired for 2 rounds .* not"),
    Case("tournament random maxn --game nim --swiss -1", "swiss must lie in .*, not -1"),
    Case("tournament random ab --game nim", "alpha-beta plays connectfour only"),
    Case("tournament random maxn --game nim --executor slurm", "executor"),
    Case("tournament random maxn --game nim --address auto", "needs the executor ray"),
    Case("tournament random maxn --size 3", "--size and --parameters need --game"),
    Case("tournament random maxn --game nim --starts x", "starts must be one of default"),
    Case("tournament random maxn --game nim --games 0", "games must lie in .*, not 0"),
    Case(
        "tournament random maxn --game nim --plot x.gif",
        "the name of a figure must end in .png, .svg or .pdf",
    ),
    Case("tournament random x.agent --game nim", "agent file x.agent: No such file"),
    Case("tournament random x.agent", "x.agent: not an agent of jaxgbg", {"x.agent": "x"}),
    Case(
        "tournament random folder --game nim",
        "folder is not the folder of a finished run",
        {"folder/file": ""},
    ),
    Case(
        "tournament random mcts-2 --game nim --out folder",
        "folder holds something else",
        {"folder/file": ""},
    ),
    Case(
        "tournament random mcts-2 --game nim --out folder",
        "tournament.json, line 1: not valid JSON",
        {"folder/tournament.json": "{"},
    ),
    Case("tournament random mcts-2 --game nim --out file", "file", {"file": "x"}),
    Case("tournament random maxn --game nim --record no/x.jsonl", "there is no folder no"),
    Case("analyze random --game nim", "give --position TEXT or --positions FILE"),
    Case("analyze random --position 1", "random is no agent file: name one, or the --game"),
    Case("analyze random --game nim --position ''", "a position of nim is empty; write it like"),
    Case("analyze random --game nim --position 5+5", "nim: 2 heaps, and the game has 3"),
    Case("analyze random --game nim --position 'XO./.X./... O'", "no position of nim"),
    Case(
        "analyze random --game tictactoe --position 9", "move 1 is not legal there: 9; legal are 0,"
    ),
    Case("analyze random --game tictactoe --position 0,1,0", "not legal there: 0; legal are 2, 3"),
    Case("analyze random --game tictactoe --position 0,3,1,4,2,5", "the game is over after move 5"),
    Case(f"analyze random --game nim --position {'9+' * 2000}9", "2,001 heaps"),
    Case("analyze random --game nim --positions none", "none: No such file"),
    Case("analyze random --game nim --positions x", "x holds no positions", {"x": "\n# none\n"}),
    Case(
        "analyze random --game nim --positions x", "x, line 2: not valid UTF-8", {"x": b"0\n\xff"}
    ),
    Case(
        "analyze random --game nim --positions x",
        "x, line 3: no position of nim: heap 2 is a number from 0 to 5, not '9'",
        {"x": b"\xef\xbb\xbf5+5+5 1\n\n5+9+5 1\n"},
    ),
    Case(
        "analyze random --game nim --positions x --json no/x", "there is no folder no", {"x": "0"}
    ),
    Case("play nim --position 5 --export x.html", "--position does not go with --export"),
    Case("play nim --position 5+5 --no-browser", "nim: 2 heaps, and the game has 3"),
    Case("replay none", "none: No such file"),
    Case("replay x", "x holds no games", {"x": ""}),
    Case("replay x", "x, line 2: not valid JSON", {"x": "\n{"}),
    Case("replay x --page", "--page shows one game", {"x": ""}),
    *(
        Case(f"replay x {options}", line, {"x": _KEPT.replace("MOVES", moves)})
        for options, moves, line in (
            ("", "4,0", "x, game 1: the game is not over after its 2 moves"),
            ("", "4,0,4", "x, game 1: tictactoe: move 3 is not legal there"),
            ("", "0,3,1,4,2", "x, game 1: the result is 0, 0, and by the rules it is 1, -1"),
            ("--game 2", "", "x has 1 game, and no game 2"),
            ("--game 0", "", "x has 1 game, and no game 0"),
            ("--game 1 --format csv", "", "leave out --game"),
        )
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(str(case))[:80])
def test_it_is_named_and_nothing_is_left(case, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in {"ends", "syntax", "raises", "base", "closes", "odd"}:
        monkeypatch.delitem(sys.modules, name, raising=False)
    out, new = run_case(case, tmp_path, jaxgbg)
    assert (out, new) == ("", [])
    sys.modules.pop("odd", None)


def test_a_name_in_a_table_is_neither_a_style_nor_a_command_of_the_terminal(capsys):
    print_records([{"agent": "[bold]\x1b[2J\n.agent", "games": 3}], None)
    assert "[bold]\\x1b[2J\\n.agent" in capsys.readouterr().out


def end(*arguments: str, closed: str = "", **streams):
    """(exit code, standard error) of a command in a process of its own.

    `closed` is how a shell closes streams: closed here, this process would be forked, of which JAX
    warns.
    """
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", **streams.pop("env", {})}
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-m", "jaxgbg.cli", *arguments],
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **streams},
        env=environment,
        timeout=60,
        check=False,
    )
    return done.returncode, (done.stderr or b"").decode()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("games",), ("--help",)])
def test_a_reader_that_has_enough_ends_the_command_in_silence(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert end(*arguments, stdout=writer) == (1, "")
    finally:
        os.close(writer)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("games",), ("--help",)])
def test_output_that_cannot_be_written_is_a_line(arguments):
    with open("/dev/full", "wb") as full:
        line = "jaxgbg: cannot write the output: No space left on device\n"
        assert end(*arguments, stdout=full) == (2, line)


@pytest.mark.slow
def test_a_complaint_that_cannot_be_written_still_ends_with_its_code():
    with open("/dev/full", "wb") as full:
        assert end("perft", "nothing", stderr=full) == (2, "")


@pytest.mark.slow
def test_closed_streams_are_no_mistake():
    assert end("games", closed=">&-") == (0, "")
    assert end("games", closed=">&- 2>&-")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment", [{"COLUMNS": "1"}, {"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "x"}]
)
def test_the_terminal_may_be_narrow_and_know_no_letters(environment):
    assert end("games", env=environment) == (0, "")
    code, err = end("nothing", env=environment)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("jaxgbg: unknown command 'nothing'")
    code, err = end("check", "\u00e4", env=environment)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("jaxgbg: unknown game")


def test_what_an_encoding_lacks_is_escaped(tmp_path, monkeypatch):
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        ending._prepare_output()
        print("\u00b1 \udcff")
    assert (tmp_path / "out").read_text() == "\\xb1 \\udcff\n"
