"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in
from experiments.rules_in.run import GAMES, outcome

OUTSIDE: dict[str, str] = {}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("rules_in")
    results = read("rules_in/results.json")["results"]
    better = [sum(outcome(one, f"mcts-{n}") == "better" for one in results) for n in (100, 1000)]
    yield "{} of {} games", len(results), len(GAMES)
    yield "{} agents are better than mcts-100, {} than mcts-1000", *better
    connect = ("pgx:connect_four", "mcts-1000")
    yield "({}%, {} to {})", *(cells(*connect, number) for number in range(3))
