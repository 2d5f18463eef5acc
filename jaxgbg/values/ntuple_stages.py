"""n-tuples with tables of their own for each stage of a game."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import Params
from jaxgbg.values.indices import look_up
from jaxgbg.values.ntuple import NTuple, NTupleParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class StagedNTuple(NTuple):
    """n-tuples whose weights depend on the stage: S tables where `NTuple` has one.

    Stage k > 0 begins where `Game.progress` reaches `starts[k - 1]`. The term of a tuple is the sum
    of its weights in all stages up to that of the board, and only the last of them is updated. So a
    new stage begins with what the stage before it has learned, and then corrects it. Wu et al.
    (2014) and Jaskowski (2018, "weight promotion") copy the weight at its first use instead.
    """

    game: Game
    starts: tuple[int, ...]

    # A move may begin a new stage, so boards are looked up whole.
    accumulator = None  # type: ignore[assignment]
    value_incremental = None  # type: ignore[assignment]

    @property
    def rows_per_stage(self) -> int:
        return self.rows_per_action * self.num_actions

    @property
    def rows_per_player(self) -> int:
        return self.rows_per_stage * (len(self.starts) + 1)

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> NTupleParams:
        params = super().init(drawn, key)
        first = np.arange(self.num_weights) % self.rows_per_player < self.rows_per_stage
        return params._replace(weights=jnp.where(first, params.weights, 0))

    def features(self, params: Params, cells: jax.Array) -> jax.Array:
        reached = self.game.progress(cells)[..., None] >= np.array(self.starts)
        return (
            super().features(params, cells) + reached.sum(-1, keepdims=True) * self.rows_per_stage
        )

    def terms(self, params: NTupleParams, rows: jax.Array) -> jax.Array:
        stage = rows[..., :1] % self.rows_per_player // self.rows_per_stage
        weights = super().terms(params, rows)
        for back in range(1, len(self.starts) + 1):
            earlier = look_up(params.weights, jnp.maximum(rows - back * self.rows_per_stage, 0))
            weights += jnp.where(stage >= back, earlier, 0)
        return weights
