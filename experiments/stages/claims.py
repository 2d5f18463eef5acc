"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_tables import read
from experiments.page_text import Claim
from experiments.shared import p_of_zero
from jaxgbg.results.statistics import confidence_interval

OUTSIDE = {
    "are negative at 5%": "the level of the test",
    "step sizes that fall from 1 to .01": "step sizes of the script",
    "best play has [5,468 points]": "experiments/exact_2048",
    "10 to 25 times as long": "the budgets of the presets over those here",
    "by 5% of their points or more": "the forecast",
    "harm by more than 5 points": "the forecast",
    "Stages begin at the tiles 128, 256 and 512 on 3x3, at 20, 36 and 52 pieces in Othello and at"
    " 14 and 28 in ConnectFour": "stages of the script",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    results = {one["label"]: one for one in read("stages/results.json")["results"]}

    def lost(label: str, opponent: str) -> tuple[float, float, float]:
        one = results[label]
        pairs = (one[name]["scores"][opponent] for name in ("without", "with"))
        less = [*np.subtract(*pairs)]
        return float(np.mean(less)), *confidence_interval(less)

    bench, low, high = lost("othello", "bench")
    tests = {
        (label, opponent): p_of_zero(np.subtract(one["with"]["scores"][opponent], scores))
        for label, one in results.items()
        for opponent, scores in one["without"]["scores"].items()
    }
    p = tests["othello", "bench"]
    yield "bring {} points less against BENCH (95% {} to {}, p = {})", bench, low, high, p
    points, low, high = lost("2048, 3x3, rectangles", "score")
    without = np.mean(results["2048, 3x3, rectangles"]["without"]["scores"]["score"])
    other = tests["2048, 3x3, rectangles", "score"]
    yield "bring {} of {} points less ({} to {}, p = {})", points, without, low, high, other
    assert sum(each < 0.05 for each in tests.values()) == 2
    yield "(Bonferroni) p is {} and {}.", len(tests) * p, len(tests) * other
    squares = results["2048, 3x3, squares"]
    gain = -lost("2048, 3x3, squares", "score")[0]
    yield "the first gain by {}%", 100 * gain / np.mean(squares["without"]["scores"]["score"])
