"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.gpu.published import late_means
from experiments.page_tables import read
from experiments.page_text import Claim, cells_in
from jaxgbg.games import make

OUTSIDE = {
    "the paper's ± 0.2 would be .6 points": "the paper; its error times the root of ten",
    "The paper's ± 0.2 would be a standard deviation of .6": "the paper; times the root of ten",
    "ten of them won 96.6 % of 500 games": "report of techdays26",
    "the authors' log has 139.1 and 118.5 thousand": "the authors' log",
    "the authors' logs have 30.7 and 8.1": "the authors' log",
    "8.3 million moves a second against 43.7": "`h100.json`, rates per second",
    "## What is compared, and how closely": "settings, and measurements without kept data",
    "84.9 ± 0.2% with FARL and 58.7 ± 0.6% without": "`published.json`, shares without a table",
    "30.90 ± 0.03 moves with FARL and 8.45 ± 0.57 without": "`published.json`, without a table",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("gpu")
    yield "where two CPU cores make {}.**", cells("connectfour", "two CPU cores, 64 games")
    own = [cells(f"seed {seed}", "won-drawn-lost") for seed in range(12)]
    yield "the single networks win {} of 200 games on average", np.mean(own)
    yield "these won {} to {} of 200, {} on average", min(own), max(own), np.mean(own)
    last = cells("1,066,706", "least"), cells("1,066,706", "most")
    yield "keep the value in {} to {} % of the solved", *last
    matches = [
        one
        for one in read("gpu/published.json")["results"]
        if one["what"] == "match" and (one["opponent"], one["variant"]) == ("ab", "none")
    ]
    means, _ = late_means(matches)
    ab = [make("connectfour").scale.figure(each) for each in means]
    won = [each for each in ab if each]
    yield "five win nothing and five win {} to {}%", min(won), max(won)
    yield "a standard deviation of {} points", np.std(ab, ddof=1)
