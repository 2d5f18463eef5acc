"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim

OUTSIDE: dict[str, str] = {}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    yield from ()
