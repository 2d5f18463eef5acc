"""Traced code changes no variable of an enclosing function."""

import ast
from pathlib import Path

import pytest

import jaxgbg

ROOMS = ("values", "learners", "search")
HOUSE = Path(jaxgbg.__file__).parent


def nonlocals(source: str) -> list[str]:
    return [
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Nonlocal)
        for name in node.names
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_no_nonlocal_in_traced_code(room):
    files = sorted((HOUSE / room).rglob("*.py"))
    assert files
    found = {f.name: names for f in files if (names := nonlocals(f.read_text()))}
    assert found == {}


def test_a_nonlocal_would_be_noticed():
    inner = "def f():\n    x = 0\n    def g():\n        nonlocal x\n        x = 1\n"
    assert nonlocals(inner) == ["x"]
