"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator, Sequence

from experiments.lockstep.tables import GAMES_OF_EVALUATION
from experiments.page_tables import kept_records, read
from experiments.page_text import EXPERIMENTS, Claim
from experiments.shared import archived_runs
from experiments.table1.report import LOCKSTEP, SERIAL, parts_of, rows_of
from jaxgbg.results.statistics import confidence_interval, paired_difference

OUTSIDE = {"300 k episodes, ideal 0.4": "the rules of Nim3P"}


def minus_serial(game: str, opponent: str, batch: int, rule: str) -> list[float]:
    """Mean and interval, by seed, of a setting minus one game at a time (per cent; rewards)."""
    rows = [row for row in kept_records(f"lockstep/{game}") if row["opponent"] == opponent]
    names = {(row["batch"], row.get("rule", row.get("combine"))): row for row in rows}
    (serial,) = (row for row in rows if row["batch"] == 1)
    own = names[batch, rule]
    found = paired_difference(
        dict(enumerate(own["per_seed"])),
        dict(enumerate(serial["per_seed"])),
        span=(0.0, 1.0),
        games=GAMES_OF_EVALUATION,
    )
    assert found is not None
    scale = 1.0 if game == "nim3p" else 100.0
    return [scale * each for each in found]


def farl_cost(game: str) -> list[float]:
    """One game at a time minus 64 in lockstep, with FARL, by seed."""
    one, many = (
        next(
            row for row in kept_records(f"lockstep/{game}") if (row["batch"], row["variant"]) == key
        )
        for key in ((1, "farl"), (64, "farl"))
    )
    serial, lockstep = (dict(enumerate(row["per_seed"])) for row in (one, many))
    found = paired_difference(serial, lockstep, span=(0.0, 100.0), games=40)
    assert found is not None
    return [*found]


def up_to_256(game: str, opponent: str, rules: Sequence[str]) -> list[list[float]]:
    return [minus_serial(game, opponent, batch, rule) for batch in (16, 64, 256) for rule in rules]


def hex_of_table1() -> list[float]:
    """Hex against MCTS with 10,000 iterations: 64 games in lockstep minus one, by seed."""
    parts = parts_of(archived_runs(EXPERIMENTS / "table1"))
    rows = [
        next(
            row
            for row in rows_of(parts[title])
            if (row.game, row.opponent, row.variant) == ("hex", "mcts", "farl")
        )
        for title in (LOCKSTEP, SERIAL)
    ]
    one, other = (dict(enumerate(row.per_seed)) for row in rows)
    found = paired_difference(one, other, span=rows[0].scale.span)
    assert found is not None
    return [*found]


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    rules = ("mean", "saturating")
    nim3p = up_to_256("nim3p", "maxn", rules)
    means = [each[0] for each in nim3p]
    yield "from one game at a time are {} to {}, their intervals", min(means), max(means)
    yield "intervals up to {} wide on either side", max(high - mean for mean, _, high in nim3p)
    yield "five seeds do not exclude one of {}.", -min(low for _, low, _ in nim3p)
    hexes = [each[0] for each in up_to_256("hex", "mcts-1000", rules)]
    yield "these settings win {} to {} points less", max(hexes), min(hexes)
    yield (
        "with 64 games {} less (95% {} less to {} more)",
        *minus_serial("hex", "mcts-1000", 64, "saturating"),
    )
    mean, low, high = minus_serial("hex", "mcts-1000", 64, "mean")
    yield "`mean` with 64 games, {} to {} less", high, low
    yield "`mean` with 64 games is {} points lower ({} to {})", mean, high, low
    others = [
        minus_serial("hex", "mcts-1000", batch, rule)
        for batch in (16, 64, 256)
        for rule in (*rules, "sum")
        if (batch, rule) != (64, "mean")
    ]
    assert all(low < 0 < high for _, low, high in others)
    means = [each[0] for each in others]
    yield (
        "other settings up to 256 games {} to {} points lower with intervals",
        max(means),
        min(means),
    )
    yield "have {} ({} to {}) against MCTS with 10,000 iterations", *hex_of_table1()
    shares = up_to_256("connectfour", "solver", rules)
    means = [each[0] for each in shares]
    yield "from one game at a time by {} to {} points", min(means), max(means)
    widest = max(shares, key=lambda each: each[2] - each[1])
    yield "the widest of these 95% intervals is {} to {}", *widest[1:]
    yield "a difference of {} ({} to {}).", *minus_serial("connectfour", "ab-dl", 64, "saturating")
    few, many = (minus_serial("connectfour", "ab-dl", n, "saturating") for n in (16, 256))
    yield "16 and 256 games have {} ({} to {}) and {} ({} to {}).", *few, *many
    missed = [minus_serial("connectfour", "ab-dl", n, "saturating") for n in (1024, 4096)]
    yield "costs ConnectFour {} and {} points in matches", *(each[0] for each in missed)
    ends = [-end for mean, low, high in missed for end in (mean, high, low)]
    yield "`saturating` loses {} ({} to {}) and {} points ({} to {}), by seed", *ends
    (serial,) = (
        row["mean"]
        for row in kept_records("lockstep/connectfour")
        if row["opponent"] == "ab-dl" and row["batch"] == 1
    )
    yield "of the {}% that one game", 100 * serial
    rates = {one["label"]: one["moves_per_s"] for one in read("scaling/results.json")["results"]}
    many, few = (rates[f"tictactoe, {games} games, 2 lanes"] for games in ("4,096", "64"))
    yield "games of TicTacToe make {} times the moves", many / few
    large = [minus_serial("nim3p", "maxn", 4096, rule) for rule in ("saturating", "mean")]
    yield (
        "`saturating` is {} lower ({} to {}, by seed) and `mean` {} ({} to {})",
        *large[0],
        *large[1],
    )
    yield (
        "with FARL at {} ({} to {}) and {} ({} to {}) points",
        *farl_cost("nim"),
        *farl_cost("tictactoe"),
    )
    _, most = confidence_interval([0.0, 0.0], span=(0.0, 100.0), games=40)
    yield "and {} (two seeds, whose interval goes to {})", 0.0, most
