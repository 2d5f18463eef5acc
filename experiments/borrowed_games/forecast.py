"""What FARL will bring in games that none of us wrote, said before any of them is trained.

    python -m experiments.borrowed_games.forecast [--games ludax:yavalath ...]

The measures of experiments/farl_predictor are taken from random play; a straight line through its
games, measure against measured gain, makes forecasts of them. Writes forecast.json and forecast.md
next to this file. A game that stands there is not done again.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.farl_predictor.endings import predictors
from experiments.shared import make_parser
from jaxgbg import Run, make, preset
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import RandomPlayer
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

SEEDS = 4
VARIANTS = ("farl", "none")
EPISODES = {
    "ludax:yavalath": 8_000,
    "pgx:animal_shogi": 800,
    "ludax:wolf_and_sheep": 3_000,
    "ludax:hop_through": 400,
    "ludax:reversi": 400,
    "pgx:connect_four": 10_000,
}
"""Of each seed and variant: what some minutes of one core allow."""

LONG_GAMES = ("pgx:animal_shogi", "ludax:hop_through", "ludax:reversi")
"""Evaluated once, at the end: against random play they take long."""


def run_of(game: str, scale: float = 1.0) -> Run:
    """Both variants of a game as one run with its preset; evaluated at every quarter, or once."""
    evaluations = 1 if game in LONG_GAMES else 4
    every = max(1, round(scale * EPISODES[game] / evaluations))
    return preset(
        game,
        seeds=range(SEEDS),
        variants=VARIANTS,
        episodes=evaluations * every,
        eval_every=every,
        opponents=("random",),
    )


KNOWN = Path(__file__).parents[1] / "farl_predictor" / "results.json"
MEASURES = ("positions_blindness", "blindness")
"""The forecast, from what did best in the games of `KNOWN`, and its rival, which failed there."""

LEVEL = 0.8
"""Of the intervals of the forecasts."""

POSITIONS, CONTINUATIONS = 128, 12
LEAST = {"much": 0.5, "some": 0.2, "little": -1.0}
"""From which gain on FARL is said to matter so."""


def word(gain: float) -> str:
    """How much FARL matters where it gains this."""
    return next(word for word, least in LEAST.items() if gain >= least)


def known_games() -> list[dict[str, Any]]:
    """The games of experiments/farl_predictor that it counted, with measures and gain."""
    found = json.loads(KNOWN.read_text()).values()
    return [one["random"] | {"gain": one["gains"]["gain"]} for one in found if "random" in one]


def forecast(x: np.ndarray, y: np.ndarray, at: float) -> dict[str, Any]:
    """Gain of a game whose measure is `at`, by least squares through x and y, float[n] each.

    The interval is Student's, of one more game around the line.
    """
    from scipy.stats import t

    slope, intercept = np.polyfit(x, y, 1)
    spread = ((x - x.mean()) ** 2).sum()
    residual = np.sqrt(((y - intercept - slope * x) ** 2).sum() / (len(x) - 2))
    error = residual * np.sqrt(1 + 1 / len(x) + (at - x.mean()) ** 2 / spread)
    gain, reach = intercept + slope * at, t.ppf((1 + LEVEL) / 2, len(x) - 2) * error
    low, high = max(gain - reach, -1.0), min(gain + reach, 1.0)
    figures = {"gain": gain, "low": low, "high": high}
    return {name: round(float(value), 3) for name, value in figures.items()} | {"word": word(gain)}


def forecasts(game: str) -> dict[str, Any]:
    """The measures of a game in random play, and what each of `MEASURES` predicts from them."""
    built, begun = make(game), time.perf_counter()
    measured = predictors(built, RandomPlayer(built), 0.0, POSITIONS, CONTINUATIONS, seed=0)
    seconds = time.perf_counter() - begun
    known = known_games()
    gains = np.array([one["gain"] for one in known])
    predicted = {
        name: forecast(np.array([one[name] for one in known]), gains, measured[name])
        for name in MEASURES
    }
    rounded = {name: np.round(value, 4).tolist() for name, value in measured.items()}
    return {"random": rounded, "forecast": predicted, "seconds": round(seconds, 1)}


def table(results: dict[str, dict[str, Any]]) -> list[str]:
    """The forecasts in Markdown."""
    lines = [
        "| game | last mover wins | loses | nobody wins | positions' blindness | forecast gain"
        " | FARL matters | blindness | rival's gain |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for game, one in results.items():
        random, (first, rival) = one["random"], (one["forecast"][name] for name in MEASURES)
        shares = [random[name] for name in ("last_mover_wins", "last_mover_loses", "no_winner")]
        cells = [
            game,
            *(f"{100 * share:.0f} %" for share in shares),
            f"{random['positions_blindness']:.2f}",
            interval_text(first),
            first["word"],
            f"{random['blindness']:.2f}",
            interval_text(rival),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def interval_text(one: dict[str, Any], name: str = "gain") -> str:
    return f"{one[name]:+.2f} ({one['low']:+.2f} to {one['high']:+.2f})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--games", nargs="+", choices=EPISODES, default=list(EPISODES))
    options = parser.parse_args(arguments)
    prepare_jax()
    file = options.results / "forecast.json"
    results: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    for game in options.games:
        if game not in results:
            results[game] = forecasts(game)
            write_json(file, results)
    print("\n".join(table(results)))


if __name__ == "__main__":
    end_in_a_line(main)
