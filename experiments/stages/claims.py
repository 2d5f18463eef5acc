"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_tables import read
from experiments.page_text import Claim
from jaxgbg.results.statistics import confidence_interval

OUTSIDE = {
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
    yield "bring {} points less against BENCH (95% {} to {})", bench, low, high
    points, low, high = lost("2048, 3x3, rectangles", "score")
    without = np.mean(results["2048, 3x3, rectangles"]["without"]["scores"]["score"])
    yield "lose {} of {} points ({} to {})", points, without, low, high
    squares = results["2048, 3x3, squares"]
    gain = -lost("2048, 3x3, squares", "score")[0]
    yield "the first gain by {}%", 100 * gain / np.mean(squares["without"]["scores"]["score"])
