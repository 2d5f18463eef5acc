"""n-tuples with one table for all players that see themselves as one, by `Game.seat_rotations`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.rotations import SeatRotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.values.core import Updates, ValueFunction, check_updates
from jaxgbg.values.indices import look_up
from jaxgbg.values.ntuple import NTuple, NTupleParams
from jaxgbg.values.ntuple_moves import StoneNTuple
from jaxgbg.values.perspective import from_player_view, rearranged


@dataclasses.dataclass(frozen=True, kw_only=True)
class OneTable(ValueFunction):
    """V(s | p) = V(image of s for p | owner of p), where `tables` are those of the owners alone.

    The owners are players 0, 1, ... of `tables`. The features of a board are those of its K
    different images, one after the other.
    """

    tables: NTuple
    game: Game

    serial_list = NTuple.serial_list

    @functools.cached_property
    def rotations(self) -> SeatRotations:
        found = self.game.seat_rotations
        assert found is not None
        return found

    @functools.cached_property
    def _number(self) -> np.ndarray:
        """int32[N]: the number of the image for each player; players with one image share it."""
        parts = self.rotations[1:]
        keys = [b"".join(rows[p].tobytes() for rows in parts) for p in range(len(parts[0]))]
        return np.array([[*dict.fromkeys(keys)].index(key) for key in keys], np.int32)

    @functools.cached_property
    def _first(self) -> list[int]:
        """int[K]: a player with each image."""
        return [self._number.tolist().index(k) for k in range(self._number.max() + 1)]

    @functools.cached_property
    def _owner(self) -> np.ndarray:
        """int32[N]: the number of each player's owner among the owners."""
        return np.searchsorted(self.rotations.owners, self.rotations.owner).astype(np.int32)

    @property
    def num_features(self) -> int:
        return self.tables.num_features * len(self._first)

    @property
    def num_actions(self) -> int:
        return self.tables.num_actions

    @property
    def num_weights(self) -> int:
        return self.tables.num_weights

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> NTupleParams:
        return self.tables.init(drawn, key)

    def image(self, board: jax.Array, player: int) -> jax.Array:
        """int8[..., C]: the image of boards int8[..., C] for a player."""
        _, cells, digits, _ = self.rotations
        seen = found = rearranged(board, tuple(cells[player].tolist()))
        for digit, new in enumerate(digits[player].T):
            if (new != digit).any():
                found = jnp.where(seen == digit, new.astype(np.int8), found)
        return found

    def owner_of(self, player: jax.Array) -> jax.Array:
        """int32[...]: the player of `tables` for players int[...]."""
        return look_up(self._owner, player.astype(jnp.int32))

    def own(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """int32[..., F]: the features of the image for `player` int[...], among all."""
        parts = jnp.split(features, len(self._first), -1)
        number = look_up(self._number, player.astype(jnp.int32))[..., None]
        return functools.reduce(
            lambda found, k: jnp.where(number == k, parts[k], found), range(1, len(parts)), parts[0]
        )

    def features(self, params: NTupleParams, board: jax.Array) -> jax.Array:
        images = jnp.stack([self.image(board, player) for player in self._first], -2)
        found = self.tables.features(params, images)
        return found.reshape(*found.shape[:-2], self.num_features)

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        images = jnp.split(features, len(self._first), -1)
        names = [look_up(self.rotations.actions[player], action) for player in self._first]
        return jnp.concatenate(list(map(self.tables.of_action, images, names)), -1)

    def value(self, params: NTupleParams, features: jax.Array, player: jax.Array) -> jax.Array:
        return self.tables.value(params, self.own(features, player), self.owner_of(player))

    def action_values(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        own, owner = self.own(features, player), self.owner_of(player)
        return self._by_action(self.tables.action_values(params, own, owner), player)

    def _by_action(self, values: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., A]: values by action on the image, in the order of those on the board."""
        names = [tuple(row) for row in self.rotations.actions.tolist()]
        return from_player_view(values, names, player) if len(set(names)) > 1 else values

    def accumulator(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        own, owner = self.own(features, player), self.owner_of(player)
        return self.tables.accumulator(params, own, owner)

    def value_incremental(
        self,
        params: NTupleParams,
        accumulator: jax.Array,
        player: jax.Array,
        altered: tuple[jax.Array, jax.Array],
        board: jax.Array,
    ) -> jax.Array:
        _, cells, digits, _ = self.rotations
        (where, seen), seat = altered, player.astype(jnp.int32)[..., None]
        places = jnp.asarray(np.argsort(cells, axis=1).astype(np.int32))
        place = places[seat, jnp.maximum(where, 0)]
        new = jnp.asarray(digits)[seat[..., None], place[..., None], seen]
        image = jnp.where(where < 0, -1, place), new
        # The tables look at what was altered alone.
        return self.tables.value_incremental(
            params, accumulator, self.owner_of(player), image, board
        )

    def slope(self, value: jax.Array) -> jax.Array:
        return self.tables.slope(value)

    def update(
        self,
        params: NTupleParams,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> NTupleParams:
        check_updates(self, updates)
        own = self.own(updates.features, updates.player)
        updates = updates._replace(features=own, player=self.owner_of(updates.player))
        return self.tables.update(params, updates, alpha, hyper)

    def for_player(self, params: NTupleParams) -> NTupleParams:
        return self.tables.for_player(params)

    def weights_of(self, params: NTupleParams) -> np.ndarray:
        return self.tables.weights_of(params)

    def tc_counters(self, params: NTupleParams) -> np.ndarray | None:
        return self.tables.tc_counters(params)

    def with_weights(
        self, weights: jax.Array | np.ndarray, drawn: np.ndarray | None = None
    ) -> NTupleParams:
        return self.tables.with_weights(weights, drawn)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OneTableOfStones(OneTable):
    """The same for a game whose moves add one stone: `BatchedPlacements`.

    `tables` have the digits of the owners' stones.
    """

    tables: StoneNTuple

    def values_with_stone(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        own, owner = self.own(features, player), self.owner_of(player)
        return self._by_action(self.tables.values_with_stone(params, own, owner), player)
