"""Our own settings for games whose papers publish none, with what they begin from.

Sim and Yavalath begin from the settings that GBG's saved agents hold (Konen, GitHub). Layouts are
ours: in Sim complete graphs of five nodes contain GBG's triangles and complete graphs of four.
"""

import itertools
from typing import Any

import numpy as np

from jaxgbg.games import Game, Sim
from jaxgbg.values import Layout

# A table of more rows than this, for each player, is not worth its memory.
_MOST_ROWS = 2**20


def _cliques(game: Sim) -> Layout:
    """Complete graphs of five nodes, or of as many as a table has room for, one of each class."""
    edges = {frozenset(ends): edge for edge, ends in enumerate(game.ends.tolist())}
    rows = game.num_cell_values
    nodes = max(size for size in (3, 4, 5) if rows ** (size * (size - 1) // 2) <= _MOST_ROWS)
    symmetries, seen, layout = game.symmetries, set(), []
    for chosen in itertools.combinations(range(game.nodes), min(nodes, game.nodes)):
        cells = np.array([edges[frozenset(ends)] for ends in itertools.combinations(chosen, 2)])
        if tuple(cells.tolist()) not in seen:
            layout.append(tuple(cells.tolist()))
            seen |= {tuple(sorted(image)) for image in symmetries[:, cells].tolist()}
    return tuple(layout)


_PARAMETERS: dict[str, dict[str, Any]] = {
    "sim": {
        "layout": _cliques,
        "episodes": 200_000,
        "eval_every": 20_000,
        "alpha": 1.0,
        "alpha_end": 0.5,
        "epsilon": 0.3,
        "epsilon_end": 0.0,
        "tcl": "id",
        "opponents": ("random",),
    },
    "yavalath": {
        "walks": (100, 7),
        "episodes": 200_000,
        "eval_every": 20_000,
        "alpha": 1.0,
        "alpha_end": 0.2,
        "epsilon": 0.3,
        "epsilon_end": 0.005,
        "opponents": ("random",),
    },
    "chinese_checkers": {
        "episodes": 50_000,
        "eval_every": 5_000,
        "alpha": 1.0,
        "epsilon": 0.2,
        "epsilon_end": 0.0,
        "tcl": "exp",
        "opponents": ("random",),
    },
    "maedn": {
        "episodes": 20_000,
        "eval_every": 2_000,
        "alpha": 0.5,
        "epsilon": 0.1,
        "epsilon_end": 0.0,
        "tcl": "id",
        "opponents": ("random",),
    },
}


def parameters(game: Game) -> dict[str, Any] | None:
    """Our settings of a game of any size by their short forms; None for other games."""
    chosen = _PARAMETERS.get(game.name)
    if chosen is None:
        return None
    return {name: each(game) if callable(each) else each for name, each in chosen.items()}
