"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "gamma 1, .9, .8, lambda 0, .2, .5, .8, a shallow": "settings",
    "at gamma 1, .9 and .8": "settings",
    "at gamma 1 and 83 to 87% at .9 and .8.": "settings",
    "with deviation 0.1, 0.05 falling": "settings",
    "biases of 0.1), 0.05 falling": "settings",
    "the first wins 58.1% (20,000 games)": "a match that is not kept; its command is in details.md",
    "figures of 55 to 58%": "chosen around the match of two random players",
    "the other has 92.8 with FARL as here and 85.8 without": "runs that are not kept",
    "more than 2.3 standard errors apart (2.3, 2.8 and 4.2)": "differences over their errors,"
    " without a table",
    "lambda .5, gamma .8, one trace) 92.8 with FARL as here and 85.8 without": "not kept",
    "deviation 0.1 (which goes": "a setting",
    "at lambda 0 as at .8 (": "settings",
    "begins wins 58.1 % (20 000 games": "a match that is not kept; its command is below it",
    "figures of 55 to 58 %": "chosen around the match of two random players",
    "at .9 and .8; with it": "settings",
    "at .9 and .8, where all but": "settings",
}
DEEP, SHALLOW = "250 250 50", "300 243"


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    rows = kept_records("ralpha/tictactoe")
    slides = {
        (row["hidden"], row["trace_decay"], row["discount"]): row["paper_mean"] for row in rows
    }
    serial = [value for (_, trace, _), value in slides.items() if trace == 0]
    yield "the slides have {} to {}. In", min(serial), max(serial)
    fallen = slides["100", 0.5, 0.9], slides["30 22", 0.8, 1.0]
    yield "the slides' networks fall to {} and {}%", *fallen
    shares = [(row["discount"] == 1, row["mean"]) for row in rows if row["variant"] == "none"]
    ruined, others = ([mean for one, mean in shares if one is is_one] for is_one in (True, False))
    yield "gamma 1 is ruined ({} to {}%)", min(ruined), max(ruined)
    yield "networks win {} to {}% at gamma 1 and", min(ruined), max(ruined)
    yield "at gamma 1 and {} to {}% at .9", min(others), max(others)
    yield "where the slides have {}%. So the slides'", slides["100", 0.0, 1.0]
    (full,) = kept_records("ralpha/connectfour-100-shallow-0.9-0.2")
    yield "(one network, {}% where the slides have {})", full["wins"], full["paper"]
    games = [row for row in kept_records("ralpha/connectfour") if not row["shared_traces"]]
    farl = {
        (row["hidden"], row["trace_decay"], row["discount"]): row
        for row in games
        if row["variant"] == "farl"
    }
    deep = [row for (net, trace, _), row in farl.items() if net == DEEP and trace < 0.8]
    own, paper = ([row[name] for row in deep] for name in ("mean", "paper_mean"))
    yield (
        "its nine settings win {} to {}%, the slides' {} to {}.",
        min(own),
        max(own),
        min(paper),
        max(paper),
    )
    apart = max(abs(one - other) for one, other in zip(own, paper, strict=True))
    yield "none more than {} points apart", apart
    collapsed = [farl[DEEP, 0.8, gamma] for gamma in (1.0, 0.9, 0.8)]
    yield "collapses here too: {}, {} and {}% at", *(row["mean"] for row in collapsed)
    yield "the slides have {}, {} and {}.", *(row["paper_mean"] for row in collapsed)
    short = [farl[SHALLOW, trace, gamma] for trace in (0.0, 0.2) for gamma in (0.9, 0.8)]
    own, paper = ([row[name] for row in short] for name in ("mean", "paper_mean"))
    ends = min(paper), max(paper), min(own), max(own)
    yield "the slides have {} to {}%, here {} to {}% after", *ends
    yield "happen as such ({} and {}%)", *(farl[SHALLOW, t, 1.0]["mean"] for t in (0.2, 0.8))
    taken = cells_in("discount").column("wins taken, without", "mlp")
    yield "hand in {} % of cases with gamma 1 and in {} to {} % with", taken[0], *taken[1::3]
    # The same in details.md, in other words.
    yield "the slides have {} to {}. Gamma", min(serial), max(serial)
    orders = cells_in("ralpha")
    yield "nearly in the slides' order ({}), though", orders("FARL | 30 22", "rank correlation")
    fallen = slides["30 22", 0.8, 1.0], slides["100", 0.5, 0.9]
    yield "ruin the player: {} % at lambda .8 and gamma 1, {} % at lambda .5", *fallen
    with_farl = [row["mean"] for row in rows if row["variant"] == "farl"]
    yield "the worst of all settings wins {} %", min(with_farl)
    yield (
        "at lambda 0 as at .8 ({} to {} %), where the slides have {} %",
        (min(ruined)),
        max(ruined),
        slides["100", 0.0, 1.0],
    )
    yield "any lambda ({} to {} %). So in", min(others), max(others)
    yield (
        "networks win {} to {} % at gamma 1 and {} to {} % at .9 and .8; with it {} to {} %",
        (min(ruined)),
        max(ruined),
        min(others),
        max(others),
        min(with_farl),
        max(with_farl),
    )
    yield "not run again): {} % of the games", full["wins"]
    yield "20 test phases, {} % in the best; the slides have {} %.", full["best"], full["paper"]
    own, paper = ([row[name] for row in deep] for name in ("mean", "paper_mean"))
    yield (
        "nine settings win {} to {} %, the slides' {} to {},",
        min(own),
        max(own),
        min(paper),
        max(paper),
    )
    yield "collapses here too**: {}, {} and {} % at", *(row["mean"] for row in collapsed)
    yield "on the slides {}, {} and {}.", *(row["paper_mean"] for row in collapsed)
    yield "to a rank correlation of {}. No", orders(f"FARL | {DEEP}", "rank correlation")
    none = [row for row in games if row["variant"] == "none"]
    one, less = (
        [row["mean"] for row in none if (row["discount"] == 1) is is_one]
        for is_one in (True, False)
    )
    yield (
        "of its games: {} to {} % at gamma 1, {} to {} at",
        min(one),
        max(one),
        min(less),
        max(less),
    )
    yield "the slides have {} to {} %; here it takes longer, {} to {} % after", *ends
    fallen = farl[SHALLOW, 0.2, 1.0], farl[SHALLOW, 0.8, 1.0]
    yield "at gamma 1 ({} % at lambda .2, {} % at .8)", *(row["paper_mean"] for row in fallen)
    yield "as such: {} and {} %, the latter", *(row["mean"] for row in fallen)
    yield "to do with each other ({}).", orders(f"FARL | {SHALLOW}", "rank correlation")
    together = {
        (row["hidden"], row["trace_decay"], row["discount"]): row["mean"]
        for row in kept_records("ralpha/connectfour")
        if row["shared_traces"] and row["variant"] == "farl"
    }
    pairs = sorted((farl[setting]["mean"], mean) for setting, mean in together.items())[::-1]
    sequence = [value for each, mean in pairs for value in (mean, each)]
    yield "either: {} % where a trace each has {}, {} where it has {}, and {} where", *sequence[:5]
    yield "31.2 where it has {}; without FARL", sequence[5]
