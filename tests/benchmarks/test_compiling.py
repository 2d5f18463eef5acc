"""The bench of compile time: what it measures, and the bound that the slowest game must keep."""

import time
from importlib.metadata import version

import pytest

from jaxgbg.cli.benchmarks.compiling import bench_compile, combinations


def test_every_learner_and_every_search_is_measured_with_every_value():
    rows = list(combinations(["nim"]))
    assert len(rows) == len(set(rows))
    assert {("nim", "mlp", "q", "greedy"), ("nim", "ntuple", "td", "puct-100")} <= set(rows)
    assert {row[2] for row in combinations(["nim"], learner="q")} == {"q"}


def test_a_start_is_measured_and_a_combination_that_does_not_exist_says_so():
    begun = time.process_time()
    row = bench_compile("nim", "ntuple", "td", "greedy")
    assert row.refused == ""
    # Something is played and judged as well.
    assert 0 < row.cpu_s < time.process_time() - begun
    assert None not in row
    assert row.programs > 2
    # Tracing, lowering and compiling follow each other.
    assert 0 < row.slowest_s <= row.compile_s
    refused = bench_compile("2048", "ntuple", "td-leaf", "greedy")
    assert "2048" in refused.refused
    assert refused.cpu_s is None


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.skipif(version("jaxlib").startswith("0.10."), reason="make test-newest runs it")
@pytest.mark.usefixtures("full_optimization")
def test_lines_of_action_starts_in_reasonable_time():
    """Its 513 actions took an hour to compile with jaxlib 0.12. 30 s on an idle core is the aim."""
    row = bench_compile("lines_of_action", "mlp", "td", "greedy")
    assert row.cpu_s is not None
    assert row.cpu_s < 120
