"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.othello_partners.run import NETWORKS
from experiments.othello_partners.tables import over_seeds
from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in

OUTSIDE = {
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
