"""n-tuples that value all moves of a board together, without a look at the boards they make."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.values.indices import look_up
from jaxgbg.values.ntuple import NTuple, NTupleParams
from jaxgbg.xla import materialize


@dataclasses.dataclass(frozen=True, kw_only=True)
class FollowingNTuple(NTuple):
    """n-tuples of a game whose moves alter few cells: `IncrementalByPattern`.

    `patterns` are the (cell, difference) pairs of each way in which a move alters the board.
    """

    patterns: tuple[tuple[tuple[int, int], ...], ...]

    @functools.cached_property
    def _pairs(self) -> np.ndarray:
        """int32[Q, K, 2]: the pairs of each pattern, with (0, 0) beyond its last."""
        pairs = np.zeros((len(self.patterns), max(map(len, self.patterns)), 2), np.int32)
        for row, pattern in zip(pairs, self.patterns, strict=True):
            row[: len(pattern)] = np.reshape(pattern, (-1, 2))
        return pairs

    @functools.cached_property
    def _shifts(self) -> np.ndarray:
        """int32[Q, F]: by how much each pattern moves each index of a layout that all share."""
        cells, differences = np.moveaxis(self._pairs, -1, 0)
        return np.einsum("qk,qkf->qf", differences, self._strides[cells])

    def shift(self, params: NTupleParams, features: jax.Array, change: jax.Array) -> jax.Array:
        if not self.varied:
            return features + look_up(self._shifts, change)
        strides, pairs = self.strides(params.tuples), look_up(self._pairs, change)
        for number in range(pairs.shape[-2]):
            cell, difference = pairs[..., number, 0], pairs[..., number, 1]
            features += look_up(strides, cell) * difference[..., None]
        return features

    def values_after(
        self, params: NTupleParams, features: jax.Array, changes: jax.Array, player: jax.Array
    ) -> jax.Array:
        """V float32[A] of the boards that patterns `changes` int32[A] make of one board.

        Looking up only the features that a change moves did not pay: finding them costs XLA more
        than the look-ups that it saves.
        """
        return self.value(
            params, self.shift(params, features[None], materialize(changes)[0]), player
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoneNTuple(NTuple):
    """n-tuples of a game whose moves add one stone: `BatchedPlacements`; digits as in `Game`."""

    stone_digits: tuple[int, ...]

    def values_with_stone(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        """V float32[..., C] of the boards that differ by one new stone of `player` int[...].

        Each tuple is looked up once for each of its cells, as if the stone were there: F * L
        look-ups instead of F * C. What stands for an occupied cell is of no use.
        """
        rows = self.rows(features, player)
        digit = look_up(np.asarray(self.stone_digits, np.int32), player.astype(jnp.int32))
        after = rows[..., None] + digit[..., None, None] * self.place_values
        after = jnp.clip(after, 0, self.num_weights - 1)
        before = look_up(params.weights, rows)
        moved = look_up(params.weights, after) - before[..., None]
        at_places = self.at_places(params.tuples).reshape(-1, len(self.symmetries[0]))
        changed = jnp.matmul(
            moved.reshape(*moved.shape[:-2], -1), at_places, precision=jax.lax.Precision.HIGHEST
        )
        return self._activate(before.sum(-1, keepdims=True) + changed)
