"""A value function: a small convolutional network in flax."""

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from jaxgbg.games import Game
from jaxgbg.specs import setting
from jaxgbg.values import ValueSpec
from jaxgbg.values.core import Updates, ValueFunction


class Network(nn.Module):
    """Two layers of 3 x 3 filters over the board, and the mean of the last one as its value."""

    channels: int

    @nn.compact
    def __call__(self, planes: jax.Array) -> jax.Array:
        """float32[...] of planes float32[..., S, S, P]."""
        hidden = nn.relu(nn.Conv(self.channels, (3, 3))(planes))
        return jnp.tanh(nn.Conv(1, (3, 3))(hidden)[..., 0].mean((-1, -2)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conv(ValueFunction):
    """V of a square board, by one network for all players; its parameters are the network's."""

    game: Game
    channels: int

    num_actions = 1

    @property
    def num_features(self) -> int:
        return self.game.num_cells

    @functools.cached_property
    def num_weights(self) -> int:
        shapes = jax.eval_shape(lambda: self.init(key=jax.random.key(0)))
        return sum(leaf.size for leaf in jax.tree.leaves(shapes))

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> Any:
        cells, player = jnp.zeros(self.num_features, jnp.int32), jnp.int8(0)
        key = jax.random.key(0) if key is None else key
        return Network(self.channels).init(key, self._planes(cells, player))

    def _planes(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """One plane for each digit of a cell, and one for each player who may ask."""
        side = math.isqrt(self.game.num_cells)
        digits = jax.nn.one_hot(features, self.game.num_cell_values)
        asks = jax.nn.one_hot(player, self.game.num_players)[..., None, :]
        asks = jnp.broadcast_to(asks, (*digits.shape[:-1], asks.shape[-1]))
        planes = jnp.concatenate([digits, asks], -1)
        return planes.reshape(*planes.shape[:-2], side, side, -1)

    def features(self, params: Any, board: jax.Array) -> jax.Array:
        return board.astype(jnp.int32)

    def value(self, params: Any, features: jax.Array, player: jax.Array) -> jax.Array:
        player = jnp.broadcast_to(player, features.shape[:-1])
        return jnp.asarray(Network(self.channels).apply(params, self._planes(features, player)))

    def slope(self, value: jax.Array) -> jax.Array:
        return jnp.ones_like(value)

    def update(
        self, params: Any, updates: Updates, alpha: jax.Array, hyper: Mapping[str, jax.Array]
    ) -> Any:
        """One step along the mean of change * gradient, less a share of all weights."""

        def gain(params: Any) -> jax.Array:
            values = self.value(params, updates.features, updates.player)
            return (values * updates.change).sum() / jnp.maximum(updates.live.sum(), 1)

        def stepped(old: jax.Array, uphill: jax.Array) -> jax.Array:
            step = alpha * (uphill - hyper["weight_decay"] * old)
            return jnp.where(updates.live.any(), old + step, old)

        return jax.tree.map(stepped, params, jax.grad(gain)(params))

    def for_player(self, params: Any) -> Any:
        return params

    def weights_of(self, params: Any) -> np.ndarray:
        return np.asarray(ravel_pytree(params)[0])

    def with_weights(self, weights: Any, drawn: np.ndarray | None = None) -> Any:
        return ravel_pytree(self.init())[1](jnp.asarray(weights))


@dataclasses.dataclass(frozen=True)
class ConvSpec(ValueSpec):
    """A small convolutional network.

    Attributes:
      channels: Filters of the first layer.
      weight_decay: The share of every weight that a step of size 1 takes away.
    """

    channels: int = setting(8, low=1, high=1024)
    weight_decay: float = setting(0.0, low=0, high=1)

    kind = "conv"
    # Lanes of one program may differ in it.
    lane_numbers = ("weight_decay",)

    def build(self, game: Game, of_actions: bool, batch: int) -> Conv:
        if of_actions or math.isqrt(game.num_cells) ** 2 != game.num_cells:
            raise ValueError(f"conv values square boards, not {game.name} or its actions")
        return Conv(game=game, channels=self.channels)
