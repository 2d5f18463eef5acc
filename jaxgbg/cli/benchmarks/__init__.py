"""How fast: training, and the rules alone."""

from typing import Annotated

from jaxgbg.learners import Schedule
from jaxgbg.specs import Limits, limits_of

Seconds = Annotated[float, Limits(above=0, high=3600)]
"""The duration of a timing."""

Batches = Annotated[tuple[int, ...] | None, limits_of(Schedule, "batch")]
"""The numbers of games in lockstep to try."""

Rounds = Annotated[int, Limits(low=2, high=1000)]
"""The number of timings of each of two programs."""

GBG_MOVES = {
    "tictactoe": 384_000,
    "nim": 628_000,
    "nim3p": 615_000,
    "connectfour": 35_400,
    "hex": 26_900,
    "othello": 9_000,
    "2048": 70_000,
}
"""Moves/s of GBG (Java): for comparison, not a yardstick, for they were taken on another day."""

GBG = (
    "For comparison: moves/s of GBG (Java) on one core of the AMD EPYC machine of our published"
    f" figures, 2026: {', '.join(f'{game} {rate:,}' for game, rate in GBG_MOVES.items())}."
)
