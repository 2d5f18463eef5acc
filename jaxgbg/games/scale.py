"""How the scores of a game are shown."""

from typing import NamedTuple


class Scale(NamedTuple):
    """How the scores of a game are shown: as `zero` + `factor` * score, in `unit`.

    Figures lie between `low` and `high`, None where there is no such bound; `percent` shows shares
    in %, else `digits` follow the point.
    """

    unit: str
    zero: float = 0.0
    factor: float = 1.0
    low: float | None = None
    high: float | None = None
    percent: bool = False
    digits: int = 3

    def figure(self, score: float) -> float:
        """The figure that a mean score stands for."""
        return self.zero + self.factor * score

    def text(self, figure: float) -> str:
        """A figure as tables show it."""
        return f"{100 * figure:.1f}" if self.percent else f"{figure:,.{self.digits}f}"


WIN_RATE = Scale("win rate", 0.5, 0.5, 0.0, 1.0, percent=True)
"""Of rewards -1, 0, 1: the share of wins, a draw counting half."""
SHARE = Scale("share", low=0.0, high=1.0, percent=True)
"""Of scores 0 and 1: the share of ones."""
