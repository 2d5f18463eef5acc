"""How each agent of the zoo is trained, and whom it meets."""

import dataclasses
from typing import Any

from jaxgbg import Protocol, Run, preset
from jaxgbg.runs.storage.quantized import Bits

FIRST = Protocol("default", repeats=1_000, seats=(0,))
"""The empty board, the agent moves first."""
EACH_SEAT = Protocol("default", repeats=100)
REPEATED = Protocol("one_ply", repeats=20)
"""The start position and all positions one ply later."""
FEW = Protocol("default", repeats=25)
TWO_PLIES = Protocol("random_plies", count=50, plies=2)
"""Fifty starts after two random plies, each from every seat."""
BEST_PLAY = {"learner": "td-off-policy", "temperature": 0.03, "loss_discount": 0.93}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The training of an agent, the bits of its weights, and whom it meets by which protocol.

    With several seeds it is the mean of their networks (`jaxgbg ensemble`). A protocol of None is
    the published one. `notes` says what a reader must know of the figures.
    """

    game: str
    settings: dict[str, Any]
    meets: dict[str, Protocol | None]
    seeds: tuple[int, ...] = (0,)
    bits: Bits = 16
    notes: str = ""

    def runs(self) -> list[Run]:
        """A training for each seed, with the n-tuples that the seed draws as fixed ones."""
        settings = {"opponents": (), **self.settings}
        run = preset(self.game, seeds=self.seeds, variants=("farl",), **settings)
        return [run.for_seed(seed) for seed in self.seeds]


# Moves of every position are learned: many games begin in the middle, and few moves are greedy.
EVERYWHERE = {"learner": "td-off-policy", "epsilon": 0.4, "epsilon_end": 0.4}
MEAN = {"averaging": "tail"}
# All rows, columns and both long diagonals are images of these.
LINES = [[8 * row + column for column in range(8)] for row in range(4)]
LINES += [[9 * place for place in range(8)]]
# All rows, columns and squares of 2x2 are images of these.
ROWS_AND_SQUARES = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [1, 2, 5, 6], [5, 6, 9, 10]]

RECIPES = {
    "tictactoe": Recipe(
        "tictactoe",
        EVERYWHERE | {"opening_plies": 5, "opening_share": 0.7},
        {"maxn": REPEATED, "random": EACH_SEAT},
        notes="Perfect: a test checks its moves in all 4,520 positions of the game.",
    ),
    "nim": Recipe(
        "nim",
        EVERYWHERE | {"trace_decay": 0.0},
        {"maxn": REPEATED, "random": EACH_SEAT},
        notes="Perfect: a test checks its moves in all 422 positions of the game.",
    ),
    "nim3p": Recipe(
        "nim3p",
        EVERYWHERE
        | {
            "trace_decay": 0.0,
            "learn_from_random": True,
            "opening_plies": 2,
            "opening_share": 0.7,
            "episodes": 600_000,
        },
        {"maxn": REPEATED, "random": EACH_SEAT},
        notes="Perfect: in none of the 617 positions of the game would another move gain anything"
        " if all play on as the agent does; a test checks it. Perfect players earn 0.4.",
    ),
    "pig": Recipe(
        "pig",
        {"episodes": 1_000_000, "batch": 256, "epsilon_end": 0.02} | MEAN,
        {"mcts-100": FEW, "random": EACH_SEAT},
    ),
    "ewn": Recipe("ewn", MEAN, {"mcts-200": EACH_SEAT, "random": EACH_SEAT}),
    "sim": Recipe("sim", MEAN, {"mcts-200": TWO_PLIES, "random": EACH_SEAT}),
    "maedn": Recipe("maedn", {}, {"random": EACH_SEAT}),
    "backgammon": Recipe(
        "backgammon",
        {"episodes": 150_000} | MEAN,
        {"pip-count": EACH_SEAT, "random": EACH_SEAT},
    ),
    "hex": Recipe(
        "hex",
        BEST_PLAY
        | {
            "walks": (50, 6),
            "opening_plies": 3,
            "epsilon": 0.05,
            "epsilon_end": 0.02,
            "episodes": 300_000,
        }
        | MEAN,
        {"mcts-1000": None, "random": EACH_SEAT},
        notes="The better of two trainings by its games against mcts-1000; that of the preset won"
        " 80.3% (72.6 to 86.3).",
    ),
    "lines_of_action": Recipe(
        "lines_of_action",
        {"layout": LINES, "episodes": 20_000, "epsilon_end": 0.05} | MEAN,
        {"centre-of-mass": TWO_PLIES, "random": EACH_SEAT},
    ),
    "othello": Recipe(
        "othello",
        {"episodes": 50_000} | MEAN,
        {"bench": None, "heur": None, "mcts-200": TWO_PLIES, "random": EACH_SEAT},
    ),
    "yavalath": Recipe(
        "yavalath",
        {"walks": (50, 7), "episodes": 30_000} | MEAN,
        {"mcts-200": TWO_PLIES, "random": EACH_SEAT},
    ),
    "chinese_checkers": Recipe(
        "chinese_checkers",
        {"episodes": 5_000},
        {"random": EACH_SEAT},
    ),
    "2048": Recipe("2048", {"layout": ROWS_AND_SQUARES, "episodes": 20_000}, {"score": None}),
    "connectfour": Recipe(
        "connectfour",
        BEST_PLAY
        | {
            "walks": (140, 8),
            "from_lines": True,
            "opening_plies": 4,
            "opening_share": 0.5,
            "epsilon": 0.02,
            "epsilon_end": 0.01,
            "episodes": 600_000,
            "eval_every": 20_000,
            "opponents": ("solver",),
            "averaging": "tail",
        },
        {"ab-dl": FIRST, "ab": FIRST, "solver": None},
        seeds=(0, 1),
        bits=8,
        notes="The first player wins with perfect play. The settings were chosen against ab-dl and"
        " on the solved positions (experiments/connectfour), so the figures lean upward.",
    ),
}
