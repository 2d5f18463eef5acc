"""What a part is told: how much to do, of which games, until when and where to."""

import time
from pathlib import Path
from typing import NamedTuple


class Task(NamedTuple):
    """`until` in seconds since 1970; `scale` times the published budgets."""

    out: Path
    games: tuple[str, ...]
    scale: float
    until: float

    def left(self) -> float:
        """Seconds."""
        return self.until - time.time()
