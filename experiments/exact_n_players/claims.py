"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in

OUTSIDE: dict[str, str] = {}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("exact_n_players")
    small, large = "ewn 3x3 | 100,000", "ewn 3x3, 2x3 cells | 100,000"
    yield (
        "cost {} points in the first seat on\naverage, and {} for the worst",
        100 * cells(small, "less: mean"),
        100 * cells(small, "the most"),
    )
    yield (
        "2x3 cells it is {} and {}.",
        100 * cells(large, "less: mean"),
        100 * cells(large, "the most"),
    )
