"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "GBG's 88.8%": "GBG, agents/EWN/EWN-run-avg-std.xlsx",
    "most is 92.07%": "value iteration of an independent program",
    "saved agent 98.65%": "GBG, agents/Sim/K6_Player2, replayed",
}


def points(game: str, column: str = "less: mean") -> list[float]:
    """Points of both seats; the row of the second seat, without a name, follows the first."""
    cells = cells_in("exact_n_players")
    first = cells.texts("game").index(game)
    return [100 * figure for figure in cells.column(column)[first : first + 2]]


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    small, larger = "ewn 3x3", "ewn 3x3, 2x3 cells"
    yield (
        "of 2x2 cells cost {} points in the first seat on average, and {} for the worst of ten",
        points(small)[0],
        points(small, "the most")[0],
    )
    yield "of 2x3 cells it is {} and {}.", points(larger)[0], points(larger, "the most")[0]
    yield "the preset loses {} points in the first seat and {} in the second", *points("ewn 4x4")
    yield "second, 2x3 cells {} and {} (three agents each)", *points("ewn 4x4, 2x3 cells")
    stones = "ewn 4x4, by stones"
    yield (
        "wherever they stand, lose {} points in the first seat there and {} in the second",
        *points(stones),
    )
    yield "after a million episodes, {} at most", max(points(stones, "the most"))
    agents = {one["label"]: one for one in read("exact_n_players/results.json")["results"]}
    sim = np.array(agents["sim K6"]["at_worst"])[:, 1]
    yield "In Sim on K6 {} of {} agents", int((sim == 1).sum()), len(sim)
    random = 100 * np.mean(agents["sim K6"]["against_random"])
    yield "an agent wins {}% of its games against random play", random
    einstein = 100 * np.mean(agents["ewn 3x3"]["against_random"], 1)
    yield (
        "on EinStein 3x3 win {}% ({} to {}, ten agents)",
        einstein.mean(),
        einstein.min(),
        einstein.max(),
    )
    yield "On Sim K6 ours win {}%", random
    worst = cells_in("exact_n_players").column("at worst")[:8]
    yield "a little, up to {} points on average", 100 * max(worst)
