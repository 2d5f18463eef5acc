"""Hex and ConnectFour by games in lockstep and rule, in Markdown, from results.json.

    python -m experiments.lockstep.tables

Mean ± standard error over the seeds, in %, with the 95 % interval of that mean; where
all seeds agree, that of their games in one evaluation.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.shared import Section
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


def figures(record: dict[str, Any]) -> str:
    low, high = confidence_interval(record["per_seed"], span=(0.0, 1.0), games=GAMES_OF_EVALUATION)
    mean, sem, low, high = (100 * each for each in (record["mean"], record["sem"], low, high))
    return f"{mean:.1f} ± {sem:.1f} ({low:.1f} to {high:.1f})"


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
