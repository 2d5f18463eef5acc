"""Does the mean of the weights play better? All networks that the study of ConnectFour has kept.

    python -m experiments.averaging.connectfour

Trains nothing and prints the table from experiments/connectfour/results.json, where each training
was judged by its last weights and by their mean over the last third.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.connectfour.run import NETWORKS, figure, grouped, late
from experiments.shared import Section, make_parser
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import mean_sem

Records = Sequence[dict[str, Any]]
STUDY = Path(__file__).parents[1] / "connectfour"


def table_of(figures: Records, matches: Records) -> list[str]:
    """A line of Markdown a condition of two networks or more, a budget, and all of them."""
    head = ["episodes", "condition", "n", "last", "mean", "mean minus last", "higher, lower"]
    head += ["met AB-DL", "wins of 200, mean minus last", "more, fewer"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    gained = gains(matches)
    groups = grouped(figures)
    rows = [(*key, networks) for key, networks in groups.items() if len(networks) > 1]
    for budget in dict.fromkeys(one["episodes"] for one in figures):
        rows.append((budget, "**all**", [one for one in figures if one["episodes"] == budget]))
    for episodes, condition, networks in sorted(rows, key=lambda row: row[0]):
        lines.append(line_of(f"{episodes:,}", condition, networks, gained))
    return [*lines, line_of("all", "**all**", figures, gained)]


def gains(matches: Records) -> dict[str, int]:
    """The run of each network that met AB-DL -> what its mean wins more than its last weights."""
    wins: dict[str, dict[str, int]] = {}
    for one in matches:
        if one["opponent"] == "ab-dl":
            wins.setdefault(one["config"], {})[one["weights"]] = one["wins"]
    return {config: both["mean"] - both["last"] for config, both in wins.items()}


def line_of(episodes: str, condition: str, networks: Records, gained: dict[str, int]) -> str:
    """The mean's shares and wins next to those of the last weights, paired network by network."""
    last, mean = ([late(one, agent) for one in networks] for agent in ("last", "mean"))
    won = [gained[one["config"]] for one in networks if one["config"] in gained]
    cells = [episodes, condition, str(len(networks)), figure(last), figure(mean)]
    cells += compared([high - low for low, high in zip(last, mean, strict=True)], 2)
    cells += [str(len(won)), *compared(won, 1)] if won else ["", "", ""]
    return f"| {' | '.join(cells)} |"


def compared(differences: Sequence[float], digits: int) -> list[str]:
    """Their mean and its standard error, and how many are above and below 0."""
    mean, error = mean_sem(differences)
    told = f"{mean:+.{digits}f}" + (f" ± {error:.{digits}f}" if len(differences) > 1 else "")
    counts = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return [told, f"{counts[0]}, {counts[1]}"]


def main(arguments: Sequence[str] | None = None) -> None:
    make_parser(__file__, __doc__).parse_args(arguments)
    print("\n".join(table_of(Section(STUDY, NETWORKS).read(), Section(STUDY, "matches").read())))


if __name__ == "__main__":
    end_in_a_line(main)
