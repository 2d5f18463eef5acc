"""Choosing among actions by the value of their afterstates: one game, no leading axis."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.values.ntuple import NTuple, NTupleParams


def uniform(word: jax.Array) -> jax.Array:
    """float32 in [0, 1) from the upper 24 bits of uint32 `word`."""
    return (word >> 8).astype(jnp.float32) * np.float32(2**-24)


def action_values(
    game: Game,
    value: NTuple,
    params: NTupleParams,
    state: Any,
    features: jax.Array,
    zero_terminal: jax.Array | bool,
) -> tuple[jax.Array, jax.Array]:
    """What each action is worth to the player to move: (q float32[A], V(afterstate) float32[A]).

    q = the player's reward in this move + V(afterstate | player); V of a terminal afterstate counts
    as 0 if `zero_terminal`. Illegal actions get the value of standing still: mask them.
    `features` int32[F] are those of `state`'s board.
    """
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    after = jax.vmap(game.afterstate, in_axes=(None, 0))(state, actions)
    if value.patterns is None:
        boards = value.features(jax.vmap(game.cells)(after))
        values = value.value(params, boards, state.player)
    else:
        changes = jax.vmap(game.change, in_axes=(None, 0))(state, actions)
        values = value.values_after(params, features, changes, state.player)
    reward = (after.rewards - state.rewards)[:, state.player]
    return reward + jnp.where(after.terminal & zero_terminal, 0.0, values), values


def choose_action(worth: jax.Array, legal: jax.Array, draw: jax.Array) -> jax.Array:
    """A best legal action, int32[], ties broken uniformly by `draw` in [0, 1).

    `worth` float32[A], `legal` bool[A]. Without a legal action the answer is num_actions - 1.
    """
    worth = jnp.where(legal, worth, -jnp.inf)
    return _nth_true((worth == worth.max()) & legal, draw)


def _nth_true(mask: jax.Array, draw: jax.Array) -> jax.Array:
    """Index int32[] of the floor(draw * count)-th True entry of bool[A], draw in [0, 1).

    The mask is packed into words of 32 bits and halved by counting bits: a cumulative sum over so
    short an axis costs XLA several times as much.
    """
    size = mask.shape[-1]
    packed = []
    for first in range(0, size, 32):
        part = mask[first : first + 32]
        packed.append((part.astype(jnp.uint32) << np.arange(part.size, dtype=np.uint32)).sum())
    counts = [jax.lax.population_count(word).astype(jnp.int32) for word in packed]
    total = sum(counts[1:], counts[0])
    rank = jnp.minimum((draw * total).astype(jnp.int32), total - 1)
    word, place = packed[0], jnp.int32(0)
    for number in range(1, len(packed)):
        # A word is passed only if all before it were.
        beyond = (place == 32 * (number - 1)) & (rank >= counts[number - 1])
        rank = jnp.where(beyond, rank - counts[number - 1], rank)
        word, place = jnp.where(beyond, packed[number], word), place + jnp.where(beyond, 32, 0)
    for width in (16, 8, 4, 2, 1):
        below = jax.lax.population_count(word & jnp.uint32((1 << width) - 1)).astype(jnp.int32)
        beyond = rank >= below
        rank = jnp.where(beyond, rank - below, rank)
        word = jnp.where(beyond, word >> width, word)
        place = place + jnp.where(beyond, width, 0)
    return jnp.minimum(place, size - 1)
