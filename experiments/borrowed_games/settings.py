"""The games of this experiment, all written by others, and how long each is trained."""

from jaxgbg import Run, preset

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
