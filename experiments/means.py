"""Pictures of means: a panel for each question, a line for each way of training, with intervals."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import Record, add_legend, new_figure, save_figure

VARIANTS = {"farl": ("FARL", "#0072B2"), "none": ("no FARL", "#D55E00")}
"""The names and colors of the variants, as in all figures of results."""

Point = tuple[float, float | None, float | None]
"""A mean and the ends of its 95% interval, both None if that is unknown."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a panel: the points by the settings of the horizontal axis."""

    label: str
    color: str
    points: dict[float, Point]
    style: str = "-"


@dataclasses.dataclass(frozen=True)
class Panel:
    """A panel. `band` is one more mean, as (label, point), over the whole width."""

    title: str
    unit: str
    lines: Sequence[Line]
    band: tuple[str, Point] | None = None


def point_of(record: Record) -> Point:
    """The mean and the interval of a record."""
    return record["mean"], record["low"], record["high"]


def draw_panel(axes: Any, panel: Panel, label: str, settings: Sequence[float]) -> None:
    """Draw a panel over the equally spaced `settings`; zero is on its vertical axis."""
    for number, line in enumerate(panel.lines):
        # Offset the points so that no bar hides another.
        aside = 0.06 * (number - (len(panel.lines) - 1) / 2)
        own = [(at, line.points[one]) for at, one in enumerate(settings) if one in line.points]
        means = [mean for _, (mean, _, _) in own]
        places = [at + aside for at, _ in own]
        look = {"color": line.color, "ls": line.style, "label": line.label}
        axes.plot(places, means, marker="x" if line.style == "--" else "o", ms=4, lw=1.4, **look)
        known = [
            (at + aside, mean, mean - low, high - mean)
            for at, (mean, low, high) in own
            if low is not None and high is not None
        ]
        if known:
            at, mean, below, above = np.array(known).T
            axes.errorbar(at, mean, (below, above), color=line.color, ls="", capsize=3)
    if panel.band is not None:
        name, (mean, low, high) = panel.band
        axes.axhline(mean, color="#555555", lw=0.9, label=name)
        if low is not None:
            axes.axhspan(low, high, color="#555555", alpha=0.15, lw=0)
    axes.set_xticks(range(len(settings)), [f"{one:,g}" for one in settings])
    top = max(axes.get_ylim()[1], 1e-9)
    axes.set(title=panel.title, xlabel=label, ylabel=panel.unit, ylim=(-0.03 * top, top))
    axes.set_xlim(-0.4, len(settings) - 0.6)
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_means(
    panels: Sequence[Panel],
    path: Path,
    label: str,
    caption: str,
    columns: int = 3,
    alike: bool = False,
) -> None:
    """Draw panels, each over the settings that it has.

    Args:
      panels: What to draw.
      path: Of the PNG file.
      label: The horizontal axis.
      caption: What points and bars are; stands below the panels.
      columns: Panels in a row.
      alike: Whether all panels have the same vertical axis.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    # A single panel is as wide as its legend.
    figure = new_figure(max(3.9 * columns, 6.5), 3.1 * rows + 0.4)
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(places, panels, strict=False):
        settings = sorted({one for line in panel.lines for one in line.points})
        draw_panel(axes, panel, label, settings)
    if alike:
        top = max(axes.get_ylim()[1] for axes in places[: len(panels)])
        for axes in places[: len(panels)]:
            axes.set_ylim(-0.03 * top, top)
    add_legend(figure)
    figure.supxlabel(caption, fontsize=8, color="#555555")
    save_figure(figure, path)


def lines_of(
    records: Sequence[Record],
    setting: str,
    look: Callable[[Record], tuple[str, str, str]],
) -> list[Line]:
    """The lines of records by `look`: (label, color, style); `setting` is the horizontal axis."""
    found: dict[tuple[str, str, str], dict[float, Point]] = {}
    for record in records:
        found.setdefault(look(record), {})[record[setting]] = point_of(record)
    return [Line(label, color, points, style) for (label, color, style), points in found.items()]
