"""The charts of the report: learning curves, and histograms of weights and TC factors."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

import numpy as np

from jaxgbg.games import Scale
from jaxgbg.results.axes import VARIANT
from jaxgbg.results.curves import (
    STYLES,
    curve,
    length_of,
    panels_of,
    paper_words,
    span_of,
    styles_of,
    title,
)
from jaxgbg.results.rows import Table
from jaxgbg.runs.run import MEAN
from jaxgbg.runs.storage.schemas import Histogram
from jaxgbg.types import SettingValue
from jaxgbg.web.chart import Series, chart

PALETTE = 8
"""The number of line colors; further lines are dashed."""
# The lowest logarithm of a share; empty bins are drawn at this level.
_RAREST = -6


def curve_panels(table: Table) -> list[str]:
    """One panel for each game and opponent: mean over the seeds ± s.e., the paper's figure dashed.

    All panels of a game have the same axes.
    """
    from matplotlib.ticker import EngFormatter

    panels, looks = [], curve_styles(table)
    for rows in panels_of(table.rows):
        series = []
        for row in rows:
            x, mean, sem = curve(row)
            label, style = looks[row.key]
            paper = row.paper_mean if row.as_published else None
            band = mean - sem, mean + sem
            series.append(Series(label, style, x, mean, *band, paper, paper_words(row)))
        longest = max(length_of(row) for row in table.rows if row.game == rows[0].game)
        scale = rows[0].scale
        panels.append(
            chart(
                title(rows[0]),
                "episodes",
                scale.label,
                series,
                EngFormatter(sep="", usetex=False, useMathText=False),
                partial(short_text, scale),
                span_of(rows, table.rows),
                x_span=(0, longest),
            )
        )
    return panels


def curve_styles(table: Table) -> dict[tuple[SettingValue, ...], tuple[str, str]]:
    """The label of each combination of settings, and its CSS class."""
    several = [axis for axis in table.axes if len(axis.values) > 1]
    looks = {}
    for number, (values, look) in enumerate(styles_of(table).items()):
        style = f"s{number % PALETTE}" + " dashed" * (number // PALETTE % 2)
        if [axis.path for axis in several] in ([], [VARIANT]):
            variant = [each for each in values if each in STYLES]
            style = variant[0] if variant else "farl"
            if style.endswith(MEAN):
                style = f"{style.removesuffix(MEAN)} dashed"
        named = len(several) == 1 and several[0].path != VARIANT
        looks[values] = f"{several[0].short} {look.label}" if named else look.label, style
    return looks


def short_text(scale: Scale, figure: float) -> str:
    """Format a figure as in tables, without trailing zeros."""
    text = scale.text(figure)
    return text.rstrip("0").rstrip(".") if "." in text else text


def histogram_panels(histograms: Mapping[str, Histogram | None]) -> list[str]:
    """Panels of the fields of `Histograms`: the mean over the seeds, the band over all seeds."""
    names = {
        "weights": ("active weights", "weight"),
        "tc_factors": ("TC factors of active weights", "|N| / A"),
    }
    panels = []
    for name, (words, x_label) in names.items():
        histogram = histograms.get(name)
        if histogram is None or not histogram.agents:
            continue
        shares = defaultdict(list)
        for agent in histogram.agents:
            counts = np.array(agent.counts, float)
            shares[agent.variant].append(counts / max(counts.sum(), 1))
        series = []
        for variant in (variant for variant in STYLES if variant in shares):
            logs = np.log10(np.maximum(shares[variant], 10.0**_RAREST))
            mean = np.log10(np.maximum(np.mean(shares[variant], 0), 10.0**_RAREST))
            # No line for a kind of weights that no agent has.
            mean[np.sum(shares[variant], 0) == 0] = np.nan
            edges = np.array(histogram.edges, float)
            label = STYLES[variant][0]
            series.append(Series(label, variant, edges, mean, logs.min(0), logs.max(0), steps=True))
        panels.append(
            chart(
                words,
                x_label,
                "share in a bin",
                series,
                lambda at: f"{at:.4g}",
                lambda power: f"{100 * 10**power:.2g} %",
            )
        )
    return panels
