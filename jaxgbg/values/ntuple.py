"""The n-tuple value function: one weight table for each player and tuple, TCL step sizes.

V(s | p) = g( sum over tuples i and symmetry images j of w[p, i, index_ij(s)] ), g = tanh or the
identity. The index of a tuple is linear in the cells' digits, so a move that alters few cells
shifts it by a few products. Source: Konen & Bagheri 2021, appendices A.3 and A.5.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, once
from jaxgbg.values.layouts import Layout

TCL_RULES = ("none", "id", "exp")
COMBINE_RULES = ("sum", "mean", "saturating")
TC_INIT = 1e-4


def look_up(table: jax.Array | np.ndarray, index: jax.Array) -> jax.Array:
    """`table[index]` for indices that are known to lie inside the table."""
    return jnp.asarray(table).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


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


@dataclasses.dataclass(frozen=True)
class NTuple:
    """n-tuple value function of one game; static under jit.

    `patterns` are the (cell, difference) pairs of each way in which a move alters the board, None
    where a move may alter many cells. `combine` names how updates of one tick that hit one weight
    are joined (see `_repeats`); with one game at a time nothing is joined, and "sum" saves the
    scratch count. With `varied` layouts `tuples` only gives their shape, and the cells are part of
    the parameters. `stone_digits` as in `Game`. With `action_images`, a game's action symmetries,
    there are tables for every action too: Q(s, a | p) reads image j of the board in the tables of
    image j of the action, and the features of the pair are those of s, moved to these tables.
    """

    tuples: Layout
    symmetries: tuple[tuple[int, ...], ...]
    patterns: tuple[tuple[tuple[int, int], ...], ...] | None
    num_cell_values: int
    num_players: int
    sigmoid: bool = True
    tcl: str = "none"
    combine: str = "saturating"
    stone_digits: tuple[int, ...] | None = None
    varied: bool = False
    action_images: tuple[tuple[int, ...], ...] | None = None

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
    def _place_values(self) -> np.ndarray:
        """int32[L]: what a digit counts at each place of a tuple."""
        return self.num_cell_values ** np.arange(len(self.tuples[0]), dtype=np.int32)

    def _places(self, params: NTupleParams) -> jax.Array:
        """int32[F, L]: the cell at each place of every tuple and image; tuples of one length."""
        tuples = params.tuples if self.varied else jnp.asarray(self.tuples, jnp.int32)
        images = jnp.asarray(self.symmetries, jnp.int32)[:, tuples]
        return images.swapaxes(0, 1).reshape(self.num_features, -1)

    def _at_places(self, params: NTupleParams) -> jax.Array:
        """float32[F, L, C]: 1 where that cell is at that place."""
        cells = np.arange(len(self.symmetries[0]))
        return (self._places(params)[:, :, None] == cells).astype(jnp.float32)

    def _float_strides(self, params: NTupleParams) -> jax.Array | np.ndarray:
        """float32[C, F]: the strides of this agent's layout."""
        if not self.varied:
            return self._strides.astype(np.float32)
        values = self._place_values.astype(np.float32)
        return jnp.einsum("flc,l->cf", self._at_places(params), values, precision="highest")

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
        index = jnp.matmul(
            cells.astype(jnp.float32),
            self._float_strides(params),
            precision=jax.lax.Precision.HIGHEST,
        )
        return index.astype(jnp.int32) + self._offsets

    @functools.cached_property
    def _action_offsets(self) -> np.ndarray:
        """int32[A, F]: first row of the tables in which a feature of each action is looked up."""
        images = np.array(self.action_images, np.int32).T
        return np.tile(images * self.rows_per_action, len(self.tuples))

    def of_action(self, features: jax.Array, action: jax.Array) -> jax.Array:
        """int32[..., F]: features of the pair of a board and `action` int[...]."""
        return features + look_up(self._action_offsets, action)

    def action_values(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        """Q(s, a | player) float32[..., A] of every action, for the features of boards."""
        every = jnp.arange(self.num_actions)
        return self.value(params, self.of_action(features[..., None, :], every), player[..., None])

    @functools.cached_property
    def _shifts(self) -> np.ndarray:
        """int32[Q, F]: by how much each pattern of changes moves each index."""
        assert self.patterns is not None
        return np.stack(
            [
                sum((d * self._strides[cell] for cell, d in row), np.zeros_like(self._offsets))
                for row in self.patterns
            ]
        )

    def shift(self, features: jax.Array, change: jax.Array) -> jax.Array:
        """int32[F]: the features after the board changed by pattern `change` int32[]."""
        return features + look_up(self._shifts, change)

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
        after = rows[..., None] + digit[..., None, None] * self._place_values
        after = jnp.clip(after, 0, self.num_weights - 1)
        before = look_up(params.weights, rows)
        moved = look_up(params.weights, after) - before[..., None]
        at_places = self._at_places(params).reshape(-1, len(self.symmetries[0]))
        changed = jnp.matmul(
            moved.reshape(*moved.shape[:-2], -1), at_places, precision=jax.lax.Precision.HIGHEST
        )
        return self._activate(before.sum(-1, keepdims=True) + changed)

    def rows(self, features: jax.Array, player: jax.Array) -> jax.Array:
        """int32[..., F]: where in `weights` the terms of V(s | player int[...]) stand."""
        return features + player.astype(jnp.int32)[..., None] * self.rows_per_player

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

    def _first_hits(self, features: jax.Array) -> jax.Array:
        """bool[..., F]: False where an earlier image of the same tuple reads the same row."""
        images = features.reshape(*features.shape[:-1], len(self.tuples), self.num_images)
        first = [jnp.ones(images.shape[:-1], bool)]
        for j in range(1, self.num_images):
            first.append((images[..., :j] != images[..., j : j + 1]).all(-1))
        return jnp.stack(first, -1).reshape(features.shape)

    def tc_factor(self, counters: jax.Array, beta: jax.Array | float) -> jax.Array:
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
        first = self._first_hits(features)
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
            pace = settle(alpha * self.tc_factor(read, beta))
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

    def gradients(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> NTupleParams:
        raise NotImplementedError("n-tuples have eligibility lists")

    def step(self, params: Any, uphill: Any, live: jax.Array, alpha: jax.Array) -> NTupleParams:
        raise NotImplementedError("n-tuples have eligibility lists")
