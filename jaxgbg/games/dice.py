"""Dice, and the rewards of games for N players that one wins."""

from __future__ import annotations

import numpy as np

from jaxgbg.lazy import jax, jnp


def rolled(word: jax.Array, faces: int) -> jax.Array:
    """int32[]: a face 0..faces-1 by a random word uint32[], for up to 256 faces."""
    return (((word >> 8) * np.uint32(faces)) >> 24).astype(jnp.int32)


def face_probabilities(due: jax.Array, faces: int) -> jax.Array:
    """float32[faces]: all faces alike where a roll is `due` bool[], else outcome 0 for certain."""
    return jnp.where(due, np.float32(1 / faces), np.arange(faces) == 0).astype(jnp.float32)


def winner_takes(player: jax.Array, players: int) -> jax.Array:
    """float32[N]: +1 for `player` and -1/(N-1) for each of the others, which adds up to 0."""
    lost = np.float32(-1 / (players - 1))
    return jnp.where(np.arange(players) == player, np.float32(1), lost)
