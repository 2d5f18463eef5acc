"""Intervals of the experiments: equal scores bound nothing, so none has length 0."""

import numpy as np
import pytest

from experiments.exact_n_players.run import lost
from experiments.n_players.equal_time import more
from experiments.shared import interval


def test_equal_scores_have_no_interval_of_length_0() -> None:
    equal = np.full(5, 0.25)
    assert np.isnan(interval(equal, None)).all()
    low, high = interval(equal, (-1.0, 1.0))
    assert low < 0.25 < high
    assert more(equal, equal - 1) == [1.0]
    assert lost(1.0, [0.75] * 3) == ("0.2500", "0.2500")


@pytest.mark.parametrize("step", [1e-3, 0.1])
def test_other_scores_have_one(step: float) -> None:
    scores = 0.25 + step * np.arange(5)
    low, high = interval(scores, None)
    assert low < scores.mean() < high
    mean, below, above = more(scores, np.full(5, 0.25))
    assert below < mean < above
    assert "(" in lost(1.0, [*scores])[0]
