"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "python -m experiments.scaling.run --out OUT                      # 9 minutes": "a clock",
}


LANES = {
    "tictactoe": ("4", "10", "20", "100"),
    "nim3p": ("4", "10", "20", "100"),
    "connectfour": ("4", "10", "20"),
}
"""How many lanes were timed, up to a hundred."""


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    rates = {one["label"]: one["moves_per_s"] for one in read("scaling/results.json")["results"]}

    def rate(game: str, games: str, lanes: str = "2") -> float:
        return float(rates[f"{game}, {games} games, {lanes} lanes"])

    sixteen = rate("connectfour", "16")
    yield "makes {} times as many with 16 games as with one", sixteen / rate("connectfour", "1")
    many = rate("tictactoe", "64", "10"), rate("connectfour", "64", "4")
    gains = many[0] / rate("tictactoe", "64"), many[1] / rate("connectfour", "64")
    yield "TicTacToe makes {} times the moves", gains[0]
    yield "instead of two, ConnectFour {} times with four", gains[1]
    more = [
        rate(game, "64", lanes) / rate(game, "64")
        for game, counts in LANES.items()
        for lanes in counts
    ]
    assert max(more) == gains[1]
    again = cells_in("n_players")("connectfour | 861,040", "training")
    yield "ConnectFour with 64 games has {} moves a second here", rate("connectfour", "64")
    yield "here and {} in", again
    points = [rate("tictactoe", games) / 1e6 for games in ("1,024", "256", "4,096")]
    yield "has {} million with 1,024 games, between {} with 256 and {} with 4,096", *points
    most = [rate("connectfour", games) for games in ("256", "1,024", "4,096", "16,384")]
    assert all(0.75 < one / sixteen < 0.85 for one in most)
    small = ("tictactoe", "nim3p")
    yield (
        "are at most {} and {} times as fast as with one game",
        *(
            max(value for label, value in rates.items() if label.startswith(f"{game},"))
            / rate(game, "1")
            for game in small
        ),
    )
    yield (
        "A thousand lanes are {} and {} times as fast as ten",
        *(rate(game, "64", "1,000") / rate(game, "64", "10") for game in small),
    )
    boards = [rate(f"hex {size}x{size}", "64") / 1e6 for size in range(3, 9)]
    yield "stays between {} and {} million moves", min(boards), max(boards)
