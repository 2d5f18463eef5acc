"""Kinds and ranges of arguments that functions in Python and flags of commands share."""

from typing import Annotated, Literal

from jaxgbg.specs import Limits

MOST_GAMES = 100_000
"""An evaluation plays no more games than this, nor does a group of a tournament."""

Seconds = Annotated[float, Limits(above=0, high=86_400)]
"""What an engine may take for a move, or a query: a day at most."""

Minutes = Annotated[float, Limits(above=0, high=1_000_000)]
"""The time that a training, or all that belongs to an agent, may take."""

QUERY_SECONDS = 60.0
"""The default time limit of a query."""

CheckpointEvery = Annotated[float, Limits(low=0, high=1_000_000_000)]
"""Seconds between two checkpoints."""

Factor = Annotated[float, Limits(above=0, high=1_000_000)]
"""A factor on a published number of episodes."""

Depth = Annotated[int, Limits(low=1, high=1000)]
"""Plies to count."""

NumGames = Annotated[int, Limits(low=1, high=MOST_GAMES)]
Plies = Annotated[int, Limits(low=0, high=10_000)]
Rounds = Annotated[int, Limits(low=0, high=10_000)]

OpeningPlies = Annotated[int, Limits(low=0, high=10_000)]
Pairs = Annotated[int, Limits(low=1, high=100_000)]
MaxGames = Annotated[int, Limits(low=2, high=10_000_000)]

# Beyond this no test of so many games tells an expected score from 0 or 1.
Elo = Annotated[float, Limits(low=-3000, high=3000)]
Risk = Annotated[float, Limits(above=0, below=0.5)]

Port = Annotated[int, Limits(low=0, high=65_535)]
"""A port of this machine; 0 takes any free one."""

Kind = Literal["curves", "means", "heatmap", "profile"]
"""The kinds of charts."""

Band = Literal["sem", "interval"]
"""The band around a curve."""

Executor = Literal["inline", "processes", "ray", "slurm"]
"""Where the units of a sweep are trained."""

GroupExecutor = Literal["inline", "ray"]
"""Where the groups of a tournament play."""

Adaptive = Literal["halving", "racing", "tpe", "none"]
"""How a sweep trains less of bad settings."""
