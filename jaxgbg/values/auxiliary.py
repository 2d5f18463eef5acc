"""A perceptron with auxiliary outputs: it also learns the extras of its player's next board.

Source: Sasso & van Lohuizen 2018.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxgbg.types import PyTree
from jaxgbg.values.layers import ACTIVATIONS
from jaxgbg.values.mlp import MLP, MLPParams


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
        return ACTIVATIONS[self.spec.output](total[..., 1:])

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
