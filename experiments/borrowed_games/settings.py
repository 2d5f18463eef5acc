"""The games of this experiment, all written by others, and how long each is trained."""

from jaxgbg import Run, preset

SEEDS = 4
VARIANTS = ("farl", "none")
EPISODES = {
    "ludax:yavalath": 8_000,
    "pgx:animal_shogi": 1_500,
    "ludax:wolf_and_sheep": 3_000,
    "ludax:hop_through": 400,
    "ludax:reversi": 600,
    "pgx:connect_four": 10_000,
}
"""Of each seed and variant: what some minutes of one core allow."""


def run_of(game: str, scale: float = 1.0) -> Run:
    """Both variants of a game as one run with its preset; evaluated at every quarter of it."""
    quarter = max(1, round(scale * EPISODES[game] / 4))
    return preset(
        game,
        seeds=range(SEEDS),
        variants=VARIANTS,
        episodes=4 * quarter,
        eval_every=quarter,
        opponents=("random",),
    )
