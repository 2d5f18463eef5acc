"""Our own settings for games whose papers publish none, with what they begin from.

Sim and Yavalath begin from the settings that GBG's saved agents hold (Konen, GitHub). Layouts are
ours: in Sim complete graphs of five nodes contain GBG's triangles and complete graphs of four.
"""

import itertools

import numpy as np

from jaxgbg.games import Backgammon, Game, Sim
from jaxgbg.learners import Schedule
from jaxgbg.runs.presets.core import Preset
from jaxgbg.runs.run import Evaluation
from jaxgbg.values import Layout, MLPSpec, NTupleSpec

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


_PRESETS = {
    "sim": Preset(
        value=NTupleSpec(tcl="id"),
        schedule=Schedule(episodes=200_000, alpha=1.0, alpha_end=0.5, epsilon=0.3, epsilon_end=0.0),
        evaluation=Evaluation(every=20_000, opponents=("random",)),
    ),
    "yavalath": Preset(
        value=NTupleSpec(walks=(100, 7)),
        schedule=Schedule(
            episodes=200_000, alpha=1.0, alpha_end=0.2, epsilon=0.3, epsilon_end=0.005
        ),
        evaluation=Evaluation(every=20_000, opponents=("random",)),
    ),
    "chinese_checkers": Preset(
        value=NTupleSpec(tcl="exp"),
        schedule=Schedule(episodes=50_000, alpha=1.0, epsilon=0.2, epsilon_end=0.0),
        evaluation=Evaluation(every=5_000, opponents=("random",)),
    ),
    "backgammon": Preset(
        value=NTupleSpec(),
        schedule=Schedule(episodes=30_000, alpha=0.1, epsilon=0.05, epsilon_end=0.0),
        evaluation=Evaluation(every=3_000, opponents=("random", "pip-count")),
    ),
    "maedn": Preset(
        value=NTupleSpec(tcl="id"),
        schedule=Schedule(episodes=20_000, alpha=0.5, epsilon=0.1, epsilon_end=0.0),
        evaluation=Evaluation(every=2_000, opponents=("random",)),
    ),
}


def preset_of(game: Game) -> Preset:
    """Our settings of a game of any size: chosen for the game, else by its size alone."""
    if game.name not in _PRESETS:
        return _by_size(game)
    chosen = _PRESETS[game.name]
    if not isinstance(game, Sim):
        return chosen
    return chosen.with_layout(_cliques(game))


def network_of(game: Game) -> Preset | None:
    """Our settings with a network, for a game that learns better with one than with n-tuples."""
    if not isinstance(game, Backgammon):
        return None
    # Not made when this is imported: a spec of a network starts JAX.
    return Preset(
        value=MLPSpec(
            hidden=(80,),
            initializer="xavier",
            optimizer="adam",
            combine="mean",
            extras=game.extra_names,
            extras_as="inputs",
        ),
        schedule=Schedule(
            episodes=30_000, alpha=0.001, alpha_end=0.0001, epsilon=0.05, epsilon_end=0.05
        ),
        evaluation=Evaluation(every=3_000, opponents=("random", "pip-count")),
    )


def _by_size(game: Game) -> Preset:
    """Settings for any game; the n-tuples are the default ones for its board."""
    small = game.num_cells * game.max_plies <= 100
    episodes = 20_000 if small else 100_000
    return Preset(
        value=NTupleSpec(
            tcl="id", sigmoid=game.reward_range[0] >= -1 and game.reward_range[1] <= 1
        ),
        schedule=Schedule(episodes=episodes, alpha_end=0.5, epsilon_end=0.0),
        evaluation=Evaluation(
            every=episodes // 10, opponents=("score" if game.num_players == 1 else "random",)
        ),
    )
