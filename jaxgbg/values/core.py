"""The contract of a value function, between boards and learners."""

from typing import Any

import jax
import numpy as np


class ValueFunction:
    """V(s | player) of boards, or Q(s, a | player) of actions; frozen and hashable, static.

    Learners handle the parameters and the features of a board without a look inside. A value
    function that knows a way around the evaluation of whole boards says so by an attribute that is
    None here, and a learner that has none of these ways to go asks for `value` alone.
    """

    # Not None where `shift` and `values_after` follow a move without a look at the board.
    patterns: Any = None
    # Not None where `values_with_stone` values all moves of a board together.
    stone_digits: tuple[int, ...] | None = None
    # Whether every seed has n-tuples of its own.
    varied: bool = False
    # Whether the states of an eligibility list are updated one after the other.
    serial_list: bool = False

    @property
    def num_features(self) -> int:
        """F: the length of a board's features."""
        raise NotImplementedError

    @property
    def num_actions(self) -> int:
        """1 for V, the game's number of actions for Q."""
        raise NotImplementedError

    @property
    def num_weights(self) -> int:
        """R: what `weights_of` gives."""
        raise NotImplementedError

    def init(self, tuples: Any = None, key: jax.Array | None = None) -> Any:
        """The parameters before the first update."""
        raise NotImplementedError

    def features(self, params: Any, cells: jax.Array) -> jax.Array:
        """int32[..., F] of boards int8[..., C], the same for every player."""
        raise NotImplementedError

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        """int32[..., F] of a board and an action int[...], for Q."""
        raise NotImplementedError

    def value(self, params: Any, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[...] of features int32[..., F] for player int[...]."""
        raise NotImplementedError

    def shift(self, features: jax.Array, change: jax.Array) -> jax.Array:
        """int32[F] after pattern `change` int32[] of `patterns`."""
        raise NotImplementedError

    def values_after(
        self, params: Any, features: jax.Array, changes: jax.Array, player: jax.Array
    ) -> jax.Array:
        """float32[A] of the boards after patterns int32[A] of `patterns`."""
        raise NotImplementedError

    def values_with_stone(self, params: Any, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., C] of the boards with one more stone, where there are `stone_digits`."""
        raise NotImplementedError

    def action_values(self, params: Any, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., A] of every action on a board, for Q."""
        raise NotImplementedError

    def slope(self, value: jax.Array) -> jax.Array:
        """What an error is multiplied by before it reaches `update`."""
        raise NotImplementedError

    def update(
        self,
        params: Any,
        features: jax.Array,
        player: jax.Array,
        change: jax.Array,
        size: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        beta: jax.Array,
    ) -> Any:
        """The parameters after all updates of a tick, joined."""
        raise NotImplementedError

    def for_player(self, params: Any) -> Any:
        """The parameters without what only updates need; with or without an axis of agents."""
        raise NotImplementedError

    def weights_of(self, params: Any) -> np.ndarray:
        """float32[R]: all that a player needs, in one row."""
        raise NotImplementedError

    def with_weights(self, weights: Any) -> Any:
        """Parameters for a player, of float32[R]."""
        raise NotImplementedError

    def tc_factors(self, params: Any) -> np.ndarray | None:
        """float32[R]: |N| / A of every weight; None where there are no such counters."""
        del params
        return None

    def gradients(self, params: Any, features: jax.Array, player: jax.Array) -> Any:
        """The gradients of B values, leaves [B, ...]; networks only, as are parameter traces."""
        raise NotImplementedError

    def step(self, params: Any, uphill: Any, live: jax.Array, alpha: jax.Array) -> Any:
        """The parameters after a step along `uphill`; networks only."""
        raise NotImplementedError
