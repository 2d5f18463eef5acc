"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import Claim

OUTSIDE = {
    "the final rewards (1, 0.2 and 0)": "the rules of Nim3P",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    share = {
        (game, row["player"], name.removeprefix("against ")): value
        for game, rows in read("ladder/results.json").items()
        for row in rows
        for name, value in row.items()
        if name.startswith("against ") and value is not None
    }
    yield "takes {} % of the points from random play where", share["tictactoe", "maxn", "random"]
    yield "are won from, takes {} %.", share["tictactoe", "mcts-1000", "random"]
    for agent in ("FARL 0", "FARL 1"):
        yield "Max-N makes {} % of the points against each", share["nim", "maxn", agent]
    game = "connectfour"
    yield "although it takes {} % of the points", share[game, "ab", "mcts-1000"]
    yield (
        "{} % against {} % from mcts-100, {} % against {} % from random play",
        *(
            share[game, player, other]
            for other in ("mcts-100", "random")
            for player in ("mcts-1000", "ab")
        ),
    )
