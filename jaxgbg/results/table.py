"""The table that a run ends with."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxgbg.papers.figures import in_words
from jaxgbg.results.rows import Row

if TYPE_CHECKING:
    from rich.console import Console

VARIANTS = {"farl": "yes", "part1": "part 1", "none": "no"}


def print_table(table: Sequence[Row], console: "Console") -> None:
    """Print rows beside the paper's: mean ± s.e. over n seeds, and the FARL difference."""
    from rich.table import Table

    drawn = Table(title="With and without Final Adaptation (FARL): mean ± s.e. over n seeds")
    columns = ("game", "opponent", "FARL", "score", "paper", "n", "episodes")
    for name in (*columns, "FARL − none (95 % CI)", "seconds"):
        right = name not in ("game", "opponent", "FARL")
        drawn.add_column(name, justify="right" if right else "left", no_wrap=True)
    previous = None
    for row in table:
        if previous is not None and previous != row.game:
            drawn.add_section()
        previous = row.game
        paper = "" if row.paper_mean is None else in_figures(row, row.paper_mean, row.paper_error)
        drawn.add_row(
            row.game,
            row.opponent,
            VARIANTS[row.farl],
            in_figures(row, row.mean, row.sem),
            paper,
            str(row.n),
            f"{row.episodes:,}",
            difference(row),
            f"{row.seconds:.0f}" if math.isfinite(row.seconds) else "",
        )
    console.print(drawn)
    console.print(notes(table))


def notes(table: Sequence[Row]) -> str:
    """What the figures of these rows are."""
    told = ["Scores are win rates in %, a draw counting half"]
    if any(row.unit == "share" for row in table):
        told.append("against the solver the share of moves that keep the game value")
    if any(row.unit == "points" for row in table):
        told.append("in 2048 points a game")
    if any(row.unit == "reward" for row in table):
        told.append("in nim3p the mean reward, 0.4 among perfect players")
    if any(row.opponent == "grhino" for row in table):
        told.append("the paper's engine in othello was Edax at depth 1, not grhino")
    if any(row.game == "connectfour" and row.opponent != "solver" for row in table):
        told.append("in connectfour moving first, so twice the paper's figures")
    return "; ".join(told) + ". Seconds: training of all rows of a game together."


def in_figures(row: Row, mean: float, error: float | None) -> str:
    """A mean ± its standard error, if it has one."""
    text = in_words(row.unit, mean)
    if error is not None and math.isfinite(error):
        text += f" ± {in_words(row.unit, error)}"
    return text


def difference(row: Row) -> str:
    """FARL minus none with its 95 % interval; empty on other rows."""
    if row.difference is None:
        return ""

    def signed(figure: float) -> str:
        return ("+" if figure >= 0 else "-") + in_words(row.unit, abs(figure))

    text = signed(row.difference)
    low, high = row.difference_low, row.difference_high
    if low is not None and high is not None and math.isfinite(low):
        text += f" ({signed(low)} to {signed(high)})"
    return text
