"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.othello_partners.run import NETWORKS
from experiments.othello_partners.tables import over_seeds
from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "take 22 to 25 % of": "a profile that is not kept",
    "weights uniform in [-0.5, 0.5]": "a setting",
    "by other means gave 44.5, 89.6 and 82.1 %": "a count that is not kept",
    "where epsilon is still .075": "a setting",
    "of our trainings epsilon is still .075": "a setting",
    "step size 0.001 (TD) and 0.01": "settings",
    "no more than 1.3 times the speed": "a profile that is not kept",
}
PAPER, FOUR, SIXTEEN = (
    "squared",
    "squared, 4 times the step",
    "squared, 16 times the step",
)


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("othello_partners")

    def off(column: str, opponent: str) -> float:
        return cells(f"{column} | {opponent}", "mean difference")

    def both(column: str, partner: str) -> list[float]:
        """The best session by own moves alone, and by the partner's too."""
        return [cells(f"{column} | {partner}", name) for name in ("own moves", "the partner's too")]

    def paper(learner: str, partner: str) -> list[float]:
        return [
            published[learner, partner.partition(",")[0] + name, partner] for name in ("", "-LRN")
        ]

    rand = "random, first 500,000 games"
    published = {}
    for row in kept_records(f"othello_partners/{NETWORKS}"):
        name = {"bench": "BENCH", "heur": "HEUR", "random": "RAND, first 500,000 games"}
        published[row["learner"], row["partner"], name[row["opponent"]]] = row["paper_best"]
    q = [off(f"q, {PAPER}", opponent) for opponent in ("bench", "heur", rand)]
    yield (
        "misses them by {} points against BENCH on average, by {} against HEUR and by {} against",
        *q,
    )
    q = [off(f"q, {FOUR}", opponent) for opponent in ("bench", "heur", rand)]
    yield "it is {} and {} points above the paper against BENCH and HEUR and {} below", *q
    own, last = (cells(f"q, {PAPER} | BENCH", "own moves", number) for number in (0, 2))
    yield (
        "{} ± 2.2 % in the best session, last ten {}, the paper {}.",
        own,
        last,
        paper("q", "BENCH")[0],
    )
    best = [cells(f"q, {FOUR} | BENCH", "own moves", number) for number in (0, 1)]
    yield "makes {} of it ({}), and of", *best
    td = [
        cells(f"td, {name} | BENCH", "own moves", number)
        for name, number in ((PAPER, 0), (FOUR, 0), (FOUR, 1))
    ]
    yield "of TD's {} % {} ({}; paper {})", *td, paper("td", "BENCH")[0]
    cut = "RAND, first 500,000 games"
    yield (
        "against HEUR ({} and {}; paper {} and {})",
        *both(f"q, {FOUR}", "HEUR"),
        *paper("q", "HEUR"),
    )
    yield "games {} and {}; paper {} and {}); TD's", *both(f"q, {FOUR}", cut), *paper("q", cut)
    td = both(f"td, {FOUR}", "BENCH")
    yield (
        "nowhere ({} and {} against BENCH, where the paper has {} and {})",
        *td,
        *paper("td", "BENCH"),
    )
    q = [*both(f"q, {SIXTEEN}", "BENCH"), *both(f"q, {SIXTEEN}", "HEUR")]
    yield "by more, against BENCH {} and {}, against HEUR {} and {}, and", *q
    partners = ("BENCH", "HEUR", cut)
    sarsa = [value for name in partners for value in both(f"sarsa, {SIXTEEN}", name)]
    yield (
        "all three, BENCH {} and {}, HEUR {} and {}, RAND at 500,000 games {} and {} (paper",
        *sarsa,
    )
    them = [value for name in partners for value in paper("sarsa", name)]
    yield "(paper {} and {}, {} and {}, {} and {}).", *them
    yield "after two million games ({} and {}) and", *both(f"sarsa, {PAPER}", "RAND")
    yield "not after 500,000 ({} and {});", *both(f"sarsa, {PAPER}", cut)
    yield "{} % where the paper has {}.", cells("RAND", f"td, {FOUR}"), cells("RAND", "td, paper")
    networks = [
        row
        for row in over_seeds(kept_records(f"othello_partners/{NETWORKS}"))
        if (row["learner"], row["loss"], row["step"], row["n"]) == ("q", "squared", 1.0, 2)
    ]
    errors = [row["sem"] for row in networks]
    yield (
        "standard error of {} points, averaged over the cells, and of {} at most",
        np.mean(errors),
        max(errors),
    )
    (heur,) = (
        row
        for row in over_seeds(kept_records(f"othello_partners/{NETWORKS}"))
        if (row["learner"], row["loss"], row["step"], row["partner"], row["opponent"])
        == ("td", "squared", 4.0, "BENCH-LRN", "heur")
    )
    yield "BENCH's moves too ({}, last ten {})", heur["best"], heur["last_ten"]

    def order(column: str) -> list[float]:
        return [cells(f"{column} | {name}", "rank correlation") for name in ("bench", "heur", rand)]

    best = [cells(f"q, {FOUR} | BENCH", name) for name in ("own moves", "the partner's too")]
    them = paper("q", "BENCH")
    yield (
        "alone is best, {} % against {} for who learned from BENCH's too (paper {} and {})",
        *best,
        *them,
    )
    four, one = order(f"q, {FOUR}"), order(f"q, {PAPER}")
    yield "correlations {} against BENCH and HEUR and {} against RAND", four[0], four[2]
    yield "at 500,000 games ({}, {} and {} with the paper's step). On", *one
    q = [off(f"q, {FOUR}", name) for name in ("bench", "heur", rand, "random")]
    yield "sessions lie {} points above the paper against BENCH, {} above against HEUR", *q[:2]
    yield "at 500,000 games, {} below against RAND ({} above after two million)", *q[2:]
    td = [off(f"td, {FOUR}", name) for name in ("bench", "heur", rand, "random")]
    yield "TD's lie {} points below against BENCH, {} below against HEUR and {} below", *td[:3]
    yield "RAND at 500,000 games ({} above after two million)", td[3]
    many = "td, squared, 16 times the step, 1,000,000 games, random openings"
    first = [
        cells("itself | 94.9 | 89.9 ± 1.1 (86.6)", name)
        for name in (f"td, {FOUR}", many, "td, paper")
    ]
    yield "it has {} and {} (paper {}). With", *first
    alone = cells("itself | 72.1", f"q, {SIXTEEN}"), cells("itself | 72.1", "q, paper")
    sixteen = [off(f"q, {SIXTEEN}", name) for name in ("bench", "heur", rand)]
    yield "by self-play at {} against BENCH (paper {}), {}, {} and,", *alone, *sixteen[:2]
    yield "RAND at 500,000 games, {} points above the paper on average", sixteen[2]
    yield "nearly the same order ({}, {}, {}). SARSA", *order(f"q, {SIXTEEN}")
    sarsa = [off(f"sarsa, {SIXTEEN}", name) for name in ("bench", "heur", rand)]
    yield "then stands {} and {} points above it and {} below", *sarsa
    orders = *order(f"sarsa, {SIXTEEN}"), *order(f"sarsa, {PAPER}")
    yield "in the order of {}, {} and {} ({}, {} and {} with the paper's step).", *orders
