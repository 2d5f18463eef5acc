"""The n-tuple value function: one weight table for each player and tuple, TCL step sizes.

V(s | p) = g( sum over tuples i and symmetry images j of w[p, i, index_ij(s)] ), g = tanh or the
identity. Source: Konen & Bagheri 2021, appendices A.3 and A.5.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.values.core import Updates, check_updates
from jaxgbg.values.indices import Indices, look_up
from jaxgbg.xla import add_at, force_materialize, materialize, numbered, on_accelerator

TC_INIT = 1e-4


class NTupleParams(NamedTuple):
    """All tables of one agent, players one after the other.

    `weights` float32[R]; `counters` float32[R * K] holds, K numbers for each weight, what one
    update touches together: the TCL counters N and A (if TCL is on) and a scratch count of the
    updates of this tick, zero between ticks (if updates are combined). `tuples` int32[m, L] are the
    agent's own cells where every seed has another layout, else int32[0, 0].
    """

    weights: jax.Array
    counters: jax.Array
    tuples: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class NTuple(Indices):
    """n-tuple value function of one game; static under jit.

    `combine` names how updates of one tick that hit one weight are joined (see `_repeats`); with
    one game at a time nothing is joined, and "sum" saves the scratch count. `initial_value` is the
    value of every board before the first update.
    """

    sigmoid: bool = True
    tcl: str = "none"
    combine: str = "saturating"
    initial_value: float = 0.0

    # TCL counters that one state of an eligibility list moves count for the next one.
    serial_list = True

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> NTupleParams:
        """All weights alike, N = A = TC_INIT; `drawn` int32[m, L]: the layout, if it is varied."""
        row = jnp.array(self._tc * [TC_INIT] + self._scratch * [0.0], jnp.float32)
        own = drawn if self.varied and drawn is not None else jnp.zeros((0, 0), jnp.int32)
        total = np.arctanh(self.initial_value) if self.sigmoid else self.initial_value
        return NTupleParams(
            jnp.full(self.num_weights, total / self.num_features, jnp.float32),
            jnp.tile(row, self.num_weights),
            own,
        )

    @property
    def _tc(self) -> int:
        """The number of TCL counters of a weight."""
        return 0 if self.tcl == "none" else 2

    @property
    def _scratch(self) -> int:
        """The number of update counts of a weight."""
        return 0 if self.combine == "sum" else 1

    def action_values(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        every = jnp.arange(self.num_actions)
        return self.value(params, self.of_action(features[..., None, :], every), player[..., None])

    def value(self, params: NTupleParams, features: jax.Array, player: jax.Array) -> jax.Array:
        return self._value(params, self.rows(features, player))

    def terms(self, params: NTupleParams, rows: jax.Array) -> jax.Array:
        """float32[..., F]: what each feature adds to the sum, from its row int32[..., F]."""
        return look_up(params.weights, rows)

    def _value(self, params: NTupleParams, rows: jax.Array) -> jax.Array:
        weights = self.terms(params, rows)
        if self.num_features > 4:
            return self._activate(weights.sum(-1))
        # XLA's reduction is slow along so short an axis.
        return self._activate(
            functools.reduce(jnp.add, [weights[..., i] for i in range(self.num_features)])
        )

    def accumulator(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        """int32[..., F]: the rows of the board, which the cells that a move alters shift."""
        del params
        return self.rows(features, player)

    def value_incremental(
        self,
        params: NTupleParams,
        accumulator: jax.Array,
        player: jax.Array,
        altered: tuple[jax.Array, jax.Array],
        board: jax.Array,
    ) -> jax.Array:
        """The same value to the bit, for the rows are the same."""
        del player, board
        cells, digits = altered
        strides, rows = self.strides(params.tuples), accumulator
        for number in range(cells.shape[-1]):
            cell = cells[..., number]
            change = jnp.where(cell < 0, 0, digits[..., number, 1] - digits[..., number, 0])
            rows += look_up(strides, jnp.maximum(cell, 0)) * change[..., None]
        return self._value(params, rows)

    def _activate(self, total: jax.Array) -> jax.Array:
        return jnp.tanh(total) if self.sigmoid else total

    def slope(self, value: jax.Array) -> jax.Array:
        """g' at the value that g gave: 1 - V**2 for tanh, 1 for the identity."""
        return 1 - value**2 if self.sigmoid else jnp.ones_like(value)

    def step_scale(self, counters: jax.Array, beta: jax.Array | float) -> jax.Array:
        """float32[...] of `counters` float32[..., K], with TCL only: by how much TCL scales alpha.

        |N| / A (TCL-id), or exp(beta (|N| / A - 1)) (TCL-EXP, Bagheri et al. 2015).
        """
        ratio = jnp.abs(counters[..., 0]) / counters[..., 1]
        return ratio if self.tcl == "id" else jnp.exp(beta * (ratio - 1))

    def _repeats(self, count: jax.Array, rate: jax.Array) -> jax.Array:
        """The number of mean updates of a weight if `count` updates of one tick hit it.

        sum: count. mean: 1. saturating: (1 - (1 - r)**count) / r with r = min(rate, 1), the pace
        of `count` serial updates towards one target, each of which closes the share r = alpha *
        factor of the remaining error; it is count for small r and 1 for r >= 1.
        """
        if self.combine == "mean":
            return jnp.ones_like(count)
        share = jnp.clip(rate, 1e-6, 1)
        # expm1/log1p keep the small-r limit exact in float32; at r = 1 the log is -inf, the sum 1.
        return jnp.where(count == 1, 1.0, -jnp.expm1(count * jnp.log1p(-share)) / share)

    def update(
        self,
        params: NTupleParams,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> NTupleParams:
        """Move the weights behind each row of `features` by its recommended change.

        w += alpha / (m N_S) * factor * change, once for each weight and update; then N += change
        and A += size for every image that hits it. The factor is the one left by the update
        before.
        Source: Konen & Bagheri 2021, Algorithm 7 and appendix A.5; Beal & Smith 1999.
        """
        check_updates(self, updates)
        more_hits = updates.features.size > self.num_weights
        move = self._by_weights if more_hits and self._scratch else self._by_hits
        return move(params, updates, alpha, hyper)

    def _by_hits(
        self,
        params: NTupleParams,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> NTupleParams:
        """`update` by computing pace and share of a weight again for each of its hits."""
        features, player, change, size, live = updates[:5]
        first = self.first_hits(features)
        # On few features the copy costs more than the repeated work.
        settle = (
            (lambda array: materialize(array)[0])
            if self.num_features > 16
            else (lambda array: array)
        )
        rows = settle(self.rows(features, player))
        weights, counters, tuples = params
        hit = (first & live[:, None]).astype(jnp.float32)
        columns = self._tc + self._scratch
        if self._scratch:
            counters = self._with_hits(counters, rows, hit)
        view = self._by_rows(counters)
        read = look_up(view, rows) if columns else rows
        if rows.size == 1 or on_accelerator():
            # A single row is no gather to XLA, which would read it once more, after the write; on a
            # GPU it reads within the kernel that writes, and copies the table to do so.
            (read,) = force_materialize(read)
        pace = jnp.broadcast_to(alpha, rows.shape)
        if self._tc:
            pace = settle(alpha * self.step_scale(read, hyper["beta"]))
        share = jnp.ones_like(pace)
        if self._scratch:
            # Settled, as a stride keeps the compiler from computing with many numbers at a time.
            count = settle(read[..., -1] if self._tc else read)
            hits = jnp.maximum(count, 1)
            share = settle(self._repeats(hits, pace) / hits)
        change, size = change[:, None] * share, size[:, None] * share
        moved = jnp.where(first, pace * change, 0) / self.num_features
        weights = add_at(weights, rows, moved)
        # A > 0 always, and so is the count of a hit row. But a write that did not depend on the
        # read of the same array would make XLA copy the whole table to keep the old one.
        added = []
        if self._tc:
            positive = read[..., 1] > 0
            added = [jnp.where(positive, change, 0), jnp.where(positive, size, 0)]
        if self._scratch:
            added.append(jnp.where(count > 0, -hit, 0))
        if added:
            new = jnp.stack(added, -1) if columns > 1 else added[0]
            counters = add_at(view, rows, new).reshape(counters.shape)
        return NTupleParams(weights, counters, tuples)

    def _by_weights(
        self,
        params: NTupleParams,
        updates: Updates,
        alpha: jax.Array,
        hyper: Mapping[str, jax.Array],
    ) -> NTupleParams:
        """`update` by computing pace and share once for each weight; the same to the bit."""
        features, player, change, size, live = updates[:5]
        first = self.first_hits(features)
        (rows,) = materialize(self.rows(features, player))
        weights, counters, tuples = params
        view = self._by_rows(counters)
        hit = (first & live[:, None]).astype(jnp.float32)
        hits = jnp.maximum(add_at(jnp.zeros_like(weights), rows, hit), 1)
        pace = jnp.broadcast_to(alpha, hits.shape)
        if self._tc:
            pace = alpha * self.step_scale(view, hyper["beta"])
        (scales,) = materialize(jnp.stack([pace, self._repeats(hits, pace) / hits], -1))
        pace, share = jnp.moveaxis(look_up(scales, rows), -1, 0)
        change, size = change[:, None] * share, size[:, None] * share
        weights = add_at(weights, rows, jnp.where(first, pace * change, 0) / self.num_features)
        if self._tc:
            summed = add_at(view[:, : self._tc], rows, jnp.stack([change, size], -1))
            counters = jnp.concatenate([summed, view[:, self._tc :]], 1).reshape(counters.shape)
        return NTupleParams(weights, counters, tuples)

    def _by_rows(self, counters: jax.Array) -> jax.Array:
        """The counters float32[R, K], or float32[R] where K is 1.

        XLA would change the layout of rows of one number, with copies of the table, in every tick.
        """
        columns = self._tc + self._scratch
        return counters.reshape(-1, columns) if columns > 1 else counters

    def _with_hits(self, counters: jax.Array, rows: jax.Array, hit: jax.Array) -> jax.Array:
        """The counters with `hit` float32[..., F] added to the scratch counts of `rows`."""
        columns = self._tc + self._scratch
        if numbered(self.num_weights * columns):
            return add_at(counters, rows * columns + self._tc, hit)
        # In so long an array single counters have no number, but rows of them do.
        new = jnp.stack([jnp.zeros_like(hit)] * self._tc + [hit], -1) if self._tc else hit
        return add_at(self._by_rows(counters), rows, new).reshape(counters.shape)

    def for_player(self, params: NTupleParams) -> NTupleParams:
        """The tables without the counters, which are most of their weight."""
        return params._replace(counters=params.counters[..., :0])

    def weights_of(self, params: NTupleParams) -> np.ndarray:
        return np.asarray(params.weights)

    def tc_counters(self, params: NTupleParams) -> np.ndarray | None:
        if not self._tc or not params.counters.size:
            return None
        return np.asarray(params.counters).reshape(self.num_weights, -1)[:, :2]

    def with_weights(
        self, weights: jax.Array | np.ndarray, drawn: np.ndarray | None = None
    ) -> NTupleParams:
        layout = np.zeros((0, 0)) if drawn is None else drawn
        return NTupleParams(jnp.asarray(weights), jnp.zeros(0), jnp.asarray(layout, jnp.int32))
