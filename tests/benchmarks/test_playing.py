"""How soon the play page answers: measured over a whole game."""

import pytest

from jaxgbg.cli.benchmarks.playing import bench_answers


@pytest.mark.slow
@pytest.mark.usefixtures("processor_time")
def test_answers_are_measured_over_a_whole_game():
    answers = bench_answers("nim")
    assert answers.game == "nim"
    assert 3 <= answers.plies <= 15
    assert 0 < answers.median_ms <= answers.p95_ms <= answers.worst_ms
    # Warm and greedy: what the page promises.
    assert answers.median_ms < 50
