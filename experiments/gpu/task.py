"""What a part is told: how much to do, of which games, until when and where to."""

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from experiments.gpu.records import held


class Task(NamedTuple):
    """`until` in seconds since 1970; `scale` times the published budgets."""

    out: Path
    games: tuple[str, ...]
    scale: float
    until: float

    def left(self) -> float:
        """Seconds."""
        return self.until - time.time()

    def alone(self) -> AbstractContextManager[None]:
        """While no other process of this command times anything."""
        return held(self.out / "timing.lock")
