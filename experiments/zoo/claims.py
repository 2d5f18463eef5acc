"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in

_ONCE = "measured once for this page; no data is kept"

OUTSIDE = {
    "6.36 MB with float32 weights, 2.91 MB with 16 bits and 1.45 MB with 8 bits": _ONCE,
    "8 bits have 3.7 times": _ONCE,
    "was -.32 (-.41 to -.18; 75": _ONCE,
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("zoo")
    yield "as many games, {} MB together", sum(cells.column("kB")) / 1000
    strong = [
        cells(f"{game} | {opponent}", "mean (95%)")
        for game, opponent in (
            ("hex", "mcts-1000"),
            ("yavalath", "mcts-200"),
            ("sim", "mcts-200"),
            ("othello", "mcts-200"),
        )
    ]
    yield "Yavalath, Sim and Othello win {} to {}% against MCTS", min(strong), max(strong)
    yield "behind HEUR ({}%)", cells("othello | heur", "mean (95%)")
