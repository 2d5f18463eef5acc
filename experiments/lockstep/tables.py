"""Hex and ConnectFour by games in lockstep and rule, in Markdown, from results.json.

    python -m experiments.lockstep.tables

`experiments.redraw` writes the pictures of the same records.
Mean ± standard error over the seeds, in %, with the 95 % interval of that mean; where
all seeds agree, that of their games in one evaluation.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.means import Line, Panel, Point, draw_means, point_of
from experiments.shared import Record, Section
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import confidence_interval

HERE = Path(__file__).parent
GAMES = ("hex", "connectfour")
HEADS = {
    "mcts-100": "MCTS, 100 iterations",
    "mcts-1000": "MCTS, 1,000 iterations",
    "solver": "moves that keep the value",
    "ab": "AB",
    "ab-dl": "AB-DL",
}

GAMES_OF_EVALUATION = 40
"""Games of one evaluation against AB and AB-DL; they bound the figure where all seeds agree."""


def table_of(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each number of games and rule, a column for each opponent."""
    opponents = list(dict.fromkeys(record["opponent"] for record in records))
    found = {(each["batch"], each["rule"], each["opponent"]): each for each in records}
    yield f"| games | rule | {' | '.join(HEADS[each] for each in opponents)} | n | seconds |"
    yield "|---" * (4 + len(opponents)) + "|"
    for batch, rule in sorted({(batch, rule) for batch, rule, _ in found}):
        cells = [found[batch, rule, opponent] for opponent in opponents]
        joined = "–" if rule == "serial" else rule
        seeds, seconds = len(cells[0]["per_seed"]), cells[0]["seconds"]
        texts = " | ".join(map(figures, cells))
        yield f"| {batch:,} | {joined} | {texts} | {seeds} | {seconds:,.0f} |"


RULES = {"saturating": "#0072B2", "mean": "#E69F00", "sum": "#CC79A7"}
LABEL = "games in lockstep"
CAPTION = "5 seeds, last fifth of the training, bars and band 95% interval"


def draw(rows: Sequence[Record], path: Path) -> None:
    """Draw Hex or ConnectFour: a panel for each opponent, a line for each rule."""
    panels = []
    for opponent in dict.fromkeys(row["opponent"] for row in rows):
        own = [row for row in rows if row["opponent"] == opponent]
        (serial,) = (row for row in own if row["rule"] == "serial")
        lines = [_line(own, "rule", rule, _percent) for rule in RULES]
        unit = "moves (%)" if opponent == "solver" else "win rate (%)"
        title = HEADS[opponent] if opponent == "solver" else f"against {HEADS[opponent]}"
        panels.append(Panel(title, unit, lines, ("one game at a time", _percent(serial))))
    draw_means(panels, path, LABEL, CAPTION)


def draw_nim3p(rows: Sequence[Record], path: Path) -> None:
    """Draw Nim3P, where one game at a time stands as the rule `saturating`."""
    (serial,) = (row for row in rows if row["batch"] == 1)
    lines = [_line([row for row in rows if row["batch"] > 1], "combine", one) for one in RULES]
    band = "one game at a time", point_of(serial)
    draw_means([Panel("Nim3P against maxn", "mean reward", lines, band)], path, LABEL, CAPTION)


def _line(
    rows: Sequence[Record], key: str, rule: str, point: Callable[[Record], Point] = point_of
) -> Line:
    return Line(rule, RULES[rule], {row["batch"]: point(row) for row in rows if row[key] == rule})


def _percent(record: Record) -> Point:
    """The mean and its interval in %, from the figures of the seeds."""
    low, high = confidence_interval(record["per_seed"], span=(0.0, 1.0), games=GAMES_OF_EVALUATION)
    return 100 * record["mean"], 100 * low, 100 * high


def figures(record: dict[str, Any]) -> str:
    mean, low, high = _percent(record)
    return f"{mean:.1f} ± {100 * record['sem']:.1f} ({low:.1f} to {high:.1f})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    for game in GAMES:
        print(f"\n**{game}**\n")
        print("\n".join(table_of(Section(HERE, game).read())))


if __name__ == "__main__":
    end_in_a_line(main)
