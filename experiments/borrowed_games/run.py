"""FARL against none in games that none of us wrote: trainings, matches, results and forecasts.

    python -m experiments.borrowed_games.run [--games ludax:yavalath ...] [--scale 1]

Needs forecast.json of `experiments.borrowed_games.forecast`. Results gather in results.json next to
this file, with gains.png; what stands there is not made again, nor is a run finished
in the output folder. With --scale they go to a folder of their own in the output folder.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.borrowed_games.forecast import (
    EPISODES,
    MEASURES,
    VARIANTS,
    interval_text,
    known_games,
    run_of,
    word,
)
from experiments.farl_predictor.run import agents_of, opened
from experiments.shared import make_parser, new_figure, save_figure, sessions
from jaxgbg import Game, GreedyAgent, Run, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

MATCHES, OPENING = 100, 2
"""Games of each seed and seat, each after as many random plies."""


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
        " | forecast | predicted | it matters | agrees | rival agrees | moves/s | training |",
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
    """How far the forecasts were from the gains, and so was the mean gain of the known games."""
    gains = np.array([one["gain"]["mean"] for one in results.values()])
    guesses = {
        words: np.array([forecasts[game]["forecast"][name]["gain"] for game in results])
        for words, name in zip(("forecast", "rival"), MEASURES, strict=True)
    }
    guesses["the known games' mean for all"] = np.mean([one["gain"] for one in known_games()])
    parts = [f"{words} {np.abs(gains - guess).mean():.2f}" for words, guess in guesses.items()]
    return f"Mean absolute error of {len(gains)} games: {', '.join(parts)}."


def draw(results: Records, forecasts: Records, path: Path) -> None:
    """Left forecast and gain of every game, right the win rates against random play."""
    figure = new_figure(12, 1.6 + 0.62 * len(results))
    left, right = figure.subplots(1, 2, sharey=True)
    for row, (game, one) in enumerate(results.items()):
        shifts = dict(zip(MEASURES, (-0.16, -0.3), strict=True))
        for name, shift in shifts.items():
            predicted = forecasts[game]["forecast"][name]
            colour = "0.35" if name == MEASURES[0] else "0.75"
            left.plot((predicted["low"], predicted["high"]), (row + shift,) * 2, color=colour)
            left.plot(predicted["gain"], row + shift, "D", color=colour, markersize=5)
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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--games", nargs="+", choices=EPISODES, default=list(EPISODES))
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    options = parser.parse_args(arguments)
    if options.scale <= 0:
        parser.error("--scale must be positive")
    prepare_jax()
    place = options.results if options.scale == 1 else options.out / f"scale-{options.scale}"
    place.mkdir(parents=True, exist_ok=True)
    file = place / "results.json"
    results: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    for game in options.games:
        if game not in results:
            results[game] = measured(run_of(game, options.scale), options.out)
            write_json(file, results)
            print(game, results[game]["gain"], flush=True)
    forecasts = json.loads((options.results / "forecast.json").read_text())
    lines = [*table(results, forecasts), "", errors(results, forecasts)]
    draw(results, forecasts, place / "gains.png")
    print("\n".join(lines))


def measured(run: Run, out: Path) -> dict[str, Any]:
    """All there is to say of one game: gain, scores against random, speed, config, versions."""
    folder = train(run, out)
    agents = {variant: agents_of(folder, variant) for variant in VARIANTS}
    by_seat = head_to_head(run.game, agents["farl"], agents["none"])
    curves = {variant: sessions(folder, "random", variant) for variant in VARIANTS}
    return {
        "gain": summary(by_seat.mean(1)),
        "gain_by_seat": np.round(by_seat.mean(0), 4).tolist(),
        "episodes": curves["farl"][0].tolist(),
        "against_random": {
            variant: np.round(scores, 4).tolist() for variant, (_, scores) in curves.items()
        },
        "training": json.loads((folder.path / "summary.json").read_text()),
        "config": run.plain(),
        "provenance": json.loads((folder.path / "provenance.json").read_text()),
    }


def head_to_head(game: Game, farl: GreedyAgent, none: GreedyAgent) -> np.ndarray:
    """float64[seeds, 2]: the mean reward with FARL, of -1 to 1, where it sits in either seat.

    Agents of one seed meet; a reward of the one is a loss of the other, so this is the gain of
    experiments/farl_predictor.
    """
    seats = np.tile(np.repeat([[0, 1], [1, 0]], MATCHES, 0), (farl.copies, 1))
    opening, moves = jax.random.split(jax.random.key(1))
    states = opened(game, OPENING, len(seats), opening)
    rewards = play(game, seats, [farl, none], states, no_history(len(seats)), moves)
    own = rewards[np.arange(len(seats)), np.argmin(seats, 1)]
    return own.astype(float).reshape(farl.copies, 2, MATCHES).mean(2)


def summary(per_seed: np.ndarray) -> dict[str, Any]:
    """Mean, standard error and 95 % interval over seeds, which all lie in [-1, 1]."""
    mean, sem = mean_sem(list(per_seed))
    low, high = confidence_interval(list(per_seed), span=(-1.0, 1.0))
    figures = {"mean": mean, "sem": sem, "low": low, "high": high}
    rounded = {name: round(float(value), 4) for name, value in figures.items()}
    return rounded | {"per_seed": np.round(per_seed, 4).tolist()}


if __name__ == "__main__":
    end_in_a_line(main)
