"""`jaxgbg check`: a game of the package, one of a module, and one that breaks the contract."""

import json
import sys

import pytest

MODULE = """
import dataclasses
from jaxgbg.games import Nim

@dataclasses.dataclass(frozen=True)
class MyGame(Nim):
    heaps: int = 2
    size: int = 3

class Short(MyGame):
    max_plies = 2
    num_cell_values = 2
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "checked_module.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("checked_module", None)


@pytest.mark.slow
def test_check_says_that_a_game_keeps_the_contract(jaxgbg, folder):
    code, out, err = jaxgbg("check", "checked_module:MyGame")
    assert (code, err) == (0, "")
    assert out.startswith("checked_module:MyGame keeps the contract")
    code, out, _ = jaxgbg("check", "nim")
    assert (code, out.split(" (")[0]) == (0, "nim keeps the contract")


def test_check_says_in_a_line_each_what_a_game_breaks(jaxgbg, folder):
    code, out, err = jaxgbg("check", "checked_module:Short", "--json", folder / "faults.json")
    lines = err.splitlines()
    assert (code, out, len(lines)) == (2, "", 2)
    assert lines[0].startswith("checked_module:Short: cells: a digit is outside 0..1")
    assert lines[1].endswith("not over after max_plies = 2 plies")
    rows = json.loads((folder / "faults.json").read_text())
    assert [f"{row['game']}: {row['fault']}" for row in rows] == lines


def test_check_prints_the_symmetries_that_it_finds(jaxgbg, folder):
    code, out, err = jaxgbg(
        "check", "tictactoe", "--find-symmetries", "--json", folder / "found.json"
    )
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == (
        "symmetries: 8 images that random games do not refute, all in its symmetries"
    )
    rows = json.loads((folder / "found.json").read_text())
    assert len(rows) == 8
    for row in rows:
        assert [row["actions"][cell] for cell in row["cells"]] == [*range(9)]
    code, _, err = jaxgbg("check", "pig", "--find-symmetries")
    assert (code, err.count("\n")) == (2, 1)
    assert "pig is a game of chance" in err


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("chess", "unknown game 'chess'"),
        ("no_such_module:MyGame", "cannot import no_such_module: neither in the current folder"),
        ("checked_module:Chess", "the module checked_module has no class 'Chess'"),
        ("json:loads", "json:loads: .*argument"),
    ],
)
def test_check_explains_what_it_cannot_find(jaxgbg, folder, name, complaint):
    code, out, err = jaxgbg("check", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint.split(".*")[0] in err
