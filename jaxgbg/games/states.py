"""Checks of a state: that it belongs to a game, and that somebody is to move."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jit
from jaxgbg.specs import shown
from jaxgbg.types import State


def check_state(game: Game, state: State, *, batch: bool = True) -> None:
    """Raise ValueError, in one line, for what is no state of `game`; `batch` allows states[B].

    A state does not know the parameters of its game, so those that change no shape are not checked.
    """
    expected = _form(game)
    if type(state) is not type(expected):
        raise ValueError(
            f"state must be a {type(expected).__name__}, a position of {game.name}, not"
            f" {_article(type(state).__name__)}"
        )
    prefix = np.shape(state.terminal)
    if prefix and not batch:
        raise ValueError(f"state must be one position of {game.name}, not {prefix[0]:,} of them")
    found = jax.tree_util.tree_leaves_with_path(state)
    for (path, leaf), needed in zip(found, jax.tree.leaves(expected), strict=False):
        if np.shape(leaf) != (*prefix, *needed.shape):
            name, shape = jax.tree_util.keystr(path).lstrip("."), np.shape(leaf)[len(prefix) :]
            raise ValueError(
                f"state is no position of {shown(game)}: {name} has shape {shape}, not"
                f" {needed.shape}"
            )


def check_to_move(game: Game, state: State) -> None:
    """Raise ValueError for a position where chance is due, in which nobody can choose a move."""
    if game.stochastic and not state.terminal and not _legal(game, state).any():
        raise ValueError(
            f"chance is due in this position of {game.name}, so nobody is to move: give one after"
            " its outcome"
        )


@partial(jit, static_argnums=0)
def _legal(game: Game, state: State) -> jax.Array:
    return game.legal_actions(state)


def _article(name: str) -> str:
    return f"a{'n' * (name[:1].lower() in 'aeio')} {name}"


@cache
def _form(game: Game) -> State:
    """A state of `game` with shapes in place of arrays."""
    words = jax.ShapeDtypeStruct((game.init_words,), np.uint32)
    form: State = jax.eval_shape(game.init_from, words)
    return form
