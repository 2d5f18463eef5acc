"""What makes a draw of ConnectFour's n-tuples good: the fours that they hold, and the figures.

python -m experiments.table1.draws
"""

import argparse
import math
from collections.abc import Iterator, Sequence

from scipy.stats import spearmanr

from experiments.shared import FinishedRun, archived_runs
from experiments.table1.listed import fours_held
from experiments.table1.report import HERE, LOCKSTEP, parts_of, rows_of
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.values import NTupleSpec

OPPONENTS = ("ab", "ab-dl", "solver")
AGENTS = ("farl", "farl-mean")


def figures_of(folders: Sequence[FinishedRun]) -> dict[int, dict[str, float]]:
    """By seed the fours that its walks hold, and its mean of the last fifth in every match."""
    figures: dict[int, dict[str, float]] = {}
    for folder in folders:
        run = folder.run
        if not isinstance(run.value, NTupleSpec) or not any(run.value.walks):
            continue
        for seed in run.seeds:
            held = fours_held(run.game, run.value.layout_of(run.game, seed))
            figures.setdefault(seed, {})["fours"] = held
        for row in rows_of([folder]):
            name = f"{row.settings['variant']}, {row.opponent}"
            for seed, figure in zip(run.seeds, row.per_seed, strict=True):
                figures[seed][name] = figure
    return figures


def table_of(figures: dict[int, dict[str, float]]) -> Iterator[str]:
    """A line a seed, and one of each column's rank correlation (Spearman) with the fours."""
    columns = [f"{agent}, {opponent}" for agent in AGENTS for opponent in OPPONENTS]
    yield f"| seed | fours | {' | '.join(columns)} |"
    yield "|---" * (2 + len(columns)) + "|"
    for seed, found in sorted(figures.items()):
        cells = " | ".join(f"{found[column]:.1f}" for column in columns)
        yield f"| {seed} | {found['fours']:.0f} | {cells} |"
    fours = [found["fours"] for found in figures.values()]
    correlations = [
        float(spearmanr(fours, [found[column] for found in figures.values()]).statistic)
        for column in columns
    ]
    assert not any(map(math.isnan, correlations))
    yield f"| rank correlation | | {' | '.join(f'{each:.2f}' for each in correlations)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    folders = parts_of(archived_runs(HERE))[LOCKSTEP]
    own = [folder for folder in folders if folder.run.game.name == "connectfour"]
    print("\n".join(table_of(figures_of(own))))


if __name__ == "__main__":
    end_in_a_line(main)
