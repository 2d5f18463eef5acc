"""The table, the errors and the picture: forecasts beside what came out."""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.borrowed_games.forecast import MEASURES, interval_text, known_games, word
from experiments.borrowed_games.settings import VARIANTS
from experiments.shared import new_figure, save_figure
from jaxgbg.results.statistics import mean_sem

COLOURS = {"farl": "#0072B2", "none": "#D55E00"}
Records = dict[str, dict[str, Any]]


def agreement(result: dict[str, Any], forecast: dict[str, Any]) -> str:
    """Whether the word of a forecast is that of the gain, and whether its interval holds it."""
    gain = result["gain"]["mean"]
    same = "yes" if word(gain) == forecast["word"] else "no"
    return same if forecast["low"] <= gain <= forecast["high"] else f"{same}, outside its interval"


def words(gain: dict[str, Any]) -> str:
    """How much FARL matters by the mean gain, and by the ends of its interval where they differ."""
    ends = [word(gain[name]) for name in ("low", "high")]
    return word(gain["mean"]) + ("" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]})")


def last(result: dict[str, Any], variant: str) -> np.ndarray:
    """float[seeds]: win rates (%) against random play after the training, of rewards -1 to 1."""
    return 50 * (1 + np.array(result["against_random"][variant][-1]))


def table(results: Records, forecasts: Records) -> list[str]:
    """Every game with its scores, gain, forecast and speed, in Markdown."""
    lines = [
        "| game | episodes | FARL against random, % | none against random, % | gain, head to head"
        " | forecast | foretold | it matters | agrees | rival agrees | moves/s | training |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for game, one in results.items():
        first, rival = (forecasts[game]["forecast"][name] for name in MEASURES)
        scores = [mean_sem(list(last(one, variant))) for variant in VARIANTS]
        cells = [
            game,
            f"{one['episodes'][-1]:,}",
            *(f"{mean:.1f} ± {sem:.1f}" for mean, sem in scores),
            interval_text(one["gain"], "mean"),
            interval_text(first),
            first["word"],
            words(one["gain"]),
            agreement(one, first),
            agreement(one, rival),
            f"{one['training']['moves_per_second']:,}",
            f"{one['training']['training_seconds']:.0f} s",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def errors(results: Records, forecasts: Records) -> str:
    """How far the forecasts were from the gains, beside the mean gain of the known games."""
    gains = np.array([one["gain"]["mean"] for one in results.values()])
    told = {
        words: np.array([forecasts[game]["forecast"][name]["gain"] for game in results])
        for words, name in zip(("forecast", "rival"), MEASURES, strict=True)
    }
    told["the known games' mean for all"] = np.mean([one["gain"] for one in known_games()])
    parts = [f"{words} {np.abs(gains - guess).mean():.2f}" for words, guess in told.items()]
    return f"Mean absolute error of {len(gains)} games: {', '.join(parts)}."


def draw(results: Records, forecasts: Records, path: Path) -> None:
    """Left forecast and gain of every game, right the win rates against random play."""
    figure = new_figure(12, 1.6 + 0.62 * len(results))
    left, right = figure.subplots(1, 2, sharey=True)
    for row, (game, one) in enumerate(results.items()):
        shifts = dict(zip(MEASURES, (-0.16, -0.3), strict=True))
        for name, shift in shifts.items():
            foretold = forecasts[game]["forecast"][name]
            colour = "0.35" if name == MEASURES[0] else "0.75"
            left.plot((foretold["low"], foretold["high"]), (row + shift,) * 2, color=colour)
            left.plot(foretold["gain"], row + shift, "D", color=colour, markersize=5)
        gain = one["gain"]
        left.plot((gain["low"], gain["high"]), (row + 0.1,) * 2, color="#009E73", lw=2.5)
        left.plot(gain["per_seed"], np.full(len(gain["per_seed"]), row + 0.24), "|", color="0.3")
        left.plot(gain["mean"], row + 0.1, "o", color="#009E73", markersize=7)
        for variant, shift in zip(VARIANTS, (0.14, -0.14), strict=True):
            scores = last(one, variant)
            right.plot(scores, np.full(len(scores), row + shift), ".", color=COLOURS[variant])
            right.plot(scores.mean(), row + shift, "o", color=COLOURS[variant], markersize=8)
    left.set_yticks(range(len(results)), list(results))
    left.set_ylim(len(results) - 0.4, -0.6)
    left.axvline(0, color="0.7", lw=0.8, zorder=0)
    left.set(xlabel="gain by FARL, head to head (1: FARL always wins)", xlim=(-1.05, 1.05))
    left.plot([], [], "o-", color="#009E73", label="measured, 95 % interval; seeds below")
    left.plot([], [], "D-", color="0.35", label="forecast: blindness over positions, 80 %")
    left.plot([], [], "D-", color="0.75", label="its rival: blindness")
    right.set(xlabel="win rate against random play (%), large: mean of seeds", xlim=(-2, 102))
    for variant in VARIANTS:
        right.plot([], [], "o", color=COLOURS[variant], label={"farl": "FARL"}.get(variant, "none"))
    for axis in (left, right):
        axis.grid(alpha=0.25)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=9)
    save_figure(figure, path)
