"""PUCT: tree search guided by an agent's own values, in any game, with chance, for N players."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import (
    UNDISCOUNTED,
    BootstrapRule,
    action_values,
    values_of_players,
)
from jaxgbg.learners.masks import most_of_lanes
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.search.chunking import map_in_chunks
from jaxgbg.search.simulation import simulate
from jaxgbg.search.solver import SolvedStatistics, Solver, worth_playing
from jaxgbg.search.spec import SearchSpec, Switch
from jaxgbg.search.tree import (
    CHILD,
    MOST_ITERATIONS,
    TOTAL,
    VISITS,
    Iteration,
    Leaves,
    RootStatistics,
    shared_capacity,
)
from jaxgbg.specs import setting
from jaxgbg.types import Params, PyTree, State
from jaxgbg.values.core import ValueFunction, features_of, observe_all

# The number of searches that go on in step. More would only need more memory.
_MOST_TREES = 512
_FEW_TREES = 16
# The number of chunks of a large batch. On a CPU, whose cores share the chunks, 16 searches in step
# are as fast as more. On an accelerator two chunks leave out games where the agent is not to move.
_CHUNKS = {"cpu": 8}
_OTHERWISE = 2
_LEAST = np.float32(np.finfo(np.float32).min)


@dataclasses.dataclass(frozen=True)
class PUCTSpec(SearchSpec):
    """Tree search guided by the agent's values (PUCT).

    Attributes:
      iterations: Number of positions that are evaluated for each move.
      exploration: Weight of a move's prior relative to the values found below it.
      temperature: The prior is the softmax of the action values divided by this.
      unvisited: Value of a move before it is tried, in future rewards.
      width: Number of outcomes of chance that are drawn for each move of a node.
      megabytes: Memory for the trees that grow at once.
      solver: Whether to prove values of positions; two players, no chance.
      leaves: Number of positions of a search that are evaluated at once.
      reuse: Whether a match reuses the subtree of the last move.
    """

    iterations: int = setting(200, low=1, high=MOST_ITERATIONS)
    exploration: float = setting(1.0, low=0, high=1_000_000)
    temperature: float = setting(1.0, low=1e-9, high=1_000_000)
    unvisited: float = setting(0.0, low=-1_000_000, high=1_000_000)
    width: int = setting(8, low=1, high=1_000)
    megabytes: int = setting(1536, low=0, high=1_000_000)
    solver: bool = False
    leaves: int = setting(1, low=1, high=256)
    reuse: bool = False

    kind = "puct"
    label = "tree search"
    trains = True
    play_only = ("solver", "reuse")
    switch = Switch(
        "solver",
        "proofs",
        "Wins, draws and losses that the search has proved are searched no more",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        most = MOST_ITERATIONS + 1 - self.leaves
        if self.iterations > most:
            raise ValueError(f"with leaves={self.leaves} iterations must be {most:,} at most")

    def build(self, game: Game, value: ValueFunction) -> PUCT:
        return PUCT(game, value, self)


@dataclasses.dataclass(frozen=True)
class PUCT:
    """Tree search by a value function (Scheiermann & Konen, arXiv 2204.13307); static under jit.

    Each iteration descends by Q + exploration * P * sqrt(sum of N + 1e-8) / (1 + N) for the player
    to move, adds the first node that is not in the tree, and updates every edge above it with the
    gain of the edge's player from there on: undiscounted rewards on the way, and V at the new node.
    So every player maximizes its own gain (Max-N). There are no roll-outs and no depth limit.

    P is the softmax of the mover's action values divided by `temperature`, computed once for each
    node. Q of an untried action is `unvisited`; of equal actions the first is taken. V of a player
    is its best action value in its next turn, after the best moves of the players before it. For
    the player who is last in turn it is V(s | player). Agents that learned values of actions have
    values only in their own turns, so there V of the last player is searched for too; likewise in
    games of chance where that player did not make the last move, or chance has changed its board.
    The end of a game counts as its rewards alone. The root is evaluated before the first iteration.

    In a game of chance an action has up to `width` children, each a separate draw of its outcome,
    and visits them in turn (sparse sampling, Kearns, Mansour & Ng 2002). With `solver`, values are
    proved (`search.solver`), and the search does not try actions that cannot be best.

    With several `leaves`, all of them are found before they are evaluated together. On the way down
    an edge counts one more visit for each earlier descent of the same step through it, with the
    game's lowest reward as gain (virtual loss). If descents reach the same new position, one of
    them adds it to the tree, and its value counts for all; with chance each counts its own draw.

    `bootstrap` only affects the action values, see `learners.action_values`. A node takes
    4 * (3 + width) * num_actions bytes, with `solver` 8 * num_actions more, and its state. A tree
    has at most 2 * (`leaves` - 1) more nodes. `megabytes` bounds the number of trees that grow at
    once. Raises ValueError if not one tree fits, and for a solver where nothing can be proved.
    """

    game: Game
    value: ValueFunction
    settings: PUCTSpec = PUCTSpec()
    bootstrap: BootstrapRule = UNDISCOUNTED

    traceable = True
    # See `tree.TreePolicy`.
    keeps_states = True

    def __post_init__(self) -> None:
        _ = self.solver
        if self.max_trees < 1:
            raise ValueError(
                f"search: one tree of {self.capacity:,} iterations takes"
                f" {-(-self._tree_bytes // 10**6):,} megabytes in {self.game.name}, but only"
                f" {self.settings.megabytes:,} are allowed"
            )

    @property
    def capacity(self) -> int:
        """The number of iterations that a tree has room for."""
        return self.settings.iterations

    def roomy(self) -> PUCT:
        """This search with room for a power of two iterations, which similar strengths then share.

        The search itself if memory is short.
        """
        most = MOST_ITERATIONS + 1 - self.leaves
        iterations = min(shared_capacity(self.capacity), most)
        settings = dataclasses.replace(self.settings, iterations=iterations)
        try:
            roomy = dataclasses.replace(self, settings=settings)
        except ValueError:
            return self
        return self if roomy.max_trees < _FEW_TREES else roomy

    @property
    def solver(self) -> Solver | None:
        """The solver that proves values, if any."""
        return Solver(self.game) if self.settings.solver else None

    @property
    def lines(self) -> int:
        """Numbers of an action in addition to those of the tree: both bounds, if any, and P."""
        return 3 if self.settings.solver else 1

    @property
    def width(self) -> int:
        """The number of children of an action: 1 without chance."""
        return self.settings.width if self.game.stochastic else 1

    @property
    def leaves(self) -> int:
        """The number of positions of a tree that are evaluated at once."""
        return self.settings.leaves

    @property
    def virtual_loss(self) -> float:
        """The gain of an edge while it waits for its value."""
        return self.game.reward_range[0]

    @property
    def depth(self) -> int:
        """The largest number of edges of a descent."""
        return min(self.game.max_plies, self.capacity)

    @property
    def _tree_bytes(self) -> int:
        state = jax.eval_shape(self.game.init, jax.random.key(0))
        state_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
        node = 4 * (CHILD + self.width + self.lines) * self.game.num_actions + state_bytes
        nodes = self.leaves * (-(-self.capacity // self.leaves) + 1)
        return node * nodes + 20 * self.depth * self.leaves

    @property
    def max_trees(self) -> int:
        """The largest number of trees in memory at once."""
        return self.settings.megabytes * 10**6 // self._tree_bytes

    def choose(
        self, states: State, key: jax.Array, params: Params, bootstrap: BootstrapRule
    ) -> jax.Array:
        """See `spec.Search`; `players.SearchAgent` does the same, also on several devices."""
        search_key, choice = jax.random.split(key)
        return most_visited(self.statistics(states, search_key, params, bootstrap), choice)

    def statistics(
        self, states: State, key: jax.Array, params: Params, bootstrap: BootstrapRule
    ) -> RootStatistics | SolvedStatistics:
        """See `spec.TrainingSearch`."""
        search = dataclasses.replace(self, bootstrap=bootstrap)
        return search.search(params, states, self.settings.iterations, key)

    def search(
        self,
        params: Params,
        states: State,
        iterations: jax.Array | np.integer | int,
        key: jax.Array,
    ) -> RootStatistics | SolvedStatistics:
        """The roots' statistics after one search from each of states[B]; 0 for terminal states.

        `iterations` int32[], at most `capacity`, are not compiled into the program.
        Positions that are not terminal are searched in chunks, so terminal ones cost nothing.
        A search depends on the key and its place in the batch, but not on the other states. Lanes
        that search in step under the axis `LANE` have separate trees in memory.
        """
        total, size = jnp.int32(iterations), self.chunk_size(states.terminal.shape[0])

        def search_chunk(
            roots: State, lanes: jax.Array, place: jax.Array, nothing: PyTree
        ) -> tuple[RootStatistics | SolvedStatistics, PyTree]:
            del place
            grown = simulate(self, params, roots, lanes.astype(jnp.uint32), total, key)
            return grown, nothing

        found: RootStatistics | SolvedStatistics
        found, _ = map_in_chunks(states, size, self.nothing_of(states), search_chunk)
        return found

    def chunk_size(self, batch: int) -> int:
        """The number of `batch` searches that go on in step, on any number of devices.

        Programs with other numbers of searches round values differently.
        """
        chunks = _CHUNKS.get(jax.default_backend(), _OTHERWISE)
        return min(batch, self.max_trees, _MOST_TREES, max(_FEW_TREES, -(-batch // chunks)))

    def nothing_of(self, states: State) -> RootStatistics | SolvedStatistics:
        """The statistics of terminal states[B]."""
        zeros = jnp.zeros((states.terminal.shape[0], self.game.num_actions))
        nothing = RootStatistics(zeros.astype(jnp.int32), zeros)
        return nothing if self.solver is None else self.solver.nothing(nothing)

    def draws(self, keys: jax.Array, iteration: Iteration) -> jax.Array:
        """Nothing is drawn on the way down."""
        del iteration
        return jnp.zeros((0, len(keys)), jnp.uint32)

    def next_action(
        self, edges: jax.Array, states: PyTree, ply: jax.Array, draws: jax.Array
    ) -> jax.Array:
        """int32[B]: the first action of the highest score; -1 at the end of a game.

        With a solver, only among actions that may be best; -1 also if the value is proved.
        """
        del states, ply, draws
        visits, prior = edges[:, VISITS], edges[:, -1]
        mean = edges[:, TOTAL] / jnp.maximum(visits, 1)
        q = jnp.where(visits > 0, mean, self.settings.unvisited)
        visited = jnp.sqrt(visits.sum(1, keepdims=True) + np.float32(1e-8))
        bonus = np.float32(self.settings.exploration) * prior * visited / (1 + visits)
        # The prior of an illegal action is below 0.
        closed = prior < 0 if self.solver is None else ~self.solver.may_be_best(edges)
        scores = jnp.where(closed, -jnp.inf, q + bonus)
        return jnp.where(closed.all(1), -1, scores.argmax(1).astype(jnp.int32))

    def evaluate(
        self,
        params: Params,
        leaves: Leaves,
        keys: jax.Array,
        iteration: Iteration,
        draws: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        """Each player's reward so far at the leaves plus V, float32[B, N]; and the last lines.

        The last lines float32[B, lines, A] are the bounds, if any, and the priors, -1 if illegal.
        """
        del draws
        known = self._known(leaves) if self.game.stochastic else None
        return self.evaluate_positions(params, leaves.states, keys, iteration, known)

    def _known(self, leaves: Leaves) -> jax.Array:
        """bool[B, N]: whose V(s | player) counts, in games of chance.

        V is learned on boards that the player itself has made, before chance: only the player who
        made the last move sees one, and only if chance has not changed it. Roots have no values.
        """
        end = jnp.maximum(leaves.depth - 1, 0)[None]
        last = jnp.take_along_axis(leaves.players, end, 0)[0]
        now, before = (
            observe_all(self.game, self.value, each) for each in (leaves.states, leaves.before)
        )
        mine = np.arange(self.game.num_players) == last[:, None]
        return mine & (now == before).all(1)[:, None] | (leaves.depth == 0)[:, None]

    def evaluate_positions(
        self,
        params: Params,
        states: State,
        keys: jax.Array,
        iteration: Iteration,
        known: jax.Array | None = None,
    ) -> tuple[jax.Array, jax.Array]:
        """As `evaluate`, of states[B]; games without chance use neither `keys` nor `iteration`.

        `known` bool[B, N] says for which players V(s | player) counts, None for all.
        """
        game, of_actions = self.game, self.value.num_actions > 1
        values = jnp.zeros((len(states.player), game.num_players))
        if not of_actions:
            values = jnp.nan_to_num(values_of_players(game, self.value, params, states))
        q, legal = self._action_values(params, states)
        best = q.max(1, keepdims=True)
        shares = jnp.where(legal, jnp.exp((q - best) / np.float32(self.settings.temperature)), 0.0)
        prior = jnp.where(legal, shares / shares.sum(1, keepdims=True), -1.0)
        # A player who is out gets no more rewards and has no next turn.
        waiting = jnp.ones(values.shape, bool)
        if game.eliminates:
            waiting = jax.vmap(game.active)(states)
            values = jnp.where(waiting, values, 0.0)
        promised = _Promised(values, waiting, states)
        for turn in range(max(1, game.num_players - 1)):
            if turn:
                q = self._action_values(params, promised.now)[0]
            promised = self._next_turn(states, promised, q, keys, iteration, turn + 2)
        promised = _at_the_end(states, promised)
        if (of_actions or known is not None) and game.num_players > 1:
            if known is not None and not of_actions:
                promised = promised._replace(waiting=promised.waiting & ~known)
            promised = self._until_all_had_theirs(params, states, promised, keys, iteration)
            promised = _at_the_end(states, promised)
        values = promised.values
        lines = prior[:, None]
        if self.solver is not None:
            lines = jnp.concatenate([self.solver.unproved(legal), lines], 1)
        return states.rewards + values, lines

    def _next_turn(
        self,
        states: State,
        promised: _Promised,
        q: jax.Array,
        keys: jax.Array,
        iteration: Iteration,
        kind: jax.Array | int,
    ) -> _Promised:
        """Set the mover's value, if it waits: its reward since `states` plus its best `q`."""
        values, waiting, now = promised
        mine = np.arange(self.game.num_players) == now.player[:, None]
        mover = waiting & mine & ~now.terminal[:, None]
        gained = now.rewards - states.rewards
        values = jnp.where(mover, gained + q.max(1, keepdims=True), values)
        if self.game.num_players > 1:
            now = self._after_best(now, q, keys, iteration, kind)
        return _Promised(values, waiting & ~mover, now)

    def _until_all_had_theirs(
        self,
        params: Params,
        states: State,
        promised: _Promised,
        keys: jax.Array,
        iteration: Iteration,
    ) -> _Promised:
        """Continue turns while a player waits: the last in turn, and players who must pass."""

        def somebody_waits(carry: tuple[jax.Array, _Promised]) -> jax.Array:
            promised = carry[1]
            open_ = promised.waiting & ~promised.now.terminal[:, None]
            return most_of_lanes(open_.any().astype(jnp.int32)) > 0

        def turn(carry: tuple[jax.Array, _Promised]) -> tuple[jax.Array, _Promised]:
            # Each turn draws chance by words of its own.
            kind, promised = carry
            q = self._action_values(params, promised.now)[0]
            return kind + 1, self._next_turn(states, promised, q, keys, iteration, kind)

        kinds_used = max(1, self.game.num_players - 1) + 2
        found: _Promised
        _, found = jax.lax.while_loop(somebody_waits, turn, (jnp.int32(kinds_used), promised))
        return found

    def _action_values(self, params: Params, states: State) -> tuple[jax.Array, jax.Array]:
        """(q float32[B, A], the lowest float32 for illegal actions; legal bool[B, A])."""
        game, value = self.game, self.value
        features = features_of(game, value, params, states)
        q = action_values(game, value, params, states, features, self.bootstrap)[0]
        legal = jax.vmap(game.legal_actions)(states)
        # If a network has diverged, NaN is the worst value.
        return jnp.where(legal, jnp.nan_to_num(q, nan=_LEAST), _LEAST), legal

    def _after_best(
        self,
        states: State,
        q: jax.Array,
        keys: jax.Array,
        iteration: Iteration,
        kind: jax.Array | int,
    ) -> State:
        """states[B] after the first of the best moves, and after chance by words of its `kind`."""
        after = jax.vmap(self.game.afterstate)(states, q.argmax(1).astype(jnp.int32))
        if not self.game.stochastic:
            return after
        chance = iteration.words(keys, kind, self.game.spawn_words)
        return jax.vmap(self.game.spawn_from)(after, chance)


class _Promised(NamedTuple):
    """`values` float32[B, N], the players `waiting` for their turn, and the states `now`."""

    values: jax.Array
    waiting: jax.Array
    now: State


def _at_the_end(states: State, promised: _Promised) -> _Promised:
    """With the rewards since `states` as values of the players who wait where the game is over."""
    values, waiting, now = promised
    over = waiting & now.terminal[:, None]
    values = jnp.where(over, now.rewards - states.rewards, values)
    return _Promised(values, waiting, now)


def most_visited(roots: RootStatistics | SolvedStatistics, key: jax.Array) -> jax.Array:
    """int32[B]: the most visited action; ties by value, then at random.

    If values were proved, only among actions that are worth playing.
    """
    visits = roots.visits
    playable = worth_playing(roots) if isinstance(roots, SolvedStatistics) else visits > 0
    tries = jnp.where(playable, visits, -1)
    most = playable & (tries == tries.max(1, keepdims=True))
    values = jnp.where(most, roots.values, -jnp.inf)
    return choose_uniformly(most & (values == values.max(1, keepdims=True)), key)
