"""Konen & Bagheri 2021, "Final Adaptation Reinforcement Learning for N-Player Games".

Parameters (appendix A.6), evaluations and Table 1. Where the paper's text and its authors' saved
agents differ, the agents' values stand here: ConnectFour learns from random moves, Nim3P does not,
Nim's epsilon falls to 0. Batches are our own choice. The paper's lists of n-tuples are not ours to
ship: Othello's 50 6-tuples are random walks, ConnectFour's 70 8-tuples are walks that each begin
with four cells in a row, so that together they hold all 69 fours.
"""

from collections.abc import Callable

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game
from jaxgbg.learners import Schedule, TDSpec
from jaxgbg.runs.presets.core import Preset
from jaxgbg.runs.run import Evaluation
from jaxgbg.values import Layout, NTupleSpec, random_walk
from jaxgbg.values.layouts import default_layout, line_walk

_SOURCE = "Konen & Bagheri 2021, appendix A.6; batch is our own choice"

# The four 6-tuples of 2048 on 4x4 cells, of the form given by Jaskowski 2018, Fig. 3c.
_TUPLES_2048 = (
    (0, 4, 8, 1, 5, 9),
    (1, 5, 9, 2, 6, 10),
    (2, 6, 9, 10, 13, 14),
    (3, 7, 10, 11, 14, 15),
)


def _whole(game: Game) -> Layout:
    """One n-tuple of all cells."""
    return (tuple(range(game.num_cells)),)


_LAYOUTS: dict[str, Callable[[Game], Layout]] = {
    "2048": lambda game: _TUPLES_2048 if game.num_cells == 16 else default_layout(game),
    "tictactoe": _whole,
    "connectfour": lambda game: line_walk(game, 70, 8, seed=0),
    "othello": lambda game: random_walk(game, 50, 6, seed=0),
    "nim": _whole,
    "nim3p": lambda game: _whole(game) * 2,
}
"""The n-tuples of a game, which depend on its size; those of Hex are drawn by every seed."""

PRESETS = {
    "2048": Preset(
        _SOURCE,
        NTupleSpec(sigmoid=False, tcl="id"),
        TDSpec(learn_from_random=False),
        Schedule(episodes=200_000, epsilon=0.0),
        Evaluation(every=5_000, opponents=("score",)),
    ),
    "tictactoe": Preset(
        _SOURCE,
        NTupleSpec(),
        TDSpec(),
        Schedule(episodes=30_000, alpha=1.0, alpha_end=0.5, epsilon_end=0.0),
        Evaluation(every=1_000, opponents=("maxn",)),
    ),
    "connectfour": Preset(
        _SOURCE,
        NTupleSpec(tcl="exp"),
        TDSpec(),
        Schedule(episodes=5_000_000, alpha=3.7, epsilon_end=0.0),
        Evaluation(every=100_000, opponents=("ab", "ab-dl")),
    ),
    "hex": Preset(
        _SOURCE,
        NTupleSpec(walks=(25, 6), tcl="id"),
        TDSpec(),
        Schedule(episodes=300_000, alpha=1.0, alpha_end=0.5, epsilon=0.2, opening_plies=1),
        Evaluation(every=50_000, opponents=("mcts-100",)),
    ),
    "othello": Preset(
        _SOURCE,
        NTupleSpec(tcl="exp"),
        TDSpec(trace_decay=0.5, trace_cut=0.01, delayed_traces=True, learn_from_random=False),
        Schedule(episodes=250_000, alpha=0.2, epsilon=0.2, opening_plies=4, opening_share=0.7),
        Evaluation(every=25_000, opponents=("bench",)),
    ),
    "nim": Preset(
        _SOURCE,
        NTupleSpec(tcl="id"),
        TDSpec(trace_decay=0.5),
        Schedule(episodes=20_000, alpha=0.5, epsilon_end=0.0),
        Evaluation(every=1_000, opponents=("maxn",)),
    ),
    "nim3p": Preset(
        _SOURCE,
        NTupleSpec(tcl="id"),
        TDSpec(trace_decay=0.5, trace_cut=0.01, reset_traces=True, learn_from_random=False),
        Schedule(episodes=300_000, batch=256, alpha=0.2, epsilon=0.15, opening_plies=1),
        Evaluation(every=10_000, opponents=("maxn",)),
    ),
}
"""The settings of the games of Table 1, in its order; `preset_of` adds the n-tuples."""
GAMES = tuple(PRESETS)
"""The games of Table 1, in its order."""


def preset_of(game: Game) -> Preset | None:
    """The published settings of a game of any size; None for other games."""
    chosen, layout = PRESETS.get(game.name), _LAYOUTS.get(game.name)
    if chosen is None or layout is None:
        return chosen
    return chosen.with_layout(layout(game))


PROTOCOLS = {
    ("tictactoe", "maxn"): Protocol("one_ply"),
    ("connectfour", "ab"): Protocol("default", repeats=40, seats=(0,)),
    ("nim", "maxn"): Protocol("choose_01", count=10),
    ("nim3p", "maxn"): Protocol("choose_01", count=10, repeats=10),
    ("nim3p", "mcts"): Protocol("choose_01", count=10, repeats=3),
    ("hex", "mcts"): Protocol("one_ply_triangle", repeats=3),
    ("2048", "score"): Protocol("default", repeats=250),
    ("othello", "*"): Protocol("four_ply"),
}
"""How agents are judged, by game and opponent; "*" is any opponent."""

# Table 1: (mean, standard error) of 10 runs with and without FARL, win rates in %. ConnectFour:
# twice the paper's figure, which counts the lost second seat; ours moves first. Its AB-DL is GBG's.
FIGURES: dict[tuple[str, str], dict[str, tuple[float, float]]] = {
    ("tictactoe", "maxn"): {"farl": (49.0, 5.0), "none": (18.0, 6.0)},
    ("nim", "maxn"): {"farl": (50.0, 1.0), "none": (12.0, 6.0)},
    ("nim3p", "maxn"): {"farl": (0.33, 0.03), "none": (0.03, 0.01)},
    ("connectfour", "ab"): {"farl": (99.0, 1.0), "none": (7.0, 0.2)},
    ("connectfour", "ab-dl-gbg"): {"farl": (93.0, 1.0), "none": (0.0, 0.2)},
    ("hex", "mcts"): {"farl": (81.0, 5.0), "none": (0.0, 0.2)},
    ("othello", "edax"): {"farl": (55.0, 1.0), "none": (53.0, 1.0)},
    ("othello", "bench"): {"farl": (95.0, 0.3), "none": (96.0, 0.2)},
    ("nim3p", "mcts-5000"): {"farl": (0.78, 0.02), "none": (0.09, 0.02)},
    ("2048", "score"): {"farl": (142_000, 1_000), "none": (122_000, 900)},
}

# What a reader of a table must know of its rows, by game and opponent.
NOTES = {
    ("nim3p", "*"): "in nim3p perfect players earn 0.4",
    ("othello", "grhino"): "the paper's engine in othello was Edax at depth 1, not grhino",
    ("connectfour", "ab"): "in connectfour moving first, so twice the paper's figures",
    ("connectfour", "ab-dl"): "ab-dl, met moving first, is exact, the paper's is ab-dl-gbg",
    ("connectfour", "solver"): "the solver's share is of the moves that keep the game value",
}

# The best possible share against a perfect player is half of these games.
GREATEST = {("tictactoe", "maxn"): 50.0, ("nim", "maxn"): 50.0}

# Opponents too slow, or too far from every machine, to be met again and again while training.
FINAL_OPPONENTS: dict[str, tuple[str, ...]] = {
    "hex": ("mcts",),
    "othello": ("engine",),
    "nim3p": ("mcts-5000",),
}
