"""Where the figures in the text of this experiment come from."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.page_tables import kept_records
from experiments.page_text import Claim
from jaxgbg.results.statistics import paired_difference

PAPER = "Scheiermann and Konen, arXiv 2204.13307"
OUTSIDE = {
    "exploration and temperature are 0.01)": "settings",
    "The paper has 92 %, 98.75 and 99.5": PAPER,
    "The paper's 92%, 98.75 and 99.5": PAPER,
    "lost by the centre (-.41)": "values of an agent that is not kept",
    "1,000 iterations change this to -.48 and -.11": "values of an agent that is not kept",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    rows = kept_records("search/strength")

    def of_agents(name: str, study: str, opponent: str, play: str, weights: str) -> list[Any]:
        wanted = {"study": study, "opponent": opponent, "play": play, "weights": weights}
        return [each for row in rows if wanted.items() <= row.items() for each in row[name]]

    def agents(study: str, opponent: str, play: str, weights: str = "last") -> list[float]:
        return of_agents("per agent", study, opponent, play, weights)

    def low_and_high(
        study: str, opponent: str, play: str, weights: str = "last"
    ) -> tuple[float, float]:
        low, high = of_agents("intervals", study, opponent, play, weights)[0]
        return low, high

    exact = [
        float(np.mean(agents("connectfour-5m", "ab-dl", play, "mean")))
        for play in ("greedy", "puct-1000")
    ]
    yield "take {}% of the points from exact perfect play by themselves on average, and {}%", *exact
    levels = {
        (row["play"], row["level"]): row["mean"] for row in kept_records("search/othello_levels")
    }
    yield (
        "goes from {} to {}% against GRhino at level 3",
        levels["greedy", 3],
        levels["puct-100", 3],
    )
    hex_play = "puct-1000,temperature=0.1"
    strong = [
        *agents("hex-300k", "mcts-10000", "greedy"),
        *agents("hex-300k", "mcts-10000", hex_play),
    ]
    yield "Hex from {} and {}% to {} and {}% against", *strong
    yield "1,000 iterations raise {} and {}% to {} and {}%.", *strong
    tenth = agents("hex-300k", "mcts-10000", "puct-200,temperature=0.1")
    yield "on the others' too ({} and {}% with 200;", *tenth
    keeps = [agents("connectfour", "solver", play)[0] for play in ("greedy", "puct-50")]
    yield "rises from {}% to {}% with 50", *keeps
    plays = ("greedy", "puct-50", "puct-200", "puct-1000")
    yield (
        "one agent shows no gain: {}, {}, {} and {}% with",
        *(agents("connectfour", "ab", p)[0] for p in plays),
    )
    loss = newcombe(
        *(
            (agents("connectfour", "ab", play)[0], *low_and_high("connectfour", "ab", play))
            for play in ("puct-200", "greedy")
        )
    )
    yield "it is a loss, {} points (95% {} to {})", *loss
    hex_ends = [
        [(each, *ends) for each, ends in zip(own, spans, strict=True)]
        for own, spans in (
            (
                of_agents("per agent", "hex-300k", "mcts-10000", play, "last"),
                of_agents("intervals", "hex-300k", "mcts-10000", play, "last"),
            )
            for play in ("puct-200", "greedy")
        )
    ]
    one, other = (newcombe(*pair) for pair in zip(*hex_ends, strict=True))
    yield "those of 300,000 {} ({} to {}) and {} points ({} to {})", *one, *other
    heur = [agents("othello", "heur", play)[0] for play in ("greedy", "puct-20")]
    yield "against HEUR from {}% to {}%.", *heur
    lows = [
        low_and_high("othello", other, "puct-100")[0] for other in ("bench", "heur", "mcts-100")
    ]
    alone = agents("othello", "mcts-100", "greedy")[0]
    yield "({}% or more in each; without search {}%)", min(lows), alone
    for play, sentence in (
        ("puct-50", "it earns {} in 300 games ({} to {})"),
        ("puct-200", "exploration {} ({} to {}), with"),
    ):
        yield sentence, agents("nim3p", "maxn", play)[0], *low_and_high("nim3p", "maxn", play)
    yield "the agent alone earns {} of .40", agents("nim3p", "maxn", "greedy")[0]
    yield "earns .39 of {}.", 0.4
    timed = {
        row["play"]: row["mean"]
        for row in kept_records("search/equal_time")
        if row["game"] == "nim3p"
    }
    searched = timed["puct-200,exploration=0.25"]
    yield "one agent earns {} of {} by itself, {} with 200", timed["greedy"], 0.4, searched
    outs = [mean for play, mean in timed.items() if play.startswith("mcts")]
    yield "UCT without training {} to {}.", min(outs), max(outs)
    quarter = agents("nim3p", "maxn", "puct-200,exploration=0.25")[0]
    yield "a quarter of that exploration {} again", quarter
    yield from of_details()
    least, _ = low_and_high("connectfour-5m", "ab-dl", "puct-1000", "mean")
    yield "bounds its share at {} % from below", least
    gains = np.subtract(
        agents("connectfour-5m", "solver", "puct-1000", "mean"),
        agents("connectfour-5m", "solver", "greedy", "mean"),
    )
    yield "keep the value gains {} to {} points", gains.min(), gains.max()


def newcombe(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float, float]:
    """The difference of two means and its interval, from theirs (Newcombe 1998, method 10)."""
    (one, low, high), (other, other_low, other_high) = first, second
    below, above = (
        math.hypot(one - low, other_high - other),
        math.hypot(high - one, other - other_low),
    )
    return one - other, one - other - below, one - other + above


def of_details() -> Iterator[Claim]:
    """Those of details.md that README.md has not."""
    levels = {
        (row["play"], row["level"]): row["mean"] for row in kept_records("search/othello_levels")
    }
    yield (
        "takes {}, {} and {} % of the points from GRhino at levels 1, 2 and 3 by itself and {}, {}"
        " and {} % with 100 iterations",
        *(levels[play, level] for play in ("greedy", "puct-100") for level in (1, 2, 3)),
    )
    stones = {row["play"]: row["ranked"] for row in kept_records("search/hex_openings")}
    shares = [100 * min(stones["greedy"]), 100 * max(stones["greedy"])]
    shares += [100 * min(stones["puct-1000"]), 100 * max(stones["puct-1000"])]
    yield "in {} to {} % of the pairs, with 1 000 iterations in {} to {} %;", *shares
    timed = {
        row["play"]: row
        for row in kept_records("search/equal_time")
        if row["game"] == "connectfour"
    }
    few, many = timed["puct-50"], timed["mcts-3000"]
    yield "keeps the value with {} % of its moves by itself", timed["greedy"]["mean"]
    yield "with 50 iterations ({} ms) it is at {} %,", few["core_ms_a_move"], few["mean"]
    yield "roll-outs (10 ms) are at {} %.", many["mean"]
    timed = {
        row["play"]: row for row in kept_records("search/equal_time") if row["game"] == "nim3p"
    }
    yield "the agent takes {} of {} in 3 microseconds", timed["greedy"]["mean"], 0.4
    outs = [row["mean"] for play, row in timed.items() if play.startswith("mcts")]
    searched = timed["puct-200,exploration=0.25"]["mean"]
    yield "iterations {}; UCT for every player by himself", searched
    yield "by himself stays at {} to {} from", min(outs), max(outs)
    kept = kept_records("search/reuse")
    found = [row["kept"] for row in kept if "kept" in row]
    yield "A move found {} % of its iterations done against the agent and {} % against", *found
    in_step = {row["reuse"]: row["core_seconds"] for row in kept if row.get("in_step") == 400}
    yield "trees costs {} %. In games", 100 * (in_step[True] / in_step[False] - 1)
    trained = {row["learner"]: row for row in kept_records("search/training")}
    one, other = (dict(enumerate(trained[name]["per_seed"])) for name in ("td-search", "td"))
    ahead = paired_difference(one, other, span=(0.0, 100.0))
    assert ahead is not None
    yield "of two seeds, by {} points ({} to {})", *ahead
    yield "interval contains 0 ({} points, {} to {})", *ahead
    seconds = [trained[name]["seconds"] for name in ("td-search", "td")]
    yield "One training took {} times as long", seconds[0] / seconds[1]
    ends = {name: row["mean"] for name, row in trained.items()}
    yield "the search is ahead, {} to {} % after", ends["td-search"], ends["td"]
