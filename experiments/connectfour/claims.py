"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import fisher_exact

from experiments.connectfour.run import NETWORKS, late
from experiments.n_players.equal_time import welch
from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in
from experiments.shared import interval

OUTSIDE = {
    "Exploration that ends at .05 instead of 0": "a setting",
    "discounted by .98 and": "a setting",
    "with losses discounted by .93": "a setting",
    "8.6 minutes on an A100": "report of techdays26",
    "won 483 of 500 games, 50 each (96.6%, 95% confidence 94.2 to 98.4)": "report of techdays26",
    "so few agents do not tell this from 96.6%": "report of techdays26",
    "techdays26's ten have 96.6 % of 500": "report of techdays26",
    "of .01 and .1; one player": "settings",
    "epsilon from .2 to 0 or to .1, discounts of .99 and .97.": "settings",
    "Longer traces (lambda .5)": "a setting",
    "discounted by .98 besides": "a setting",
    "traces that decay by .5 a state.": "a setting",
    "it falls from 3.7 to .37 in": "a setting",
    "*epsilon to .05*: falls from .1 to .05; *epsilon from .2*: from .2 to 0.": "settings",
    "epsilon to .05*. After a comma": "a setting",
    "*discount .99*, *.97*: gamma; *temperature .03*: moves that are not random are drawn in"
    " proportion to exp(q / .03)": "settings",
    "*epsilon .2 to .1*;": "a setting",
    "*discount .98*: gamma; *delaying*": "a setting",
    "discounted by .93 (`--loss-discount`)": "a setting",
    "that comes to 85 %; none": "the levels of a table",
}
FIRST_TEN = (
    "140 from lines",
    "140 from lines, epsilon to .05",
    "140 from lines, openings",
    "140 from lines, openings, epsilon to .05",
    "best, temperature .03",
)
"""The conditions of the first ten agents of two million episodes."""


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("connectfour")
    networks = {
        (one["condition"], one["episodes"], one["seed"]): one
        for one in kept_records(f"connectfour/{NETWORKS}")
    }
    falling = ("alpha to a tenth", 150_000, 0)
    keep = late(networks[falling], "last"), late(networks["base", 150_000, 0], "last")
    yield "last weights keep {} %, those of the same seed's base {}.", *keep
    lines = (
        "70 from lines",
        "140 from lines",
        "200 from lines",
        "140 of 7 from lines",
        "70 of 9 from lines",
    )
    layouts = [cells(f"150,000 | {name}", "mean minus base's (95 %)") for name in lines]
    yield "In five layouts this brings {} to {} points", min(layouts), max(layouts)
    yield "and keep the value {} to {} points more", min(layouts), max(layouts)
    exploring = {
        "base": "epsilon to .05",
        "140 from lines": "140 from lines, epsilon to .05",
        "140 from lines, openings": "140 from lines, openings, epsilon to .05",
    }
    pairs = [
        late(networks[exploring[name], budget, seed], "mean") - late(one, "mean")
        for (name, budget, seed), one in networks.items()
        if (exploring.get(name, ""), budget, seed) in networks
    ]
    yield "instead of 0 brings {} to {} points in seven", min(pairs), max(pairs)
    won = {
        (one["condition"], one["episodes"], one["seed"]): one["wins"]
        for one in kept_records("connectfour/mistakes")
    }
    best = [won["off-policy, delaying", 2_000_000, seed] for seed in range(30)]
    yield (
        "of a thousand games they win {} on average, {} to {}, and",
        np.mean(best),
        min(best),
        max(best),
    )
    ten = [
        wins for (name, budget, _), wins in won.items() if name in FIRST_TEN and budget == 2_000_000
    ]
    assert len(ten) == 10
    share = sum(ten) / 100
    yield "agents of two million episodes win {}% of 10,000 games", share
    others = sorted(ten)[1:]
    yield (
        "win {} to {} % of a thousand games, one of them {} %, all together {} %;",
        *(wins / 10 for wins in (min(others), max(others), min(ten))),
        share,
    )
    yield "the seed with {} % keeps the most values of all", min(ten) / 10
    few = {name: [w for key, w in won.items() if key[:2] == (name, 600_000)] for name, *_ in won}
    policy = ("best, temperature .03", "off-policy", "off-policy, epsilon .02 to .01")
    by_policy = [wins for name in policy for wins in few[name]]
    discounted = [
        *few["off-policy, discount .98, epsilon .02 to .01"],
        *few["off-policy, delaying"],
    ]
    first = by_policy[0], by_policy[1], min(by_policy[2:]), max(by_policy[2:])
    yield (
        "they win {} on policy, {} off-policy with the same exploration; {} and {} off-policy",
        *first,
    )
    yield (
        "they win {} on policy, {} off-policy with the same exploration; with little"
        " exploration {} and {} off-policy, {} with all values discounted by .98 and {} and"
        " {} with",
        *first,
        *discounted,
    )
    yield "twelve {} % on average", np.mean(best) / 10
    short = [wins / 10 for wins in few["off-policy, delaying"]]
    yield "of one core win {} to {} % of the games", np.floor(min(short)), max(short)
    left_out = ("best, random moves left out", "best, temperature .03, these left out")
    single = [won[name, 2_000_000, 0] / 10 for name in left_out]
    yield (
        "random moves left out {} % of the games are won instead of {} %, with those drawn by"
        " temperature left out {} % instead of {} %",
        single[0],
        won["140 from lines, openings, epsilon to .05", 2_000_000, 0] / 10,
        single[1],
        won["best, temperature .03", 2_000_000, 0] / 10,
    )
    perfect = int(cells("off-policy, delaying | 2,000,000", "200-0-0"))
    on_policy = [won["best, temperature .03", 2_000_000, seed] for seed in range(5)]
    yield "(difference {}, 95% {} to {})", *welch(best, on_policy)
    once = int(cells("best, temperature .03 | 2,000,000", "200-0-0"))
    p = fisher_exact([[perfect, 30 - perfect], [once, 5 - once]]).pvalue
    yield (
        "{} of 30 such agents win all 200 games, on policy {} of 5 (Fisher's p = {})",
        perfect,
        once,
        p,
    )
    yield "{} of 30 agents win all 200 games", perfect
    for times, count, sentence in (
        (perfect, 30, "(95% {} to {}% of such agents)"),
        (9, 10, "such agents each ({} to {}%)**"),
    ):
        outcomes = np.array([1.0] * times + [0.0] * (count - times))
        yield sentence, *(100 * end for end in interval(outcomes, (0.0, 1.0)))
