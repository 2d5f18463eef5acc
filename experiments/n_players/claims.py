"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import spearmanr

from experiments.n_players.equal_time import welch
from experiments.n_players.one_table import SHARES, more_against_random
from experiments.n_players.perfect import lost
from experiments.n_players.run import rounds
from experiments.page_tables import read
from experiments.page_text import Claim
from jaxgbg.results.statistics import confidence_interval

OUTSIDE = {
    "so FARL gains less than 0.1.*": "the forecast",
    "FARL gains more than for two, by 0.1 at least.*": "the forecast",
    "*Nim and Pig: at least 0.1": "the forecast",
    "*EinStein: at least 0.1": "the forecast",
    "with losses missed is above 0.5.*": "the forecast",
}
OUTSIDE |= dict.fromkeys(
    (
        "The aims were 50 times OpenSpiel for random play, 5 times for training, 200,000 moves a"
        " second of training in small games and less than 300 MB",
        "Of the aims, 50 times and 5 times,",
    ),
    "the aims",
)
OUTSIDE |= {
    "leave the machine idle: 4 minutes": "a clock",
    "Training is above 200,000 in": "an aim",
    "727 actions, is": "the rules of the game",
}
OUTSIDE |= dict.fromkeys(
    ("Nim gains 0.05 or more after an eighth", "a gain below 0.05 and 0.01 more against"),
    "the forecast",
)
GAIN = "farl over none"


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    results = {one["label"]: one for one in rounds(read("n_players/results.json")["results"])[0]}
    gains = {label: one["gains"][GAIN]["gain"] for label, one in results.items()}
    by_seed = {label: np.array(one["gains"][GAIN]["per_seed"]) for label, one in results.items()}
    highs = {label: confidence_interval(list(each))[1] for label, each in by_seed.items()}
    nim = {n: gains[f"nim, {n} players"] for n in range(2, 7)}
    yield "in Nim from {} for two to {} for six", nim[2], nim[6]
    two = [gains[f"{name}, 2 players"] for name in ("sim K5", "sim K6", "yavalath side 3")]
    names = [f"{name}, 3 players" for name in ("sim K5", "sim K6", "yavalath side 3")]
    three = [gains[name] for name in names]
    yield "from {} or more for two to {} or less for three", min(two), max(three)
    yield "**Wrong**: {}, {} and {}. That the loser", *two
    yield "gains {} or less (no interval goes above {})", max(three), max(highs[n] for n in names)
    less = by_seed["ewn 4x4, 2 players"] - by_seed["ewn 4x4, 4 players"]
    yield "in EinStein 4x4: {} ({} to {})", less.mean(), *confidence_interval(list(less))
    forecast = {one["label"]: one for one in read("n_players/forecast.json")}
    missed = [
        forecast[f"{name}, 2 players"]["losses_missed"]
        for name in ("sim K5", "sim K6", "yavalath side 3")
    ]
    yield "(losses missed {}, {} and {})", *missed
    pig = [name for name in gains if name.startswith("pig")]
    yield (
        "Pig gains {} at most (no interval goes above {})",
        *(max(one[n] for n in pig) for one in (gains, highs)),
    )
    several = [nim[n] for n in range(3, 7)]
    yield (
        "Nim {} to {} for three players and more against {} for two",
        min(several),
        max(several),
        nim[2],
    )
    orders = [
        spearmanr([forecast[label][name] for label in gains], [*gains.values()]).statistic
        for name in ("losses_missed", "blindness")
    ]
    yield "**Wrong**: {} (blindness {}).", *orders
    adds = {
        label: np.subtract(*(np.mean(one["against_random"][name], 1) for name in ("farl", "none")))
        for label, one in results.items()
    }
    pairs = {"sim K6": 3, "yavalath side 3": 3, "ewn 4x4": 4}
    many = [adds[f"{name}, {players} players"] for name, players in pairs.items()]
    few = [adds[f"{name}, 2 players"] for name in pairs]
    yield "three or four players ({}, {} and {}) than", *(each.mean() for each in many)
    yield "than with two ({}, {} and {}).", *(each.mean() for each in few)
    differences = [
        value for pair in zip(many, few, strict=True) for value in welch(*map(list, pair))
    ]
    yield "over seeds, are {} ({} to {}), {} ({} to {}) and {} ({} to {})", *differences
    matches = {one["label"]: one["matches"] for one in read("n_players/equal_time.json")["results"]}
    times = [
        one["mcts_core_ms"] / one["agent_core_ms"]
        for label in ("nim, 3 players", "pig to 15, 3 players")
        for one in matches[label]
        if one["opponent"] == "mcts-10"
    ]
    yield "where a move takes MCTS {} and {} times as long", *times
    yield "In Pig for two it adds {}, and", adds["pig to 15, 2 players"].mean()
    timed = ("sim K6, 3 players", "nim, 3 players", "pig to 15, 3 players")
    ones = [next(one for one in matches[name] if one["opponent"] == "mcts-1") for name in timed]
    yield (
        "agents earn {}, {} and {} in Sim, Nim and Pig on average",
        *(np.mean(one["agent"]) for one in ones),
    )
    weak = [np.mean(results[name]["against_random"]["farl"]) for name in timed]
    yield "against random players {}, {} and {}.", *weak
    better = [
        seat[1] > 0
        for name in timed
        for one in matches[name]
        if one["play"] != "greedy"
        for seat in one["more"]
        if len(seat) == 3
    ]
    assert sum(better) == 1
    yield from of_one_table()
    yield from of_speeds()
    yield from of_second_round()


def of_speeds() -> Iterator[Claim]:
    """Our random play and training next to random play of OpenSpiel."""
    rows = read("n_players/speeds.json")["results"]
    random, training = ([row[f"times_{name}"] for row in rows] for name in ("random", "training"))
    yield "our random play is {} to {} times as fast as a loop", min(random), max(random)
    yield "make {} to {} times the moves of that loop", min(training), max(training)
    assert sorted(row["game"] for row in rows if row["times_random"] >= 50) == ["ewn", "othello"]
    assert sorted(row["game"] for row in rows if row["times_training"] >= 5) == ["ewn", "pig"]
    slow = [row["game"].split()[0] for row in rows if row["training"] < 200_000]
    assert slow == ["othello", "chinese_checkers"]
    large = [row["game"].split()[0] for row in rows if row["mb_a_lane"] > 300]
    assert large == ["2048", "chinese_checkers"]


def of_one_table() -> Iterator[Claim]:
    """What one table for all players gains."""
    results = {one["label"]: one for one in read("n_players/one_table.json")["results"]}
    gains = [one["gains"][share]["per_seed"] for one in results.values() for share in SHARES]
    lows = [confidence_interval(each)[0] for each in gains]
    yield "better in {} of {} comparisons", sum(np.mean(each) > 0 for each in gains), len(gains)
    assert sum(low > 0 for low in lows) == 6
    assert all(confidence_interval(each)[1] > 0 for each in gains)
    nim, sim = (results[name] for name in ("nim, 3 players", "sim K6, 2 players"))
    half = nim["half over all"]["per_seed"]
    yield "of them in Nim, by {} ({} to {})", np.mean(half), *confidence_interval(half)
    lost = [-each for each in sim["half over all"]["per_seed"]]
    yield "worse in Sim for two, by {} ({} to {})", np.mean(lost), *confidence_interval(lost)
    assert round(nim["gains"]["1/8"]["gain"], 2) == round(nim["gains"]["all"]["gain"], 2)
    yield "**wrong**, {} both times", nim["gains"]["1/8"]["gain"]
    three = more_against_random(results["sim K6, 3 players"], "1/8")
    yield "in Sim barely ({})", np.mean(three)


def of_second_round() -> Iterator[Claim]:
    """Networks, Mensch ärgere dich nicht, Chinese checkers and perfect players."""
    gains = {one["label"]: one["gains"] for one in read("n_players/results.json")["results"]}

    def spread(label: str, pair: str = GAIN, sign: int = 1) -> list[float]:
        """The mean over seeds of a gain, or of a loss, and its interval."""
        values = [sign * each for each in gains[label][pair]["per_seed"]]
        return [float(np.mean(values)), *confidence_interval(values)]

    checkers = [gains[f"chinese_checkers two rows, {n} players"][GAIN]["gain"] for n in (2, 6)]
    for where in ("on two rows it gains", "in Chinese checkers it gains"):
        yield f"{where} {{}} for two players and {{}} for six", *checkers
    per_seed = {
        (board, n): gains[f"sim {board}, {n} players, network"][GAIN]["per_seed"]
        for board in ("K5", "K6")
        for n in (2, 3)
    }
    less = [np.subtract(per_seed[board, 2], per_seed[board, 3]) for board in ("K5", "K6")]
    ends = [end for each in less for end in (each.mean(), *confidence_interval([*each]))]
    yield "contain 0: K5 {} ({} to {}), K6 {} ({} to {}).", *ends
    three, four = (spread(f"maedn, {n} players", sign=-1) for n in (3, 4))
    yield "without it win by {} ({} to {}) for three players and {} ({} to {})", *three, *four
    (longer,) = read("n_players/longer.json")["results"]
    gained = longer["gains"][GAIN]["per_seed"]
    yield "agents with it gain {} ({} to {})", np.mean(gained), *confidence_interval(gained)
    part = "farl over part1"
    yield (
        "in EinStein 4x4 for two the second part gains {} ({} to {}) over",
        *spread("ewn 4x4, 2 players, network", part),
    )
    yield (
        "in Sim K5 for two it loses {} ({} to {})",
        *spread("sim K5, 2 players, network", part, -1),
    )
    networks = {
        label.removesuffix(", network"): each[GAIN]["gain"]
        for label, each in gains.items()
        if label.endswith(", network")
    }
    names = ("nim", "sim K6", "yavalath side 3", "ewn 4x4")
    yield (
        "right in Nim, Sim K6, Yavalath and EinStein ({}, {}, {} and {}), **wrong** in Sim K5 ({})",
        *(networks[f"{name}, 2 players"] for name in (*names, "sim K5")),
    )
    yield "**Right** for Maedn with two players ({})", gains["maedn, 2 players"][GAIN]["gain"]
    yield "what was run, Pig for six ({})", gains["pig to 15, 6 players"][GAIN]["gain"]
    large = "ewn 6x6, three stones"
    yield (
        "it is {} for four and {} for three players",
        *(gains[f"{large}, {players} players"][GAIN]["gain"] for players in (4, 3)),
    )
    found = {one["label"]: one for one in read("n_players/perfect.json")["results"]}
    losses = {
        label: {name: np.array(lost(one, name)) for name in ("farl", "none")}
        for label, one in found.items()
    }
    less = [(each["none"] - each["farl"]).mean() for each in losses.values()]
    assert len(less) == 6
    assert all(confidence_interval(list(e["none"] - e["farl"]))[0] > 0 for e in losses.values())
    yield "they lose less in all six games, by {} to {}", min(less), max(less)
    two = list(losses["nim, 2 players"]["farl"])
    yield "In Nim for two they lose {} ({} to {})", np.mean(two), *confidence_interval(two)
