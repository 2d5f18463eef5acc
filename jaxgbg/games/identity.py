"""Which states of a batch are the same state: by bytes on the host, by hash values anywhere."""

from __future__ import annotations

import math

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree, State

_GOLDEN = np.uint32(0x9E3779B9)


def state_keys(states: State) -> np.ndarray:
    """A key of bytes for each of states[n] on the host: equal exactly for equal states."""
    # Adding zero turns -0.0 into 0.0.
    leaves = [x + 0 if x.dtype.kind == "f" else x for x in jax.tree.leaves(states)]
    rows = [np.ascontiguousarray(x).reshape(len(x), math.prod(x.shape[1:])) for x in leaves]
    packed = np.concatenate([row.view(np.uint8) for row in rows], axis=1)
    keys: np.ndarray = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    return keys


def hash_pair(states: PyTree) -> tuple[jax.Array, jax.Array]:
    """Two independent hash values uint32[B] for each of a pytree of arrays [B, ...]; traceable.

    The mixing is the finaliser of MurmurHash3 (Appleby, public domain).
    """
    mixed = jnp.concatenate([_as_words(leaf) for leaf in jax.tree.leaves(states)], 1)
    places = np.arange(1, mixed.shape[1] + 1, dtype=np.uint32)
    mixed = _mix(mixed + places * _GOLDEN)
    second = (mixed * (2 * places + 1)).sum(1, dtype=jnp.uint32)
    return _mix(mixed.sum(1, dtype=jnp.uint32)), _mix(second)


def _mix(words: jax.Array) -> jax.Array:
    words = (words ^ (words >> 16)) * np.uint32(0x85EBCA6B)
    words = (words ^ (words >> 13)) * np.uint32(0xC2B2AE35)
    return words ^ (words >> 16)


def _as_words(leaf: jax.Array) -> jax.Array:
    """uint32[B, k]: the numbers of a leaf [B, ...], equal for equal ones alone."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    if jnp.issubdtype(leaf.dtype, jnp.floating):
        # -0.0 counts as 0.0. XLA would leave out an addition of 0.
        leaf = leaf.astype(jnp.float32)
        leaf = jax.lax.bitcast_convert_type(jnp.where(leaf == 0, 0.0, leaf), jnp.uint32)
    return leaf.reshape(len(leaf), -1).astype(jnp.uint32)
