"""The result of one evaluation."""

from typing import NamedTuple


class Result(NamedTuple):
    """Mean reward of one agent against one opponent after `episodes` of its training.

    `opponent` may also be a score of an evaluator, with the mean of that score.

    `wins` is the share of games with a positive reward for the agent; None in older runs and where
    no games are played to their ends.
    """

    seed: int
    variant: str
    episodes: int
    opponent: str
    score: float
    games: int
    wins: float | None = None
