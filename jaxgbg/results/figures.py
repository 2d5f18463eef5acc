"""Charts of rows: learning curves, means by setting, heat maps and performance profiles."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from jaxgbg.arguments import Band, Kind
from jaxgbg.results.axes import VARIANT, Axis, value_text
from jaxgbg.results.curves import (
    COLOURS,
    CurveStyles,
    curve,
    figures_of,
    label_of,
    length_of,
    panels_of,
    paper_words,
    span_of,
    styles_of,
    title,
    words,
)
from jaxgbg.results.robust import profile
from jaxgbg.results.rows import Row, Table, group, source_of
from jaxgbg.results.statistics import cluster_interval, confidence_interval
from jaxgbg.runs import Result, Run
from jaxgbg.runs.storage.files import written_whole

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FORMATS = ("png", "svg", "pdf")
# A longer legend goes to the right of the panels instead of above them.
_MOST_ABOVE = 4
_INCHES_A_LINE = 0.18
_BANDS = {"sem": "band ± one standard error", "interval": "band 95 % interval"}


def draw_curves(curves: Sequence[tuple[Run, Sequence[Result]]], path: Path) -> None:
    """Draw one panel for each game and opponent of some runs, like `draw`."""
    draw(group([source_of(run, results) for run, results in curves]), path)


@contextlib.contextmanager
def default_style() -> Iterator[None]:
    """Use matplotlib's default style and ignore the user's matplotlibrc.

    A matplotlibrc would change the bytes of a figure, or need LaTeX, which may be missing.
    """
    from matplotlib import rc_context, rcdefaults

    with rc_context():
        rcdefaults()
        yield


@default_style()
def draw(table: Table, path: Path, kind: Kind = "curves", band: Band = "sem") -> None:
    """Draw rows to a PNG, SVG or PDF file, chosen by its name; the file is complete or absent.

    A panel shows a game and opponent. "curves" has a line for each row over the episodes, and the
    paper's figure dashed; "means" the means of the last fifth with 95% intervals over the first
    axis; "heatmap" the means over two axes; "profile" the share of lanes above each score. Raises
    ValueError for another type of file, or if there is nothing to draw.
    """
    check_name(path)
    panels = panels_of(table.rows)
    if not panels:
        raise ValueError("there are no evaluations to draw")
    _check_axes(table.axes, kind)
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    styles = styles_of(table)
    first = next((axis.short for axis in table.axes if len(axis.values) > 1), "")
    lines_of_means = {tuple(v for n, v in r.settings.items() if n != first) for r in table.rows}
    told = {"means": len(lines_of_means), "heatmap": 0}.get(kind, len(styles))
    beside = told > _MOST_ABOVE
    longest = max(len(look.label) for look in styles.values())
    width = 4.3 * columns + beside * (1.2 + 0.06 * longest)
    figure = new_figure(width, 3.2 * lines)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes, panels, strict=False):
        _PANELS[kind](axis, panel, table, styles, band)
        axis.set_title(title(panel[0]), fontsize=10)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    if kind != "heatmap":
        _add_legend(figure, list(axes[: len(panels)]), table, beside, columns)
    figure.supxlabel(_caption(table.rows, kind, band), fontsize=8, color="#555555")
    save(figure, path)


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty matplotlib figure that needs no screen; sizes in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", path: Path) -> None:
    """Write a figure, complete or not at all, with reproducible bytes."""
    from matplotlib import rc_context

    form = check_name(path)
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with (
        rc_context({"svg.fonttype": "none", "svg.hashsalt": "jaxgbg"}),
        written_whole(path) as made,
    ):
        figure.savefig(made, format=form, dpi=160, metadata=dates.get(form))


def check_name(path: Path) -> str:
    """The file type of a figure, by its name; raises ValueError for other types."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise ValueError(f"{path}: the name of a figure must end in .png, .svg or .pdf")
    return form


def _draw_curves(
    axis: "Axes", panel: list[Row], table: Table, styles: CurveStyles, band: Band
) -> None:
    from matplotlib.ticker import EngFormatter

    references: dict[float, list[Row]] = {}
    for row in panel:
        look = styles[row.key]
        episodes, mean, sem = curve(row)
        low, high = mean - sem, mean + sem
        if band == "interval":
            span = row.scale.span
            method = cluster_interval if row.pooled else confidence_interval
            both = [method(at, span=span, games=row.games()) for at in figures_of(row)[1]]
            low, high = np.where(np.isnan(both), mean[:, None], both).T
        axis.plot(
            episodes, mean, look.dashes, color=look.colour, label=look.label, marker=".", ms=4
        )
        axis.fill_between(episodes, low, high, color=look.colour, alpha=0.2, lw=0)
        if row.paper_mean is not None and row.as_published:
            references.setdefault(row.paper_mean, []).append(row)
    for figure, rows in references.items():
        colour = styles[rows[0].key].colour if len(rows) == 1 else "#555555"
        longest = max(rows, key=length_of)
        ends = [0, length_of(longest)]
        axis.plot(ends, [figure] * 2, color=colour, lw=0.9, ls="--", zorder=1, gid="paper")
        if paper_words(longest) != "paper":
            axis.annotate(
                paper_words(longest),
                xy=(0, figure),
                xytext=(3, 2),
                textcoords="offset points",
                fontsize=7,
                color=colour,
            )
    axis.set(xlabel="episodes", ylabel=panel[0].scale.label, ylim=span_of(panel, table.rows))
    end = max(length_of(row) for row in table.rows if row.game == panel[0].game)
    axis.set_xlim(0, 1.03 * end)
    axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    axis.grid(alpha=0.25)


def _draw_means(
    axis: "Axes", panel: list[Row], table: Table, styles: CurveStyles, band: Band
) -> None:
    del band
    first, *others = [each for each in table.axes if len(each.values) > 1]
    places = dict(zip(first.values, _places(first), strict=True))
    width = max(places.values()) - min(places.values())
    numbers = all(isinstance(value, int | float) for value in first.values)

    lines: dict[str, list[Row]] = {}
    for row in panel:
        lines.setdefault(label_of(others, row.settings), []).append(row)
    for number, (label, of_line) in enumerate(lines.items()):
        # Offset the points so that no bar hides another.
        aside = 0.012 * (number - (len(lines) - 1) / 2) * width
        x = [places[row.settings[first.short]] + aside for row in of_line]
        mean = np.array([row.mean for row in of_line])
        errors = np.abs(np.array([(r.low, r.high) for r in of_line]).T - mean)
        colour = COLOURS[number % len(COLOURS)]
        axis.errorbar(
            x,
            mean,
            np.nan_to_num(errors),
            color=colour,
            label=label,
            marker="o",
            ms=4,
            capsize=3,
            # Only numbers are connected by lines.
            ls="-" if numbers else "",
        )
        published = [row.paper_mean if row.as_published else None for row in of_line]
        if len(of_line) > 1 and len(set(published)) > 1:
            known = np.array(published, float)
            axis.plot(x, known, color=colour, lw=0.9, ls="--", marker="x", ms=4, gid="paper")
    axis.set_xticks(list(places.values()), [words(first, value, 1) for value in first.values])
    axis.set(xlabel=first.short, ylabel=panel[0].scale.label)
    axis.grid(alpha=0.25)


def _places(axis: Axis) -> Sequence[float]:
    """The x-positions of an axis: numbers at their values, others equally spaced."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in axis.values)
    spread = np.diff(axis.values) if numbers else np.ones(1)
    # Numbers that are too close together, such as powers of ten, are equally spaced.
    if numbers and spread.min() > 0.05 * spread.sum():
        return axis.values
    return range(len(axis.values))


def _draw_heatmap(
    axis: "Axes", panel: list[Row], table: Table, styles: CurveStyles, band: Band
) -> None:
    del styles, band
    down, across = (each for each in table.axes if len(each.values) > 1)
    means = np.full((len(down.values), len(across.values)), np.nan)
    for row in panel:
        place = (
            down.values.index(row.settings[down.short]),
            across.values.index(row.settings[across.short]),
        )
        means[place] = row.mean
    picture = axis.imshow(means, origin="lower", aspect="auto", cmap="viridis")
    axis.figure.colorbar(picture, ax=axis, label=panel[0].scale.label)
    middle = np.nanmean([np.nanmin(means), np.nanmax(means)])
    for (y, x), mean in np.ndenumerate(means):
        if np.isfinite(mean):
            colour = "white" if mean < middle else "black"
            axis.text(x, y, panel[0].scale.text(mean), color=colour, ha="center", va="center")
    axis.set_xticks(range(len(across.values)), list(map(value_text, across.values)))
    axis.set_yticks(range(len(down.values)), list(map(value_text, down.values)))
    axis.set(xlabel=across.short, ylabel=down.short)


def _draw_profile(
    axis: "Axes", panel: list[Row], table: Table, styles: CurveStyles, band: Band
) -> None:
    del table, band
    scores = np.concatenate([row.per_seed for row in panel])
    margin = 0.05 * float(np.ptp(scores)) or 0.5
    levels = np.linspace(scores.min() - margin, scores.max() + margin, 200)
    for row in panel:
        look = styles[row.key]
        shares, low, high = (100 * part for part in profile(row, levels))
        axis.step(levels, shares, look.dashes, color=look.colour, label=look.label, where="post")
        axis.fill_between(levels, low, high, color=look.colour, alpha=0.15, lw=0, step="post")
    axis.set(xlabel=panel[0].scale.label, ylabel="agents above it (%)", ylim=(-3, 103))
    axis.grid(alpha=0.25)


_PANELS = {
    "curves": _draw_curves,
    "means": _draw_means,
    "heatmap": _draw_heatmap,
    "profile": _draw_profile,
}


def _check_axes(axes: Sequence[Axis], kind: Kind) -> None:
    """Raise ValueError if a chart needs other axes."""
    several = [axis.short for axis in axes if len(axis.values) > 1]
    more = " ".join(several[2:])
    told = (
        f"{', '.join(several) or 'nothing'} differs here"
        if len(several) < 2
        else (f"{', '.join(several)} differ here")
    )
    if kind == "heatmap" and len(several) != 2:
        over = f": reduce them to two, for example with --pool {more}" if more else ""
        raise ValueError(f"a heatmap needs two axes, and {told}{over}")
    if kind == "means" and not several:
        raise ValueError(f"a chart of means needs an axis, and {told}")


def _add_legend(
    figure: "Figure", axes: Sequence["Axes"], table: Table, beside: bool, columns: int
) -> None:
    """Add one legend for all panels: above them, or to their right if it is long."""
    from matplotlib.lines import Line2D

    found: dict[str, Artist] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    found.pop("", None)
    if any(line.get_gid() == "paper" for axis in axes for line in axis.lines):
        found["paper"] = Line2D([], [], color="#555555", lw=0.9, ls="--")
    if not found:
        return
    several = [axis for axis in table.axes if len(axis.values) > 1]
    name = several[0].short if len(several) == 1 and several[0].path != VARIANT else None
    where: Literal["outside right upper", "outside upper center"]
    if beside:
        # A long legend would be cut off at the bottom of the figure.
        figure.set_figheight(max(figure.get_figheight(), _INCHES_A_LINE * (len(found) + 2)))
        where, across = "outside right upper", 1
    else:
        # As many columns as fit above the panels.
        longest = max(map(len, found))
        across = min(len(found), max(1, int(4.3 * columns / (0.5 + 0.07 * longest))))
        where = "outside upper center"
    figure.legend(
        found.values(), found, title=name, fontsize=8, title_fontsize=8, loc=where, ncols=across
    )


def _caption(rows: Sequence[Row], kind: Kind, band: Band) -> str:
    counts = sorted({row.n for row in rows})
    if counts == [1]:
        # A single agent has neither a mean nor an error.
        last = "" if kind == "curves" else ", mean of the last fifth of the training"
        return f"1 agent{last}"
    pooled = list(dict.fromkeys(name for row in rows for name in row.pooled))
    noun = "agents" if not pooled else f"seeds, each the mean over its {' and '.join(pooled)}"
    seeds = f"{counts[0]} to {counts[-1]} {noun}" if len(counts) > 1 else f"{counts[0]} {noun}"
    words = {
        "curves": f"mean over {seeds}, {_BANDS[band]}",
        "means": f"mean over {seeds} of the last fifth of the training, bars 95 % interval",
        "heatmap": f"mean over {seeds} of the last fifth of the training",
        "profile": f"{seeds}, last fifth of the training, band 95 % interval",
    }
    return words[kind]
