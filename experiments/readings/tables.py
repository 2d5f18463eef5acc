"""The tables and the picture of README.md, of the archived runs: other readings of the paper and
ours.

python -m experiments.readings.tables --picture experiments/readings/readings.png
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.shared import add_legend, archived_runs, new_figure
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.axes import run_values, short_of
from jaxgbg.results.figures import save
from jaxgbg.results.rows import Row, rows
from jaxgbg.results.statistics import paired_difference
from jaxgbg.runs import Run
from jaxgbg.runs.presets import preset

HERE = Path(__file__).parent
# How far a mean may be from that of the published settings, in the unit of the score.
NEAR = {"tictactoe": 5.0, "nim3p": 0.05}
VARIANTS = ("farl", "none")
WORDS = {"farl": "with FARL", "none": "without FARL"}
TITLES = {"tictactoe": "TicTacToe", "nim3p": "Nim3P"}
PARTS = ("learner", "value", "schedule")
WRITTEN = {True: "yes", False: "no"}
# Nobody wins more against perfect play; with ten equal seeds the interval of a mean reaches beyond.
MOST = {"tictactoe": 50.0, "nim3p": 1.0}
# The color of a variant, and how far its points are from the middle of a line.
LOOKS = {"farl": ("tab:blue", -0.12), "none": ("tab:orange", 0.12)}


def changes(run: Run) -> str:
    """What a run changes of the published settings of its game, but for whom it meets."""
    published = run_values(preset(run.game.name))
    # A learner has no value for the settings of another one.
    found = [
        f"{short_of(path)} {WRITTEN.get(value, value)}"
        for path, value in run_values(run).items()
        if path.partition(".")[0] in PARTS
        and None not in (value, published.get(path))
        and value != published[path]
    ]
    return ", ".join(found) or "published"


def figures(game: str) -> dict[str, dict[str, Row]]:
    """By what a run changes: the row of each variant."""
    found = {}
    for archived in archived_runs(HERE):
        if archived.run.game.name == game:
            both = rows(archived.run, archived.results(), 0.0)
            found[changes(archived.run)] = {str(row.settings["variant"]): row for row in both}
    order = sorted(
        found, key=lambda text: (text != "published", not text.startswith("learner"), text)
    )
    return {text: found[text] for text in order}


def difference(row: Row, published: Row) -> tuple[float, float, float]:
    """Mean and 95% interval of a row's difference to the published settings, paired by seed."""
    own, other = (dict(enumerate(each.per_seed)) for each in (row, published))
    found = paired_difference(own, other, row.scale.span, row.games())
    assert found is not None
    return found


def verdict(low: float, high: float, near: float) -> str:
    """By the words of the forecast."""
    if low <= 0 <= high and high - low <= near:
        return "the same"
    return "matters" if low > near or high < -near else "undecided"


def table_of(game: str) -> Iterator[str]:
    """A line for each reading."""
    found, near = figures(game), NEAR[game]
    yield "| change | with FARL | difference | outcome | without | difference | outcome |"
    yield "|---|---|---|---|---|---|---|"
    for text, both in found.items():
        cells = [text]
        for variant in VARIANTS:
            row, scale = both[variant], both[variant].scale
            cells.append(f"{scale.text(row.mean)} ± {scale.text(row.sem)}")
            if text == "published":
                cells += ["", ""]
                continue
            if row.per_seed == found["published"][variant].per_seed:
                cells += ["no seed differs", "the same"]
                continue
            mean, low, high = difference(row, found["published"][variant])
            reach = f"{scale.text(low)} to {scale.text(high)}"
            cells += [f"{scale.text(mean)} ({reach})", verdict(low, high, near)]
        yield f"| {' | '.join(cells)} |"


def draw(path: Path) -> None:
    """Draw a panel for each game: the mean of each reading and its 95% interval."""
    figure = new_figure(11, 5)
    for axes, game in zip(figure.subplots(1, len(NEAR)), NEAR, strict=True):
        found = figures(game)
        for variant, (colour, shift) in LOOKS.items():
            own = [both[variant] for both in found.values()]
            axes.errorbar(
                [row.mean for row in own],
                [number + shift for number in range(len(own))],
                xerr=[
                    [row.mean - row.low for row in own],
                    [min(row.high, MOST[game]) - row.mean for row in own],
                ],
                fmt="o",
                color=colour,
                label=WORDS[variant],
            )
        axes.set_yticks(range(len(found)), list(found))
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.grid(axis="x", alpha=0.3)
        axes.set_title(f"{TITLES[game]} against Max-N")
        axes.set_xlabel({"tictactoe": "win rate (%)", "nim3p": "mean reward"}[game])
    add_legend(figure)
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw it")
    options = parser.parse_args(arguments)
    for game in NEAR:
        print(f"{TITLES[game]}\n")
        print("\n".join(table_of(game)), end="\n\n")
    if options.picture:
        draw(options.picture)


if __name__ == "__main__":
    end_in_a_line(main)
