"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.gpu.published import late_means
from experiments.page_tables import kept_records, read
from experiments.page_text import Cells, Claim, cells_in
from experiments.table1.overview import AUTHORS_LIST
from experiments.table1.verdicts import AGREES, DIFFERS, UNDECIDED, verdict
from jaxgbg.games import make

OUTSIDE = {
    "the paper's ± 0.2 would be .6 points": "the paper; its error times the root of ten",
    "The paper's ± 0.2 would be a standard deviation of .6": "the paper; times the root of ten",
    "ten of them won 96.6 % of 500 games": "report of techdays26",
    "the authors' log has 139.1 and 118.5 thousand": "the authors' log",
    "the authors' logs have 30.7 and 8.1": "the authors' log",
    "8.3 million moves a second against 43.7": "`h100.json`, rates per second",
    "took 8.6 minutes of an A100": "report of techdays26",
    "ConnectFour: ten, 4.1 to 5.0 M;": "settings",
    "| `correctness` | 10 % |": "a setting",
    "| `speed` | 15 % |": "a setting",
    "| `connectfour` | 50 % |": "a setting",
    "| `table1` | 25 % |": "a setting",
    "## What is compared, and how closely": "settings, and measurements without kept data",
    "84.9 ± 0.2% with FARL and 58.7 ± 0.6% without": "`published.json`, shares without a table",
    "30.90 ± 0.03 moves with FARL and 8.45 ± 0.57 without": "`published.json`, without a table",
}


NAMES = ("ab", "ab-dl-gbg")


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("gpu")
    yield "where two CPU cores make {}.**", cells("connectfour", "two CPU cores, 64 games")
    own = [cells(f"seed {seed}", "won-drawn-lost") for seed in range(12)]
    yield "the single agents win {} of 200 games on average", np.mean(own)
    yield "these won {} to {} of 200, {} on average", min(own), max(own), np.mean(own)
    last = cells("1,066,706", "least"), cells("1,066,706", "most")
    yield "keep the value in {} to {} % of the solved", *last
    matches = [
        one
        for one in read("gpu/published.json")["results"]
        if one["what"] == "match" and (one["opponent"], one["variant"]) == ("ab", "none")
    ]
    means, _ = late_means(matches)
    ab = [make("connectfour").scale.figure(each) for each in means]
    won = [each for each in ab if each]
    yield "five win nothing and five win {} to {}%", min(won), max(won)
    yield "a standard deviation of {} points", np.std(ab, ddof=1)
    yield "five seeds win nothing and five win {} to {}%", min(won), max(won)
    yield "Ours win {} % one by one", np.mean(own) / 2
    assert same_outcomes()
    yield from of_two_seeds(ab[0])
    yield from of_speeds(cells)
    yield from of_trainings()


def same_outcomes() -> bool:
    """Whether the criteria that were written before and the one of table1 agree in all rows."""
    texts = cells_in("gpu").texts("outcome", having="limit")
    own = {AGREES: "agreement", UNDECIDED: "decides nothing", DIFFERS: "rejection"}
    rows = [
        *((AUTHORS_LIST, name, "64", variant) for variant in ("farl", "none") for name in NAMES),
        *(("2048", "score", "1,024", variant) for variant in ("farl", "none")),
    ]
    return [own[verdict(*row).outcome] for row in rows] == texts


def of_two_seeds(first: float) -> Iterator[Claim]:
    """What the two seeds on a CPU had; `first` is seed 0 without FARL on the GPU, against AB."""
    listed: dict[tuple[str, str], list[float]] = {}
    for row in kept_records("table1/listed"):
        if row["episodes"] == 5_000_000 and row["batch"] == 64:
            listed.setdefault((row["variant"], row["opponent"]), []).extend(row["figures"])
    farl, none = ([listed[variant, name] for name in NAMES] for variant in ("farl", "none"))
    yield "with FARL {} and {}, which agree;", *map(np.mean, farl)
    yield "without FARL {} and {}, which do not.", *map(np.mean, none)
    yield "that happened to agree: {} and {} against AB, {} and {} against", *none[0], *none[1]
    yield "On the CPU seed 0 had {} and here it has {}, so", none[0][0], first


def of_speeds(cells: Cells) -> Iterator[Claim]:
    """The two devices, and a table that was copied."""
    yield "adds {} times as often", cells("connectfour", "of look-ups")
    ticks = 1e-3 * 2560 / cells("othello", "256 × 10")
    yield "256 × 10 games {} milliseconds", ticks
    parts = read("gpu/h100.json")
    slow, fast = (
        next(
            one["moves_per_s"]
            for one in parts[part]["results"]
            if (one.get("game"), one.get("batch"), one.get("lanes")) == ("nim", 256, 10)
        )
        for part in ("deterministic", "speed")
    )
    yield "cost Nim a factor of {} (H100", fast / slow
    before = "1 × 40"
    yield "ConnectFour made {} million moves", cells("connectfour", "256 × 10", having=before)
    yield "a second instead of {}, on", cells("connectfour", "64 × 20", having=before)
    copies = [
        next(one["gb_per_s"] for one in each["speed"]["results"] if one["what"] == "copy")
        for each in (read("gpu/h200.json"), parts)
    ]
    yield "whose memory is {} times as fast", copies[0] / copies[1]


def of_trainings() -> Iterator[Claim]:
    """The seconds of the two rows at full budgets, and the width of an interval."""
    done = {
        one["game"]: one
        for one in read("gpu/published.json")["results"]
        if one["what"] == "training" and one["state"] == "done"
    }
    for game, sentence in (
        ("connectfour", "{} of training for twenty lanes ({} million moves a second), {} with"),
        ("2048", "{} of training for eight lanes ({} million moves a second), {} in all."),
    ):
        one = done[game]
        rate = sum(one["moves"]) / one["training_s"] / 1e6
        yield sentence, one["training_s"], rate, one["wall_s"]
    width = cells_in("gpu")("2048, FARL", "width")
    yield "with FARL is {}% wider than the limit", 100 * (width / 8_000 - 1)
