"""Look-ahead of a few plies over a value function, in any game, many positions at once.

The tree is searched depth first, in chunks, so memory holds only one chunk of positions for each
ply. Everything is traced, so players that look ahead work inside compiled programs.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import UNDISCOUNTED, BootstrapRule, action_values
from jaxgbg.learners.masks import visit_pairs
from jaxgbg.learners.selection import check_ranks, choose_action, choose_ranked, with_rank
from jaxgbg.search.spec import SearchSpec
from jaxgbg.specs import setting
from jaxgbg.types import Params, SettingValue, State
from jaxgbg.values.core import ValueFunction, features_of

# Each ply is traced and compiled as a separate part of the program: 10 of them take 10 s in
# TicTacToe and a minute in Lines of Action on 4x4, on one core.
MOST_PLIES = 10
# Larger chunks need more memory and are not faster, measured on ConnectFour.
_MOST_ROWS = 1024
# The number of moves of a position that its chunk has room for, if the width does not limit it.
_USUAL_MOVES = 4

Reply = Literal["own", "value"]
# Limits of settings that learners and agents share.
PLIES: dict[str, SettingValue] = {"low": 1, "high": MOST_PLIES}
WIDTH: dict[str, SettingValue] = {"low": 1, "high": 2**31 - 1, "most": MOST_PLIES}


class _Nodes(NamedTuple):
    """B positions of one ply; `searcher` int8[B] is the player that looks ahead; `keys` [B]."""

    states: State
    searcher: jax.Array
    keys: jax.Array


@dataclasses.dataclass(frozen=True)
class LookAheadSpec(SearchSpec):
    """Look-ahead over the agent's values: of all moves, or of the best few (a beam).

    The beam of Sasso & van Lohuizen 2018 is look-ahead-3,width=3,1,reply=value.

    Attributes:
      plies: Number of moves to look ahead, of all players, including the first one; with 1 the
        scores are those of `action_values`.
      width: Number of moves to follow at each ply before the last, those with the best scores; one
        number for all plies or one for each, all moves if empty. The last ply takes all moves.
      reply: Goal of the other players: own, every player maximizes its own value, as in Max-N
        (Luckhardt & Irani 1986); value, they minimize the value of the searching player, as in
        paranoid search.
      ranks: Relative weights of the best, second best ... move, scaled to sum to 1;
        not given: always the best.
      samples: Number of draws of chance, if its outcomes are not listed or too many.
      max_spawns: Largest number of listed outcomes of chance that are all evaluated.
      megabytes: Memory for the positions of all plies, for each agent that searches.
    """

    plies: int = setting(3, **PLIES)
    width: tuple[int, ...] = setting((), **WIDTH)
    reply: Reply = "own"
    ranks: tuple[float, ...] = setting((), high=1_000_000, most=100)
    samples: int = setting(16, low=1, high=2**31 - 1)
    max_spawns: int = setting(64, low=0, high=2**31 - 1)
    megabytes: int = setting(512, low=0, high=1_000_000)

    kind = "look-ahead"
    strength = "plies"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranks(self.ranks)
        if self.width and self.plies == 1:
            raise ValueError("width is for the plies before the last: look ahead 2 plies or more")
        if len(self.width) not in (0, 1, self.plies - 1):
            raise ValueError(
                f"width must be one number, or one for each of the {self.plies - 1} plies before"
                f" the last, not {len(self.width)}"
            )

    def build(self, game: Game, value: ValueFunction) -> LookAhead:
        return LookAhead(game, value, self)


@dataclasses.dataclass(frozen=True)
class LookAhead:
    """The values of the actions of a position, some plies deep; static under jit.

    The value of an action is the undiscounted sum of the rewards on the way, plus gamma * V at the
    end of the look-ahead; after the end of a game it is the rewards alone. Inside the tree the
    first (lowest) of equally good actions counts. `bootstrap` says how values count; its
    `terminal_value_zero` is for one ply only. Raises ValueError if one position takes more memory
    than allowed, and for values of actions, which can look ahead only one ply.
    """

    game: Game
    value: ValueFunction
    settings: LookAheadSpec = LookAheadSpec()
    bootstrap: BootstrapRule = UNDISCOUNTED

    traceable = True

    def __post_init__(self) -> None:
        if self.plies > 1 and self.value.num_actions > 1:
            raise ValueError("this agent has learned values of actions: it can look 1 ply ahead")
        if self.rows < 1:
            raise ValueError(
                f"look-ahead: one position of {self.game.name} does not fit into"
                f" {self.settings.megabytes} megabytes"
            )

    @property
    def plies(self) -> int:
        """The number of moves to look ahead, including the first one."""
        return self.settings.plies

    @property
    def width(self) -> tuple[int, ...]:
        """The number of moves to follow at each ply before the last; () for all."""
        return self.settings.width

    @property
    def reply(self) -> Reply:
        """The goal of the other players."""
        return self.settings.reply

    @property
    def rows(self) -> int:
        """The number of positions of a ply that are in memory at once."""
        state = jax.eval_shape(self.game.init, jax.random.key(0))
        state_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
        scores = 8 * self.game.num_actions * self._components
        features = 8 * self.value.num_features * min(self.game.num_actions, 16)
        room = (
            self.settings.megabytes * 10**6 // (self.plies * (8 * state_bytes + scores) + features)
        )
        return min(room, _MOST_ROWS)

    @property
    def _components(self) -> int:
        """The number of players whose values are followed: all, or only the searcher."""
        return self.game.num_players if self.reply == "own" else 1

    def counting(self, bootstrap: BootstrapRule) -> LookAhead:
        """The same look-ahead with `bootstrap`, which may be traced."""
        return dataclasses.replace(self, bootstrap=bootstrap)

    def choose(
        self, states: State, key: jax.Array, params: Params, bootstrap: BootstrapRule
    ) -> jax.Array:
        """See `spec.Search`: an action of the greatest value, ties at random, or by its rank."""
        first, second = jax.random.split(jax.random.fold_in(key, 1))
        draws = jax.random.uniform(key, states.terminal.shape, jnp.float32)
        return self.choose_drawn(states, draws, (first, second), params, bootstrap)

    def choose_drawn(
        self,
        states: State,
        draws: jax.Array,
        keys: tuple[jax.Array, jax.Array],
        params: Params,
        bootstrap: BootstrapRule,
    ) -> jax.Array:
        """As `choose`, by `draws` float32[B] in [0, 1); of `keys` the first is for the look-ahead,
        the second for ranks.
        """
        q = self.counting(bootstrap).action_values(params, states, keys[0])
        legal = jax.vmap(self.game.legal_actions)(states)
        ranks = self.settings.ranks
        if not ranks:
            return jax.vmap(choose_action)(q, legal, draws)
        words = jax.random.bits(keys[1], (len(draws), 2), jnp.uint32)
        return jax.vmap(partial(choose_ranked, ranks=ranks))(q, with_rank(q, legal), words)

    def action_values(
        self,
        params: Params,
        states: State,
        key: jax.Array,
    ) -> jax.Array:
        """states[B] -> float32[B, A]: the value of each action for the player to move.

        -inf for illegal actions and those that `width` leaves out; `key` breaks ties at the edge of
        the beam.
        """
        batch, rows = states.terminal.shape[0], self.rows
        draw, chance = jax.random.split(key)
        noise = jax.random.uniform(draw, (batch, self.game.num_actions), jnp.float32)
        keys = jax.random.split(chance, batch)

        def search(part: tuple[State, jax.Array, jax.Array]) -> jax.Array:
            states, noise, keys = part
            nodes = _Nodes(states, states.player, keys)
            return self._root(params, nodes, noise)

        if batch <= rows:
            return search((states, noise, keys))
        chunks = -(-batch // rows)
        numbers = jnp.minimum(jnp.arange(chunks * rows), batch - 1).reshape(chunks, rows)
        scores = jax.lax.map(
            lambda at: search(jax.tree.map(lambda leaf: leaf[at], (states, noise, keys))), numbers
        )
        return scores.reshape(chunks * rows, -1)[:batch]

    def leaves(self, params: Params, states: State, actions: jax.Array) -> State:
        """The states[B] at the ends of the principal variations below `actions` int32[B].

        `plies` moves from `states` on, fewer where the game ends before: the first one is
        given, the others are those of `action_values`. They are searched again, once for each
        state: otherwise the whole tree would carry a leaf for each of its moves.
        """
        searcher = states.player
        # Nothing is drawn without chance.
        keys = jax.random.split(jax.random.key(0), len(searcher))
        states = jax.vmap(self.game.afterstate)(states, actions)
        for ply in range(1, self.plies):
            chosen, _ = self._choose(params, _Nodes(states, searcher, keys), ply)
            states = jax.vmap(self.game.afterstate)(states, chosen)
        return states

    def _root(self, params: Params, nodes: _Nodes, noise: jax.Array) -> jax.Array:
        legal = jax.vmap(self.game.legal_actions)(nodes.states)
        if self.plies == 1:
            scores = self._one_ply(params, nodes.states, self.bootstrap)
            return jnp.where(legal, scores, -jnp.inf)
        kept = self._beam(params, nodes, 0, noise)
        totals = self._totals(params, nodes, kept, 0)
        return jnp.where(kept, self._aims(totals, nodes), -jnp.inf)

    def _one_ply(
        self, params: Params, states: State, bootstrap: BootstrapRule | None = None
    ) -> jax.Array:
        """float32[B, A]: the value of each action for the mover, by its afterstate."""
        features = features_of(self.game, self.value, params, states)
        # Within the tree the end of a game counts as its rewards, with any setting of the agent.
        bootstrap = bootstrap or self.bootstrap._replace(terminal_value_zero=True)
        return action_values(self.game, self.value, params, states, features, bootstrap)[0]

    def _beam(
        self, params: Params, nodes: _Nodes, ply: int, noise: jax.Array | None = None
    ) -> jax.Array:
        """bool[B, A]: the actions to follow at ply number `ply`; none of a terminal state."""
        legal = jax.vmap(self.game.legal_actions)(nodes.states) & ~nodes.states.terminal[:, None]
        width = self._width(ply)
        if width >= self.game.num_actions:
            return legal
        if ply == 0 or self.reply == "own":
            scores = self._one_ply(params, nodes.states)
        else:
            scores = self._aims(self._totals(params, nodes, legal, self.plies - 1), nodes)
        scores = jnp.where(legal & ~jnp.isnan(scores), scores, -jnp.inf)
        order = np.arange(self.game.num_actions) if noise is None else noise
        return _best_few(scores, legal, jnp.broadcast_to(order, scores.shape), width)

    def _width(self, ply: int) -> int:
        if not self.width or ply == self.plies - 1:
            return self.game.num_actions
        return self.width[0 if len(self.width) == 1 else ply]

    def _totals(self, params: Params, nodes: _Nodes, kept: jax.Array, ply: int) -> jax.Array:
        """float32[B, A, K]: the future gain of each followed player by each action `kept`."""
        game, states = self.game, nodes.states

        def visit(row: jax.Array, action: jax.Array, real: jax.Array) -> jax.Array:
            node = jax.tree.map(lambda leaf: leaf[row], nodes)
            after = jax.vmap(game.afterstate)(node.states, action)
            gain = self._followed(after.rewards - node.states.rewards, node.searcher)
            over = after.terminal | ~real
            if ply == self.plies - 1:
                future = self._leaves(params, after, node.searcher)
            else:
                keys = jax.vmap(jax.random.fold_in)(node.keys, action)
                after = after._replace(terminal=over)
                future = self._after_chance(params, _Nodes(after, node.searcher, keys), ply)
            return gain + jnp.where(over[:, None], 0.0, future)

        return visit_pairs(kept, visit, self._chunk_size(len(states.terminal), self._width(ply)))

    def _chunk_size(self, rows: int, most: int) -> int:
        """The number of moves of `rows` positions to evaluate together, at most `most` each."""
        return min(rows * min(most, _USUAL_MOVES), self.rows)

    def _after_chance(self, params: Params, nodes: _Nodes, ply: int) -> jax.Array:
        """float32[B, K]: the expected values of the afterstates of ply number `ply`."""
        game = self.game
        if not game.stochastic:
            return self._best(params, nodes, ply + 1)
        listed = 0 < game.num_spawns <= self.settings.max_spawns
        if listed:
            shares = jax.vmap(game.spawn_probabilities)(nodes.states)
        else:
            shares = jnp.full(
                (len(nodes.searcher), self.settings.samples), 1 / self.settings.samples, jnp.float32
            )
        shares = jnp.where(nodes.states.terminal[:, None], 0.0, shares)

        def visit(row: jax.Array, number: jax.Array, real: jax.Array) -> jax.Array:
            node = jax.tree.map(lambda leaf: leaf[row], nodes)
            keys = jax.vmap(jax.random.fold_in)(node.keys, number)
            if listed:
                states = jax.vmap(game.spawn_outcome)(node.states, number)
            else:
                states = jax.vmap(game.spawn)(node.states, keys)
            states = states._replace(terminal=states.terminal | ~real)
            return self._best(params, _Nodes(states, node.searcher, keys), ply + 1)

        outcomes = visit_pairs(shares > 0, visit, self._chunk_size(*shares.shape))
        return (shares[..., None] * outcomes).sum(1)

    def _best(self, params: Params, nodes: _Nodes, ply: int) -> jax.Array:
        """float32[B, K]: the values of positions after the best move; 0 at the end."""
        action, scores = self._choose(params, nodes, ply)
        best = jax.vmap(lambda row, action: row[action])(scores, action)
        if self._of_mover(ply):
            best = self._of_all_players(params, nodes, action, best)
        return jnp.where(nodes.states.terminal[:, None], 0.0, best)

    def _of_mover(self, ply: int) -> bool:
        """Whether this ply scores moves only for the mover, and makes only the best one."""
        return ply == self.plies - 1 and self.reply == "own"

    def _choose(self, params: Params, nodes: _Nodes, ply: int) -> tuple[jax.Array, jax.Array]:
        """The moves int32[B] of ply number `ply`, and the values of all moves.

        float32[B, A, K], or [B, A, 1] where that is `_of_mover`.
        """
        if self._of_mover(ply):
            scores = self._one_ply(params, nodes.states)
            legal = jax.vmap(self.game.legal_actions)(nodes.states)
            return _first_best(scores, legal), scores[..., None]
        kept = self._beam(params, nodes, ply)
        totals = self._totals(params, nodes, kept, ply)
        return _first_best(self._aims(totals, nodes), kept), totals

    def _of_all_players(
        self, params: Params, nodes: _Nodes, action: jax.Array, score: jax.Array
    ) -> jax.Array:
        """float32[B, K]: `_best` by `action`, which has the value `score` for the mover."""
        states, game = nodes.states, self.game
        if game.num_players == 1:
            return score
        after = jax.vmap(game.afterstate)(states, action)
        future = jnp.where(
            after.terminal[:, None], 0.0, self._leaves(params, after, nodes.searcher)
        )
        mover = np.arange(game.num_players) == states.player[:, None]
        return jnp.where(mover, score, after.rewards - states.rewards + future)

    def _leaves(self, params: Params, after: State, searcher: jax.Array) -> jax.Array:
        """float32[B, K]: gamma * V(afterstate | player) of every player followed."""
        features = features_of(self.game, self.value, params, after)[:, None]
        players = searcher[:, None]
        if self.reply == "own":
            players = jnp.arange(self.game.num_players)
        shape = (len(features), self._components)
        features = jnp.broadcast_to(features, (*shape, features.shape[-1]))
        values = self.value.value(params, features, jnp.broadcast_to(players, shape))
        if self.game.eliminates:
            active = jax.vmap(self.game.active)(after)
            values = jnp.where(self._followed(active, searcher), values, 0.0)
        return self.bootstrap.discounted(values)

    def _followed(self, rewards: jax.Array, searcher: jax.Array) -> jax.Array:
        """The followed players' part [B, K] of numbers [B, N], such as rewards."""
        if self.reply == "own":
            return rewards
        return jnp.take_along_axis(rewards, searcher[:, None].astype(jnp.int32), 1)

    def _aims(self, totals: jax.Array, nodes: _Nodes) -> jax.Array:
        """float32[B, A]: the goal of the mover, from totals float32[B, A, K]."""
        player = nodes.states.player
        if self.reply == "own":
            return jax.vmap(lambda rows, player: rows[:, player])(totals, player)
        return jnp.where((player == nodes.searcher)[:, None], totals[..., 0], -totals[..., 0])


def _best_few(scores: jax.Array, legal: jax.Array, order: jax.Array, count: int) -> jax.Array:
    """bool[B, A]: `count` legal actions with the best scores, ties by the lowest `order`.

    One after the other: XLA sorts many actions as slowly as it finds the maximum 60 times.
    """

    def one_more(_: int, kept: jax.Array) -> jax.Array:
        left = legal & ~kept
        most = jnp.where(left, scores, -jnp.inf).max(1, keepdims=True)
        best = jnp.where(left & (scores == most), order, jnp.inf).argmin(1)
        return kept | (left & (np.arange(scores.shape[1]) == best[:, None]))

    return jax.lax.fori_loop(0, count, one_more, jnp.zeros_like(legal))


def _first_best(scores: jax.Array, allowed: jax.Array) -> jax.Array:
    """int32[B]: the lowest of the best allowed actions; NaN is worst."""
    return jnp.where(allowed & ~jnp.isnan(scores), scores, -jnp.inf).argmax(1)
