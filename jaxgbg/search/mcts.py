"""Monte Carlo tree search for any deterministic game, all searches of a batch at once.

A tree is an array of nodes; what is known of the edge from a node to the child behind an action
stands in the row of the node, so that choosing among the children reads one row. B trees of K nodes
are float32[B * K, 3, A]: for every action its visits, their total reward and the number of the
child behind it. Iteration k makes node k, or none; the root is node 0, and the row of a node
without children is all zeros. States are not kept: a descent makes the moves again.
"""

import dataclasses
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, PartitionSpec

from jaxgbg.games import Game
from jaxgbg.games.core import scrambled
from jaxgbg.learners.selection import choose_action, choose_uniformly, nth_true

_VISITS, _TOTAL, _CHILD = range(3)
_TINY = np.float32(1e-6)
# Counts and node numbers are kept as float32, which is exact up to here.
_MOST_ITERATIONS = 2**24 - 1


class RootStatistics(NamedTuple):
    """Statistics of the actions at the roots of B searches.

    Attributes:
      visits: int32[B, A] how often each action was tried.
      values: float32[B, A] the mover's mean normalised reward after it, in [0, 1]; 0 if untried.
    """

    visits: jax.Array
    values: jax.Array


@dataclasses.dataclass(frozen=True)
class MCTS:
    """UCT search (Kocsis & Szepesvari 2006) with the settings of Konen (2019).

    Each iteration descends by mean + exploration * sqrt(ln(N + 1) / (n + 1e-6)), adds the first
    node off the tree (untried actions come first, in random order), plays on uniformly at random
    and credits each node with the result for the player who moved into it. Nodes lie at most
    `tree_depth` plies below the root; play stops `rollout_depth` plies below it with the rewards as
    they stand. Rewards are mapped from `reward_range`, by default the game's, to [0, 1]. The move
    is the one of the highest mean, ties at random; every move grows a new tree.

    A tree takes 12 * (iterations + 1) * num_actions bytes; `megabytes` bounds how many of them are
    grown at once. A game may have a method `playout(state, words) -> rewards float32[N]`, a faster
    way to draw the end of random play. Raises ValueError for a game of chance and for settings out
    of range.
    """

    game: Game
    iterations: int = 10_000
    exploration: float = 1.414
    tree_depth: int = 10
    rollout_depth: int = 200
    reward_range: tuple[float, float] | None = None
    megabytes: int = 1536

    def __post_init__(self) -> None:
        if self.game.stochastic:
            raise ValueError(f"mcts plays games without chance: {self.game.name} has random moves")
        if not 1 <= self.iterations <= _MOST_ITERATIONS:
            raise ValueError(f"mcts: iterations must lie between 1 and {_MOST_ITERATIONS}")
        if not self.exploration >= 0:
            raise ValueError(f"mcts: exploration must not be negative, but is {self.exploration}")
        if not 1 <= self.tree_depth <= self.rollout_depth:
            raise ValueError(
                "mcts: tree_depth must lie between 1 and rollout_depth"
                f" (tree_depth={self.tree_depth}, rollout_depth={self.rollout_depth})"
            )
        if not self._range[0] < self._range[1]:
            raise ValueError(f"mcts: reward_range must go up, not {self._range}")
        if self.most_trees < 1:
            raise ValueError(f"mcts: one tree does not fit into {self.megabytes} megabytes")

    @property
    def _range(self) -> tuple[float, float]:
        return self.game.reward_range if self.reward_range is None else self.reward_range

    @property
    def most_trees(self) -> int:
        """How many trees may be in memory at once."""
        return self.megabytes * 10**6 // (12 * (self.iterations + 1) * self.game.num_actions)

    def choose(self, states: Any, key: jax.Array) -> jax.Array:
        """An action of the highest mean for each of states[B], int32[B]; 0 for a terminal state."""
        search_key, choice = jax.random.split(key)
        visits, values = self.search(states, search_key)
        means = jnp.where(visits > 0, values, -1.0)
        best = (visits > 0) & (means == means.max(axis=1, keepdims=True))
        return choose_uniformly(best, choice)

    def search(self, states: Any, key: jax.Array) -> RootStatistics:
        """The roots' statistics after one search from each of states[B]; 0 for terminal states.

        A search depends on the key and its place in the batch, but not on the other states.
        """
        live = np.flatnonzero(~np.asarray(states.terminal))
        shape = (len(states.terminal), self.game.num_actions)
        visits, values = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        states = jax.tree.map(np.asarray, states)
        mesh = _mesh(max(1, min(len(live), self.most_trees)))
        room = self.most_trees - self.most_trees % mesh.size
        for first in range(0, len(live), room):
            some = live[first : first + room]
            size = min(_padded(len(some), mesh.size), room)
            lanes = np.resize(some, size).astype(np.uint32)
            roots = jax.tree.map(lambda leaf, lanes=lanes: leaf[lanes], states)
            # Lanes beyond the last search stand still, as terminal states do.
            spare = np.arange(len(lanes)) >= len(some)
            roots = roots._replace(terminal=roots.terminal | spare)
            statistics = jax.device_get(_compile(self, mesh)(roots, lanes, key))
            visits[some], values[some] = (part[: len(some)] for part in statistics)
        return RootStatistics(jnp.asarray(visits), jnp.asarray(values))


def _mesh(searches: int) -> Mesh:
    """The devices that share so many searches."""
    devices = jax.devices()[:searches]
    return jax.make_mesh((len(devices),), ("searches",), (AxisType.Auto,), devices=devices)


def _padded(searches: int, devices: int) -> int:
    """How many lanes to run them in: few different numbers, as each one is compiled."""
    share = -(-searches // devices)
    if share > 1:
        # From 8 to 64 lanes go up by 8, then in quarters of a power of two.
        step = max(8, (1 << (share - 1).bit_length()) >> 3)
        share = step * -(-share // step)
    return devices * share


@lru_cache(maxsize=64)
def _compile(player: MCTS, mesh: Mesh) -> Any:
    """The compiled search: (states[B], lane numbers uint32[B], key) -> RootStatistics."""
    one, every = PartitionSpec("searches"), PartitionSpec()
    sharded = jax.shard_map(
        partial(_search, player),
        mesh=mesh,
        in_specs=(one, one, every),
        out_specs=one,
        check_vma=False,
    )
    return jax.jit(sharded)


class _Leaves(NamedTuple):
    """Where B descents end, and the edges on the way there, D = tree_depth of them at most.

    Attributes:
      states: [B] the states at the ends.
      depth: int32[B] how many edges below the root they lie.
      rows: int32[D, B] the row of the node that each edge leaves.
      actions: int32[D, B] the action behind each edge.
      players: int32[D, B] who took it.
      created: int32[B] 1 where the last edge is new, else 0.
    """

    states: Any
    depth: jax.Array
    rows: jax.Array
    actions: jax.Array
    players: jax.Array
    created: jax.Array


def _search(player: MCTS, roots: Any, lanes: jax.Array, key: jax.Array) -> RootStatistics:
    """RootStatistics of roots[B]; trees float32[B * (iterations + 1), 3, A] grow in place."""
    game, batch = player.game, roots.terminal.shape[0]
    keys = jax.random.key_data(jax.vmap(partial(jax.random.fold_in, key))(lanes))
    nodes = player.iterations + 1
    first_rows = jnp.arange(batch, dtype=jnp.int32) * nodes
    trees = jnp.zeros((batch * nodes, 3, game.num_actions), jnp.float32)
    low, high = player._range

    def iterate(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, trees = carry
        draws = _draws(player, keys, number)
        leaves = _descend(player, trees, first_rows, roots, draws)
        if _has_playout(player):
            rewards = _ask_playout(player, leaves, keys, number)
        else:
            rewards = _play_out(player, leaves, draws)
        gains = (rewards - np.float32(low)) * np.float32(1 / (high - low))
        return number + 1, _back_up(trees, leaves, gains, number + 1)

    def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        return carry[0] < player.iterations

    _, trees = jax.lax.while_loop(unfinished, iterate, (jnp.int32(0), trees))
    edges = trees[first_rows]
    visits, totals = edges[:, _VISITS], edges[:, _TOTAL]
    return RootStatistics(visits.astype(jnp.int32), totals / jnp.maximum(visits, 1))


def _draws(player: MCTS, keys: jax.Array, number: jax.Array) -> jax.Array:
    """uint32[words, B]: two 16-bit draws a word, one for each ply of an iteration."""
    plies = player.tree_depth
    if not _has_playout(player):
        # Random play draws from the word after the descent's, wherever that ended.
        plies += min(player.game.max_plies, player.rollout_depth)

    return _words(keys, number, -(-plies // 2)).T


def _words(keys: jax.Array, number: jax.Array, count: int) -> jax.Array:
    """uint32[B, count]: the random words of iteration `number`, for each of `keys` uint32[B, 2].

    Real random numbers took most of the time of a search.
    """
    turn = number.astype(jnp.uint32) * np.array([0x85EBCA77, 0xC2B2AE3D], np.uint32)
    return jax.vmap(lambda key: scrambled(key ^ turn, count))(keys)


def _draw(draws: jax.Array, ply: jax.Array) -> jax.Array:
    """float32[B] in [0, 1): the draws of one ply."""
    word = draws[ply // 2]
    half = jnp.where(ply % 2 == 0, word & 0xFFFF, word >> 16)
    return half.astype(jnp.float32) * np.float32(2**-16)


def _descend(
    player: MCTS, trees: jax.Array, first_rows: jax.Array, roots: Any, draws: jax.Array
) -> _Leaves:
    """Go down all trees in step, until every descent has left its tree or must stop."""
    game, batch = player.game, roots.terminal.shape[0]
    path = jnp.zeros((player.tree_depth, batch), jnp.int32)
    leaves = _Leaves(roots, path[0], path, path, path, path[0])

    def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        ply, node, going, at = carry
        row = first_rows + node
        edges = trees[row]
        visits, totals, children = edges[:, _VISITS], edges[:, _TOTAL], edges[:, _CHILD]
        legal = jax.vmap(game.legal_actions)(at.states)
        # The root is visited by descents only, any other node also when it is made.
        visited = visits.sum(1) + (ply > 0)
        spread = jnp.log(visited + 1) * np.float32(player.exploration**2)
        inverse = 1 / (visits + _TINY)
        scores = totals * inverse + jnp.sqrt(spread[:, None] * inverse)
        scores = jnp.where(visits == 0, jnp.inf, scores)
        action = jax.vmap(choose_action)(scores, legal, _draw(draws, ply))
        chosen = jnp.arange(game.num_actions) == action[:, None]
        child = jnp.where(chosen, children, 0).sum(1).astype(jnp.int32)
        created = going & (child == 0)
        # An illegal action keeps the states of those who have arrived.
        states = jax.vmap(game.afterstate)(at.states, jnp.where(going, action, -1))
        at = _Leaves(
            states,
            at.depth + going,
            at.rows.at[ply].set(row),
            at.actions.at[ply].set(action),
            at.players.at[ply].set(at.states.player.astype(jnp.int32)),
            at.created + created,
        )
        going &= ~created & ~states.terminal & (ply + 1 < player.tree_depth)
        return ply + 1, jnp.where(going, child, node), going, at

    start = (jnp.int32(0), path[0], ~roots.terminal, leaves)
    return jax.lax.while_loop(lambda carry: carry[2].any(), step, start)[-1]


def _play_out(player: MCTS, leaves: _Leaves, draws: jax.Array) -> jax.Array:
    """float32[B, N]: cumulative rewards where random play from the leaves ends or is cut off."""
    game = player.game

    def going(carry: tuple[jax.Array, Any]) -> jax.Array:
        ply, states = carry
        return ~states.terminal & (leaves.depth + ply < player.rollout_depth)

    def step(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        ply, states = carry
        legal = jax.vmap(game.legal_actions)(states)
        action = jax.vmap(nth_true)(legal, _draw(draws, ply + player.tree_depth))
        action = jnp.where(going(carry), action, -1)
        return ply + 1, jax.vmap(game.afterstate)(states, action)

    start = (jnp.int32(0), leaves.states)
    return jax.lax.while_loop(lambda carry: going(carry).any(), step, start)[1].rewards


def _has_playout(player: MCTS) -> bool:
    """Whether the game draws the end of random play itself, and no cut-off can come before it."""
    return hasattr(player.game, "playout") and player.game.max_plies <= player.rollout_depth


def _ask_playout(player: MCTS, leaves: _Leaves, keys: jax.Array, number: jax.Array) -> jax.Array:
    """float32[B, N]: cumulative rewards at the end of random play, drawn by the game."""
    playout: Any = getattr(player.game, "playout")  # noqa: B009
    # `_draws` takes the words of the number itself.
    words = _words(keys, number + player.iterations, 2)
    rewards = jax.vmap(playout)(leaves.states, words)
    return jnp.where(leaves.states.terminal[:, None], leaves.states.rewards, rewards)


def _back_up(trees: jax.Array, leaves: _Leaves, gains: jax.Array, node: jax.Array) -> jax.Array:
    """Credit the edges of every descent with gains float32[B, N]; a new one leads to `node`."""

    def step(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        ply, trees = carry
        passed = ply < leaves.depth
        gain = jnp.take_along_axis(gains, leaves.players[ply][:, None], 1)[:, 0]
        new = (leaves.created > 0) & (ply + 1 == leaves.depth)
        change = jnp.stack([jnp.ones_like(gain), gain, jnp.where(new, node, 0)], 1)
        # The row of those who went less deep, the root's, stays as it is.
        change = jnp.where(passed[:, None], change, 0.0)
        place = trees.at[leaves.rows[ply], :, leaves.actions[ply]]
        trees = place.add(change, mode="promise_in_bounds", unique_indices=True)
        return ply + 1, trees

    deepest = leaves.depth.max()
    return jax.lax.while_loop(lambda carry: carry[0] < deepest, step, (jnp.int32(0), trees))[1]
