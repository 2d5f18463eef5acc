"""Van der Ree & Wiering 2013, "Reinforcement learning in the game of Othello".

One layer of 50 (section IV) and plain gradient descent (III-C) are theirs. In the preset "mlp" the
step sizes and lockstep are our own; `othello` and `step_size` are the paper's.
"""

import functools

from jaxgbg.games import Game
from jaxgbg.learners import Schedule, TDSpec
from jaxgbg.runs.presets.core import Preset
from jaxgbg.values import MLPSpec

# On few cells these learn in 20 000 episodes what the others have not begun to learn; on large
# boards they diverge (experiments/networks). They are our own.
_MOST_CELLS = 9


def _preset(value: MLPSpec, schedule: Schedule) -> Preset:
    return Preset("van der Ree & Wiering 2013", value, TDSpec(terminal_value_zero=True), schedule)


def preset_of(game: Game) -> Preset:
    """The network for a game of this size; the paper has no budget but Othello's."""
    return _small_network() if game.num_cells <= _MOST_CELLS else _network()


# A spec of a network asks JAX about its optimizer, which must not start when this is imported.
@functools.cache
def _network() -> Preset:
    return _preset(MLPSpec(), Schedule(batch=16, alpha=0.01, epsilon_end=0.0))


@functools.cache
def _small_network() -> Preset:
    value = MLPSpec(hidden=(100,), activation="relu", output="identity", initializer="xavier")
    return _preset(value, Schedule(batch=16, alpha=0.02, epsilon_end=0.0))


@functools.cache
def othello() -> Preset:
    """The paper's network for Othello and its exploration, for any learner; see `step_size`."""
    value = MLPSpec(hidden=(50,), activation="sigmoid", output="sigmoid", initializer="uniform")
    return _preset(value, Schedule(batch=16, epsilon=0.1, epsilon_end=0.0))


_STEP_SIZES = {"q": 0.01, "sarsa": 0.01, "td": 0.001}
STRETCH = {"squared": 4, "matching": 2}
"""By which factor our step is smaller than the paper's, by the loss.

The paper's network answers in [0, 1]. Ours stretches the same sigmoid over [-1, 1], so error and
slope are both twice as large: a quarter of the step size gives the same step, or half of it where
the loss leaves out the slope.
"""


def step_size(learner: str, loss: str) -> float:
    """The step size alpha that makes the paper's steps with our network."""
    return _STEP_SIZES[learner] / STRETCH[loss]


BEST_SESSIONS: dict[str, dict[str, dict[str, float]]] = {
    "bench": {
        "BENCH": {"q": 87.1, "sarsa": 85.9, "td": 70.0},
        "BENCH-LRN": {"q": 78.0, "sarsa": 81.6, "td": 62.8},
        "itself": {"q": 72.1, "sarsa": 69.9, "td": 72.3},
        "HEUR": {"q": 58.2, "sarsa": 57.4, "td": 52.2},
        "HEUR-LRN": {"q": 56.3, "sarsa": 42.7, "td": 35.5},
        "RAND": {"q": 33.0, "sarsa": 30.7, "td": 35.6},
        "RAND-LRN": {"q": 41.8, "sarsa": 30.0, "td": 33.2},
    },
    "heur": {
        "HEUR": {"q": 81.0, "sarsa": 80.9, "td": 77.5},
        "HEUR-LRN": {"q": 65.1, "sarsa": 72.8, "td": 66.6},
        "itself": {"q": 64.1, "sarsa": 63.1, "td": 76.7},
        "BENCH-LRN": {"q": 47.6, "sarsa": 36.1, "td": 72.5},
        "BENCH": {"q": 39.7, "sarsa": 44.0, "td": 70.8},
        "RAND-LRN": {"q": 35.6, "sarsa": 49.8, "td": 61.0},
        "RAND": {"q": 42.6, "sarsa": 42.8, "td": 64.4},
    },
    "random": {
        "itself": {"q": 94.9, "sarsa": 94.6, "td": 97.5},
        "RAND": {"q": 89.3, "sarsa": 90.6, "td": 92.8},
        "BENCH-LRN": {"q": 89.3, "sarsa": 89.6, "td": 92.4},
        "RAND-LRN": {"q": 89.2, "sarsa": 88.5, "td": 91.7},
        "HEUR-LRN": {"q": 91.4, "sarsa": 83.7, "td": 81.4},
        "HEUR": {"q": 85.0, "sarsa": 82.7, "td": 91.2},
        "BENCH": {"q": 79.2, "sarsa": 78.3, "td": 87.9},
    },
}
"""Tables II to IV: test opponent -> training partner -> learner -> the best test session.

In % of the points, a draw counting half.
"""

FIXED_PLAYERS = {"heur-bench": 55.0, "bench-random": 80.0, "heur-random": 83.0}
"""Table I: the first player's share of the points in %, fixed players among themselves."""
