"""A game's settings in Markdown, from tictactoe.json or connectfour.json.

python -m experiments.ralpha.table tictactoe
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.shared import Section
from jaxgbg.cli.exit_codes import end_in_a_line

HERE = Path(__file__).parent
COLUMNS = {
    "FARL": ("farl", False),
    "FARL, one trace": ("farl", True),
    "without": ("none", False),
    "without, one trace": ("none", True),
}


def table_of(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each network, lambda and gamma: games won in % and standard errors."""
    columns = {name: column for name in COLUMNS if (column := column_of(rows, name))}
    heads = ["network", "lambda", "gamma", "slides", *columns]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    slides = {setting_of(row): row["paper_mean"] for row in rows}
    for setting in sorted(slides, key=lambda one: (one[0], one[1], -one[2])):
        own = [cell(rows_of.get(setting)) for rows_of in columns.values()]
        paper = f"{slides[setting]:.1f}"
        yield f"| {' | '.join([*(f'{one}' for one in setting), paper, *own])} |"


def column_of(
    rows: Sequence[dict[str, Any]], name: str
) -> dict[tuple[str, float, float], dict[str, Any]]:
    """The rows of a column by their settings."""
    # Where all runs have a trace each, the rows do not say so.
    own = [
        row for row in rows if (row["variant"], row.get("shared_traces", False)) == COLUMNS[name]
    ]
    return {setting_of(row): row for row in own}


def setting_of(row: dict[str, Any]) -> tuple[str, float, float]:
    """The network, lambda and gamma of a row."""
    return row["hidden"], row["trace_decay"], row["discount"]


def cell(row: dict[str, Any] | None) -> str:
    """Mean and standard error; of one network there is none."""
    if row is None:
        return ""
    return f"{row['mean']:.1f}" + ("" if row["sem"] is None else f" ± {row['sem']:.1f}")


def agreement(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Do the settings stand in the slides' order? Of each column that has them all."""
    networks = sorted({row["hidden"] for row in rows})
    yield "| next to the slides | settings of | n | rank correlation | mean difference |"
    yield "|---|---|---|---|---|"
    for name in COLUMNS:
        own = column_of(rows, name)
        if own.keys() == {setting_of(row) for row in rows}:
            for asked in (networks, *([one] for one in networks)):
                pairs = np.array(
                    [
                        (one["mean"], one["paper_mean"])
                        for one in own.values()
                        if one["hidden"] in asked
                    ]
                )
                rank, apart = spearmanr(pairs).statistic, np.diff(pairs[:, ::-1]).mean()
                yield f"| {name} | {', '.join(asked)} | {len(pairs)} | {rank:.2f} | {apart:+.1f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("game", choices=("tictactoe", "connectfour"))
    rows = Section(HERE, parser.parse_args(arguments).game).read()
    print("\n".join((*table_of(rows), "", *agreement(rows))))


if __name__ == "__main__":
    end_in_a_line(main)
