"""Start-up: help, lists and messages about mistakes import nothing heavy, and names come late."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import jaxgbg
from jaxgbg.cli.commands import COMMANDS

ROOT = Path(jaxgbg.__file__).parent

# Each takes from a tenth of a second to several seconds to be imported.
HEAVY = ("jax", "flax", "optax", "chex", "scipy", "pandas", "duckdb", "matplotlib", "jinja2")
HEAVY += ("starlette", "uvicorn", "ray", "optuna", "pgx", "pettingzoo")
LINES = (
    "--version",
    "fly",
    "--help",
    *(f"{name} --help" for name in COMMANDS),
    "games",
    "train nim --horses 3",
    "train chess",
    "train nim --episodes -5",
    "train nim --value mlp --hidden 0",
    "tournament random --game chess",
)

_RUN = """
import contextlib, io, json, sys
heavy, lines = sys.argv[1].split(), sys.argv[2:]
from jaxgbg.cli.app import main
for line in lines:
    sys.argv = ["jaxgbg", *line.split()]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    found = [name for name in heavy if name in sys.modules]
    print(json.dumps([line, code, bool(out.getvalue()), err.getvalue().count("\\n"), found]))
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_and_mistakes_import_nothing_heavy():
    """All in one process, so the first command that imports too much is the first one named."""
    found = [json.loads(line) for line in run(_RUN, " ".join(HEAVY), *LINES).splitlines()]
    assert [line for line, *_ in found] == [*LINES]
    for line, code, printed, lines_of_error, heavy in found:
        assert heavy == [], line
        right = "--" in line.split()[-1] or line == "games"
        assert (code, printed, lines_of_error) == ((0, True, 0) if right else (2, False, 1)), line


@pytest.mark.slow
def test_jax_is_set_up_before_another_package_uses_it():
    """The games of pgx compute when they are made; the number of devices comes before that."""
    pytest.importorskip("pgx")
    code = "import sys; from jaxgbg.cli.app import main; sys.argv[0] = 'jaxgbg'; main()"
    assert "keeps the contract" in run(code, "check", "pgx:tic_tac_toe")


def test_importing_the_package_imports_nothing_else():
    packages = (*HEAVY, "numpy", "tyro", "importlib.metadata")
    loaded = run(
        "import sys, jaxgbg; print(*(name for name in sys.argv[1:] if name in sys.modules))",
        *packages,
    )
    assert loaded.split() == []


def test_two_functions_keep_their_names_when_packages_of_these_names_are_imported():
    code = """
import jaxgbg, jaxgbg.search.spec, jaxgbg.results.axes
from jaxgbg.results import frame
from jaxgbg.playing import search
assert jaxgbg.results is frame and jaxgbg.search is search
assert jaxgbg.runs.presets.GAMES
"""
    run(code)


@pytest.mark.parametrize("package", ["", "games", "players", "search", "runs", "results", "sweeps"])
def test_names_that_are_imported_late_are_those_that_type_checkers_see(package):
    """Each stands in the imports for type checkers, in `__all__`, and where the table says."""
    module = importlib.import_module(f"jaxgbg.{package}".rstrip("."))
    if package in ("search", "results"):
        module = sys.modules[f"jaxgbg.{package}"]
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (seen,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test)
               == "TYPE_CHECKING")  # fmt: skip
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in seen.body
        for alias in node.names
    }
    assert {*imported} <= {*module.__all__} <= {*dir(module)}
    for name, (home, there) in imported.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), there), name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense
