"""How well the predictors do: correlations with the gains, the picture and the table."""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.farl_predictor.endings import PREDICTORS
from experiments.shared import add_legend, new_figure, save_figure

PLAYS = ("random", "trained")
RESAMPLES = 10_000
COLOURS = {True: "#0072B2", False: "#D55E00"}


def correlations(results: dict[str, dict[str, Any]], varied: list[str]) -> list[dict[str, Any]]:
    """Pearson and Spearman of every predictor with the gain, of all games and of `varied` alone.

    The 95 % intervals are percentiles over resamples of the games.
    """
    records = []
    for games, labels in (
        ("all", list(results)),
        ("variants", [v for v in varied if v in results]),
    ):
        for play in PLAYS:
            for name in PREDICTORS:
                if len(labels) < 4:
                    continue
                predicted = np.array([results[label][play][name] for label in labels])
                gain = np.array([results[label]["gains"]["gain"] for label in labels])
                if np.ptp(predicted) == 0 or np.ptp(gain) == 0:
                    continue
                record = {"games": games, "play": play, "predictor": name, "n": len(labels)}
                draws = np.random.default_rng(0).integers(
                    len(labels), size=(RESAMPLES, len(labels))
                )
                # A resample in which one side is constant has no correlation.
                varies = [np.ptp(side[draws], axis=-1) > 0 for side in (predicted, gain)]
                draws = draws[varies[0] & varies[1]]
                for kind, ranked in (("pearson", False), ("spearman", True)):
                    measured = _correlation(predicted, gain, ranked)
                    again = _correlation(predicted[draws], gain[draws], ranked)
                    low, high = np.percentile(again, (2.5, 97.5))
                    record[kind] = [round(float(value), 3) for value in (measured, low, high)]
                records.append(record)
    return records


def _correlation(x: np.ndarray, y: np.ndarray, ranked: bool) -> np.ndarray:
    """Pearson's r over the last axis, or Spearman's; neither side may be constant."""
    from scipy.stats import pearsonr, rankdata

    if ranked:
        x, y = rankdata(x, axis=-1), rankdata(y, axis=-1)
    found: np.ndarray = pearsonr(x, y, axis=-1).statistic
    return found


def draw(
    results: dict[str, dict[str, Any]],
    measured: list[dict[str, Any]],
    varied: list[str],
    path: Path,
) -> None:
    """Blindness against gain, from random play and from the play of trained agents."""
    figure = new_figure(13, 6.2)
    titles = {"random": "random play", "trained": "play of agents trained with FARL"}
    for axis, play in zip(figure.subplots(1, 2, sharey=True), PLAYS, strict=True):
        points = []
        for label, one in results.items():
            x, y = one[play]["blindness"], one["gains"]["gain"]
            points.append((x, y, label))
            colour = COLOURS[label in varied]
            axis.errorbar(x, y, one["gains"]["sem"], fmt="o", color=colour, markersize=5, capsize=2)
        for x, y, at, label in _spread(points):
            axis.annotate(
                label,
                (x, y),
                (x + 0.04, at),
                fontsize=8.5,
                va="center",
                color=COLOURS[label in varied],
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "0.6", "shrinkA": 0},
            )
        lines = []
        for record in measured:
            if record["play"] == play and record["predictor"] == "blindness":
                parts = [
                    f"{kind.capitalize()} {value[0]:.2f} ({value[1]:.2f} to {value[2]:.2f})"
                    for kind in ("pearson", "spearman")
                    for value in [record[kind]]
                ]
                games = "games" if record["games"] == "all" else "variants alone"
                lines.append(f"{record['n']} {games}: {', '.join(parts)}")
        axis.set_title(f"blindness in {titles[play]}\n" + "\n".join(lines), fontsize=9.5)
        axis.set(xlabel="predicted: blindness without FARL", xlim=(-0.06, 1.4), ylim=(-0.2, 1.1))
        axis.axhline(0, color="0.7", lw=0.8, zorder=0)
        axis.grid(alpha=0.25)
    first = figure.axes[0]
    first.set_ylabel("measured: gain by FARL, as a share of what it could be")
    for variant, text in ((False, "of Table 1"), (True, "variants made for this")):
        first.plot([], [], "o", color=COLOURS[variant], label=text)
    add_legend(figure)
    save_figure(figure, path)


def _spread(points: list[tuple[float, float, str]]) -> list[tuple[float, float, float, str]]:
    """(x, y, height of the label, label): labels of points that stand in a column keep apart."""
    gap, placed = 0.045, []
    columns: dict[int, list[tuple[float, float, str]]] = {}
    for point in points:
        columns.setdefault(round(4 * point[0]), []).append(point)
    for column in columns.values():
        heights: list[float] = []
        for _, y, _ in sorted(column, key=lambda point: point[1]):
            heights.append(max(y, heights[-1] + gap) if heights else y)
        # A column that was pushed up stands around its points again.
        shift = float(np.mean(heights)) - float(np.mean([y for _, y, _ in column]))
        ordered = sorted(column, key=lambda point: point[1])
        placed += [
            (x, y, at - shift, label) for (x, y, label), at in zip(ordered, heights, strict=True)
        ]
    return placed


def table(results: dict[str, dict[str, Any]], measured: list[dict[str, Any]]) -> str:
    """Every game and every correlation, in Markdown; results.json says more."""
    lines = [
        "| game | gain by FARL | by perfect play | blindness | in trained play | of positions"
        " | rewards missed | losses missed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for label, one in results.items():
        if "gains" not in one:
            continue
        gains = [
            f"{one[stage]['gain']:+.2f} ± {one[stage]['sem']:.2f}" if one.get(stage) else ""
            for stage in ("gains", "ceiling")
        ]
        columns = [("random", PREDICTORS[0]), ("trained", PREDICTORS[0])]
        columns += [("random", name) for name in PREDICTORS[1:]]
        figures = [f"{one[play][name]:.2f}" if play in one else "" for play, name in columns]
        lines.append(f"| {label} | {' | '.join(gains + figures)} |")
    lines += [
        "",
        "| games | play | predictor | n | Pearson | Spearman |",
        "|---|---|---|---|---|---|",
    ]
    for record in measured:
        both = [
            f"{value[0]:.2f} ({value[1]:.2f} to {value[2]:.2f})"
            for value in (record["pearson"], record["spearman"])
        ]
        name = record["predictor"].replace("_", " ")
        lines.append(
            f"| {record['games']} | {record['play']} | {name} | {record['n']}"
            f" | {both[0]} | {both[1]} |"
        )
    return "\n".join(lines)
