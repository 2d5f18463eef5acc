"""The n-tuple value function: one weight table for each player and tuple, TCL step sizes.

V(s | p) = g( sum over tuples i and symmetry images j of w[p, i, index_ij(s)] ), g = tanh or the
identity. Source: Konen & Bagheri 2021, appendices A.3 and A.5.
"""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, once
from jaxgbg.values.indices import Indices, look_up
from jaxgbg.values.layouts import Layout

TCL_RULES = ("none", "id", "exp")
COMBINE_RULES = ("sum", "mean", "saturating")
TC_INIT = 1e-4


class NTupleParams(NamedTuple):
    """All tables of one agent, players one after the other.

    `weights` float32[R]; `counters` float32[R, K] holds what one update touches together: the TCL
    counters N and A (if TCL is on) and a scratch count of the updates of this tick, zero between
    ticks (if updates are combined). `tuples` int32[m, L] are the agent's own cells where every seed
    has another layout, else int32[0, 0].
    """

    weights: jax.Array
    counters: jax.Array
    tuples: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class NTuple(Indices):
    """n-tuple value function of one game; static under jit.

    `combine` names how updates of one tick that hit one weight are joined (see `_repeats`); with
    one game at a time nothing is joined, and "sum" saves the scratch count.
    """

    sigmoid: bool = True
    tcl: str = "none"
    combine: str = "saturating"

    # TCL counters that one state of an eligibility list moves count for the next one.
    serial_list = True

    @classmethod
    def for_game(
        cls,
        game: Game,
        tuples: Layout,
        sigmoid: bool,
        tcl: str,
        combine: str,
        varied: bool = False,
        of_actions: bool = False,
    ) -> "NTuple":
        """The value function of `game` with `tuples`: V of states, or Q `of_actions`.

        Raises ValueError on an unknown rule.
        """
        if tcl not in TCL_RULES:
            raise ValueError(f"tcl must be one of {', '.join(TCL_RULES)}, not {tcl!r}")
        if combine not in COMBINE_RULES:
            raise ValueError(f"combine must be one of {', '.join(COMBINE_RULES)}, not {combine!r}")
        digits = game.num_cell_values
        # Indices are summed in float32 by a matrix product, exact below 2**24.
        longest = max(len(cells) for cells in tuples)
        if digits**longest > 2**24:
            raise ValueError(f"{digits}**{longest} weights a tuple: tuples are too long")
        symmetries = tuple(tuple(int(cell) for cell in row) for row in game.symmetries)
        patterns = None
        if game.change_patterns is not None:
            patterns = tuple(
                tuple((int(cell), int(difference)) for cell, difference in zip(*row, strict=True))
                for row in zip(*game.change_patterns, strict=True)
            )
        if len({len(cells) for cells in tuples}) > 1 and (varied or game.stone_digits):
            raise ValueError(f"{game.name}: all tuples must have one length")
        return cls(
            tuples=tuples,
            symmetries=symmetries,
            patterns=patterns,
            num_cell_values=digits,
            num_players=game.num_players,
            sigmoid=sigmoid,
            tcl=tcl,
            combine=combine,
            stone_digits=game.stone_digits,
            varied=varied,
            action_images=tuple(
                tuple(int(action) for action in row) for row in game.action_symmetries
            )
            if of_actions
            else None,
        )

    def init(self, tuples: jax.Array | None = None, key: jax.Array | None = None) -> NTupleParams:
        """Weights 0, N = A = TC_INIT; `tuples` int32[m, L] is the layout if layouts are varied."""
        del key
        columns = ([TC_INIT, TC_INIT] if self.tcl != "none" else []) + (
            [0.0] if self.combine != "sum" else []
        )
        row = jnp.asarray(columns, jnp.float32)
        own = tuples if self.varied and tuples is not None else jnp.zeros((0, 0), jnp.int32)
        return NTupleParams(
            jnp.zeros(self.num_weights, jnp.float32),
            jnp.broadcast_to(row, (self.num_weights, len(columns))),
            own,
        )

    def features(self, params: NTupleParams, cells: jax.Array) -> jax.Array:
        """int32[..., F]: the table row of every tuple and image on boards `cells` int8[..., C]."""
        return self.of_board(cells, params.tuples)

    def action_values(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        """Q(s, a | player) float32[..., A] of every action, for the features of boards."""
        every = jnp.arange(self.num_actions)
        return self.value(params, self.of_action(features[..., None, :], every), player[..., None])

    def values_after(
        self, params: NTupleParams, features: jax.Array, changes: jax.Array, player: jax.Array
    ) -> jax.Array:
        """V float32[A] of the boards that patterns `changes` int32[A] make of one board.

        Looking up only the features that a change moves did not pay: finding them costs XLA more
        than the look-ups that it saves.
        """
        return self.value(params, self.shift(features[None], once(changes)[0]), player)

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

    def value(self, params: NTupleParams, features: jax.Array, player: jax.Array) -> jax.Array:
        """V(s | player), float32[...] for features int32[..., F] and player int[...]."""
        rows = self.rows(features, player)
        weights = look_up(params.weights, rows)
        if self.num_features > 4:
            return self._activate(weights.sum(-1))
        # XLA's reduction is slow along so short an axis.
        return self._activate(
            functools.reduce(jnp.add, [weights[..., i] for i in range(self.num_features)])
        )

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
        """How often a weight makes its mean update when `count` updates of one tick hit it.

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
        features: jax.Array,
        player: jax.Array,
        change: jax.Array,
        size: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        beta: jax.Array,
    ) -> NTupleParams:
        """Move the weights behind each row of `features` by its recommended change.

        w += alpha / (m N_S) * factor * change, once for each weight and update; then N += change
        and A += size for every image that hits it. The factor is the one left by the update
        before. `features` int32[B, F], `player` int[B], `change` float32[B] = delta * lambda**k *
        g' or a sum of such terms, `size` float32[B] the sum of their absolute values, `live`
        bool[B]: False takes the row out (its `change` and `size` must then be 0).
        Source: Konen & Bagheri 2021, Algorithm 7 and appendix A.5; Beal & Smith 1999.
        """
        first = self.first_hits(features)
        # On few features the copy costs more than the repeated work.
        settle = (lambda array: once(array)[0]) if self.num_features > 16 else (lambda array: array)
        rows = settle(self.rows(features, player))
        weights, counters, tuples = params
        hit = (first & live[:, None]).astype(jnp.float32)
        if self.combine != "sum":
            counters = counters.at[rows, -1].add(hit, mode="promise_in_bounds")
        read = look_up(counters, rows)
        pace = jnp.broadcast_to(alpha, rows.shape)
        if self.tcl != "none":
            pace = settle(alpha * self.step_scale(read, beta))
        share = jnp.ones_like(pace)
        if self.combine != "sum":
            count = jnp.maximum(read[..., -1], 1)
            share = settle(self._repeats(count, pace) / count)
        change, size = change[:, None] * share, size[:, None] * share
        moved = jnp.where(first, pace * change, 0) / self.num_features
        weights = weights.at[rows].add(moved, mode="promise_in_bounds")
        # A > 0 always, and so is the count of a hit row. But a write that did not depend on the
        # read of the same array would make XLA copy the whole table to keep the old one.
        columns = []
        if self.tcl != "none":
            positive = read[..., 1] > 0
            columns = [jnp.where(positive, change, 0), jnp.where(positive, size, 0)]
        if self.combine != "sum":
            columns.append(jnp.where(read[..., -1] > 0, -hit, 0))
        if columns:
            written = jnp.stack(columns, -1)
            counters = counters.at[rows].add(written, mode="promise_in_bounds")
        return NTupleParams(weights, counters, tuples)

    def for_player(self, params: NTupleParams) -> NTupleParams:
        """The tables without the counters, which are most of their weight."""
        return params._replace(counters=params.counters[..., :0, :0])

    def weights_of(self, params: NTupleParams) -> np.ndarray:
        """float32[R]: all tables in one row."""
        return np.asarray(params.weights)

    def tc_factors(self, params: NTupleParams) -> np.ndarray | None:
        """float32[R]: |N| / A of every weight, 1 where nothing was learned yet; None without TCL.

        N sums the recommended changes of a weight, A their absolute values: the factor is 1 while
        they agree in sign and falls to 0 where they cancel (Beal & Smith 1999).
        """
        if self.tcl == "none" or not params.counters.size:
            return None
        counters = np.asarray(params.counters)
        return np.abs(counters[:, 0]) / counters[:, 1]

    def with_weights(self, weights: jax.Array) -> NTupleParams:
        """The tables of `weights` float32[R], for a player."""
        return NTupleParams(jnp.asarray(weights), jnp.zeros((0, 0)), jnp.zeros((0, 0), jnp.int32))
