"""How long it takes, and what it takes: all networks that met the exact AB-DL, by their budget.

    python -m experiments.connectfour.budgets

Trains nothing: budgets.md is made of figures.json, matches.json and mistakes.json beside this file,
which `run`, `matches` and `mistakes` add to.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.connectfour.run import CONDITIONS, FILE, figure, late, read
from experiments.shared import make_parser
from jaxgbg.training.files import written_whole

Records = Sequence[dict[str, Any]]
NAMES = (FILE, "matches.json", "mistakes.json")


def table_of(figures: Records, matches: Records, mistakes: Records) -> list[str]:
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


def order(condition: str) -> int:
    return list(CONDITIONS).index(condition)


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    folder: Path = options.results
    with written_whole(folder / "budgets.md") as temporary:
        lines = table_of(*(read(folder / name) for name in NAMES))
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
