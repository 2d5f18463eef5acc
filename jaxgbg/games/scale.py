"""Scales: the units in which the scores of a game are shown."""

from typing import NamedTuple


class Scale(NamedTuple):
    """The form in which scores are shown: `zero` + `factor` * score, in `unit`.

    Figures lie between `low` and `high`, None where there is no such bound, and have `digits` after
    the point; `percent` says that they are in %.
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
        return f"{figure:,.{self.digits}f}"

    @property
    def label(self) -> str:
        """The unit as tables, files and axes name it: win rate (%)."""
        return f"{self.unit} (%)" if self.percent else self.unit

    @property
    def span(self) -> tuple[float, float] | None:
        """The least and the greatest figure, where there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)


WIN_RATE = Scale("win rate", 50.0, 50.0, 0.0, 100.0, percent=True, digits=1)
"""Of rewards -1, 0, 1: the share of wins, a draw counting half."""
SHARE = Scale("share", factor=100.0, low=0.0, high=100.0, percent=True, digits=1)
"""Of scores 0 and 1: the share of ones."""
WINS = SHARE._replace(unit="games won")
"""Of shares of games: those that brought a positive reward; a draw counts nothing."""
