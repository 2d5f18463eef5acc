"""The contract of a player, and the one uniform choice that all of them make."""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np


class Player(Protocol):
    """Chooses moves for a batch of states of one game.

    A player that says `traceable = True` is a pytree and its `act` works inside compiled programs:
    its matches are one such program. One with `act_with_history` is told how a game came about.
    """

    @property
    def name(self) -> str:
        """The word under which tables and `make_player` know this player."""
        ...

    def act(self, states: Any, key: jax.Array) -> jax.Array:
        """Choose a move in every state of a batch; the same key gives the same moves.

        `states`: the game's state with a leading axis B on every leaf. Returns int32[B], a legal
        action of each state; for a terminal state any action.
        """
        ...


class History(NamedTuple):
    """How each of B games came to its position: `actions` int32[B, T], -1 where there was none, and
    the `players` int8[B, T] who made them.
    """

    actions: np.ndarray
    players: np.ndarray


class EngineError(RuntimeError):
    """An engine outside this program is missing, silent, dead or wrong; the message says which."""


class MissingExtra(RuntimeError):
    """A player needs a package that is not installed; the message says what to install."""


@jax.jit
def choose_uniformly(mask: jax.Array, key: jax.Array) -> jax.Array:
    """Choose one True entry of every row, each with the same probability.

    mask bool[B, A] -> int32[B]; a row without a True entry gives 0.
    """
    count = mask.sum(axis=1)
    draw = jax.random.uniform(key, count.shape)
    # draw < 1, but its product with the count may round up to the count.
    rank = jnp.minimum((draw * count).astype(jnp.int32), count - 1)
    return jnp.argmax(jnp.cumsum(mask, axis=1) > rank[:, None], axis=1).astype(jnp.int32)
