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


@functools.cache
def images(game: Game) -> Playouts:
    """The games of `playouts(game)` replayed in every symmetry of the start: [T + 1, S, B, ...]."""
    original = playouts(game)
    kept = start_symmetries(game)
    actions = np.moveaxis(game.action_symmetries[kept][:, original.actions], 0, 1)
    repeat = (len(kept), 1)
    start = select(
        original.states, (np.zeros(repeat, int), np.arange(original.actions.shape[1])[None])
    )

    def ply(states: Any, actions: jax.Array) -> tuple[Any, Any]:
        following = jax.vmap(jax.vmap(game.afterstate))(states, actions)
        return following, following

    @jax.jit
    def replay(start: Any, actions: jax.Array) -> Playouts:
        states = joined(start, jax.lax.scan(ply, start, actions)[1])
        return Playouts(states, actions, *jax.vmap(functools.partial(observed, game))(states))

    return jax.device_get(replay(start, actions))


def start_symmetries(game: Game) -> list[int]:
    """The symmetries that leave the start position as it is: Othello has four of eight."""
    cells = np.asarray(game.cells(game.init(jax.random.key(0))))
    return [j for j, image in enumerate(game.symmetries) if (cells[image] == cells).all()]


class Expansion(NamedTuple):
    """Every position of `playouts(game)` and what every action makes of it.

    `states` [n, ...], `actions` int32[X] from -2 to num_actions + 1, `legal` bool[n, X],
    `afterstates` [n, X, ...], `cells` int8[n, X, C] of the afterstates, `patterns` int32[n, X] the
    change of every action, or None where the game has no such list.
    """

    states: Any
    actions: np.ndarray
    legal: np.ndarray
    afterstates: Any
    cells: np.ndarray
    patterns: np.ndarray | None


@functools.cache
def expansion(game: Game) -> Expansion:
    """Apply all actions, impossible ones included, to all positions of `playouts(game)`."""
    played = playouts(game)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), played)
    actions = np.arange(-2, game.num_actions + 2, dtype=np.int32)

    def expand(state: Any, action: jax.Array) -> tuple[Any, jax.Array, jax.Array | None]:
        after = game.afterstate(state, action)
        pattern = None if game.change_patterns is None else game.change(state, action)
        return after, game.cells(after), pattern

    every = jax.jit(jax.vmap(jax.vmap(expand, (None, 0)), (0, None)))
    legal = np.pad(flat.legal, ((0, 0), (2, 2)))
    return Expansion(flat.states, actions, legal, *jax.device_get(every(flat.states, actions)))


def observed(game: Game, states: Any) -> tuple[jax.Array, jax.Array]:
    """States [T, B, ...] -> legal actions bool[T, B, A] and cells int8[T, B, C]."""
    both = jax.vmap(jax.vmap(lambda state: (game.legal_actions(state), game.cells(state))))
    return both(states)


def joined(first: Any, later: Any) -> Any:
    """Put the states `first` [...] in front of `later` [T, ...]."""
    return jax.tree.map(lambda x, y: jnp.concatenate([x[None], y]), first, later)


def select(states: Any, index: Any) -> Any:
    return jax.tree.map(lambda x: x[index], states)
