"""Playing games of a batch in step: one ply, on to the end, or a recorded number of plies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.types import Memory, PyTree, State

_Carry: TypeAlias = "tuple[State, jax.Array, Memory, jax.Array]"


def select_states(states: PyTree, index: object) -> PyTree:
    """The states at an index, or at a tuple of indices for the leading axes."""
    return jax.tree.map(lambda leaf: leaf[index], states)


def chunked(states: PyTree, count: int, size: int) -> Iterator[tuple[PyTree, int]]:
    """Cut states[count] into chunks of one size, so that one compiled program serves them all.

    Yields (states[size], how many of them are real); the last one repeats its last state.
    """
    for start in range(0, count, size):
        index = np.minimum(np.arange(start, start + size), count - 1)
        yield select_states(states, index), min(size, count - start)


def select(chosen: jax.Array, new: PyTree, old: PyTree) -> PyTree:
    """Game by game `new` where `chosen` bool[B], else `old`: trees with leading axis B."""

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(chosen.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return jax.tree.map(choose, new, old)


@partial(jit, static_argnums=0)
def after_each(game: Game, state: State) -> tuple[jax.Array, State]:
    """Which actions of a state are legal, bool[A], and the states after all of them, [A]."""
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    return game.legal_actions(state), jax.vmap(game.afterstate, (None, 0))(state, actions)


@partial(jit, static_argnums=0)
def play_ply(game: Game, states: State, actions: jax.Array, chance: jax.Array) -> State:
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
    states: State,
    choose: Callable[[State, jax.Array, Memory], tuple[jax.Array, jax.Array, Memory]],
    key: jax.Array,
    memory: Memory = (),
) -> State:
    """Play B games on until all have ended, `game.max_plies` at most; traceable.

    `choose(states[B], key, memory) -> (actions int32[B], key, memory)` moves in every game and
    hands on the key and the memory of what follows. Returns states[B] at the ends.
    """

    def ply(carry: _Carry) -> _Carry:
        states, key, memory, number = carry
        actions, key, memory = choose(states, key, memory)
        key, chance = jax.random.split(key)
        return play_ply(game, states, actions, chance), key, memory, number + 1

    def running(carry: _Carry) -> jax.Array:
        return ~carry[0].terminal.all() & (carry[3] < game.max_plies)

    return jax.lax.while_loop(running, ply, (states, key, memory, jnp.int32(0)))[0]


def play_in_line(
    game: Game,
    starts: State,
    groups: int,
    places: int,
    choose: Callable[[State, jax.Array, jax.Array], tuple[jax.Array, jax.Array]],
    key: jax.Array,
) -> jax.Array:
    """Play G games to their ends, of each group so many at once as it has places; traceable.

    The first G / `groups` of `starts` [G] are the first group's, and so on; a group has at least as
    many games as places. Where a game has ended the next of its group begins, so that no place
    waits for the longest game of all. Returns the final rewards float32[G, N].

    `choose(states[P], numbers int32[P], key) -> (actions int32[P], key)` moves in P = groups *
    places games; `numbers` says which, G where none is left, and those states are terminal.
    """
    games = starts.terminal.shape[0]
    queue = games // groups
    ends = (np.arange(groups, dtype=np.int32) + 1)[:, None] * queue
    numbers = jnp.asarray(ends - queue + np.arange(places, dtype=np.int32))
    rewards = jnp.zeros((games, game.num_players), jnp.float32)

    def ply(carry: tuple[PyTree, ...]) -> tuple[PyTree, ...]:
        states, numbers, begun, rewards, key, number = carry
        actions, key = choose(states, numbers.reshape(-1), key)
        key, chance = jax.random.split(key)
        states = play_ply(game, states, actions, chance)
        over = states.terminal.reshape(groups, places) & (numbers < games)
        place = jnp.where(over, numbers, games).reshape(-1)
        rewards = rewards.at[place].set(states.rewards, mode="drop")
        following = begun + jnp.cumsum(over, 1, dtype=jnp.int32) - 1
        there = over & (following < ends)
        numbers = jnp.where(there, following, jnp.where(over, games, numbers))
        fresh = select_states(starts, jnp.where(there, following, 0).reshape(-1))
        states = select(there.reshape(-1), fresh, states)
        begun += over.sum(1, keepdims=True, dtype=jnp.int32)
        return states, numbers, begun, rewards, key, number + 1

    # A place has at most all games of its group.
    most_plies = min(queue * game.max_plies, 2**31 - 1)

    def running(carry: tuple[PyTree, ...]) -> jax.Array:
        return (carry[1] < games).any() & (carry[5] < most_plies)

    states = select_states(starts, numbers.reshape(-1))
    begun = ends - queue + places
    start = (states, numbers, begun, rewards, key, jnp.int32(0))
    return jax.lax.while_loop(running, ply, start)[3]


def record(
    game: Game,
    states: State,
    choose: Callable[[State, PyTree], tuple[jax.Array, PyTree]],
    draws: PyTree,
    chance: jax.Array,
) -> tuple[State, PyTree]:
    """Play T plies of B games and keep what `choose` notes before each of them; traceable.

    `choose(states[B], draw) -> (actions int32[B], notes)`, where `draw` is that ply's part of
    `draws`, a pytree with leading axis T. `chance` keys[T] or uint32[T, B, game.spawn_words] as
    `play_ply` takes them. Returns states[B] after the last ply and the notes with leading axis T.
    """

    def ply(states: State, inputs: tuple[PyTree, jax.Array]) -> tuple[State, PyTree]:
        draw, chance = inputs
        actions, notes = choose(states, draw)
        return play_ply(game, states, actions, chance), notes

    return jax.lax.scan(ply, states, (draws, chance))
