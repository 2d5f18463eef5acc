"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in

OUTSIDE: dict[str, str] = {}


def points(game: str, column: str = "less: mean") -> list[float]:
    """Points of both seats; the row of the second seat, without a name, follows the first."""
    cells = cells_in("exact_n_players")
    first = cells.texts("game").index(game)
    return [100 * figure for figure in cells.column(column)[first : first + 2]]


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    small, larger = "ewn 3x3", "ewn 3x3, 2x3 cells"
    yield (
        "of 2x2 cells cost {} points in the first seat on average, and {} for the worst of ten",
        points(small)[0],
        points(small, "the most")[0],
    )
    yield "of 2x3 cells it is {} and {}.", points(larger)[0], points(larger, "the most")[0]
    yield "the preset loses {} points in the first seat and {} in the second", *points("ewn 4x4")
    yield "second, 2x3 cells {} and {} (three agents each)", *points("ewn 4x4, 2x3 cells")
    worst = cells_in("exact_n_players").column("at worst")[:8]
    yield "a little, up to {} points on average", 100 * max(worst)
