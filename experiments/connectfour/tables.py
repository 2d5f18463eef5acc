"""All tables of the study, from results.json.

    python -m experiments.connectfour.tables

Trains nothing and writes tables.md: what `run`, `matches`, `mistakes` and `ensembles` print, all
networks that met the exact AB-DL by their budget, and the minutes until networks keep the value so
often.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.connectfour import ensembles, matches, mistakes, run
from experiments.connectfour.run import CONDITIONS, NETWORKS, figure, grouped, late
from experiments.shared import Section, make_parser
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.storage.files import written_whole

Records = Sequence[dict[str, Any]]
NAMES = (NETWORKS, "matches", "mistakes", "ensembles")
LEVELS = (85, 90, 92)


def budgets(figures: Records, matches: Records, mistakes: Records) -> list[str]:
    """A line of Markdown a condition and budget, over the networks of both kinds of games."""
    head = ["condition", "episodes", "n", "minutes of one core", "value kept, %"]
    head += ["won of 1,000, mean", "least", "200-0-0"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    shares = {one["config"]: one for one in figures}
    perfect = {
        one["config"]
        for one in matches
        if (one["opponent"], one["weights"], one["wins"]) == ("ab-dl", "mean", 200)
    }
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for one in mistakes:
        groups.setdefault((one["condition"], one["episodes"]), []).append(one)
    for condition, episodes in sorted(groups, key=lambda key: (order(key[0]), key[1])):
        networks = groups[condition, episodes]
        known = [shares[one["config"]] for one in networks]
        wins = [one["wins"] for one in networks]
        minutes = np.mean([one["seconds"] for one in known]) / 60
        cells = [condition, f"{episodes:,}", str(len(networks)), f"{minutes:.1f}"]
        cells += [figure([late(one, "mean") for one in known]), figure(wins), str(min(wins))]
        cells.append(str(sum(one["config"] in perfect for one in networks)))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def reached(figures: Records) -> list[str]:
    """A line of Markdown a budget and condition: the median of the minutes to each level, and how
    many networks get there; those conditions are left out of which none gets to the lowest one.
    """
    head = ["episodes", "condition", "n", *(f"minutes to {level} %" for level in LEVELS)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for (episodes, condition), networks in grouped(figures).items():
        found = [[minutes_to(level, one) for one in networks] for level in LEVELS]
        if np.isfinite(found[0]).any():
            cells = [f"{episodes:,}", condition, str(len(networks)), *map(median_of, found)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def minutes_to(level: float, network: dict[str, Any]) -> float:
    """Until an evaluation of the last weights, the mean's being late ones alone; inf where none.

    All episodes of a training count as equally long.
    """
    at = [int(when) for when, share in network["last"].items() if 100 * share >= level]
    return network["seconds"] / 60 * min(at) / network["episodes"] if at else np.inf


def median_of(minutes: Sequence[float]) -> str:
    """Networks that never get there count as those that take longest."""
    count, median = int(np.isfinite(minutes).sum()), float(np.median(minutes))
    share = f"({count} of {len(minutes)})"
    return "" if not count else f"{median:.1f} {share}" if np.isfinite(median) else share


def order(condition: str) -> int:
    return list(CONDITIONS).index(condition)


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    folder: Path = options.results
    with written_whole(folder / "tables.md") as temporary:
        temporary.write_text(page(*(Section(folder, name).read() for name in NAMES)), "utf-8")


def page(networks: Records, met: Records, missed: Records, joined: Records) -> str:
    """tables.md: a heading and a table for each question."""
    tables = {
        "One setting at a time": run.table_of(networks),
        "Matches": matches.table_of(met),
        "First mistakes": mistakes.table_of(missed),
        "Ensembles": ensembles.table_of(joined),
        "How long, and by what": budgets(networks, met, missed),
        "Minutes until the value is kept so often": reached(networks),
    }
    sections = ["\n".join([f"## {title}", *lines]) for title, lines in tables.items()]
    return "\n\n".join(["# ConnectFour: all tables", *sections]) + "\n"


if __name__ == "__main__":
    end_in_a_line(main)
