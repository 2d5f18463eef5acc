"""Games by name: shipped, of installed packages, of a user's own modules."""

import dataclasses
import sys

import pytest

from jaxgbg import extensions
from jaxgbg.extensions import GROUP, import_installed, import_modules, imported_modules
from jaxgbg.games import (
    Nim,
    TicTacToe,
    broken_games,
    game_names,
    make,
    register,
    registry,
)
from tests.registries import forgotten_afterwards, install

MODULE = """
import dataclasses
from jaxgbg.games import TicTacToe, register

@dataclasses.dataclass(frozen=True)
class Mine(TicTacToe):
    name = "{name}"

register("{name}", Mine)
"""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch, tmp_path):
    """Everything registered here is forgotten again; the current folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    with forgotten_afterwards():
        extensions._imported.clear()
        yield


def test_the_shipped_games_come_first_and_in_their_order():
    shipped = ("tictactoe", "nim", "nim3p", "connectfour", "hex", "othello", "2048")
    assert game_names()[:8] == (*shipped, "lines_of_action")


@dataclasses.dataclass(frozen=True)
class Noughts(TicTacToe):
    name = "noughts"
    stones: float = 1.0
    bold: bool = False


def test_a_registered_game_is_made_by_its_name():
    register("noughts", Noughts)
    register("noughts", Noughts)
    assert make("noughts", bold=True) == Noughts(bold=True)
    assert make("noughts", stones=2) == Noughts(stones=2)
    assert game_names()[-1] == "noughts"
    with pytest.raises(ValueError, match="noughts: another game of this name"):
        register("noughts", lambda: Noughts())


@pytest.mark.parametrize("name", ["", "a=b", "a/b", "a b", "nim\n", 2048])
def test_a_name_has_letters_digits_and_dashes_only(name):
    with pytest.raises(ValueError, match="letters, digits, _ and - only"):
        register(name, Noughts)


def nameless() -> Noughts:
    return dataclasses.make_dataclass("Nameless", [], bases=(registry.Game,), frozen=True)()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        ("Noughts", "noughts: register a class or a function"),
        (TicTacToe, "noughts: the game that this makes is named 'tictactoe'"),
        (lambda: 7, "noughts: int is not a jaxgbg.games.Game"),
        (lambda: 1 // 0, r"noughts: ZeroDivisionError: .* \(test_registry.py, line \d+\)"),
        (nameless, "noughts: NotImplementedError"),
    ],
)
def test_what_is_no_game_of_that_name_ends_in_a_line(build, complaint):
    def try_it() -> None:
        register("noughts", build)
        make("noughts")

    with pytest.raises(ValueError, match=complaint) as caught:
        try_it()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("chess", {}, r"unknown game 'chess': did you mean pgx:chess\? .*--import MODULE"),
        ("go_home", {}, r"unknown game 'go_home': choose one of .*connectfour.* --import MODULE"),
        ("conectfour", {}, r"unknown game 'conectfour': did you mean connectfour\? "),
        ("TicTacToe", {}, r"did you mean tictactoe\? "),
        ("tictactoe", {"size": 4}, "tictactoe: .*size"),
        ("nim", {"rule": "misere"}, "rule must be one of last_wins"),
        ("nim", {"heaps": 0}, r"heaps must lie in \[1, 100\], not 0"),
        ("nim", {"size": 127}, r"size must lie in \[1, 126\], not 127"),
        ("nim", {"max_take": 6}, "max_take must lie between 0 and the heap size 5"),
        ("nim", {"heaps": 2.5}, "nim: heaps must be a whole number, not 2.5"),
        ("nim", {"heaps": True}, "nim: heaps must be a whole number, not True"),
        ("nim", {"rule": 3}, "nim: rule must be text, not 3"),
        ("nim", {"rule": "nim3p", "players": 3}, "nim: .* is named 'nim3p'"),
        ("nim3p", {"players": 2}, "players must be at least 3, not 2"),
        ("nim3p", {"heaps": "4"}, "nim3p: heaps must be a whole number, not '4'"),
        ("connectfour", {"draw_after": 6}, r"draw_after must lie in \[7, 42\], not 6"),
        ("connectfour", {"draw_after": 43}, r"draw_after must lie in \[7, 42\], not 43"),
        ("hex", {"size": 12}, r"size must lie in \[2, 11\], not 12"),
        ("hex", {"misere": 1}, "hex: misere must be true or false, not 1"),
        ("lines_of_action", {"size": 9}, r"lines_of_action: size must lie in \[3, 8\], not 9"),
        ("othello", {"size": 5}, "size must be one of 4, 6, 8, not 5"),
    ],
)
def test_make_explains_what_it_cannot_build(name, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        make(name, **parameters)


def test_a_module_of_the_current_folder_brings_its_games(tmp_path):
    (tmp_path / "my_games.py").write_text(MODULE.format(name="mine"))
    import_modules(["my_games", "json"])
    import_modules(["my_games"])
    assert imported_modules() == ("my_games", "json")
    assert make("mine").num_cells == 9


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "neither in the current folder nor installed"),
        ("import no_such_module_here", r"No module named 'no_such_\w+' \(my_games.py, line 1\)"),
        ("x = 1\nsize = undefined", r"NameError: .*undefined.* \(my_games.py, line 2\)"),
        ("def (:", r"SyntaxError: .* \(my_games.py, line 1\)"),
        ("raise SystemExit('bye')", r"SystemExit: bye \(my_games.py, line 1\)"),
        (
            "from jaxgbg.games import Nim, register\nregister('hex', Nim)",
            r"hex: another game of this name .*\(my_games.py, line 2\)",
        ),
    ],
)
def test_a_module_that_fails_ends_in_a_line(tmp_path, text, complaint):
    if text is not None:
        (tmp_path / "my_games.py").write_text(text)
    with pytest.raises(ValueError, match=f"cannot import my_games: .*{complaint}") as caught:
        import_modules(["my_games"])
    assert "\n" not in str(caught.value)
    assert imported_modules() == ()


def test_without_modules_the_current_folder_is_not_looked_into(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import_modules([])
    assert str(tmp_path) not in sys.path


def test_the_games_of_an_installed_package_appear_by_themselves(tmp_path):
    (tmp_path / "plugin_games.py").write_text(MODULE.format(name="plugged"))
    install(tmp_path, "pluggames", registry.GROUP, {"plugged": "plugin_games:Mine"})
    assert make("plugged").num_cells == 9
    assert game_names()[-1] == "plugged"
    assert broken_games() == {}


def test_a_broken_package_is_named_and_harms_no_other_game(tmp_path):
    (tmp_path / "bad_games.py").write_text("x = 1\nx.size")
    install(tmp_path, "badgames", registry.GROUP, {"bad": "bad_games:Mine", "nim": "json:loads"})
    assert make("nim") == Nim()
    assert "bad" not in game_names()
    with pytest.raises(ValueError, match=r"'bad' of badgames cannot .* \(bad_games.py, line 2\)"):
        make("bad")
    assert "'nim' of badgames cannot be loaded" in broken_games()["nim"]
    assert make("nim") == Nim()


def test_the_modules_of_an_installed_package_are_imported(tmp_path, capsys):
    (tmp_path / "plugin_modules.py").write_text(MODULE.format(name="plugged"))
    (tmp_path / "bad_module.py").write_text("x = 1\nx.size")
    entries = {"bad": "bad_module", "good": "plugin_modules", "gone": "no_such_module_here"}
    install(tmp_path, "plugmodules", GROUP, entries)
    import_installed.cache_clear()
    import_installed()
    assert game_names()[-1] == "plugged"
    # The others work, and those that do not are named.
    bad, gone = sorted(capsys.readouterr().err.splitlines())
    assert bad.startswith("jaxgbg: cannot import bad_module of plugmodules: AttributeError: ")
    assert bad.endswith("(bad_module.py, line 2)")
    assert gone.startswith("jaxgbg: cannot import no_such_module_here of plugmodules: ")
    # A worker process imports them by itself.
    assert imported_modules() == ()
