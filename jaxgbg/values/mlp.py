"""A multi-layer perceptron as value function: one network that sees each player's side.

Source: van der Ree & Wiering 2013, section III (inputs, one output for V, one for each action for
Q); Auer, Herbster & Warmuth 1996 (matching losses); D'Ambra, "Reinforcement learning techniques in
board games" (traces over the parameters); Sasso & van Lohuizen 2018 (extras of the board as inputs
and auxiliary outputs).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import Module, jax, jnp
from jaxgbg.specs import setting, shown
from jaxgbg.types import Gradients, PyTree, State
from jaxgbg.values.core import Updates, ValueFunction, ValueSpec, check_updates
from jaxgbg.values.perspective import Extras, View, from_player_view, views_of

if TYPE_CHECKING:
    from jaxgbg.values import layers
else:
    layers = Module("jaxgbg.values.layers")


class MLPParams(NamedTuple):
    """`network` the weights and biases, `optimizer` what the step size rule remembers."""

    network: PyTree
    optimizer: PyTree


@dataclasses.dataclass(frozen=True, kw_only=True)
class MLP(ValueFunction):
    """Multi-layer perceptron on the cells of one game; static under jit. It `HasGradients`
    and, for V, `HasInputs` and `IncrementalByCells`.

    In a game with `piece_digits` there is one input a cell: 1 an own piece, -1 another's, 0
    neither. Otherwise every digit of every cell has an input that is 1 or 0, and so has every
    player. `num_actions` outputs: 1 for V, one an action for Q. An output "sigmoid" is stretched
    over the game's `reward_range`. All biases start at one number, but "uniform" draws them like
    the weights.

    With extras a board is the cells and then the extras of player 0, of player 1 and so on. The
    network has them as inputs after all others, over their scales, those of the player who asks
    first, then of the others in turn. `AuxiliaryMLP` has them as outputs too.
    """

    spec: MLPSpec
    game: Game
    num_actions: int = 1

    def __post_init__(self) -> None:
        # Raises ValueError for a name that the game does not have.
        _ = self.extras

    @functools.cached_property
    def extras(self) -> Extras:
        """The extras that the network uses, as inputs, outputs or both."""
        return Extras(self.game, self.spec.extras)

    @functools.cached_property
    def views(self) -> tuple[View, ...]:
        """The view of each player, () if all see the board as it is."""
        return views_of(self.game)

    @functools.cached_property
    def _module(self) -> layers.Layers:
        spec, sizes = self.spec, (*self.spec.hidden, self.num_outputs)
        return layers.Layers(sizes, spec.activation, spec.initializer, spec.bias)

    @property
    def num_outputs(self) -> int:
        return self.num_actions

    @property
    def num_features(self) -> int:
        """F: the cells, the extras and, for Q, the action."""
        return self.game.num_cells + self.extras.size + (self.num_actions > 1)

    @property
    def num_inputs(self) -> int:
        game, extras = self.game, self.extras.size * self._sees_extras
        if game.piece_digits:
            return game.num_cells + extras
        return game.num_cells * game.num_cell_values + game.num_players + extras

    @property
    def _sees_extras(self) -> bool:
        return bool(self.spec.extras) and self.spec.extras_as != "outputs"

    @functools.cached_property
    def num_weights(self) -> int:
        """R: weights and biases together."""
        shapes = jax.eval_shape(lambda: self.init(key=jax.random.key(0)))
        return sum(leaf.size for leaf in jax.tree.leaves(shapes.network))

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> MLPParams:
        """A network drawn by `key`."""
        network = self._module.init(
            jax.random.key(0) if key is None else key, jnp.zeros(self.num_inputs)
        )
        return MLPParams(network, layers.optimizer(self.spec.optimizer).init(network))

    def observe(self, game: Game, state: State) -> jax.Array:
        """int8[C] the cells or, with extras, int32[C + N * M]."""
        cells = game.cells(state)
        if not self.spec.extras:
            return cells
        return jnp.concatenate([cells.astype(jnp.int32), self.extras.of(state)])

    def features(self, params: MLPParams, board: jax.Array) -> jax.Array:
        """int32[..., F] of boards int[..., D]; the place of the action holds 0."""
        digits = board.astype(jnp.int32)
        if self.num_actions == 1:
            return digits
        return jnp.concatenate([digits, jnp.zeros_like(digits[..., :1])], -1)

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        return features.at[..., -1].set(action)

    def inputs_of(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., I]: the board from the side of `player`, and the extras if they are seen."""
        board = self._squares(features, player)
        if not self._sees_extras:
            return board
        return jnp.concatenate([board, self.known_extras(features, player)], -1)

    def known_extras(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., N * M]: the extras from the side of `player`."""
        first = self.game.num_cells
        return self.extras.scaled(features[..., first : first + self.extras.size], player)

    def _squares(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., I]: what stands on the cells, from the side of `player`."""
        game = self.game
        digits = features[..., : game.num_cells]
        views = [view.cells for view in self.views]
        if game.piece_digits:
            signs = jnp.zeros(digits.shape, jnp.int32)
            for owner, digit in enumerate(game.piece_digits):
                side = jnp.where(player == owner, jnp.int32(1), jnp.int32(-1))
                signs += jnp.where(digits == digit, side[..., None], 0)
            # Turned last, when least is left to be done for every square.
            return (from_player_view(signs, views, player) if views else signs).astype(jnp.float32)
        if views:
            digits = from_player_view(digits, views, player)
        one_hot = jax.nn.one_hot(digits, game.num_cell_values)
        one_hot = one_hot.reshape(*one_hot.shape[:-2], -1)
        mover = jax.nn.one_hot(player, game.num_players)
        mover = jnp.broadcast_to(mover, (*one_hot.shape[:-1], game.num_players))
        return jnp.concatenate([one_hot, mover], -1)

    def _totals(self, network: PyTree, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., O]: what enters the outputs, those of values first."""
        return jnp.asarray(self._module.apply(network, self.inputs_of(features, player)))

    def _outputs(self, total: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., num_actions]: the values."""
        return self._activated(self._of_values(total, player))

    def _of_values(self, total: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., num_actions]: what enters the outputs that are values."""
        if self.views and self.num_actions > 1:
            total = from_player_view(total, [view.actions for view in self.views], player)
        return total

    def _judged(self, total: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., num_actions]: whose gradients carry errors back, by the loss."""
        sums = self._of_values(total, player)
        return sums if self.spec.loss == "matching" else self._activated(sums)

    def _activated(self, total: jax.Array) -> jax.Array:
        """The values that these sums become."""
        if self.spec.output == "sigmoid":
            low, high = self.game.reward_range
            return low + (high - low) * jax.nn.sigmoid(total)
        return layers.ACTIVATIONS[self.spec.output](total)

    def action_values(self, params: MLPParams, features: jax.Array, player: jax.Array) -> jax.Array:
        return self._outputs(self._totals(params.network, features, player), player)

    def value(self, params: MLPParams, features: jax.Array, player: jax.Array) -> jax.Array:
        return self._taken(self.action_values(params, features, player), features)

    def _value_judged(self, network: PyTree, features: jax.Array, player: jax.Array) -> jax.Array:
        return self._taken(self._judged(self._totals(network, features, player), player), features)

    def accumulator(self, params: MLPParams, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., H]: what enters the first hidden layer, but for extras."""
        first = params.network["params"]["Dense_0"]
        squares = self._squares(features, player)
        return squares @ first["kernel"][: squares.shape[-1]] + first["bias"]

    def value_incremental(
        self,
        params: MLPParams,
        accumulator: jax.Array,
        player: jax.Array,
        altered: tuple[jax.Array, jax.Array],
        board: jax.Array,
    ) -> jax.Array:
        """Two rows of the first layer's weights a cell, where `value` looks at all of them."""
        kernel = params.network["params"]["Dense_0"]["kernel"]
        views = [view.cells for view in self.views]
        sums = accumulator + layers.first_layer_delta(self.game, views, kernel, player, altered)
        if self._sees_extras:
            extras = self.known_extras(self.features(params, board), player)
            sums += extras @ kernel[-self.extras.size :]
        total = jnp.asarray(self._module.apply(params.network, sums, entered=True))
        return self._outputs(total, player)[..., 0]

    def _taken(self, outputs: jax.Array, features: jax.Array) -> jax.Array:
        if self.num_actions == 1:
            return outputs[..., 0]
        # Only the output of the action taken is judged, and so only it learns.
        return jnp.take_along_axis(outputs, features[..., -1:], -1)[..., 0]

    def slope(self, value: jax.Array) -> jax.Array:
        """1: the slope of the output, if the loss has it, is a part of the gradient."""
        return jnp.ones_like(value)

    def update(
        self,
        params: MLPParams,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> MLPParams:
        """One step of the optimizer along the sum of change * gradient, if any is live.

        The gradient is that of V or, with the loss "matching", of the sum that becomes V.
        """
        check_updates(self, updates)
        features, player, change, _, live, extra = updates

        def weighted(network: PyTree) -> jax.Array:
            total = self._totals(network, features, player)
            judged = self._taken(self._judged(total, player), features)
            return self._gain(total, judged, change, live, extra)

        return self.step(params, jax.grad(weighted)(params.network), live, alpha)

    def _gain(
        self, total: jax.Array, judged: jax.Array, change: jax.Array, live: jax.Array, extra: PyTree
    ) -> jax.Array:
        """float32[]: its gradient is the way that updates go. `extra` is that of `Updates`."""
        del total, extra
        return (judged * jnp.where(live, change, 0)).sum()

    def value_of_inputs(self, params: MLPParams, inputs: jax.Array) -> jax.Array:
        # The values of states, unlike those of actions, are the same number for every player.
        total = jnp.asarray(self._module.apply(params.network, inputs))
        return self._outputs(total, jnp.int8(0))[..., 0]

    def update_from_inputs(
        self,
        params: MLPParams,
        inputs: jax.Array,
        change: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        extra: PyTree = (),
    ) -> MLPParams:
        def weighted(network: PyTree) -> jax.Array:
            total = jnp.asarray(self._module.apply(network, inputs))
            judged = self._judged(total, jnp.int8(0))[..., 0]
            return self._gain(total, judged, change, live, extra)

        return self.step(params, jax.grad(weighted)(params.network), live, alpha)

    def zero_gradient(self, params: MLPParams) -> Gradients:
        return jax.tree.map(jnp.zeros_like, params.network)

    def gradients(self, params: MLPParams, features: jax.Array, player: jax.Array) -> Gradients:
        one = jax.grad(self._value_judged)
        return jax.vmap(one, (None, 0, 0))(params.network, features, player)

    def step(
        self, params: MLPParams, uphill: Gradients, live: jax.Array, alpha: jax.Array
    ) -> MLPParams:
        scale = 1 / jnp.maximum(live.sum(), 1) if self.spec.combine == "mean" else 1.0
        downhill = jax.tree.map(lambda leaf: -scale * leaf, uphill)
        moves, remembered = layers.optimizer(self.spec.optimizer).update(
            downhill, params.optimizer, params.network
        )
        network = jax.tree.map(lambda old, move: old + alpha * move, params.network, moves)
        stepped, any_live = MLPParams(network, remembered), live.any()
        return jax.tree.map(lambda new, old: jnp.where(any_live, new, old), stepped, params)

    def for_player(self, params: MLPParams) -> MLPParams:
        return MLPParams(params.network, ())

    def weights_of(self, params: MLPParams) -> np.ndarray:
        from jax.flatten_util import ravel_pytree

        return np.asarray(ravel_pytree(params.network)[0])

    def with_weights(
        self, weights: jax.Array | np.ndarray, drawn: np.ndarray | None = None
    ) -> MLPParams:
        from jax.flatten_util import ravel_pytree

        like = self.init(key=jax.random.key(0)).network
        return MLPParams(ravel_pytree(like)[1](cast(jax.Array, weights)), ())


@dataclasses.dataclass(frozen=True, kw_only=True)
class AuxiliaryMLP(MLP):
    """A perceptron for V with auxiliary outputs (`HasAuxiliary`) after that of V, not rescaled.

    They predict the extras of the same player's next board, divided by their scales; its own first.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_actions > 1:
            raise ValueError(
                "values of actions use extras as inputs alone: set extras_as inputs, or the"
                " learner td"
            )

    @property
    def num_outputs(self) -> int:
        return 1 + self.extras.size

    def predictions(self, params: MLPParams, features: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., N * M]: the extras of the next board of `player`, over their scales."""
        return self._predicted(self._totals(params.network, features, player))

    def _predicted(self, total: jax.Array) -> jax.Array:
        return layers.ACTIVATIONS[self.spec.output](total[..., 1:])

    def auxiliary_targets(self, following: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., N * M]; NaN where there is no next board."""
        return jnp.where(following[..., :1] < 0, jnp.nan, self.known_extras(following, player))

    def _of_values(self, total: jax.Array, player: jax.Array) -> jax.Array:
        return super()._of_values(total[..., :1], player)

    def _gain(
        self, total: jax.Array, judged: jax.Array, change: jax.Array, live: jax.Array, extra: PyTree
    ) -> jax.Array:
        """Go, with as much weight, along error * gradient of every prediction too."""
        gain = super()._gain(total, judged, change, live, extra)
        if not jax.tree.leaves(extra):
            # A rule that knows nothing of auxiliary outputs learns values alone.
            return gain
        predicted = self._predicted(total)
        error = jnp.where(live[:, None] & ~jnp.isnan(extra), extra - predicted, 0)
        if self.spec.loss == "matching":
            predicted = total[..., 1:]
        return gain + (predicted * jax.lax.stop_gradient(error)).sum()


@dataclasses.dataclass(frozen=True)
class MLPSpec(ValueSpec):
    """A multi-layer perceptron (van der Ree & Wiering 2013, section III); alpha is its step size.

    Attributes:
      hidden: Sizes of the hidden layers.
      activation: Activation function of the hidden layers.
      output: Activation function of the outputs; sigmoid spans the rewards.
      initializer: Initial weights.
      bias: Initial biases, unless the initializer is uniform, which draws them.
      optimizer: Name of an optax optimizer that takes only a step size.
      loss: Squared errors, or the loss that matches the output (for sigmoid the cross-entropy),
        whose gradient does not have the slope of the output as a factor.
      combine: Whether the errors of one tick are summed or averaged.
      extras: Names of the game's extras (numbers in addition to the cells) that the network uses.
      extras_as: Whether the network gets them as inputs, predicts those of the player's next board
        (outputs), or both.
    """

    hidden: tuple[int, ...] = setting((50,), low=1, high=2**20, most=100)
    activation: str = setting("sigmoid", choices=("sigmoid", "tanh", "relu", "identity"))
    output: str = setting("tanh", choices=("tanh", "sigmoid", "identity"))
    initializer: str = setting("uniform", choices=("uniform", "xavier", "truncated"))
    bias: float = setting(0.0, low=-1_000_000, high=1_000_000)
    optimizer: str = "sgd"
    loss: str = setting("squared", choices=("squared", "matching"))
    combine: str = setting("sum", choices=("sum", "mean"))
    extras: tuple[str, ...] = ()
    extras_as: str = setting("both", choices=("inputs", "outputs", "both"))

    kind = "mlp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden:
            raise ValueError("hidden must name at least one layer's size")
        if self.optimizer != MLPSpec.optimizer:
            # Raises ValueError. Importing optax for the default would slow down every command.
            layers.optimizer(self.optimizer)
        if len(set(self.extras)) != len(self.extras):
            raise ValueError(f"extras must be all different, not {shown(self.extras)}")
        if not self.extras and self.extras_as != "both":
            raise ValueError("extras_as is for extras: name at least one")

    def build(self, game: Game, of_actions: bool, batch: int) -> MLP:
        kind = AuxiliaryMLP if self.extras and self.extras_as != "inputs" else MLP
        return kind(spec=self, game=game, num_actions=game.num_actions if of_actions else 1)
