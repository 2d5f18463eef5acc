"""The n-tuple value function: one weight table for each player and tuple, TCL step sizes.

V(s | p) = g( sum over tuples i and symmetry images j of w[p, i, index_ij(s)] ), g = tanh or the
identity. Source: Konen & Bagheri 2021, appendices A.3 and A.5.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, once
from jaxgbg.specs import setting
from jaxgbg.values.core import Updates, ValueSpec, check_updates
from jaxgbg.values.indices import Indices, look_up
from jaxgbg.values.layouts import MOST_TUPLES, Layout, check_layout, default_layout, random_walk

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

    def init(self, drawn: jax.Array | None = None, key: jax.Array | None = None) -> NTupleParams:
        """Weights 0, N = A = TC_INIT; `drawn` int32[m, L] is the layout if layouts are varied."""
        columns = ([TC_INIT, TC_INIT] if self.tcl != "none" else []) + (
            [0.0] if self.combine != "sum" else []
        )
        row = jnp.asarray(columns, jnp.float32)
        own = drawn if self.varied and drawn is not None else jnp.zeros((0, 0), jnp.int32)
        return NTupleParams(
            jnp.zeros(self.num_weights, jnp.float32),
            jnp.broadcast_to(row, (self.num_weights, len(columns))),
            own,
        )

    def action_values(
        self, params: NTupleParams, features: jax.Array, player: jax.Array
    ) -> jax.Array:
        every = jnp.arange(self.num_actions)
        return self.value(params, self.of_action(features[..., None, :], every), player[..., None])

    def value(self, params: NTupleParams, features: jax.Array, player: jax.Array) -> jax.Array:
        return self._value(params, self.rows(features, player))

    def _value(self, params: NTupleParams, rows: jax.Array) -> jax.Array:
        weights = look_up(params.weights, rows)
        if self.num_features > 4:
            return self._activate(weights.sum(-1))
        # XLA's reduction is slow along so short an axis.
        return self._activate(
            functools.reduce(jnp.add, [weights[..., i] for i in range(self.num_features)])
        )

    def prepared(self, params: NTupleParams, features: jax.Array, player: jax.Array) -> jax.Array:
        """int32[..., F]: the rows of the board, which the cells that a move alters shift."""
        del params
        return self.rows(features, player)

    def value_altered(
        self,
        params: NTupleParams,
        prepared: jax.Array,
        player: jax.Array,
        altered: tuple[jax.Array, jax.Array],
        board: jax.Array,
    ) -> jax.Array:
        """The same value to the bit, for the rows are the same."""
        del player, board
        cells, digits = altered
        strides, rows = self.strides(params.tuples), prepared
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
        self, params: NTupleParams, updates: Updates, alpha: jax.Array, beta: jax.Array
    ) -> NTupleParams:
        """Move the weights behind each row of `features` by its recommended change.

        w += alpha / (m N_S) * factor * change, once for each weight and update; then N += change
        and A += size for every image that hits it. The factor is the one left by the update
        before.
        Source: Konen & Bagheri 2021, Algorithm 7 and appendix A.5; Beal & Smith 1999.
        """
        check_updates(self, updates)
        features, player, change, size, live = updates[:5]
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

    def with_weights(self, weights: jax.Array, drawn: np.ndarray | None = None) -> NTupleParams:
        layout = np.zeros((0, 0)) if drawn is None else drawn
        return NTupleParams(jnp.asarray(weights), jnp.zeros((0, 0)), jnp.asarray(layout, jnp.int32))


@dataclasses.dataclass(frozen=True, kw_only=True)
class FollowingNTuple(NTuple):
    """n-tuples of a game whose moves alter few cells: `FollowsMoves`.

    `patterns` are the (cell, difference) pairs of each way in which a move alters the board.
    """

    patterns: tuple[tuple[tuple[int, int], ...], ...]

    @functools.cached_property
    def _shifts(self) -> np.ndarray:
        """int32[Q, F]: by how much each pattern of changes moves each index."""
        return np.stack(
            [
                sum((d * self._strides[cell] for cell, d in row), np.zeros_like(self._offsets))
                for row in self.patterns
            ]
        )

    def shift(self, features: jax.Array, change: jax.Array) -> jax.Array:
        return features + look_up(self._shifts, change)

    def values_after(
        self, params: NTupleParams, features: jax.Array, changes: jax.Array, player: jax.Array
    ) -> jax.Array:
        """V float32[A] of the boards that patterns `changes` int32[A] make of one board.

        Looking up only the features that a change moves did not pay: finding them costs XLA more
        than the look-ups that it saves.
        """
        return self.value(params, self.shift(features[None], once(changes)[0]), player)


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoneNTuple(NTuple):
    """n-tuples of a game whose moves add one stone each: `ValuesStones`; digits as in `Game`."""

    stone_digits: tuple[int, ...]

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


@dataclasses.dataclass(frozen=True)
class NTupleSpec(ValueSpec):
    """n-tuple tables (Konen & Bagheri 2021, appendix A.3) with temporal coherence (appendix A.5).

    A `layout` goes before `walks`; without both the game's size decides, see `default_layout`.

    Attributes:
      layout: The n-tuples, each a list of cell numbers; all seeds have these.
      walks: Number and length of the random walks that every seed draws for itself.
      sigmoid: Whether a value is the tanh of the sum of its weights.
      tcl: Step sizes by temporal coherence: none, |N| / A, or its exponential.
      beta: Steepness of TCL-EXP.
      combine: How updates of one weight in one tick are joined.
    """

    layout: Layout = setting((), most=MOST_TUPLES)
    walks: tuple[int, int] = setting((0, 0), low=0, high=MOST_TUPLES)
    sigmoid: bool = True
    tcl: str = setting("none", choices=("none", "id", "exp"))
    beta: float = setting(2.7, above=0, high=1_000_000)
    combine: str = setting("saturating", choices=("sum", "mean", "saturating"))

    kind = "ntuple"
    lane_numbers = ("beta",)

    def layout_of(self, game: Game, seed: int) -> Layout:
        """The n-tuples of one seed; raises ValueError where they do not fit the game."""
        if self.layout:
            return check_layout(game, self.layout, "layout")
        if any(self.walks):
            return random_walk(game, *self.walks, seed=seed)
        return default_layout(game)

    def for_seed(self, game: Game, seed: int) -> "NTupleSpec":
        return dataclasses.replace(self, layout=self.layout_of(game, seed), walks=(0, 0))

    def drawn(self, game: Game, seed: int) -> np.ndarray:
        """int32[m, L]: the walks of `seed`, if every seed draws its own."""
        if not self._varied:
            return super().drawn(game, seed)
        return np.array(self.layout_of(game, seed), np.int32)

    @property
    def _varied(self) -> bool:
        return not self.layout and any(self.walks)

    def build(self, game: Game, of_actions: bool, batch: int) -> NTuple:
        tuples, digits = self.layout_of(game, 0), game.num_cell_values
        # Indices are summed in float32 by a matrix product, exact below 2**24.
        longest = max(len(cells) for cells in tuples)
        if digits**longest > 2**24:
            raise ValueError(f"{digits}**{longest} weights a tuple: tuples are too long")
        if len({len(cells) for cells in tuples}) > 1 and game.stone_digits:
            raise ValueError(f"{game.name}: all tuples must have one length")
        fields: dict[str, Any] = {
            "tuples": tuples,
            "symmetries": _rows(game.symmetries),
            "num_cell_values": digits,
            "num_players": game.num_players,
            "sigmoid": self.sigmoid,
            "tcl": self.tcl,
            # With one game at a time nothing is combined; "sum" then saves the scratch count.
            "combine": self.combine if batch > 1 else "sum",
            "varied": self._varied,
            "action_images": _rows(game.action_symmetries) if of_actions else None,
        }
        actions = game.num_actions if of_actions else 1
        rows = sum(digits ** len(cells) for cells in tuples) * game.num_players * actions
        if rows >= 2**31:
            raise ValueError(f"layout: {rows:,} weights; at most {2**31 - 1:,} have an index")
        if game.stone_digits is not None:
            return StoneNTuple(stone_digits=game.stone_digits, **fields)
        if game.change_patterns is not None:
            patterns = zip(*map(_rows, game.change_patterns), strict=True)
            pairs = tuple(tuple(zip(*row, strict=True)) for row in patterns)
            return FollowingNTuple(patterns=pairs, **fields)
        return NTuple(**fields)


def _rows(array: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """A matrix as a static field has it."""
    return tuple(tuple(int(number) for number in row) for row in array)
