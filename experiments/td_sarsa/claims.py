"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "both reach 0.0 (a win rate of 50 %)": "the paper, Fig. 3",
    "change nothing (42 to 48 %": "runs that are not kept",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("td_sarsa")
    panel = "tictactoe against maxn"
    sarsa = [cells.box(panel, f"sarsa {replan} none")[0] for replan in ("yes", "no")]
    yield "than the paper suggests ({} and {}%)", *sarsa
    rates = kept_records("td_sarsa/bench.json")
    speeds = [row["moves_per_s"] for row in rates]
    yield "TicTacToe {} M moves/s, Nim {} M,", speeds[0] / 1e6, speeds[1] / 1e6
    yield "{}, {} and {} times what GBG's TD makes", *(row["times_gbg"] for row in rates)
