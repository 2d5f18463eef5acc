"""How fast: training, and the rules alone."""

from typing import Annotated

from jaxgbg.learners import Schedule
from jaxgbg.specs import Limits, limits_of

Seconds = Annotated[float, Limits(above=0, high=3600)]
"""The duration of a timing."""

Batches = Annotated[tuple[int, ...] | None, limits_of(Schedule, "batch")]
"""The numbers of games in lockstep to try."""
