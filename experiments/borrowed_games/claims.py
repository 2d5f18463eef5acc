"""Where the figures in the text of this experiment come from."""

import re
from collections.abc import Iterator

from experiments.borrowed_games import run
from experiments.page_tables import read
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "with an interval (80 %) for": "a setting",
    "From .5 on FARL is said to matter much, from .2 on some": "a setting",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("borrowed_games")
    gain = "gain, head to head"
    much = [cells(game, gain) for game in ("ludax:wolf_and_sheep", "pgx:animal_shogi")]
    some = [cells(game, gain) for game in ("ludax:reversi", "ludax:yavalath")]
    yield "would matter much, its gain is {} to {}, and", *much
    yield "the gain is {} and {}, with", *some
    ends = [cells(game, gain, n) for game in ("ludax:reversi", "ludax:yavalath") for n in (1, 2)]
    yield "with intervals from {} to {} that decide nothing", min(ends), max(ends)
    yield "matter much it gains {} to {}, in the two", *much
    yield "matter some it gains {} and {}.", *some
    yield "was predicted ({}, the highest)", cells("ludax:hop_through", "forecast gain")
    against = cells.column("FARL against random, %", "")
    yield "Against a random player the agents win {} to {} %", min(against), max(against)
    last = run.errors(read("borrowed_games/results.json"), read("borrowed_games/forecast.json"))
    known = [float(each) for each in re.findall(r"\d+\.\d+", last)]
    yield "forecast {}, rival {}, the known games' mean for all {}.", *known
