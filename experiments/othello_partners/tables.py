"""Tables II to IV of van der Ree & Wiering 2013 in Markdown, from the JSON files beside this one.

    python experiments/othello_partners/tables.py td-200000 q-100000 sarsa-100000

Each name is that of a file; a column of three figures for each learner among them.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def cell(row: dict, session: str) -> str:
    sem = row[f"{session}_sem"]
    return f"{row[session]:.1f}" + (f" ± {sem:.1f}" if sem is not None else "")


def main() -> None:
    records = [
        row for name in sys.argv[1:] for row in json.loads((HERE / f"{name}.json").read_text())
    ]
    learners = list(dict.fromkeys(row["learner"] for row in records))
    found = {(row["learner"], row["partner"], row["opponent"]): row for row in records}
    partners = list(dict.fromkeys(row["partner"] for row in records))
    for opponent in dict.fromkeys(row["opponent"] for row in records):
        print(f"\n**Tested against {opponent}**\n")
        heads = " | ".join(f"{learner}: best | final | paper" for learner in learners)
        print(f"| trained against | {heads} |")
        print("|---" * (1 + 3 * len(learners)) + "|")
        for partner in partners:
            rows = [found.get((learner, partner, opponent)) for learner in learners]
            texts = [
                f"{cell(row, 'best')} | {cell(row, 'final')} | {row['paper_best']}"
                if row
                else "| |"
                for row in rows
            ]
            print(f"| {partner} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
