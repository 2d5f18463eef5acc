"""How do speed and memory of training change with games, lanes and board size?

    python -m experiments.scaling.run [--labels "tictactoe, 64 games, 2 lanes" ...] [--out OUT]
    python -m experiments.scaling.run --show [--picture FILE]    # the kept figures

Each point is measured by `jaxgbg bench` in a process of its own, with the published parameters.
Leave the machine idle. Results are in OUT/results.json; what stands there is not measured again.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.shared import (
    add_legend,
    kept_results,
    make_rows_parser,
    measure_missing,
    new_figure,
    save_figure,
)
from jaxgbg.cli.exit_codes import end_in_a_line

FILE = "results.json"
VARIANTS = 2
"""Lanes of each seed: with FARL and without."""


@dataclasses.dataclass(frozen=True)
class Point:
    """`games` in lockstep in each of `lanes`; a `size` of the board or that of the paper."""

    panel: str
    game: str
    games: int
    lanes: int
    size: int | None = None

    @property
    def label(self) -> str:
        """The name of its row."""
        board = "" if self.size is None else f" {self.size}x{self.size}"
        return f"{self.game}{board}, {self.games:,} games, {self.lanes:,} lanes"


GAMES = {
    "tictactoe": (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536),
    "nim3p": (1, 16, 64, 256, 1_024, 4_096, 65_536),
    "connectfour": (1, 4, 16, 64, 256, 1_024, 4_096, 16_384),
}
LANES = {
    "tictactoe": (2, 4, 10, 20, 100, 1_000),
    "nim3p": (2, 4, 10, 20, 100, 1_000),
    "connectfour": (2, 4, 10, 20),
}
SIZES = {"hex": (3, 4, 5, 6, 7, 8), "othello": (4, 6, 8)}
POINTS = (
    *(Point("games", game, each, 2) for game, counts in GAMES.items() for each in counts),
    *(Point("lanes", game, 64, each) for game, counts in LANES.items() for each in counts),
    *(Point("size", game, 64, 2, each) for game, sizes in SIZES.items() for each in sizes),
)
PANELS = {"games": "games in lockstep", "lanes": "lanes", "size": "rows of the board"}
FIGURES = {
    "moves_per_s": "moves a second",
    "peak_mb": "MB a lane",
}


def main(arguments: Sequence[str] | None = None) -> None:
    points = {point.label: point for point in POINTS}
    parser = make_rows_parser(__file__, __doc__, list(points))
    parser.add_argument("--picture", type=Path, help="with --show, draw the figures to this file")
    options = parser.parse_args(arguments)
    if options.show:
        results = kept_results(options.results / FILE)
        print("\n".join(table(results)))
        if options.picture:
            draw(results, options.picture)
        return
    measures = {label: partial(measured, points[label]) for label in options.labels}
    measure_missing(options.out / FILE, "label", measures)


def measured(point: Point) -> dict[str, Any]:
    """The row of `bench` for a point, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "jaxgbg.cli", "bench", point.game]
        command += ["--batches", str(point.games), "--seeds", str(point.lanes // VARIANTS)]
        command += [] if point.size is None else ["--size", str(point.size)]
        command += ["--json", str(file)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        (row,) = json.loads(file.read_text(encoding="utf-8"))
    return {"label": point.label, **{name: row[name] for name in FIGURES}}


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A row for each point, panel by panel."""
    yield f"| point | {' | '.join(FIGURES.values())} |"
    yield "|---|---|---|"
    kept = {one["label"]: one for one in results}
    for label in dict.fromkeys(point.label for point in POINTS):
        if label in kept:
            row = kept[label]
            yield f"| {label} | {row['moves_per_s']:,} | {row['peak_mb']:,.2f} |"


def draw(results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """A row of panels for each figure, a column for each thing that grows."""
    kept = {one["label"]: one for one in results}
    figure = new_figure(10, 5.5)
    axes = figure.subplots(len(FIGURES), len(PANELS), sharex="col")
    games = dict.fromkeys(point.game for point in POINTS)
    colours = {game: f"C{number}" for number, game in enumerate(games)}
    for column, (panel, words) in enumerate(PANELS.items()):
        for row, (name, unit) in enumerate(FIGURES.items()):
            place = axes[row][column]
            for game in games:
                points = [p for p in POINTS if (p.panel, p.game) == (panel, game)]
                points = [p for p in points if p.label in kept]
                if points:
                    x = [getattr(p, panel) for p in points]
                    y = [kept[p.label][name] for p in points]
                    place.plot(x, y, "o-", color=colours[game], label=game, markersize=4)
            place.set(yscale="log", ylabel=unit if column == 0 else None)
            place.set(xscale="linear" if panel == "size" else "log")
            place.set(xlabel=words if row == len(FIGURES) - 1 else None)
            place.grid(alpha=0.3)
    add_legend(figure)
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
