"""FARL against none in games that none of us wrote: trainings, matches, results beside forecasts.

    python -m experiments.borrowed_games.run [--games ludax:yavalath ...] [--scale 1]

Needs forecast.json of `experiments.borrowed_games.forecast`. Results gather in results.json beside
this file, with gains.png; what stands there is not made again, nor is a run finished
in the output folder. With --scale they go to a folder of their own in the output folder.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.borrowed_games.figure import draw, errors, table
from experiments.borrowed_games.settings import EPISODES, VARIANTS, run_of
from experiments.farl_predictor.run import agents_of, opened
from experiments.shared import make_parser, sessions
from jaxgbg import Game, GreedyAgent, Run, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

MATCHES, OPENING = 100, 2
"""Games of each seed and seat, each after as many random plies."""


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
