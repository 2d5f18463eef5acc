"""The claims of the pages outside experiments: README.md and the documentation."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from experiments.discount.claims import gain
from experiments.exact_n_players.claims import MAEDN, points
from experiments.page_text import Claim, cells_in
from experiments.table1.overview import figures_of_listed
from experiments.table1.verdicts import verdict
from experiments.zoo.claims import positions_of_16_bits
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.presets import figure

MEASURED = "measured once for this page; no data is kept"
EXACT = "computed exactly from the rules, or found in the literature; tests hold it"


class PageClaims(NamedTuple):
    """What a page claims, and where its other figures come from."""

    OUTSIDE: dict[str, str]
    claims: Callable[[], Iterator[Claim]] = lambda: iter(())


def table1(row: str, column: str, first: int = 0) -> tuple[float, float]:
    """A mean and its error in Table 1; with `first` 2 that of one game at a time."""
    cells = cells_in("table1")
    return cells(row, column, first), cells(row, column, first + 1)


OTHELLO = "othello", "bench", "64", "none"
NIM3P = "nim3p", "mcts-5000", "256", "farl"
SCORE = "2048", "score", "1", "farl"
WALKS = "connectfour", "ab-dl-gbg", "64", "farl"
SHIPPED = "connectfour, our list", "ab", "64", "none"
"""The figures of Table 1 that differ from the paper's."""


def lower(*key: str) -> tuple[float, float, float]:
    """How far a figure is below the paper's, with the ends of the interval."""
    mean, low, high = verdict(*key).difference
    return -mean, -high, -low


def without_farl_against_ab() -> list[float]:
    """The win rates of the ten seeds on the authors' list."""
    return figures_of_listed()["ab", "none"]


def interval_against_ab() -> tuple[float, float]:
    return confidence_interval(without_farl_against_ab(), span=(0.0, 100.0))


def readme() -> Iterator[Claim]:
    yield "without FARL ({} points, 95% {} to {})", *verdict(*OTHELLO).difference
    yield "our list without FARL ({}, {} to {})", *verdict(*SHIPPED).difference
    yield "against MCTS ({}, {} to {})", *verdict(*NIM3P).difference
    yield "is {} points ({} to {}) below the paper's table", *lower(*SCORE)
    gpu = cells_in("gpu")
    yield "trains at {} million moves/s;", gpu("connectfour", "64 × 20")
    yield "two CPU cores reach {} million", gpu("connectfour", "two CPU cores, 64 games")
    won = [gpu(f"seed {seed}", "won-drawn-lost") for seed in range(12)]
    yield (
        "win {} of 200 games on average against perfect play, moving first; the worst wins {}",
        (np.mean(won)),
        min(won),
    )


def table_1() -> Iterator[Claim]:
    yield "Without FARL it is {} points ({} to {}) above", *verdict(*OTHELLO).difference
    yield "AB-DL and is {} points ({} to {}) above the paper against", *verdict(*SHIPPED).difference
    yield "against MCTS** is {} ({} to {}) below", *lower(*NIM3P)
    yield "with FARL {} points ({} to {}) below the paper", *lower(*SCORE)
    yield "On random walks it is {} points ({} to {}) below", *lower(*WALKS)
    yield "the interval, {} to {}, contains the paper's", *interval_against_ab()
    won = [each for each in without_farl_against_ab() if each]
    yield "five seeds win nothing and five win {} to {}%", min(won), max(won)
    _, most = confidence_interval([0.0, 0.0], span=(0.0, 100.0), games=40)
    yield "none of 40 games each have a 95% upper bound of {}%", most


def limits() -> Iterator[Claim]:
    yield "Othello without FARL ({} points, 95% {} to {})", *verdict(*OTHELLO).difference
    yield "that ships without FARL ({}, {} to {})", *verdict(*SHIPPED).difference
    yield "against MCTS ({}, {} to {})", *verdict(*NIM3P).difference
    yield "with FARL, 2048 is {} points ({} to {}) below", *lower(*SCORE)
    yield "walks {} points ({} to {}) below", *lower(*WALKS)
    off = cells_in("othello_partners")("q, squared | bench", "mean difference")
    yield "are missed by {} points on average", off


def readings() -> Iterator[Claim]:
    nim3p = cells_in("table1")("nim3p | maxn", "with FARL")
    letter = cells_in("readings")("random_test letter | 0.102 ± 0.013", "with FARL")
    paper = figure("nim3p", "maxn", "farl")
    assert paper is not None
    yield "its score falls from {} to {}, and the paper has {}.", nim3p, letter, paper[0]


def results() -> Iterator[Claim]:
    span = (0.0, 100.0)
    two, ten = (confidence_interval([0.0] * n, span=span, games=20)[1] for n in (2, 10))
    yield (
        "a score of {} of two seeds with 20 games each has the upper bound {}; of ten seeds, {}.",
        (0.0),
        two,
        ten,
    )


def index() -> Iterator[Claim]:
    discount, low, high = gain("hex", "mcts-1000", (0.9, "none"), (1.0, "none"))
    farl, *_ = gain("hex", "mcts-1000", (1.0, "farl"), (1.0, "none"))
    yield "in Hex {} of {} points (five, 95% {} to {})", discount, farl, low, high
    small, larger = points("ewn 3x3")[0], points("ewn 3x3, 2x3 cells")[0]
    yield "n-tuples lose {} points in the first seat, larger ones {}.", small, larger
    yield "falls short by {} and {} points", *points("ewn 4x4")
    yield "n-tuples of stones by {} and {} (ten agents)", *points("ewn 4x4, by stones")
    yield "agents lose at most {} of the 3.5 points", max(points(MAEDN, "the most"))
    won = cells_in("zoo")("connectfour | ab-dl", "mean (95%)")
    yield "ConnectFour {}% moving first against exact AB-DL", won
    yield "Hex {}% against MCTS-1000", cells_in("zoo")("hex | mcts-1000", "mean (95%)")
    yield "Weights of 16 bits change one of {} moves.", positions_of_16_bits()
    faster = cells_in("scaling")
    rates = [faster(f"connectfour, {n} games, 2 lanes", "moves a second") for n in (16, 1)]
    yield "ConnectFour makes {} times as many moves", rates[0] / rates[1]


def own_page(source: str, *texts: str) -> PageClaims:
    return PageClaims(dict.fromkeys(texts, source))


PAGES: dict[str, PageClaims] = {
    "README.md": PageClaims(
        {
            "perfect play among equals earns 0.4": "the rules of Nim3P",
            "License: Apache-2.0": "a name",
            "## Features": "the documentation of each project",
        },
        readme,
    ),
    "experiments/README.md": PageClaims(
        dict.fromkeys(
            (
                *(f"| 0.{tenths} |" for tenths in (1, 2, 3, 4)),
                "| 0.1 of a GPU |",
                "| 0.2 of an H200 |",
            ),
            "hours, roughly",
        )
        | dict.fromkeys(("negative at 5%", "five of six games at 5%"), "the level of the test")
        | {"of the 3.5 points that random play loses": "values of an independent program"},
        index,
    ),
    "docs/table-1.md": PageClaims(
        {
            "contains the paper's 7.0;": "the paper",
            "(0.1 of a reward, 8,000 points in 2048)": "the criterion",
            "**± 0.0 alone": "a form",
        },
        table_1,
    ),
    "docs/limits.md": PageClaims({"flood fills on bitboards take 0.4 µs": MEASURED}, limits),
    "docs/how-we-read-the-papers.md": PageClaims(
        {"before 70% of the episodes": "a setting", "ReLU, deviation .1,": "a setting"}, readings
    ),
    "docs/design-notes.md": own_page(MEASURED, "# Design notes"),
    "docs/borrowed-games.md": own_page(MEASURED, "# Games of pgx and Ludax"),
    "docs/command-line.md": own_page("settings", "# Command line"),
    "docs/games-with-dice.md": PageClaims(
        {"**What it learns.**": MEASURED, "# Games with dice": EXACT}
    ),
    "docs/games-without-dice.md": own_page(EXACT, "# Nim, Sim, Yavalath and Chinese checkers"),
    "docs/other-learners.md": own_page(MEASURED, "# Our games for other learners"),
    "docs/play.md": own_page(MEASURED, "# Play"),
    "docs/positions.md": own_page("examples", "# Positions and records"),
    "docs/question.md": PageClaims({}),
    "docs/results.md": PageClaims({"perfect play among equals earns 0.4": "the rules"}, results),
    "docs/start.md": own_page("printed by `make run`", "# Start"),
    "docs/sweeps.md": own_page(MEASURED, "# Long runs and sweeps"),
    "docs/teach.md": own_page(EXACT, "# Teach"),
    "docs/your-own-game.md": own_page(MEASURED, "# Your own game"),
    "docs/robustness.md": own_page("counted by `make faults`", "# Robustness"),
    "docs/watching.md": own_page(MEASURED, "# Watch"),
}
