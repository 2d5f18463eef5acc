"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "after 100,000 episodes": "the budget",
    "(100 and 600 points)": "initial values of the script",
    "from 1 to .01": "step sizes of the script",
}


def lost(row: str) -> float:
    """The mean loss of a row, in points."""
    return cells_in("exact_2048").column("less: mean", row)[0]


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    best = cells_in("exact_2048").column("best play")
    small, larger = best[0], best[1]
    without = lost("2x2, td, without FARL"), lost("2x2, td, exploring, without FARL")
    gain = lost("2x3, td, exploring, without FARL") - lost("2x3, td, exploring")
    yield "it loses {} of {} points on average, and {} if it", without[0], small, without[1]
    yield "Final Adaptation is worth {} of {} points", gain, larger
    yield "TD loses {} points on 2x2 without it", without[1]
    yield (
        "on 2x3 it is {} and {} points",
        lost("2x3, td, exploring, without FARL"),
        lost("2x3, td, exploring"),
    )
    yield "SARSA loses {} points on 2x2 and {} on 2x3", lost("2x2, sarsa"), lost("2x3, sarsa")
    yield (
        "{} and {}, on 2x3 about as much as TD with exploration ({})",
        lost("2x2, sarsa, optimistic"),
        lost("2x3, sarsa, optimistic"),
        lost("2x3, td, exploring"),
    )
    yield (
        "TD loses {} points, they lose {} and {}",
        lost("2x3, td, exploring"),
        lost("2x3, sarsa, exploring"),
        lost("2x3, q, exploring"),
    )
