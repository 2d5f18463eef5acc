"""Whether our figures agree with Table 1: one criterion for all rows, in Markdown.

    python -m experiments.table1.verdicts

The 95% interval of our mean minus the paper's is Welch's, with ten runs of the paper. A figure
*differs* if the interval leaves out 0. Otherwise it *agrees* if the interval is no wider than
`WIDEST`, and is *undecided* if it is wider. A single seed is undecided.
"""

import argparse
import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from experiments.shared import archived_runs, welch_interval
from experiments.table1.overview import (
    AUTHORS_LIST,
    SHIPPED_LIST,
    figures_one_at_a_time,
    full_budgets,
)
from experiments.table1.report import HERE, LOCKSTEP, SERIAL, SHIPPED, parts_of, rows_of
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import make
from jaxgbg.games.scale import Scale
from jaxgbg.results.statistics import agree, confidence_interval, mean_sem
from jaxgbg.runs.presets import figure

RUNS = 10
"""The number of runs behind a figure of the paper."""
WIDEST = {"win rate": 10.0, "reward": 0.1, "points": 8_000.0}
"""The widest interval that lets a figure agree, by unit."""
AGREES, UNDECIDED, DIFFERS = "agrees", "undecided", "differs"
GAMES = 40
"""Games of one evaluation in ConnectFour: the fewest behind a figure."""
GAMES_AT_ONCE = {("2048", True): "1,024", ("nim3p", False): "256"}
"""The games in lockstep where they are not 64, by game and whether trained on the GPU."""


class Verdict(NamedTuple):
    """One figure of ours next to the paper's; `low` to `high` is NaN for a single seed."""

    row: str
    opponent: str
    games: str
    variant: str
    n: int
    mean: float
    paper: float
    low: float
    high: float
    scale: Scale

    @property
    def outcome(self) -> str:
        if self.low > 0 or self.high < 0:
            return DIFFERS
        narrow = self.high - self.low <= WIDEST[self.scale.unit]
        return AGREES if narrow else UNDECIDED

    @property
    def difference(self) -> tuple[float, float, float]:
        """Our mean minus the paper's, and the ends of its interval."""
        return self.mean - self.paper, self.low, self.high

    @property
    def key(self) -> tuple[str, ...]:
        return self.row, self.opponent, self.games, self.variant


def difference(
    seeds: Sequence[float],
    paper: tuple[float, float],
    scale: Scale,
    games: int,
    level: float = 0.95,
) -> tuple[float, float]:
    """The interval of the mean of the seeds minus the paper's, (mean, standard error).

    If all seeds agree, their error of 0 bounds nothing: their games bound the mean instead, and
    the two intervals are combined (Newcombe 1998, method 10).
    """
    mean, error = mean_sem(seeds)
    if len(seeds) < 2:
        return math.nan, math.nan
    if agree(seeds):
        low, high = confidence_interval(seeds, level, scale.span, games)
        _, reach = welch_interval((0.0, paper[1]), (0.0, 0.0), (RUNS, RUNS), level)
        middle = mean - paper[0]
        return middle - math.hypot(mean - low, reach), middle + math.hypot(high - mean, reach)
    return welch_interval((mean, error), paper, (len(seeds), RUNS), level)


@functools.cache
def verdicts(level: float = 0.95) -> tuple[Verdict, ...]:
    """Every figure of ours that the paper has, with the interval of this level."""
    return tuple(_verdicts(level))


def verdict(*key: str) -> Verdict:
    """The verdict on one figure by row, opponent, games in lockstep and variant."""
    (found,) = (one for one in verdicts() if one.key == key)
    return found


def _verdicts(level: float) -> Iterator[Verdict]:
    parts = parts_of(archived_runs(HERE))
    for title in (LOCKSTEP, SHIPPED, SERIAL):
        for row in rows_of(parts[title]):
            at_once = "1" if title == SERIAL else GAMES_AT_ONCE.get((row.game, False), "64")
            name = SHIPPED_LIST if title == SHIPPED else row.game
            names = name, row.opponent, at_once, row.variant
            yield from judged(row.game, names, row.per_seed, row.games(), level)
    for game, name in (("connectfour", AUTHORS_LIST), ("2048", "2048")):
        at_once = GAMES_AT_ONCE.get((game, True), "64")
        for (opponent, variant), (seeds, games) in full_budgets(game).items():
            yield from judged(game, (name, opponent, at_once, variant), seeds, games, level)
    for (opponent, variant), seeds in figures_one_at_a_time().items():
        names = AUTHORS_LIST, opponent, "1", variant
        yield from judged("connectfour", names, seeds, GAMES, level)


def judged(
    game: str,
    names: tuple[str, str, str, str],
    seeds: Sequence[float],
    games: int,
    level: float,
) -> Iterator[Verdict]:
    """The verdict on one figure; none if the paper does not have it."""
    paper, scale = figure(game, names[1], names[3]), make(game).scale
    if paper is not None:
        interval = difference(seeds, paper, scale, games, level)
        mean = mean_sem(seeds)[0]
        yield Verdict(*names, len(seeds), mean, paper[0], *interval, scale)


def in_table(one: Verdict) -> bool:
    """Whether a figure stands in Table 1 without brackets, or is that of 2048 in brackets."""
    return one.games == ("1" if one.row == "2048" else GAMES_AT_ONCE.get((one.row, False), "64"))


def outcomes_in_table(found: Iterable[Verdict]) -> list[int]:
    """How many figures of the table there are, and how many agree, are undecided and differ."""
    outcomes = [one.outcome for one in found if in_table(one)]
    return [len(outcomes), *map(outcomes.count, (AGREES, UNDECIDED, DIFFERS))]


def table() -> Iterator[str]:
    """A line for each figure."""
    yield "| game | against | games | variant | n | here | paper | difference (95%) | verdict |"
    yield "|---" * 9 + "|"
    for one in verdicts():
        text = one.scale.text
        spread = "" if math.isnan(one.low) else f" ({text(one.low)} to {text(one.high)})"
        cells = [*one.key, str(one.n), text(one.mean), text(one.paper)]
        cells += [f"{text(one.difference[0])}{spread}", one.outcome]
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args(arguments)
    print("\n".join(table()))


if __name__ == "__main__":
    end_in_a_line(main)
