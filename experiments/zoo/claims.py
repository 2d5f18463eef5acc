"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in

OUTSIDE: dict[str, str] = {}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("zoo")
    yield "behind HEUR ({}%)", cells("othello | heur", "mean")
