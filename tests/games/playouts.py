"""Random games in lockstep, the material of the rules' tests. Everything returned is NumPy."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game


class Playouts(NamedTuple):
    """B games of T = max_plies plies; a finished game stands still, its actions mean nothing.

    `states` [T + 1, B, ...], `actions` int32[T, B], `legal` bool[T + 1, B, A], `cells`
    int8[T + 1, B, C].
    """

    states: Any
    actions: np.ndarray
    legal: np.ndarray
    cells: np.ndarray


@functools.cache
def playouts(game: Game, batch: int = 64, seed: int = 0) -> Playouts:
    """Play `batch` games of uniformly random legal moves."""

    def ply(states: Any, key: jax.Array) -> tuple[Any, tuple[Any, jax.Array]]:
        keys = jax.random.split(key, (2, batch))
        scores = jnp.where(jax.vmap(game.legal_actions)(states), 0.0, -jnp.inf)
        actions = jax.vmap(jax.random.categorical)(keys[0], scores).astype(jnp.int32)
        following = jax.vmap(game.step)(states, actions, keys[1])
        return following, (following, actions)

    @jax.jit
    def play(key: jax.Array) -> Playouts:
        start_key, moves_key = jax.random.split(key)
        start = jax.vmap(game.init)(jax.random.split(start_key, batch))
        _, (later, actions) = jax.lax.scan(ply, start, jax.random.split(moves_key, game.max_plies))
        states = joined(start, later)
        return Playouts(states, actions, *observed(game, states))

    return jax.device_get(play(jax.random.key(seed)))


def start_symmetries(game: Game) -> list[int]:
    """The symmetries that leave the start position as it is: Othello has four of eight."""
    cells = np.asarray(game.cells(game.init(jax.random.key(0))))
    return [j for j, image in enumerate(game.symmetries) if (cells[image] == cells).all()]


def observed(game: Game, states: Any) -> tuple[jax.Array, jax.Array]:
    """States [T, B, ...] -> legal actions bool[T, B, A] and cells int8[T, B, C]."""
    both = jax.vmap(jax.vmap(lambda state: (game.legal_actions(state), game.cells(state))))
    return both(states)


def joined(first: Any, later: Any) -> Any:
    """Put the states `first` [...] in front of `later` [T, ...]."""
    return jax.tree.map(lambda x, y: jnp.concatenate([x[None], y]), first, later)


def select(states: Any, index: Any) -> Any:
    return jax.tree.map(lambda x: x[index], states)
