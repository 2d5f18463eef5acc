"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.discount.tables import GAMES
from experiments.page_tables import kept_records
from experiments.page_text import Cells, Claim, cells_in
from jaxgbg.results.statistics import paired_difference

OUTSIDE = {
    "and gamma .8 6.6": "a setting",
    "best of four discounts is .8 with": "a setting",
    "There .8 costs": "a setting",
    "with .9 and .8. Here": "settings",
}


def gain(game: str, opponent: str, one: tuple[float, str], other: tuple[float, str]) -> list[float]:
    """Mean and interval, by seed, of a score with one (gamma, variant) minus that with another."""
    scores = {
        (row["discount"], row["variant"]): dict(enumerate(row["per_seed"]))
        for row in kept_records(f"discount/{game}")
        if row["opponent"] == opponent
    }
    found = paired_difference(scores[one], scores[other], span=(0.0, 100.0), games=100)
    assert found is not None
    return [*found]


def of_wins(cells: Cells) -> Iterator[Claim]:
    """How often networks of TicTacToe without FARL take a win in one move; ralpha has it too."""
    wins = {
        gamma: cells(f"mlp | {gamma}", "wins taken, without")
        for gamma in ("1", "0.95", "0.9", "0.8", "0.5")
    }
    one = wins.pop("1")
    (chance,) = {
        row["by chance"]["wins taken"]
        for row in kept_records("discount/threats")
        if row["game"] == "tictactoe"
    }
    yield "in one move in {}% of cases with gamma 1 (by chance {}%)", one, chance
    yield "and in {} to {}% with a discount", min(wins.values()), max(wins.values())


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("discount")
    for opponent, sentence in (
        ("solver", "keep the value ({} of {} points, 95% {} to {}, and"),
        ("blocker", "that blocks it is {} of {}, with an interval from {} to {} that"),
    ):
        mean, low, high = gain("connectfour", opponent, (0.9, "none"), (1.0, "none"))
        farl, *_ = gain("connectfour", opponent, (1.0, "farl"), (1.0, "none"))
        yield sentence, mean, farl, low, high
    other, *_ = gain("connectfour", "solver", (0.8, "none"), (1.0, "none"))
    yield "and gamma .8 {}; three seeds", other
    gains = {
        gamma: gain("hex", "mcts-1000", (gamma, "none"), (1.0, "none"))
        for gamma in (0.95, 0.9, 0.8, 0.5)
    }
    mean, low, high = gains[0.9]
    farl, *_ = gain("hex", "mcts-1000", (1.0, "farl"), (1.0, "none"))
    yield "gamma .9 brings {} of {} points (95% {} to {}, five seeds)", mean, farl, low, high
    assert max(gains, key=lambda gamma: gains[gamma][0]) == 0.8
    yield "four discounts is .8 with {} ({} to {})", *gains[0.8]
    yield "though they win {}% against random play", cells("1 | 98.3 ± 0.3", "random, without")
    yield from of_wins(cells)
    yield (
        "There .8 costs {} points ({} to {}),",
        *gain("hex", "mcts-1000", (1.0, "farl"), (0.8, "farl")),
    )
    *_, most = gain("hex", "mcts-1000", (0.9, "farl"), (1.0, "farl"))
    yield "do not exclude a gain of {} points (gamma .9)", most
    shares: dict[bool, list[float]] = {True: [], False: []}
    for row in kept_records("ralpha/tictactoe"):
        if row["variant"] == "none":
            shares[row["discount"] == 1].append(row["mean"])
    ruined, others = shares[True], shares[False]
    yield "won {} to {}% of TicTacToe against", min(ruined), max(ruined)
    yield "with gamma 1, and {} to {}% with", min(others), max(others)
    for game in GAMES:
        rows = [row for row in kept_records("discount/threats") if row["game"] == game]
        chance = rows[0]["by chance"]
        taken, seen = chance["wins taken"], chance["losses seen"]
        yield f"By chance: {taken:.0f} % (wins taken), {{}} % (losses seen)", seen
        yield f"By chance: {{}} % (wins taken), {seen:.0f} % (losses seen)", taken
    network = [cells(f"mlp | {gamma}", "losses seen, without") for gamma in ("0.5", "1")]
    (*_, by_chance) = (
        row["by chance"]["losses seen"]
        for row in kept_records("discount/threats")
        if row["game"] == "tictactoe"
    )
    yield "networks {} % instead of {}, where chance sees {}", *network, by_chance
    yield "wins themselves ({} % are taken)", cells("mlp | 1", "wins taken, without")
    seen = cells.column("losses seen, without", having="mcts-1000, FARL")
    yield "smaller gamma is, from {} to {} %", min(seen), max(seen)
