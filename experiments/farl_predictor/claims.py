"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in
from jaxgbg.results.statistics import confidence_interval

OUTSIDE = {
    "with 1.5 of 5 million episodes": "a setting",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("farl_predictor")
    for games, sentence in (
        ("all", "the gain by FARL (Pearson {}, 95% {} to {})"),
        ("variants", "not measurably ({}, {} to {})"),
    ):
        yield sentence, *(cells(f"{games} | random | blindness", "Pearson", n) for n in range(3))
    play = read("farl_predictor/results.json")["othello 8x8"]["random"]
    shares = play["last_mover_wins"], play["last_mover_loses"]
    yield "he wins {}% of random games and loses {}%", *(100 * each for each in shares)
    yield "because that gives Nim {}.", cells("nim", "of positions")
    gain, perfect = "gain by FARL", "by perfect play"
    yield (
        "predicted {}, gained {}.** The losers",
        cells("hex 4x4 misere", "blindness"),
        cells("hex 4x4 misere", gain),
    )
    yield "given three 2-tuples instead, its gain is {}.", cells("nim misere, 2-tuples", gain)
    yield "gains {} with one 9-tuple or 6-tuples", cells("hex 3x3 misere, one 9-tuple", gain)
    yield "gains {} with one 9-tuple or 6-tuples", cells("hex 3x3 misere", gain)
    threes = read("farl_predictor/results.json")["hex 3x3 misere, 3-tuples"]["gains"]["per_seed"]
    yield "with 3-tuples (95% {} to {})", *confidence_interval(threes)
    few = [cells(game, gain) for game in ("nim, 3 players", "nim, 4 players", "hex 3x3")]
    yield "predicted 1, gained {} to {}.**", min(few), max(few)
    others = [cells(game, perfect) for game in ("nim, 3 players", "nim, 4 players", "hex 3x3")]
    yield "FARL's place gains no more ({}, {}, {}; among", *others
    short = "connectfour, 21 plies"
    yield "predicted {}, gained {}.** Draws", cells(short, "blindness"), cells(short, gain)
