"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in, numbers_of
from jaxgbg.results.statistics import confidence_interval

MAEDN = "maedn, q = 4, 2 pieces"

OUTSIDE = {
    "GBG's 88.8%": "GBG, agents/EWN/EWN-run-avg-std.xlsx",
    "most is 92.07%": "value iteration of an independent program",
    "saved agent 98.65%": "GBG, agents/Sim/K6_Player2, replayed",
    "GBG's 0.522 ± 0.033 against": "GBG, agents/EWN/EWN-run-avg-std.xlsx, mode 1",
    "exploration stays at 0.3": "the setting of the recipes",
    "where random play loses 3.5.": "values of an independent program",
    "random play loses 3.5 points in each seat": "values of an independent program",
}


def points(game: str, column: str = "less: mean") -> list[float]:
    """Points of both seats; the row of the second seat, without a name, follows the first."""
    cells = cells_in("exact_n_players")
    first = cells.texts("game").index(game)
    return [100 * numbers_of(text)[0] for text in cells.texts(column)[first : first + 2]]


def perfect(agents: dict[str, Any]) -> tuple[int, int]:
    """(how many agents win every game as second player, how many there are)."""
    worst = np.array(agents["at_worst"])[:, 1]
    return int((worst == 1).sum()), len(worst)


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
    yield "with as many episodes 2x3 cells lose {} and {}", *points("ewn 4x4, 2x3 cells, longer")
    agents = {one["label"]: one for one in read("exact_n_players/results.json")["results"]}
    yield "the preset's agents {} of {} do", *perfect(agents["sim K6"])
    yield "In Sim on K6 {} of {} agents with one n-tuple", *perfect(agents["sim K6, all edges"])
    yield "are within {} points of best play in each seat", max(points(MAEDN, "the most"))
    random = 100 * np.mean(agents["sim K6"]["against_random"])
    einstein = 100 * np.mean(agents["ewn 3x3"]["against_random"], 1)
    yield (
        "on EinStein 3x3 win {}% ({} to {}, ten agents)",
        einstein.mean(),
        einstein.min(),
        einstein.max(),
    )
    yield "On Sim K6 those of the preset win {}%", random
    mcts = read("exact_n_players/against_mcts.json")["results"]
    won = np.mean(next(one["wins"] for one in mcts if one["label"] == "ewn 3x3"), 1)
    yield (
        "agents of the preset win {} ({} to {}) of the games",
        won.mean(),
        *confidence_interval([*won]),
    )
    worst = cells_in("exact_n_players").column("at worst")[:8]
    yield "a little, up to {} points on average", 100 * max(worst)
