"""Gains by Final Adaptation against the number of players, a panel for each family of games."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.shared import new_figure
from jaxgbg.results.figures import save
from jaxgbg.results.statistics import confidence_interval

COLOURS = {"farl over none": "#1f77b4", "farl over part1": "#ff7f0e"}
NAMES = {"farl over none": "both parts over none", "farl over part1": "both parts over the first"}
_COLUMNS = 3


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the picture: each gain with the 95 % interval of its mean over seeds."""
    families = list(dict.fromkeys(one["family"] for one in results))
    rows = -(-len(families) // _COLUMNS)
    figure = new_figure(10, 2.9 * rows + 0.4)
    axes = figure.subplots(rows, _COLUMNS, sharey=True, squeeze=False).ravel()
    for axis, family in zip(axes, families, strict=False):
        own = sorted(
            (one for one in results if one["family"] == family), key=lambda one: one["players"]
        )
        for name, colour in COLOURS.items():
            means = [one["gains"][name]["gain"] for one in own]
            ends = [confidence_interval(one["gains"][name]["per_seed"]) for one in own]
            below = [mean - low for mean, (low, _) in zip(means, ends, strict=True)]
            above = [high - mean for mean, (_, high) in zip(means, ends, strict=True)]
            axis.errorbar(
                [one["players"] for one in own],
                means,
                (below, above),
                fmt="o-",
                color=colour,
                markersize=4,
                capsize=2,
                label=NAMES[name],
            )
        axis.axhline(0, color="0.7", lw=0.8, zorder=0)
        axis.set(title=family, xlabel="players", xticks=[one["players"] for one in own])
        axis.set_xlim(1.7, 6.3)
    for axis in axes[len(families) :]:
        axis.set_axis_off()
    for row in range(rows):
        axes[row * _COLUMNS].set_ylabel("gain, share of the most")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(COLOURS)
    )
    save(figure, path)
