"""The outcome of chance after a move, as shown on the board."""

from functools import partial

import jax
import numpy as np

from jaxgbg.games import Game
from jaxgbg.types import State
from jaxgbg.web.drawings import Drawing
from jaxgbg.web.play.inference import in_chunks


def changes_by_chance(
    game: Game, drawing: Drawing, states: State, actions: np.ndarray, boards: np.ndarray
) -> list[list[tuple[int, int]]]:
    """For each action int32[T] in states[T]: (spot, kind of piece) where chance changed the board.

    `boards` int8[T, C] are those after the moves. There are no changes in a game without chance, or
    if the board does not show the outcome.
    """
    if not game.stochastic or not len(actions):
        return [[] for _ in actions]
    parts = [_before_chance(game, *part) for part in in_chunks((states, actions), len(actions))]
    before = np.concatenate(parts)[: len(actions)]
    return [
        [
            (spot, int(new))
            for spot, (old, new) in enumerate(zip(*map(drawing.kinds, pair), strict=True))
            if old != new
        ]
        for pair in zip(before, boards, strict=True)
    ]


@partial(jax.jit, static_argnums=0)
def _before_chance(game: Game, states: State, actions: jax.Array) -> jax.Array:
    """The boards int8[B, C] after moves and before chance."""
    return jax.vmap(lambda *move: game.display_cells(game.afterstate(*move)))(states, actions)
