"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_text import Claim, cells_in
from experiments.shared import archived_runs
from experiments.td_sarsa.larger_games import HERE, SETTINGS, rows_of, runs_of
from jaxgbg.results.statistics import confidence_interval

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
    hex_4, walks = "hex | mcts-1000", "connectfour | solver"
    gains = [cells(f"{hex_4} | {learner}", "FARL brings", 0) for learner in ("q", "td")]
    yield "all three learners {} to {} points", *gains
    best = [cells(f"{hex_4} | q", "minus TD, with FARL", number) for number in range(3)]
    yield "Q-learning is stronger than TD by {} points ({} to {})", *best
    weak = [cells("hex | mcts-100 | q", "minus TD, with FARL", number) for number in range(3)]
    yield "100 iterations it is {} ({} to {})", *weak
    texts = cells.texts("minus TD, with FARL") + cells.texts("minus TD, without")
    assert sum(text != "" for text in texts) == 20
    gains = [cells(f"{walks} | {learner}", "FARL brings", 0) for learner in ("sarsa", "td")]
    yield "FARL brings {} to {} points. TD keeps it", *gains
    behind = [
        cells(f"{walks} | {learner}", "minus TD, with FARL", number)
        for learner in ("sarsa", "q")
        for number in (0, 2, 1)
    ]
    yield "by {} ({} to {}) and {} points ({} to {}), and without", *map(abs, behind)
    equal = [cells(f"{hex_4} | sarsa", "minus TD, with FARL", number) for number in range(3)]
    yield "undecided for SARSA ({}, {} to {})", *equal
    for text, game, learner in (
        ("Hex: holds for SARSA, by {} ({} to {}), undecided", "hex", "sarsa"),
        ("undecided for Q-learning, {} ({} to {}). ConnectFour", "hex", "q"),
        ("ConnectFour: holds for SARSA, by {} ({} to {})", "connectfour", "sarsa"),
        ("for Q-learning undecided, {} ({} to {}).", "connectfour", "q"),
    ):
        less = less_by_farl(game, learner)
        yield text, np.mean(less), *confidence_interval(less)


def less_by_farl(game: str, learner: str) -> list[float]:
    """How much less FARL brings a learner than TD, for each seed, against the first opponent."""
    judged = runs_of(archived_runs(HERE), game).judged
    rows = rows_of(judged, SETTINGS[game].opponents[0])
    scores = {(row.settings["learner"], row.variant): np.array(row.per_seed) for row in rows}
    brought = {each: scores[each, "farl"] - scores[each, "none"] for each in ("td", learner)}
    return list(brought["td"] - brought[learner])
