"""TicTacToe's settings in Markdown, from tictactoe.json.

python -m experiments.ralpha.table
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jaxgbg.training.ending import end_in_a_line

HERE = Path(__file__).parent
COLUMNS = {
    "FARL": ("farl", False),
    "FARL, one trace": ("farl", True),
    "without": ("none", False),
    "without, one trace": ("none", True),
}


def table_of(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each network, lambda and gamma: games won in % and standard errors."""
    heads = ["network", "lambda", "gamma", "slides", *COLUMNS]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    names = ("hidden", "trace_decay", "discount", "variant", "shared_traces")
    found = {tuple(row[name] for name in names): row for row in rows}
    for setting in sorted({key[:3] for key in found}, key=lambda one: (one[0], one[1], -one[2])):
        own = [found.get((*setting, *column)) for column in COLUMNS.values()]
        paper = next(row["paper_mean"] for row in own if row is not None)
        cells = ["" if row is None else f"{row['mean']:.1f} ± {row['sem']:.1f}" for row in own]
        yield f"| {' | '.join([*(f'{one}' for one in setting), f'{paper:.1f}', *cells])} |"


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args(arguments)
    print("\n".join(table_of(json.loads((HERE / "tictactoe.json").read_text()))))


if __name__ == "__main__":
    end_in_a_line(main)
