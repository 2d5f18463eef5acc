"""The contract of a value function: a small core, and capabilities with names of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax
from jaxgbg.specs import Spec
from jaxgbg.types import Gradients, Params, PyTree, State


class Updates(NamedTuple):
    """n updates that are made together; those that are not `live` bool[n] do nothing.

    `features` int32[n, F] of a state or pair, `player` int[n], `change` float32[n] = delta *
    lambda**k * slope or a sum of such terms, `size` float32[n] the sum of their absolute values;
    both are 0 where not live. `extra` is a pytree with leading axis n of what the value function
    learns in addition to values: the result of its `HasAuxiliary.auxiliary_targets`, () for others.
    """

    features: jax.Array
    player: jax.Array
    change: jax.Array
    size: jax.Array
    live: jax.Array
    extra: PyTree = ()


class ValueFunction:
    """V(s | player) of boards, or Q(s, a | player) of actions; frozen and hashable, static.

    Learners do not read the parameters or the features of a board. A value function that can do
    more has the methods of a capability: `IncrementalByPattern`, `IncrementalByCells`,
    `BatchedPlacements`, `HasGradients`, `HasInputs` or `HasAuxiliary`. Without these, learners
    only use `value`.
    """

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
        """R: the length of `weights_of`."""
        raise NotImplementedError

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> Params:
        """The parameters before the first update; `drawn` is what `ValueSpec.drawn` gave a seed."""
        raise NotImplementedError

    def observe(self, game: Game, state: State) -> jax.Array:
        """int[D]: the input of `features` for a position; by default the cells."""
        return game.cells(state)

    def features(self, params: Params, board: jax.Array) -> jax.Array:
        """The features int32[..., F] of observed boards int[..., D], the same for all players."""
        raise NotImplementedError

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        """int32[..., F] of a board and an action int[...], for Q."""
        raise NotImplementedError

    def value(self, params: Params, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[...] of features int32[..., F] for player int[...]."""
        raise NotImplementedError

    def action_values(self, params: Params, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., A] of every action on a board, for Q."""
        raise NotImplementedError

    def slope(self, value: jax.Array) -> jax.Array:
        """g'(value), which multiplies the TD error; ones if `update` has its own gradient."""
        raise NotImplementedError

    def update(
        self,
        params: Params,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> Params:
        """Return the parameters after all updates of a tick, combined.

        Args:
          alpha: The step size float32[].
          hyper: The value function's own numbers, float32[] each: `ValueSpec.lane_numbers`.
        """
        raise NotImplementedError

    def for_player(self, params: Params) -> Params:
        """The parameters without parts that only updates need; they may have an axis of agents."""
        raise NotImplementedError

    def weights_of(self, params: Params) -> np.ndarray:
        """float32[R]: all parameters that a player needs, in one row."""
        raise NotImplementedError

    def with_weights(
        self, weights: jax.Array | np.ndarray, drawn: np.ndarray | None = None
    ) -> Params:
        """Parameters for a player, from float32[R] and the arrays that its seed has `drawn`."""
        raise NotImplementedError

    def tc_counters(self, params: Params) -> np.ndarray | None:
        """float32[R, 2]: N and A of every weight; None where there are no such counters."""
        return None

    def tc_factors(self, params: Params) -> np.ndarray | None:
        """float32[R]: |N| / A of every weight; None where there are no such counters.

        N sums the recommended changes of a weight, A their absolute values: the factor is 1 while
        they agree in sign, or where there was none, and falls to 0 where they cancel (Beal & Smith
        1999).
        """
        counters = self.tc_counters(params)
        return None if counters is None else np.abs(counters[:, 0]) / counters[:, 1]


def observe_all(game: Game, value: ValueFunction, states: State) -> jax.Array:
    """int[B, D]: what the value function sees of states[B]."""
    return jax.vmap(partial(value.observe, game))(states)


def features_of(game: Game, value: ValueFunction, params: Params, states: State) -> jax.Array:
    """int32[B, F]: the features of the positions states[B]."""
    return value.features(params, observe_all(game, value, states))


def check_updates(value: ValueFunction, updates: Updates) -> None:
    """Refuse updates with other shapes than in `Updates`: most would be broadcast."""
    # Imported here: chex needs a folder for temporary files as soon as it is imported.
    import chex

    chex.assert_shape(updates.features, (None, value.num_features))
    chex.assert_shape(updates[1:5], (len(updates.features),))
    chex.assert_type(updates[:5], [int, int, float, float, bool])
    chex.assert_tree_shape_prefix(updates.extra, (len(updates.features),))


@runtime_checkable
class IncrementalByPattern(Protocol):
    """Updates features after a move by the number of its `Game.change`, without the board."""

    def shift(self, params: Params, features: jax.Array, change: jax.Array) -> jax.Array:
        """int32[F] after pattern `change` int32[] of `Game.change_patterns`."""
        ...

    def values_after(
        self, params: Params, features: jax.Array, changes: jax.Array, player: jax.Array
    ) -> jax.Array:
        """float32[A] of the boards after patterns int32[A]."""
        ...


@runtime_checkable
class IncrementalByCells(Protocol):
    """Evaluates a board by the few cells in which it differs from another (`Game.altered`)."""

    def accumulator(self, params: Params, features: jax.Array, player: jax.Array) -> jax.Array:
        """[..., H]: the part that is computed once for the other board, for player int[...]."""
        ...

    def value_incremental(
        self,
        params: Params,
        accumulator: jax.Array,
        player: jax.Array,
        altered: tuple[jax.Array, jax.Array],
        board: jax.Array,
    ) -> jax.Array:
        """float32[...]: `value` of the board whose cells are `altered`.

        `accumulator` is that of the other board. `board` int[..., D] is as observed; only what
        follows the cells is read.
        """
        ...


@runtime_checkable
class BatchedPlacements(Protocol):
    """Evaluates all moves of a board together, if a move adds one stone (`Game.stone_digits`)."""

    def values_with_stone(
        self, params: Params, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        """float32[..., C] of the boards with one more stone."""
        ...


@runtime_checkable
class HasGradients(Protocol):
    """Has gradients, which eligibility over the parameters needs."""

    def zero_gradient(self, params: Params) -> Gradients:
        """A gradient of one value, all 0."""
        ...

    def gradients(self, params: Params, features: jax.Array, player: jax.Array) -> Gradients:
        """The gradients of B values, or what the loss has in their place, leaves [B, ...]."""
        ...

    def step(self, params: Params, uphill: Gradients, live: jax.Array, alpha: jax.Array) -> Params:
        """The parameters after a step along `uphill`."""
        ...


@runtime_checkable
class HasInputs(Protocol):
    """Has inputs, such as those of a network, that can be computed in advance for many updates."""

    def inputs_of(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., I] of features int32[..., F], from the side of `player` int[...]."""
        ...

    def value_of_inputs(self, params: Params, inputs: jax.Array) -> jax.Array:
        """float32[...]: V of the inputs."""
        ...

    def update_from_inputs(
        self,
        params: Params,
        inputs: jax.Array,
        change: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        extra: PyTree = (),
    ) -> Params:
        """`update` of V for inputs float32[n, I], with `extra` as in `Updates`."""
        ...


@runtime_checkable
class HasAuxiliary(Protocol):
    """Also predicts properties of the same player's next board, as auxiliary outputs."""

    def auxiliary_targets(self, following: jax.Array, player: jax.Array) -> PyTree:
        """Targets [...] of the board that follows, for `Updates.extra`.

        `following` int32[..., F] are its features, all -1 if there is no next board.
        """
        ...


@dataclasses.dataclass(frozen=True)
class ValueSpec(Spec):
    """The settings of a value function, which is built for a game."""

    kinds: ClassVar[dict[str, type[Spec]]] = {}
    # The settings in which lanes of one program may differ: traced, not compiled in. `update` gets
    # them by their names.
    lane_numbers: ClassVar[tuple[str, ...]] = ()

    def build(self, game: Game, of_actions: bool, batch: int) -> ValueFunction:
        """The value function of `game`, V or Q `of_actions`, for `batch` games in lockstep.

        Raises ValueError if the settings do not fit the game.
        """
        raise NotImplementedError

    def for_seed(self, game: Game, seed: int) -> ValueSpec:
        """These settings with the draws of `seed` written out."""
        return self

    def drawn(self, game: Game, seed: int) -> np.ndarray:
        """The arrays that each seed draws, which may differ between lanes of one program: none."""
        return np.zeros((0, 0), np.int32)
