"""The table that a run ends with."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxgbg import papers
from jaxgbg.games import WIN_RATE
from jaxgbg.results.rows import Row

if TYPE_CHECKING:
    from rich.console import Console

VARIANTS = {"farl": "yes", "part1": "part 1", "none": "no"}


def print_table(table: Sequence[Row], console: "Console") -> None:
    """Print rows beside the paper's: mean ± s.e. over n seeds, and the FARL difference."""
    from rich.table import Table

    drawn = Table(title="With and without Final Adaptation (FARL): mean ± s.e. over n seeds")
    columns = ("game", "opponent", "FARL", "mean", "paper", "last", "n", "episodes")
    for name in (*columns, "FARL − none (95 % CI)", "seconds"):
        right = name not in ("game", "opponent", "FARL")
        drawn.add_column(name, justify="right" if right else "left", no_wrap=True)
    previous = None
    for row in table:
        if previous is not None and previous != row.game.name:
            drawn.add_section()
        previous = row.game.name
        drawn.add_row(
            row.game.name,
            row.opponent,
            VARIANTS[row.variant],
            in_figures(row, row.mean, row.sem),
            in_figures(row, row.paper_mean, row.paper_error),
            row.scale.text(row.last),
            str(row.n),
            f"{row.episodes:,}",
            difference(row),
            f"{row.seconds:.0f}" if math.isfinite(row.seconds) else "",
        )
    console.print(drawn)
    console.print(notes(table))


def notes(table: Sequence[Row]) -> str:
    """What the figures of these rows are."""
    scored: dict[str, dict[str, None]] = {}
    for row in table:
        draws = ", a draw counting half" if row.scale == WIN_RATE else ""
        words = f"{row.scale.unit} in %{draws}" if row.scale.percent else f"mean {row.scale.unit}"
        against = "" if row.scale == row.game.scale else f" against {row.opponent}"
        scored.setdefault(words, {})[row.game.name + against] = None
    sentences = [
        words + (f" ({', '.join(where)})" if len(scored) > 1 else "")
        for words, where in scored.items()
    ]
    sentences += dict.fromkeys(filter(None, (papers.note(row.game, row.opponent) for row in table)))
    return (
        f"Scores: {'; '.join(sentences)}."
        " Mean: of the evaluations in the last fifth of the episodes that all seeds have reached;"
        " last: of the last one alone. Seconds: training of all rows of a game together."
    )


def in_figures(row: Row, mean: float | None, error: float | None) -> str:
    """A mean ± its standard error, if it has one; empty where there is no mean."""
    if mean is None:
        return ""
    text = row.scale.text(mean)
    if error is not None and math.isfinite(error):
        text += f" ± {row.scale.text(error)}"
    return text


def difference(row: Row) -> str:
    """FARL minus none with its 95 % interval; empty on other rows."""
    if row.difference is None:
        return ""

    def signed(figure: float) -> str:
        return ("+" if figure >= 0 else "-") + row.scale.text(abs(figure))

    text = signed(row.difference)
    low, high = row.difference_low, row.difference_high
    if low is not None and high is not None and math.isfinite(low):
        text += f" ({signed(low)} to {signed(high)})"
    return text
