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
    actions = np.arange(game.num_actions, dtype=np.int32)
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
    best = (worth == worth.max()) & legal
    # The r-th best action is the first with more than r best ones up to and including itself.
    # A product with a triangle, not a cumulative sum: XLA's is slow on short axes.
    upto = np.tril(np.ones((best.shape[-1],) * 2, np.float32))
    order = (best[None] * upto).sum(-1)
    rank = jnp.floor(draw * order[-1])
    return jnp.minimum((order <= rank).sum(), best.shape[-1] - 1).astype(jnp.int32)
