"""Where the figures in the text of this experiment come from."""

from collections import Counter
from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in
from experiments.rules_in.run import GAMES, outcome

OUTSIDE = {
    "met random players (90.0%, 71.1 to 97.1, 20 games)": "the output of a run that was killed",
    "the page has 1.4 MB": "the output of a run",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("rules_in")
    results = read("rules_in/results.json")["results"]
    yield "{} of {} games were run", len(results), len(GAMES)
    for strength in (100, 1000):
        found = Counter(outcome(one, f"mcts-{strength}") for one in results)
        met = len(results) - found["not met"]
        counts = (found[each] for each in ("better", "undecided", "worse"))
        words = f"mcts-{strength}: {{}} agents met it, {{}} are better, {{}} undecided, {{}} worse"
        yield words, met, *counts
    for game in ("ludax:yavalath", "pgx:connect_four", "ludax:hex"):
        figures = (cells(game, "mcts-1000", number) for number in range(3))
        yield f"`{game}` ({{}}%, {{}} to {{}})", *figures
    figures = (cells("ludax:english_draughts_hex", "random", number) for number in range(3))
    yield "is not ({}%, {} to {}, after", *figures
    above = sum(outcome(one, "random") == "better" for one in results)
    yield "{} of the {} are better than random players", above, len(results)
    seconds = {one["game"]: one["wall_s"] for one in results}
    yield "took {} of its 600 s", round(seconds["pgx:hex"])
