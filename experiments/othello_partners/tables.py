"""Tables II to IV of van der Ree & Wiering 2013 in Markdown, from the JSON files beside this one.

    python -m experiments.othello_partners.tables td-200000 q-100000 sarsa-100000

Each name is that of a file; a column of three figures for each learner among them.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def cell(row: dict[str, Any], session: str) -> str:
    sem = row[f"{session}_sem"]
    return f"{row[session]:.1f}" + (f" ± {sem:.1f}" if sem is not None else "")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    names = parser.parse_args(arguments).names
    records = [row for name in names for row in json.loads((HERE / f"{name}.json").read_text())]
    learners = list(dict.fromkeys(row["learner"] for row in records))
    cells = {(row["learner"], row["partner"], row["opponent"]): row for row in records}
    partners = list(dict.fromkeys(row["partner"] for row in records))
    for opponent in dict.fromkeys(row["opponent"] for row in records):
        print(f"\n**Tested against {opponent}**\n")
        heads = " | ".join(f"{learner}: best | final | paper" for learner in learners)
        print(f"| trained against | {heads} |")
        print("|---" * (1 + 3 * len(learners)) + "|")
        for partner in partners:
            rows = [cells.get((learner, partner, opponent)) for learner in learners]
            texts = [
                f"{cell(row, 'best')} | {cell(row, 'final')} | {row['paper_best']}"
                if row
                else "| |"
                for row in rows
            ]
            print(f"| {partner} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
