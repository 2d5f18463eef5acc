"""The charts of the report: learning curves, and histograms of weights and TC factors."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from jaxgbg.arena import scale_of
from jaxgbg.games import Scale
from jaxgbg.pages.chart_svg import Series, chart
from jaxgbg.results.curves import STYLES, curves_of, span_of_shares, title
from jaxgbg.results.rows import opponents_met
from jaxgbg.training import Result, Run
from jaxgbg.training.kept import Histogram

# Weights rarer than one in a million active ones are drawn as rare as that.
_RAREST = -6


def curve_panels(run: Run, results: Sequence[Result]) -> list[str]:
    """One panel for each opponent: mean over the seeds ± s.e., the paper's figure dashed."""
    from matplotlib.ticker import EngFormatter

    panels = []
    for opponent in opponents_met(run, results):
        scale = scale_of(opponent, run.game)
        series = [
            Series(STYLES[variant][0], variant, x, mean, mean - sem, mean + sem, reference=paper)
            for variant, (x, mean, sem), paper in curves_of(run, results, opponent)
        ]
        if series:
            panels.append(
                chart(
                    title(run, opponent),
                    "episodes",
                    scale.unit + " (%)" * scale.percent,
                    series,
                    EngFormatter(sep=""),
                    partial(short_text, scale),
                    span_of_shares(run, opponent),
                    from_zero=True,
                )
            )
    return panels


def short_text(scale: Scale, figure: float) -> str:
    """A figure as tables show it, without digits that are 0."""
    text = scale.text(figure)
    return text.rstrip("0").rstrip(".") if "." in text else text


def histogram_panels(histograms: Mapping[str, Histogram | None]) -> list[str]:
    """Panels of the fields of `Histograms`: the mean over seeds, the band all of them."""
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
