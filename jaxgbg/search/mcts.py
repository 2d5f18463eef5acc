"""Monte Carlo tree search with roll-outs, for any game, many searches at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from jaxgbg.games import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import UNDISCOUNTED, BootstrapRule
from jaxgbg.learners.selection import choose_action, choose_uniformly, nth_true
from jaxgbg.search.outcomes import table_bytes
from jaxgbg.search.simulation import simulate
from jaxgbg.search.spec import SearchSpec
from jaxgbg.search.tree import (
    CHILD,
    MOST_ITERATIONS,
    TOTAL,
    VISITS,
    Iteration,
    Leaves,
    RootStatistics,
    draw,
    shared_capacity,
)
from jaxgbg.specs import setting
from jaxgbg.types import Params, PyTree, State
from jaxgbg.values.core import ValueFunction

_TINY = np.float32(1e-6)


@dataclasses.dataclass(frozen=True)
class MCTSSpec(SearchSpec):
    """UCT search with random roll-outs, a player without an agent.

    Attributes:
      iterations: Roll-outs for each move.
      exploration: Weight of the bonus for actions that were rarely tried.
      tree_depth: Largest number of plies between the root and a node.
      rollout_depth: Number of plies below the root at which play stops, with the rewards so far.
      megabytes: Memory for the trees that grow at once.
    """

    iterations: int = setting(10_000, low=1, high=MOST_ITERATIONS)
    exploration: float = setting(1.414, low=0, high=1_000_000)
    tree_depth: int = setting(10, low=1, high=2**31 - 1)
    rollout_depth: int = setting(200, low=1, high=2**31 - 1)
    megabytes: int = setting(1536, low=0, high=1_000_000)

    kind = "mcts"
    with_agent = False
    alone = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tree_depth > self.rollout_depth:
            raise ValueError(
                "tree_depth must not exceed rollout_depth"
                f" (tree_depth={self.tree_depth}, rollout_depth={self.rollout_depth})"
            )

    def build(self, game: Game, value: ValueFunction) -> MCTS:
        if game.stochastic:
            return MCTS(game, self)
        # GBG assumes that the rewards of any game are between -1 and 1.
        low, high = game.reward_range
        return MCTS(game, self, (min(low, -1.0), max(high, 1.0)))


@dataclasses.dataclass(frozen=True)
class MCTS:
    """UCT search (Kocsis & Szepesvari 2006) with the settings of Konen (2019).

    Each iteration descends by mean + exploration * sqrt(ln(N + 1) / (n + 1e-6)), adds the first
    node that is not in the tree (untried actions come first, in random order), plays on uniformly
    at random, and updates each node with the result for the player who moved into it. Nodes are at
    most `tree_depth` plies below the root; play stops `rollout_depth` plies below it with the
    rewards so far. Rewards are mapped from `reward_range`, by default the game's, to [0, 1]. The
    move is the one of the highest mean, ties at random. Every move starts a new tree.

    In a game of chance every iteration draws the outcome of each move, and each outcome has its own
    node (`search.outcomes` gives the reasons). A player's gain from the root on is mapped to [0, 1]
    from the range of the gains that this search has seen, because the rewards of such a game may
    use a small part of its `reward_range`: in 2048 a move gains a millionth of it. The values of
    `search` are then gains from the root on, in rewards.

    A tree takes 12 * (iterations + 1) * num_actions bytes, in a game of chance 8 * num_actions + 64
    for each iteration. It takes up to twice that if all searches of a call have room for it, so
    that similar strengths share a compiled program. `megabytes` bounds the number of trees that
    grow at once. A game may have a method `playout(state, words) -> rewards float32[N]`, a faster
    way to draw the end of random play. Raises ValueError for a `reward_range` in a game of chance,
    and if one tree does not fit.
    """

    game: Game
    settings: MCTSSpec = MCTSSpec()
    reward_range: tuple[float, float] | None = None

    # It plans its memory on the host.
    traceable = False

    def __post_init__(self) -> None:
        if self.game.stochastic and self.reward_range is not None:
            raise ValueError(
                f"mcts: {self.game.name} has chance, where the range of rewards is that of the"
                f" gains seen in the search: leave out reward_range {self.reward_range}"
            )
        if not self._range[0] < self._range[1]:
            raise ValueError(f"mcts: reward_range must ascend, not {self._range}")
        if self.max_trees < 1:
            raise ValueError(
                f"mcts: one tree does not fit into {self.settings.megabytes} megabytes"
            )

    @property
    def _range(self) -> tuple[float, float]:
        return self.game.reward_range if self.reward_range is None else self.reward_range

    @property
    def max_trees(self) -> int:
        """The largest number of trees in memory at once."""
        columns = CHILD + self.width
        tree_bytes = 4 * columns * (self.settings.iterations + 1) * self.game.num_actions
        if self.width == 0:
            tree_bytes += table_bytes(self.settings.iterations)
        return self.settings.megabytes * 10**6 // tree_bytes

    def _roomy(self, searches: int) -> MCTS:
        """This search with room for a power of two iterations, if all `searches` have that room."""
        iterations = shared_capacity(self.capacity)
        settings = dataclasses.replace(self.settings, iterations=iterations)
        try:
            roomy = dataclasses.replace(self, settings=settings)
        except ValueError:
            return self
        return roomy if searches <= roomy.max_trees else self

    # See `tree.TreePolicy`.
    keeps_states = False
    lines = 0
    leaves = 1
    virtual_loss = 0.0
    solver = None

    @property
    def width(self) -> int:
        """The number of children of an action: 1 without chance; 0 for one for each outcome."""
        return 0 if self.game.stochastic else 1

    @property
    def capacity(self) -> int:
        """The number of iterations that a tree has room for."""
        return self.settings.iterations

    @property
    def depth(self) -> int:
        """The largest number of edges of a descent."""
        return self.settings.tree_depth

    def choose(
        self,
        states: State,
        key: jax.Array,
        params: Params = (),
        bootstrap: BootstrapRule = UNDISCOUNTED,
    ) -> jax.Array:
        """An action of the highest mean for each of states[B], int32[B]; 0 for a terminal state."""
        del params, bootstrap
        search_key, choice = jax.random.split(key)
        visits, values = self.search(states, search_key)
        means = jnp.where(visits > 0, values, -jnp.inf)
        best = (visits > 0) & (means == means.max(axis=1, keepdims=True))
        return choose_uniformly(best, choice)

    def search(self, states: State, key: jax.Array) -> RootStatistics:
        """The roots' statistics after one search from each of states[B]; 0 for terminal states.

        A search depends on the key and its place in the batch, but not on the other states.
        """
        from jaxgbg.search.devices import mesh_of, on_devices

        live = int((~np.asarray(states.terminal)).sum())
        shape = (len(states.terminal), self.game.num_actions)
        nothing = RootStatistics(jnp.zeros(shape, jnp.int32), jnp.zeros(shape))
        mesh = mesh_of(min(live, self.max_trees))
        room = self.max_trees - self.max_trees % mesh.size
        found = on_devices(
            simulate,
            self._roomy(live),
            (),
            states,
            nothing,
            lambda searches: min(_padded(searches, mesh.size), room),
            jnp.int32(self.settings.iterations),
            key,
            mesh,
        )
        return RootStatistics(*map(jnp.asarray, found))

    def draws(self, keys: jax.Array, iteration: Iteration) -> jax.Array:
        """uint32[W, B]: two 16-bit draws in each word, one for each ply of an iteration."""
        plies = self.settings.tree_depth
        if not self._has_playout:
            # Random play draws from the words after those of the longest descent.
            plies += min(self.game.max_plies, self.settings.rollout_depth)
        return iteration.words(keys, 0, -(-plies // 2)).T

    def next_action(
        self, edges: jax.Array, states: PyTree, ply: jax.Array, draws: jax.Array
    ) -> jax.Array:
        """int32[B]: the action of the highest upper bound; untried actions come first."""
        visits, totals = edges[:, VISITS], edges[:, TOTAL]
        legal = jax.vmap(self.game.legal_actions)(states)
        # Descents visit the root; another node is also visited when it is made.
        visited = visits.sum(1) + (ply > 0)
        spread = jnp.log(visited + 1) * np.float32(self.settings.exploration**2)
        inverse = 1 / (visits + _TINY)
        scores = totals * inverse + jnp.sqrt(spread[:, None] * inverse)
        scores = jnp.where(visits == 0, jnp.inf, scores)
        return jax.vmap(choose_action)(scores, legal, draw(draws, ply))

    def evaluate(
        self,
        params: Params,
        leaves: Leaves,
        keys: jax.Array,
        iteration: Iteration,
        draws: jax.Array,
    ) -> tuple[jax.Array, None]:
        """Every player's reward float32[B, N] after random play from the leaves.

        In [0, 1]; in a game of chance in the game's own units.
        """
        del params
        if self._has_playout:
            rewards = self._ask_playout(leaves, keys, iteration)
        else:
            rewards = self._play_out(leaves, draws, self._chance(keys, iteration))
        if self.game.stochastic:
            return rewards, None
        low, high = self._range
        return (rewards - np.float32(low)) * np.float32(1 / (high - low)), None

    def _chance(self, keys: jax.Array, iteration: Iteration) -> jax.Array | None:
        """uint32[P, B, W]: the words of chance at each ply of random play; None without chance."""
        if not self.game.stochastic:
            return None
        plies = min(self.game.max_plies, self.settings.rollout_depth)
        words = iteration.words(keys, 2, plies * self.game.spawn_words)
        return words.reshape(len(keys), plies, -1).swapaxes(0, 1)

    def _play_out(self, leaves: Leaves, draws: jax.Array, chance: jax.Array | None) -> jax.Array:
        """float32[B, N]: cumulative rewards where random play ends or is cut off."""
        game = self.game

        def going(carry: tuple[jax.Array, State]) -> jax.Array:
            ply, states = carry
            return ~states.terminal & (leaves.depth + ply < self.settings.rollout_depth)

        def step(carry: tuple[jax.Array, State]) -> tuple[jax.Array, State]:
            ply, states = carry
            legal = jax.vmap(game.legal_actions)(states)
            action = jax.vmap(nth_true)(legal, draw(draws, ply + self.settings.tree_depth))
            action = jnp.where(going(carry), action, -1)
            following, states = ply + 1, jax.vmap(game.afterstate)(states, action)
            if chance is not None:
                # If no move was made, chance does not change the state.
                states = jax.vmap(game.spawn_from)(states, chance[ply])
            return following, states

        start = (jnp.int32(0), leaves.states)
        return jax.lax.while_loop(lambda carry: going(carry).any(), step, start)[1].rewards

    @property
    def _has_playout(self) -> bool:
        """Whether the game draws the end of random play, and no cut-off can happen before it."""
        return hasattr(self.game, "playout") and self.game.max_plies <= self.settings.rollout_depth

    def _ask_playout(self, leaves: Leaves, keys: jax.Array, iteration: Iteration) -> jax.Array:
        """float32[B, N]: cumulative rewards at the end of random play, drawn by the game."""
        playout: Callable[[State, jax.Array], jax.Array] = getattr(self.game, "playout")  # noqa: B009
        # The words of kind 0 are those of `draws`, of kind 1 those of chance in the tree.
        kind = 2 if self.game.stochastic else 1
        rewards = jax.vmap(playout)(leaves.states, iteration.words(keys, kind, 2))
        return jnp.where(leaves.states.terminal[:, None], leaves.states.rewards, rewards)


def _padded(searches: int, devices: int) -> int:
    """The number of lanes for roll-outs: few different numbers, because each one is compiled."""
    share = -(-searches // devices)
    if share > 1:
        # From 8 to 64 lanes go up by 8, then in quarters of a power of two.
        step = max(8, (1 << (share - 1).bit_length()) >> 3)
        share = step * -(-share // step)
    return devices * share
