"""Where the figures in the text of this experiment come from."""

import statistics
from collections.abc import Iterator

from experiments.compile_time import start_up
from experiments.compile_time.run import FOLDER, read
from experiments.page_text import Claim
from experiments.shared import kept_results

OUTSIDE = {
    "below the 0.5 s that were the aim": "the aim",
    "Python 3.11, jax 0.10.2": "versions",
}
_NEWEST, _OLDEST = "jax-0.12.0.1.jsonl", "jax-0.10.2.jsonl"


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    rows = read(FOLDER / _NEWEST)
    seconds = {names: row["cpu_s"] for names, row in rows.items() if row["cpu_s"] is not None}
    yield "plies ahead ({} s)", seconds["lines_of_action", "mlp", "td", "look-ahead-2"]
    yield "TD-Leaf ({} s)", seconds["lines_of_action", "mlp", "td-leaf", "greedy"]
    yield "Half of all take less than {} s", statistics.median(seconds.values())
    yield "Of the {} combinations", len(seconds)
    older = read(FOLDER / _OLDEST)
    longest = older["lines_of_action", "mlp", "td", "greedy"]["cpu_s"]
    yield "Lines of Action takes {} s with a network", longest
    processes = kept_results(FOLDER / start_up.FILE)
    median = {row["label"]: statistics.median(row["seconds"]) for row in processes}
    assert max(median["jaxgbg --help"], median["jaxgbg games"]) < 0.5
    yield "first chunk of TicTacToe ends after {} s", median["first chunk of tictactoe"]
