"""Settings that are no settings: flags, TOML files and specs in Python."""

import pytest

from .cases import Case, run_case

CASES = [
    Case("train tictactoe --episodes 0", "episodes"),
    Case("train tictactoe --seeds x", "seeds"),
    Case("train tictactoe --look-ahead 0", "look-ahead must be of 1 to 100 plies, not 0"),
    Case("train tictactoe --look-ahead 3 --width 0", "width must be at least 1, not 0"),
    Case("train tictactoe --width 3", "look ahead 2 plies or more"),
    Case("train tictactoe --ranks 0 0", "ranks must be probabilities"),
    Case("train tictactoe --play-ranks -1", "ranks must be probabilities"),
    Case("train tictactoe --value mlp --extras freedom", "tictactoe has no extra 'freedom'"),
    Case("train lines_of_action --value mlp --extras mobility", "its extras are immobility,"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_nothing_is_left(case, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, new = run_case(case, tmp_path, jaxgbg)
    assert out == ""
    assert new == []
