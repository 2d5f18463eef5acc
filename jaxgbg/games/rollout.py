"""Playing games of a batch in step: one ply, on to the end, or a recorded number of plies."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.games.core import Game


def select_states(states: Any, index: Any) -> Any:
    """Those of `states` that an index, or a tuple of one for each leading axis, picks."""
    return jax.tree.map(lambda leaf: leaf[index], states)


@partial(jax.jit, static_argnums=0)
def play_ply(game: Game, states: Any, actions: jax.Array, chance: jax.Array) -> Any:
    """One ply of B games, chance included; a finished game stands still.

    `states` [B], `actions` int32[B]. `chance` is a key, split into one for each game, or random
    words uint32[B, game.spawn_words].
    """
    moved = jax.vmap(game.afterstate)(states, actions)
    if jnp.issubdtype(chance.dtype, jax.dtypes.prng_key):
        return jax.vmap(game.spawn)(moved, jax.random.split(chance, actions.shape[0]))
    return jax.vmap(game.spawn_from)(moved, chance)


def roll_out(
    game: Game,
    states: Any,
    choose: Callable[[Any, jax.Array, Any], tuple[jax.Array, jax.Array, Any]],
    key: jax.Array,
    memory: Any = (),
) -> Any:
    """Play B games on until all have ended, `game.max_plies` at most; traceable.

    `choose(states[B], key, memory) -> (actions int32[B], key, memory)` moves in every game and
    hands on the key and the memory of what follows. Returns states[B] at the ends.
    """

    def ply(carry: tuple[Any, jax.Array, Any, jax.Array]) -> tuple[Any, jax.Array, Any, jax.Array]:
        states, key, memory, number = carry
        actions, key, memory = choose(states, key, memory)
        key, chance = jax.random.split(key)
        return play_ply(game, states, actions, chance), key, memory, number + 1

    def running(carry: tuple[Any, jax.Array, Any, jax.Array]) -> jax.Array:
        return ~carry[0].terminal.all() & (carry[3] < game.max_plies)

    return jax.lax.while_loop(running, ply, (states, key, memory, jnp.int32(0)))[0]


def record(
    game: Game,
    states: Any,
    choose: Callable[[Any, Any], tuple[jax.Array, Any]],
    draws: Any,
    chance: jax.Array,
) -> tuple[Any, Any]:
    """Play T plies of B games and keep what `choose` notes before each of them; traceable.

    `choose(states[B], draw) -> (actions int32[B], notes)`, where `draw` is that ply's part of
    `draws`, a pytree with leading axis T. `chance` keys[T] or uint32[T, B, game.spawn_words] as
    `play_ply` takes them. Returns states[B] after the last ply and the notes with leading axis T.
    """

    def ply(states: Any, inputs: tuple[Any, jax.Array]) -> tuple[Any, Any]:
        draw, chance = inputs
        actions, notes = choose(states, draw)
        return play_ply(game, states, actions, chance), notes

    return jax.lax.scan(ply, states, (draws, chance))
