"""The bench times the program that trains."""

import pytest

from jaxgbg.bench.training import GBG_MOVES_PER_SECOND, bench


def test_bench_counts_moves_and_memory():
    (row,) = bench("nim", seeds=2, batches=[8], seconds=0.05)
    assert (row.game, row.batch, row.lanes) == ("nim", 8, 4)
    assert row.moves_per_s > 4 * row.episodes_per_s > 0
    assert row.times_gbg == pytest.approx(row.moves_per_s / GBG_MOVES_PER_SECOND["nim"], abs=0.01)
    # Both players' 216 weights with N, A and the scratch count, four bytes each.
    assert row.peak_mb > 2 * 216 * 4 * 4 / 1e6
    assert row.compile_s > 0
