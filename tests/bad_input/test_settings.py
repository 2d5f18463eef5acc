"""Settings that are no settings: flags, TOML files and specs in Python."""

import pytest

from .cases import Case, run_case

CASES = [
    Case("train tictactoe --episodes 0", "episodes"),
    Case("train tictactoe --seeds x", "seeds"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_nothing_is_left(case, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, new = run_case(case, tmp_path, jaxgbg)
    assert out == ""
    assert new == []
