"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in, numbers_of

_ONCE = "measured once for this page; no data is kept"

OUTSIDE = {
    "6.36 MB with float32 weights, 2.91 MB with 16 bits and 1.45 MB with 8 bits": _ONCE,
    "8 bits have 3.7 times": _ONCE,
    "was -.32 (-.41 to -.18; 75": _ONCE,
}


def positions_of_16_bits() -> float:
    """In how many positions the moves of agents with 16 bits were compared; one move differs."""
    cells = cells_in("zoo")
    bits, moves = cells.texts("bits"), cells.texts("other moves")
    pairs = [numbers_of(text) for text, each in zip(moves, bits, strict=True) if each == "16"]
    assert sum(changed for changed, _ in pairs) == 1
    return sum(positions for _, positions in pairs)


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("zoo")
    yield "as many games, {} MB together", sum(cells.column("kB")) / 1000
    strong = [
        cells(f"{game} | {opponent}", "mean (95%)")
        for game, opponent in (
            ("yavalath", "mcts-200"),
            ("sim", "mcts-200"),
            ("othello", "mcts-200"),
        )
    ]
    won = cells("hex | mcts-1000", "mean (95%)")
    yield (
        "wins {}% against MCTS with 1,000 iterations, Yavalath, Sim and Othello {} to {}% against",
        won,
        min(strong),
        max(strong),
    )
    yield "to 16 bits changes one of {} moves", positions_of_16_bits()
    yield "behind HEUR ({}%)", cells("othello | heur", "mean (95%)")
