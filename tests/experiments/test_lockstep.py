"""Lockstep: the README's tables of Hex and ConnectFour are those of the kept figures."""

import pytest

from experiments.lockstep import tables
from tests.experiments.pages import pages_of


@pytest.mark.figures
def test_tables_are_printed_from_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main([])
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    readme = pages_of("lockstep").splitlines()
    # A head and sixteen settings of each game.
    assert len(printed) == 2 * 17
    assert set(printed) <= set(readme)


def test_a_line_has_every_opponent_and_the_interval_of_its_mean() -> None:
    settled = {"rule": "sum", "batch": 16, "seconds": 61.6}
    records = [
        {**settled, "opponent": "solver", "mean": 0.5, "sem": 0.1, "per_seed": [0.4, 0.6]},
        {**settled, "opponent": "ab", "mean": 0.0, "sem": 0.0, "per_seed": [0.0, 0.0]},
    ]
    head, _, line = tables.table_of(records)
    assert head == "| games | rule | moves that keep the value | AB | n | seconds |"
    assert line.startswith("| 16 | sum | 50.0 ± 10.0 (")
    assert line.endswith(" | 0.0 ± 0.0 (0.0 to 66.9) | 2 | 62 |")
