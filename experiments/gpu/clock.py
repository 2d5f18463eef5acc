"""The time keeper: how long each part may take, so that none takes the time of the next."""

import time
from collections.abc import Mapping, Sequence

SHARES = {"correctness": 0.1, "speed": 0.15, "connectfour": 0.5, "table1": 0.25}
"""The parts, most valuable first, and what each may take of all time."""


class Clock:
    """Shares out `seconds` from now on; what a part leaves is shared by those after it."""

    def __init__(self, seconds: float, shares: Mapping[str, float] = SHARES) -> None:
        self.end = time.time() + seconds
        self._shares = shares

    def left(self) -> float:
        """Seconds until all must be over."""
        return self.end - time.time()

    def until(self, parts: Sequence[str]) -> float:
        """When the first of the `parts` that are still to come is to end, in seconds since 1970."""
        total = sum(self._shares[part] for part in parts)
        return time.time() + max(0.0, self.left()) * self._shares[parts[0]] / total
