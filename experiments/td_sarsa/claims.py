"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

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
    less = [value for value in cells.box(panel, "q – farl") if value < 0]
    yield "beats Q-learning with it, by {} points", less[0]
    brings = [
        cells(f"nim | maxn | {learner}", "FARL brings", number)
        for learner in ("sarsa", "q")
        for number in range(3)
    ]
    yield "no gain by it: {} points ({} to {}) and {} ({} to {}).", *brings
    behind = [
        cells(f"nim | maxn | {learner}", "minus TD, with FARL", number)
        for learner in ("sarsa", "q")
        for number in range(3)
    ]
    yield "they are {} ({} to {}) and {} points ({} to {}) weaker", *map(abs, behind)
