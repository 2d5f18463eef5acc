"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_tables import kept_records
from experiments.page_text import EXPERIMENTS, Claim
from experiments.shared import archived_runs, p_of_zero
from experiments.table1.report import LOCKSTEP, parts_of, rows_of
from jaxgbg.results.statistics import paired_difference

OUTSIDE = {
    "five of six games at 5%": "the level of the test",
    "(paper: by 1 % or less)": "the paper, footnote 7",
    "the best possible is 50% on TicTacToe and Nim, and 0.4 on Nim3P": "the rules",
    "steps of 0.02, on larger boards 50 sigmoid units under a tanh and steps of 0.01": "settings",
    "the means 44.0 ± 1.7 with FARL, 43.0 ± 1.5 with part 1 and 6.0 ± 1.3 without": (
        "three runs of revision f5b3f86b that are not kept"
    ),
    "stand at 6.7 ± 0.8 and 6.7 ± 4.4 %": "runs that are not kept; the commands stand below",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    kept = {(row["game"], row["variant"]): row for row in kept_records("networks/networks.json")}
    p = {
        game: p_of_zero(np.subtract(row["per_seed"], kept[game, "none"]["per_seed"]))
        for (game, variant), row in kept.items()
        if variant == "farl"
    }
    ordered = sorted(p, key=lambda game: p[game])
    assert sum(each < 0.05 for each in p.values()) == 5
    # Holm's correction: three differences remain.
    remain = [p[game] * (len(p) - n) < 0.05 for n, game in enumerate(ordered)]
    assert remain[:4] == [True, True, True, False]
    assert {*ordered[:3]} == {"tictactoe", "nim", "connectfour"}
    yield "Hex has p = {} and Nim3P {} before it", p["hex"], p["nim3p"]
    learned = [kept[game, "none"]["mean"] for game in ("connectfour", "hex")]
    yield "in part: {} and {}% against random play", *learned
    rows = {
        row["variant"]: row
        for row in kept_records("networks/networks.json")
        if row["game"] == "othello"
    }
    names = ("difference", "difference_low", "difference_high")
    yield "FARL brings {} points ({} to {})", *(rows["farl"][name] for name in names)
    yield "part 1 alone {} ({} to {});", *(rows["part1"][name] for name in names)
    both, part1 = (dict(enumerate(rows[name]["per_seed"])) for name in ("farl", "part1"))
    found = paired_difference(both, part1, span=(0.0, 100.0))
    assert found is not None
    yield "both parts are {} points below part 1 alone ({} to {})", *found
    table1 = {
        (row.opponent, row.variant): row
        for row in rows_of(parts_of(archived_runs(EXPERIMENTS / "table1"))[LOCKSTEP])
        if row.game == "othello"
    }
    for opponent, sentence in (
        ("bench", "both signs: {} ({} to {}) against BENCH"),
        ("grhino", "and {} ({} to {}) against GRhino"),
    ):
        row = table1[opponent, "farl"]
        yield sentence, row.difference, row.difference_low, row.difference_high
