"""The indices of the terms of an n-tuple value in the tables; their only computation.

The index of a tuple is linear in the cells' digits, so a move that alters few cells shifts it by a
few products. Source: Konen & Bagheri 2021, appendix A.3.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.types import Params
from jaxgbg.values.core import ValueFunction
from jaxgbg.values.layouts import Layout

# Whole numbers up to 2**24 are exact in float32.
_EXACT_BITS = 24
# A matrix of fewer numbers takes so little time that packing it does not pay.
_LEAST_MATRIX = 2**14


def look_up(table: jax.Array | np.ndarray, index: jax.Array) -> jax.Array:
    """`table[index]` for indices that are known to lie inside the table."""
    return jnp.asarray(table).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Indices(ValueFunction):
    """The rows of all tables, players one after the other, that boards look up; static under jit.

    With `varied` layouts `tuples` only gives their shape, and the cells are an agent's own:
    `layout` int32[m, L] in the methods below. With `action_images`, a game's action symmetries,
    there are tables for every action too: Q(s, a | p) reads image j of the board in the tables of
    image j of the action, and the features of the pair are those of s, moved to these tables.
    """

    tuples: Layout
    symmetries: tuple[tuple[int, ...], ...]
    num_cell_values: int
    num_players: int
    varied: bool = False
    action_images: tuple[tuple[int, ...], ...] | None = None

    @property
    def num_images(self) -> int:
        """N_S: symmetry images of a board, the identity among them."""
        return len(self.symmetries)

    @property
    def num_features(self) -> int:
        """F: look-ups of one evaluation, tuples times images."""
        return len(self.tuples) * self.num_images

    @functools.cached_property
    def _sizes(self) -> np.ndarray:
        return np.array([self.num_cell_values ** len(cells) for cells in self.tuples])

    @property
    def num_actions(self) -> int:
        """Tables of a player: 1 for V, the number of actions for Q."""
        return len(self.action_images[0]) if self.action_images else 1

    @property
    def rows_per_action(self) -> int:
        return int(self._sizes.sum())

    @property
    def rows_per_player(self) -> int:
        return self.rows_per_action * self.num_actions

    @property
    def num_weights(self) -> int:
        """R: weights of all players."""
        return self.rows_per_player * self.num_players

    @functools.cached_property
    def _offsets(self) -> np.ndarray:
        """int32[F]: first row of each feature's tuple."""
        starts = np.cumsum(self._sizes) - self._sizes
        return np.repeat(starts, self.num_images).astype(np.int32)

    @functools.cached_property
    def _strides(self) -> np.ndarray:
        """int32[C, F]: by how much one more at a cell's digit moves each index."""
        strides = np.zeros((len(self.symmetries[0]), self.num_features), np.int32)
        feature = 0
        for cells in self.tuples:
            for image in self.symmetries:
                for place, cell in enumerate(cells):
                    strides[image[cell], feature] += self.num_cell_values**place
                feature += 1
        return strides

    @property
    def place_values(self) -> np.ndarray:
        """int32[L]: what a digit counts at each place of a tuple."""
        return self.num_cell_values ** np.arange(len(self.tuples[0]), dtype=np.int32)

    def _places(self, layout: jax.Array) -> jax.Array:
        """int32[F, L]: the cell at each place of every tuple and image; tuples of one length."""
        tuples = layout if self.varied else jnp.asarray(self.tuples, jnp.int32)
        images = jnp.asarray(self.symmetries, jnp.int32)[:, tuples]
        return images.swapaxes(0, 1).reshape(self.num_features, -1)

    def at_places(self, layout: jax.Array) -> jax.Array:
        """float32[F, L, C]: 1 where that cell is at that place."""
        cells = np.arange(len(self.symmetries[0]))
        return (self._places(layout)[:, :, None] == cells).astype(jnp.float32)

    def strides(self, layout: jax.Array) -> jax.Array | np.ndarray:
        """int32[C, F]: by how much one more at a cell's digit moves each row of this agent."""
        if not self.varied:
            return self._strides
        values = self.place_values.astype(np.float32)
        strides = jnp.einsum("flc,l->cf", self.at_places(layout), values, precision="highest")
        return strides.astype(jnp.int32)

    @functools.cached_property
    def _packing(self) -> tuple[int, int]:
        """(number of indices in one float32, bits of each), all without loss below 2**24."""
        bits = max(1, int(self._sizes.max() - 1).bit_length())
        pays = len(self.symmetries[0]) * self.num_features >= _LEAST_MATRIX
        return max(1, _EXACT_BITS // bits if pays else 1), bits

    def features(self, params: Params, cells: jax.Array) -> jax.Array:
        """int32[..., F]: the table row of every tuple and image on boards `cells` int8[..., C].

        A matrix product, which takes most of the time of a large board: each of its float32 holds
        as many indices as it can without loss.
        """
        strides, (packed, bits) = self.strides(params.tuples), self._packing
        columns = -(-self.num_features // packed)
        spare = columns * packed - self.num_features
        array = np if isinstance(strides, np.ndarray) else jnp
        parts = array.pad(strides, ((0, 0), (0, spare))).reshape(-1, packed, columns)
        shifts = bits * np.arange(packed, dtype=np.int32)
        product = jnp.matmul(
            cells.astype(jnp.float32),
            (parts << shifts[:, None]).sum(1).astype(np.float32),
            precision=jax.lax.Precision.HIGHEST,
        ).astype(jnp.int32)
        # The last part of the bits needs no mask.
        indices = [(product >> shift) & (2**bits - 1) for shift in shifts[:-1]]
        indices.append(product >> shifts[-1])
        return jnp.concatenate(indices, -1)[..., : self.num_features] + self._offsets

    @functools.cached_property
    def _action_offsets(self) -> np.ndarray:
        """int32[A, F]: first row of the tables in which a feature of each action is looked up."""
        images = np.array(self.action_images, np.int32).T
        return np.tile(images * self.rows_per_action, len(self.tuples))

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        return features + look_up(self._action_offsets, action)

    def rows(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """int32[..., F]: where in `weights` the terms of V(s | player int[...]) stand."""
        return features + player.astype(jnp.int32)[..., None] * self.rows_per_player

    def first_hits(self, features: jax.Array) -> jax.Array:
        """bool[..., F]: False where an earlier image of the same tuple reads the same row."""
        images = features.reshape(*features.shape[:-1], len(self.tuples), self.num_images)
        first = [jnp.ones(images.shape[:-1], bool)]
        for j in range(1, self.num_images):
            first.append((images[..., :j] != images[..., j : j + 1]).all(-1))
        return jnp.stack(first, -1).reshape(features.shape)
