"""A game's settings in Markdown, from results.json, and the pictures, which `experiments.redraw`
writes.

python -m experiments.ralpha.table tictactoe
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.means import VARIANTS, Line, Panel, Point, draw_means, lines_of
from experiments.shared import Record, Section, add_legend, new_figure, save_figure
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


def draw(rows: Sequence[Record], path: Path) -> None:
    """Draw a panel for each gamma: games won by lambda, a trace each, and the slides' figures.

    Of TicTacToe it is the shallow network, of ConnectFour the deep one.
    """
    hidden = {"tictactoe": "100", "connectfour": "250 250 50"}[rows[0]["game"]]
    own = [row for row in rows if row["hidden"] == hidden and not row.get("shared_traces", False)]
    panels = []
    for gamma in sorted({row["discount"] for row in own}, reverse=True):
        here = [row for row in own if row["discount"] == gamma]
        lines = lines_of(here, "trace_decay", lambda row: (*VARIANTS[row["variant"]], "-"))
        slides: dict[float, Point] = {
            row["trace_decay"]: (row["paper_mean"], None, None) for row in here
        }
        lines.append(Line("slides", "#555555", slides, "--"))
        panels.append(Panel(f"gamma {gamma:g}", own[0]["unit"], lines))
    count = own[0]["n"]
    networks = f"{count} networks, bars 95% interval" if count > 1 else "one network at each point"
    draw_means(panels, path, "lambda", f"{networks}; last fifth of the training", alike=True)


def draw_curve(rows: Sequence[Record], path: Path) -> None:
    """Draw the games won round by round, and the slides' figure, of one network."""
    (row,) = rows
    figure = new_figure(7, 3.4)
    axes = figure.subplots()
    color = VARIANTS["farl"][1]
    axes.plot(range(1, row["rounds"] + 1), row["curve"], color=color, label="this network")
    label = "slides, mean of rounds 81 to 100"
    axes.plot((81, 100), [row["paper"]] * 2, color="#555555", ls="--", label=label)
    axes.set(xlabel="rounds", ylabel="games won (%)", ylim=(-3, 103))
    axes.set_title(f"{row['shape']} network, gamma {row['gamma']:g}, lambda {row['lambda']:g}")
    axes.grid(alpha=0.25)
    add_legend(figure)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("game", choices=("tictactoe", "connectfour"))
    rows = Section(HERE, parser.parse_args(arguments).game).read()
    print("\n".join((*table_of(rows), "", *agreement(rows))))


if __name__ == "__main__":
    end_in_a_line(main)
