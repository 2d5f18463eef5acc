"""D'Ambra, "Reinforcement learning techniques in board games", slides of a thesis at Sapienza.

TD(lambda) with a trace over all parameters of a perceptron, in 100 rounds of training games, each
followed by 200 test games; who begins is not said.
"""

from collections.abc import Mapping

from jaxgbg.evaluation import Protocol
from jaxgbg.types import SettingValue

PROTOCOLS = {
    ("tictactoe", "random"): Protocol("default", repeats=100),
    ("connectfour", "blocker"): Protocol("default", repeats=100),
}
"""How agents are judged, by game and opponent."""

DECAYS, DISCOUNTS = (0.0, 0.2, 0.5, 0.8), (1.0, 0.9, 0.8)
WINS: dict[tuple[str, tuple[int, ...]], tuple[tuple[float, ...], ...]] = {
    ("tictactoe", (100,)): (
        (93.1, 93.62, 93.57),
        (89.22, 90.72, 91.67),
        (74.4, 37.7, 90.42),
        (57.52, 55.22, 81.7),
    ),
    ("tictactoe", (30, 22)): (
        (93.82, 91.5, 93.1),
        (90.85, 92.15, 92.82),
        (71.8, 88.52, 91.45),
        (58.05, 56.07, 75.8),
    ),
    ("connectfour", (300, 243)): (
        (66.92, 78.22, 66.97),
        (23.3, 80.77, 78.3),
        (71.17, 54.07, 72.7),
        (1.47, 59.4, 68.8),
    ),
    ("connectfour", (250, 250, 50)): (
        (75.95, 73.07, 73.02),
        (75.3, 69.8, 70.67),
        (67.37, 69.17, 61.52),
        (9.07, 0.65, 30.52),
    ),
}
"""Games won in the last 20 test phases, in %, by game and network: lines lambda, columns gamma."""


def wins(game: str, opponent: str, values: Mapping[str, SettingValue]) -> float | None:
    """The figures of the slides for settings by path; None for other settings."""
    decay, discount = values.get("learner.trace_decay"), values.get("learner.discount")
    table = WINS.get((game, tuple(values.get("value.hidden") or ())))
    theirs = (game, opponent) in PROTOCOLS and decay in DECAYS and discount in DISCOUNTS
    # Without decay nothing is remembered.
    if table is None or not theirs or (decay and not values.get("learner.parameter_traces")):
        return None
    return table[DECAYS.index(decay)][DISCOUNTS.index(discount)]
