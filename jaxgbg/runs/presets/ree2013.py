"""Van der Ree & Wiering 2013, "Reinforcement learning in the game of Othello": the network.

One layer of 50 and plain gradient descent are theirs, section III; step sizes and lockstep our own.
"""

from typing import Any

from jaxgbg.games import Game

_NETWORK: dict[str, Any] = {
    "value": "mlp",
    "batch": 16,
    "alpha": 0.01,
    "epsilon_end": 0.0,
    "zero_terminal": True,
}
# On few cells these learn in 20 000 episodes what the others have not begun to learn; on large
# boards they diverge (experiments/networks). They are our own.
_MOST_CELLS = 9
_SMALL_NETWORK: dict[str, Any] = {
    "hidden": (100,),
    "activation": "relu",
    "output": "identity",
    "initializer": "xavier",
    "alpha": 0.02,
}


def network(game: Game) -> dict[str, Any]:
    """The settings of a network for a game of this size by their short forms."""
    return _NETWORK | (_SMALL_NETWORK if game.num_cells <= _MOST_CELLS else {})
