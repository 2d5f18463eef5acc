"""Learning curves of rows, and their colors, lines and axes in every chart."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.evaluation import in_words
from jaxgbg.games import WIN_RATE, WINS
from jaxgbg.results.axes import VARIANT, Axis, value_text
from jaxgbg.results.rows import Row, Table, panel_numbers
from jaxgbg.results.statistics import mean_sem
from jaxgbg.runs import presets as papers
from jaxgbg.runs.run import MEAN
from jaxgbg.types import SettingValue

# The colors of Okabe and Ito, which color-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = {
    "farl": ("FARL", "#0072B2"),
    "part1": ("FARL part 1 only", "#009E73"),
    "none": ("no FARL", "#D55E00"),
}
STYLES |= {name + MEAN: (f"{label}, mean", colour) for name, (label, colour) in STYLES.items()}
_DASHES = ("-", "--", ":", "-.")


Colour = str | tuple[float, float, float, float]
"""A colour as matplotlib takes it: a name, or red, green, blue and opacity from 0 to 1."""


class CurveStyle(NamedTuple):
    """The label, color and line style of a row."""

    label: str
    colour: Colour
    dashes: str = "-"


CurveStyles = Mapping[tuple[SettingValue, ...], CurveStyle]
"""The look of each combination of settings."""


def panels_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each game, opponent and unit."""
    return [[rows[number] for number in panel] for panel in panel_numbers(rows)]


def styles_of(table: Table) -> CurveStyles:
    """The look of each combination of settings: numbers go from dark to light.

    The last of several axes sets the line style, if there are enough styles; the others set the
    color.
    """
    several = [axis for axis in table.axes if len(axis.values) > 1]
    rows = {row.key: row.settings for row in table.rows}
    coloured, dashed = several[:-1], several[-1:]
    if not coloured or len(dashed[0].values) > len(_DASHES):
        coloured, dashed = several, []
    kinds = {key: tuple(row[axis.short] for axis in coloured) for key, row in rows.items()}
    told = list(dict.fromkeys(kinds.values()))
    if dashed and len(coloured) > 1 and len(told) > len(COLOURS):
        coloured, dashed = several, []
        kinds, told = {key: key for key in rows}, list(rows)
    styles = {}
    for key, row in rows.items():
        number = told.index(kinds[key])
        if len(coloured) == 1:
            colour = _colour(coloured[0], row[coloured[0].short], len(several) == 1)
        else:
            colour = COLOURS[number % len(COLOURS)]
        kind = number // len(COLOURS) if len(coloured) > 1 else 0
        if [axis.path for axis in several] == [VARIANT]:
            kind = int(str(row["variant"]).endswith(MEAN))
        elif dashed:
            kind = dashed[0].values.index(row[dashed[0].short])
        styles[key] = CurveStyle(label_of(several, row), colour, _DASHES[kind % len(_DASHES)])
    return styles


def _colour(axis: Axis, value: SettingValue, alone: bool) -> Colour:
    """The color of a value of the only axis that is shown by colors."""
    from matplotlib import colormaps

    rank = axis.values.index(value)
    if axis.path == VARIANT and alone:
        return STYLES[value][1]
    if len(axis.values) > 2 and all(isinstance(v, int | float) for v in axis.values):
        return colormaps["viridis"](0.9 * rank / (len(axis.values) - 1))
    return COLOURS[rank % len(COLOURS)]


def label_of(axes: Sequence[Axis], settings: Mapping[str, SettingValue]) -> str:
    """Format the values of some axes, without settings that the run does not have."""
    values = [(axis, settings[axis.short]) for axis in axes]
    known = [(axis, value) for axis, value in values if value is not None] or values
    return ", ".join(words(axis, value, len(axes)) for axis, value in known)


def words(axis: Axis, value: SettingValue, axes: int) -> str:
    """Format a value; `axes` is the number of settings in the label."""
    if axis.path == VARIANT:
        return STYLES[value][0]
    return value_text(value) if axes == 1 else axis.label(value)


def title(row: Row) -> str:
    """The title of a panel."""
    return in_words(row.game, row.opponent)


def span_of_shares(row: Row) -> tuple[float, float] | None:
    """The y-range of a panel of shares, up to the best possible score; None for other units."""
    greatest = papers.greatest(row.game, row.opponent) if row.scale == WIN_RATE else None
    high = greatest or row.scale.high
    if not row.scale.percent or row.scale.low is None or high is None:
        return None
    margin = 0.03 * (high - row.scale.low)
    return row.scale.low - margin, high + margin


def span_of(panel: Sequence[Row], rows: Sequence[Row]) -> tuple[float, float]:
    """The y-range of a panel, the same for all panels of its game and unit."""
    share = span_of_shares(panel[0])
    if share is not None:
        return share
    # The lowest reward depends on the number of players, the unit does not.
    unit = panel[0].scale.label
    alike = [r for r in rows if (r.game, r.scale.label) == (panel[0].game, unit)]
    lines = [(mean, sem) for _, mean, sem in map(curve, alike)]
    references = [r.paper_mean for r in alike if r.paper_mean is not None and r.as_published]
    low = min([float((mean - sem).min()) for mean, sem in lines] + references)
    high = max([float((mean + sem).max()) for mean, sem in lines] + references)
    margin = 0.03 * (high - low) or 0.5
    return low - margin, high + margin


def length_of(row: Row) -> int:
    """The episodes of the last evaluation of any lane."""
    return max(map(max, row.curves))


def paper_words(row: Row) -> str:
    """The label of the paper's figure, with its budget if the row has another one."""
    published = papers.episodes_of(row.game)
    if row.scale == WINS or published is None or published == length_of(row):
        return "paper"
    return f"paper, after {published:,} episodes"


def curve(row: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(episodes, mean, standard error) over the lanes that have reached each evaluation."""
    episodes, figures = figures_of(row)
    # A single lane has no error: its band is its curve.
    both = [np.nan_to_num(mean_sem(at)) for at in figures]
    mean, sem = np.array(both).reshape(-1, 2).T
    return episodes, mean, sem


def figures_of(row: Row) -> tuple[np.ndarray, list[list[float]]]:
    """Scores at each evaluation that all lanes had which have come that far."""
    ends = sorted((max(curve) for curve in row.curves), reverse=True)
    figures: dict[int, list[float]] = {}
    for each in row.curves:
        for at, figure in each.items():
            figures.setdefault(at, []).append(figure)
    common = sorted(at for at, f in figures.items() if len(f) == sum(end >= at for end in ends))
    return np.array(common), [figures[at] for at in common]
