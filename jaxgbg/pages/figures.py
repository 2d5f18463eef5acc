"""The charts of the report: learning curves, and histograms of weights and TC factors."""

from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np

from jaxgbg.pages.chart_svg import Series, chart
from jaxgbg.papers.figures import PAPER, in_words, unit
from jaxgbg.results.curves import STYLES, curve, opponents_met, span_of_shares, title
from jaxgbg.results.folders import FoundRun

# Weights rarer than one in a million active ones are drawn as rare as that.
_RAREST = -6


def curve_panels(run: FoundRun) -> list[str]:
    """One panel for each opponent: mean over the seeds ± s.e., the paper's figure dashed."""
    from matplotlib.ticker import EngFormatter

    config, panels = run.config, []
    for opponent in opponents_met(config, run.evaluations):
        series = []
        kind = unit(config.game, opponent)
        for farl in config.farl:
            episodes, mean, sem = curve(config.game, run.evaluations, opponent, farl)
            if not episodes.size:
                continue
            published = PAPER.get((config.game, opponent, farl))
            series.append(
                Series(
                    label=STYLES[farl][0],
                    style=farl,
                    x=episodes,
                    y=mean,
                    low=mean - sem,
                    high=mean + sem,
                    reference=published[0] if published else None,
                )
            )
        if series:
            panels.append(
                chart(
                    title(config.game, opponent),
                    "episodes",
                    kind + (" (%)" if kind in ("win rate", "share") else ""),
                    series,
                    EngFormatter(sep=""),
                    partial(_short, kind),
                    span_of_shares(config.game, opponent),
                    from_zero=True,
                )
            )
    return panels


def _short(kind: str, figure: float) -> str:
    """A figure as tables show it, without digits that are 0."""
    text = in_words(kind, figure)
    return text.rstrip("0").rstrip(".") if "." in text else text


def histogram_panels(histograms: dict[str, Any]) -> list[str]:
    """Panels of what a `histograms.json` holds: the mean over seeds, the band all of them.

    Raises KeyError, TypeError or ValueError where it is not of that form.
    """
    names = {
        "weights": ("active weights", "weight"),
        "tc_factors": ("TC factors of active weights", "|N| / A"),
    }
    panels = []
    for name, (words, x_label) in names.items():
        if name not in histograms:
            continue
        shares = defaultdict(list)
        for agent in histograms[name]["agents"]:
            counts = np.array(agent["counts"], float)
            shares[agent["farl"]].append(counts / max(counts.sum(), 1))
        series = []
        for farl in (farl for farl in STYLES if farl in shares):
            logs = np.log10(np.maximum(shares[farl], 10.0**_RAREST))
            mean = np.log10(np.maximum(np.mean(shares[farl], 0), 10.0**_RAREST))
            edges = np.array(histograms[name]["edges"], float)
            series.append(
                Series(
                    label=STYLES[farl][0],
                    style=farl,
                    x=edges,
                    y=mean,
                    low=logs.min(0),
                    high=logs.max(0),
                    steps=True,
                )
            )
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
