"""Where the figures in the text of this experiment come from."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from experiments.n_players.equal_time import welch
from experiments.page_tables import kept_records
from experiments.page_text import Cells, Claim, cells_in
from experiments.shared import FinishedRun, archived_runs, kept_results
from experiments.table1 import evaluation_share
from experiments.table1.overview import (
    SEEDS,
    figures_of_listed,
    figures_of_shipped,
    figures_one_at_a_time,
    hours_of_seeds,
    missing,
)
from experiments.table1.report import HERE, LOCKSTEP, SCHEDULE, SERIAL, parts_of, rows_of
from experiments.table1.verdicts import (
    AGREES,
    DIFFERS,
    UNDECIDED,
    outcomes_in_table,
    verdict,
    verdicts,
)
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.presets import figure

MISSING = ("2048", "connectfour", "othello")
"""The games that lack seeds, one game at a time."""
LOG = "the authors' log"
MEASURED = "measured in turn with an older program; not kept"
OUTSIDE = {
    "TDL2048+, in C++, tells of 4.7 on two threads": "the report of TDL2048+",
    "and 0.0, its authors' log 77": LOG,
    "against AB (paper 7.0 ± 0.2)": "the paper",
    "*agrees* if the interval is at most 10 points of a win rate wide": "the criterion",
    "(0.1 of a reward, 8,000 points in 2048)": "the criterion",
    "0.1 of a reward or 8,000 points in 2048": "the criterion",
    "as the paper's own errors are 5 and 6 points and 0.03;": "the paper",
    "where the paper has 7.0. The schedule": "the paper",
    "The authors' log has 139.1 k and 118.5 k": LOG,
    "The authors' log of ten runs has 139.1 k and 118.5 k": LOG,
    "against Edax at depth 1 (55 ± 1, 53 ± 1)": "the paper",
    "earned 0.724 ± 0.013": "runs of an earlier revision that are not kept",
    "30.7 with FARL and 8.1 without, and of Nim without it, 5.16; the paper says that 8 and": LOG,
    "8 and .9 % of ConnectFour's weights": "the paper, footnote 7",
    "the authors' log 76.6 ± 5.5": LOG,
    "TicTacToe at 13.6 and Nim at 11.1 times": "an older program",
    "TicTacToe's were 1,736 million": "an older program",
    "ConnectFour 1.17 times as fast, Nim3P 1.08, Hex 1.06, 2048 and": MEASURED,
    "TicTacToe 1.02 to 1.03": MEASURED,
    "Nim3P 1.2 times and Othello 1.1 to 1.2 times": MEASURED,
}


def of_evaluations() -> Iterator[Claim]:
    """The share of evaluations in the time of the whole table."""
    rows = kept_results(HERE / evaluation_share.FILE)
    parts = rows[0]["seconds"]
    total = {part: sum(row["seconds"][part] for row in rows) for part in parts}
    yield "two idle cores {}% are evaluations", 100 * evaluation_share.share(total)


def of_verdicts() -> Iterator[Claim]:
    """How many figures agree, and what is said of single ones."""
    found = verdicts()
    counts = Counter(one.outcome for one in found)
    number = len(found)
    yield "there are {} comparisons:", number
    three = [counts[each] for each in (AGREES, UNDECIDED, DIFFERS)]
    yield "{} agree, {} are undecided, {} differ", *three
    assert not any(one.outcome == DIFFERS for one in verdicts(1 - 0.05 / number))
    assert outcomes_in_table(found) == [26, 13, 8, 5]

    othello, nim3p = ("othello", "bench", "64", "none"), ("nim3p", "mcts-5000")
    yield "| {} ({} to {}); one game at a time n = 1 |", *verdict(*othello).difference
    shipped = verdict("connectfour, our list", "ab", "64", "none")
    yield "| {} ({} to {}) | | Nim3P", *shipped.difference
    yield "the ten stand {} points ({} to {}) above the paper", *verdict(*othello).difference
    one = verdict(*nim3p, "1", "farl").difference[0]
    yield (
        "| {} ({} to {}), one game at a time {} |",
        *verdict(*nim3p, "256", "farl").difference,
        one,
    )
    points, least, most = verdict("2048", "score", "1", "farl").difference
    yield "with FARL ours is {} k lower ({} k to {} k)", points, most, least
    yield "with FARL is {} k below it ({} k to {} k)", points, most, least
    wide = [
        one
        for one in found
        if one.row in ("tictactoe", "nim", "nim3p") and one.outcome == UNDECIDED
    ]
    assert {one.key[::3] for one in wide} == {
        ("tictactoe", "farl"),
        ("tictactoe", "none"),
        ("nim", "none"),
        ("nim3p", "farl"),
    }
    most_off = [
        max(abs(one.mean - one.paper) for one in wide if one.scale.percent is percent)
        for percent in (True, False)
    ]
    yield "at most {} points and {} away", *most_off


def of_the_shipped_list(parts: dict[str, list[FinishedRun]]) -> Iterator[Claim]:
    """Without FARL, against AB."""
    won = [each for each in figures_of_shipped(parts)["ab", "none"] if each]
    assert len(won) == SEEDS - 3
    yield "of ConnectFour win nothing, the others {} to {}%", min(won), max(won)


def of_layouts(parts: dict[str, list[FinishedRun]]) -> Iterator[Claim]:
    """With FARL, in lockstep: the authors' list minus our walks."""
    listed = figures_of_listed()
    for opponent, sentence in (
        ("ab-dl", "by {} points (95% {} to {}) against"),
        ("ab-dl", "the difference is {} points (95% {} to {}), ten"),
        ("ab", "Against AB it is {} ({} to {})."),
    ):
        (walks,) = (
            row.per_seed
            for row in rows_of(parts[LOCKSTEP])
            if (row.game, row.opponent, row.variant) == ("connectfour", opponent, "farl")
        )
        yield sentence, *welch(listed[opponent, "farl"], walks)
    (walk,) = (
        row
        for row in rows_of(parts[LOCKSTEP])
        if (row.game, row.opponent, row.variant) == ("connectfour", "ab", "farl")
    )
    yield "would differ too: {} to {} lies", walk.low, walk.high


def more_claims(
    cells: Cells,
    parts: dict[str, list[FinishedRun]],
    serial: dict[tuple[str, str], list[float]],
) -> Iterator[Claim]:
    """Those of details.md that README.md has not, and the hours that are missing."""
    hours = missing(parts)
    left = (hours[game, SERIAL, "farl"] + hours[game, SERIAL, "none"] for game in MISSING)
    yield "{} hours for 2048, {} for ConnectFour on our walks and {} for Othello", *left
    each = hours_of_seeds(parts)
    both = (np.mean(each["connectfour", SERIAL, variant]) for variant in ("farl", "none"))
    yield "as our walks: {} hours for ten", SEEDS * sum(both)
    yield from of_evaluations()
    othello = [cells("othello | bench", name, 2) for name in ("with FARL", "without")]
    yield "one agent of each variant** ({} and {})", *othello
    games = [each for each in parts[SERIAL] if each.run.game.name == "2048"]
    (score,) = (row for row in rows_of(games) if row.variant == "farl")
    brings = (score.difference, score.difference_low, score.difference_high)
    yield "FARL brings {} k points here ({} k to {} k, 95 %)", *brings
    published = {
        (opponent, variant): figure("nim3p", opponent, variant)
        for opponent in ("maxn", "mcts-5000")
        for variant in ("farl", "none")
    }
    papers = {key: value[0] for key, value in published.items() if value is not None}
    yield "against Max-N (paper {}, {}), one", papers["maxn", "farl"], papers["maxn", "none"]
    yield "alike one at a time, and {}).", papers["mcts-5000", "none"]
    yield "one game at a time {} and 19.5", cells("tictactoe | maxn", "with FARL", 2)
    yield "keeps the value in {} % of the solved", cells("9", "farl, solver", having="fours")
    yield "(`farl-mean`) seed 9 has {} %, all", cells("9", "farl-mean, ab", having="fours")
    walks = [each for each in parts[LOCKSTEP] if each.run.game.name == "connectfour"]
    last = {row.variant: row.last for row in rows_of(walks) if row.opponent == "ab"}
    yield "weights win {} % against AB and the mean ones {}.", last["farl"], last["farl-mean"]
    listed = figures_of_listed()
    ab = listed["ab", "farl"]
    yield "seeds between {} and {} against AB", min(ab), max(ab)
    gbg = listed["ab-dl-gbg", "farl"]
    yield "and between {} and {} against the paper's AB-DL", min(gbg), max(gbg)
    own = cells.column("farl, ab", having="fours")[:10]
    yield "have as much against AB ({}, {}, {}), none", *sorted(own)[-3:]
    yield "in lockstep {} and {}), 42.8", *own[:2]
    kept = *serial[SERIAL, "solver"], *cells.column("farl, solver", having="fours")[:2]
    yield "more values, {} and {} % ({} and {}); without", *kept
    orders = ("farl, solver", "farl-mean, solver", "farl, ab", "farl, ab-dl")
    four = [cells("rank correlation", name, having="fours") for name in orders]
    yield "(rank correlation {} over the ten draws of 64 games, {} of their means;", *four[:2]
    yield "hardly follow it ({} and {}).", *four[2:]
    plies = [cells(f"othello | {games} | none", "moves") for games in (64, 1)]
    yield "without FARL too ({} plies in lockstep)", plies[0]
    yield "has one agent, with {} plies", plies[1]
    shares = [
        cells(game, "tables", having="kernels a tick")
        for game in ("connectfour", "othello", "nim3p")
    ]
    fastest = [1 / (1 - share / 100) for share in shares]
    yield (
        "ConnectFour {} times as fast, if its update took no time at all, Othello {} and Nim3P {}",
        *fastest,
    )


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("table1")
    parts = parts_of(archived_runs(HERE))
    few, many = (
        [cells(f"zoo:nim3p | {count}", "reward (95%)", number) for number in range(3)]
        for count in ("5,000", "10,000")
    )
    yield "which makes none, earns {} (95% {} to {}).", *few
    yield "iterations the same agent earns {} ({} to {}) against it", *many
    yield from of_verdicts()
    yield from of_layouts(parts)
    listed = figures_of_listed()
    won = [each for each in listed["ab", "none"] if each]
    yield "five {} to {}%; why they differ", min(won), max(won)
    yield "the others {} to {}%. Why", min(won), max(won)
    own = cells.column("farl, ab", having="fours")
    seeds = own[:10]
    yield "takes {}%, the others {} to {}.", seeds[9], *(sorted(seeds)[n] for n in (1, -1))
    yield (
        "takes {} % of the points against AB, the others {} to {}, though",
        seeds[9],
        *(sorted(seeds)[n] for n in (1, -1)),
    )
    two = [
        np.mean(
            [
                v
                for row in kept_records("table1/listed")
                if (row["variant"], row["opponent"], row["batch"]) == ("farl", name, 64)
                for v in row["figures"]
            ]
        )
        for name in ("ab", "ab-dl-gbg")
    ]
    yield "on the CPU had {} against AB. **What", two[0]
    alone = figures_one_at_a_time()
    first = [alone[name, "farl"][0] for name in ("ab", "ab-dl-gbg", "ab-dl")]
    yield "near the paper: {} against AB, {} against the paper's AB-DL and {} against", *first
    yield "± 0.2 (n = 10) | {} (n = 1; paper", first[0]
    yield "on the CPU had {} and {}. Without", *two
    _, most = confidence_interval([0.0, 0.0], span=(0.0, 100.0), games=40)
    yield "of 40 games each leaves up to {}% (95%)", most
    yield "of 40 games each leaves up to {} % (95 %)", most
    games = ("connectfour", "hex", "othello", "2048", "tictactoe", "nim", "nim3p")
    times = [cells(game, "64 games: times GBG") for game in games]
    reached = "(ConnectFour {}, Hex {}, Othello {}, 2048 {} times);"
    yield reached, *(each for each in times[:4] if each >= 10)
    yield "TicTacToe with {}, Nim with {} and Nim3P with {} times", *times[4:]
    assert max(times[4:]) < 10
    assert [game for game, each in zip(games, times, strict=True) if each >= 20] == ["hex"]
    single = {game: cells(game, "one game: times GBG") for game in games}
    assert {game for game, each in single.items() if each < 5} == {"othello", "nim3p"}
    yield "in Nim3P with {} and Othello with {}; the", single["nim3p"], single["othello"]
    yield "other five games have {} times or more", sorted(single.values())[2]
    (today,) = (
        row["look_ups_per_s"] / 1e6
        for row in kept_records("table1/bench")
        if (row["game"], row["batch"]) == ("tictactoe", 1)
    )
    yield "an older program was measured and {} million today", today
    folders = [
        (title, folder)
        for title in (SERIAL, SCHEDULE)
        for folder in parts[title]
        if folder.run.game.name == "connectfour" and "farl" in folder.run.variants
    ]
    folders.sort(key=lambda each: each[1].run.seeds)
    figures: dict[tuple[str, str], list[float]] = {}
    for title, folder in folders:
        for row in rows_of([folder]):
            if row.variant == "farl":
                figures.setdefault((title, row.opponent), []).extend(row.per_seed)
    yield "({} and {}; in lockstep 98.5 and", *figures[SERIAL, "ab"]
    yield "against AB ({}, {}, {}) and", *figures[SCHEDULE, "ab"]
    yield "against the paper's AB-DL ({}, {}, {}).", *figures[SCHEDULE, "ab-dl-gbg"]
    yield from of_the_shipped_list(parts)
    yield from more_claims(cells, parts, figures)
    levels = {
        row["level"]: row["mean"]
        for row in kept_records("search/othello_levels")
        if row["play"] == "greedy"
    }
    yield "with FARL takes {} and {} % of the points from these", levels[1], levels[2]
