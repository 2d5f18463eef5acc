"""The value function of those who know nothing: every position is worth 0."""

from __future__ import annotations

import dataclasses

from jaxgbg.lazy import jax, jnp
from jaxgbg.types import Params
from jaxgbg.values.core import ValueFunction


@dataclasses.dataclass(frozen=True)
class Zero(ValueFunction):
    """V(s | player) = 0 for every board, so that a search counts rewards alone."""

    num_features = 1
    num_actions = 1
    num_weights = 0

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> Params:
        return ()

    def features(self, params: Params, board: jax.Array) -> jax.Array:
        return jnp.zeros((*board.shape[:-1], 1), jnp.int32)

    def value(self, params: Params, features: jax.Array, player: jax.Array) -> jax.Array:
        return jnp.zeros(features.shape[:-1])
