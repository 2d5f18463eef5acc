"""The array tree of all Monte Carlo searches: B searches go down and back up in step.

What is known of the edges from a node to its children stands in the row of the node, so that
choosing among the children reads one row. B trees of K nodes are float32[K * B, C, A]: for every
action its visits, their total gain for who takes it, the numbers of the children behind it, and
what else a search keeps there. Row k * B + b is node k of tree b. Iteration k makes node k + 1, or
none; the root is node 0. A search may keep the states of its nodes, else descents make the moves
again. The room for nodes is compiled in, how many iterations there are is not.
"""

from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, scrambled
from jaxgbg.learners.selection import select
from jaxgbg.values.indices import look_up

VISITS, TOTAL, CHILD = range(3)
# Counts and node numbers are kept as float32, which is exact up to here.
MOST_ITERATIONS = 2**24 - 1
_LEAST_CAPACITY = 64


class RootStatistics(NamedTuple):
    """Statistics of the actions at the roots of B searches.

    Attributes:
      visits: int32[B, A] how often each action was tried.
      values: float32[B, A] the mover's mean gain after it; 0 if untried.
    """

    visits: jax.Array
    values: jax.Array


class Leaves(NamedTuple):
    """Where B descents end, and the edges on the way there, D of them at most.

    Attributes:
      states: [B] the states at the ends.
      depth: int32[B] how many edges below the root they lie.
      rows: int32[D, B] the row of the node that each edge leaves.
      actions: int32[D, B] the action behind each edge.
      players: int32[D, B] who took it.
      paid: float32[D, B] what he had been paid by then, where gains are those from then on; else 0.
      slots: int32[D, B] which of the children behind its action it leads to.
      made: int32[B] the action behind the last edge where it is new, else -1.
    """

    states: Any
    depth: jax.Array
    rows: jax.Array
    actions: jax.Array
    players: jax.Array
    paid: jax.Array
    slots: jax.Array
    made: jax.Array


class Iteration(NamedTuple):
    """Iteration `number` int32[], -1 for that which values the root, of `total` int32[]."""

    number: jax.Array
    total: jax.Array

    def words(self, keys: jax.Array, kind: int, count: int) -> jax.Array:
        """uint32[B, count]: the random words of this iteration for one kind of its draws."""
        return words(keys, self.number + kind * self.total, count)


class Tree(NamedTuple):
    """B trees: `edges` float32[K * B, C, A] and the `states` [K * B] of their nodes, or None."""

    edges: jax.Array
    states: Any


class Prover(Protocol):
    """What proves the values of positions in a tree; see `search.solver`."""

    def prove(self, edges: jax.Array, leaves: Leaves) -> jax.Array: ...
    def solved(self, edges: jax.Array) -> jax.Array: ...
    def statistics(self, edges: jax.Array, roots: Any, found: RootStatistics) -> Any: ...


class Search(Protocol):
    """What tells one search from another: how it chooses on the way down, and what a leaf is worth.

    `capacity` is how many iterations there may be, `depth` how many edges a descent may be long,
    `width` how many children an action may have, which chance chooses among. With `keeps_states`
    a node's row ends with `lines` more numbers for each action, which `evaluate` gives. A `solver`,
    if there is one, proves values.
    """

    @property
    def game(self) -> Game: ...
    @property
    def capacity(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def keeps_states(self) -> bool: ...
    @property
    def lines(self) -> int: ...
    @property
    def solver(self) -> Prover | None: ...

    def draws(self, keys: jax.Array, iteration: Iteration) -> jax.Array:
        """uint32[W, B]: the random words of the way down, by `keys` uint32[B, 2]."""
        ...

    def next_action(
        self, edges: jax.Array, states: Any, ply: jax.Array, draws: jax.Array
    ) -> jax.Array:
        """int32[B]: the action to go on by from nodes whose rows are `edges` float32[B, C, A].

        -1 at a node without actions. `states` [B] are None where the tree keeps them.
        """
        ...

    def evaluate(
        self, params: Any, leaves: Leaves, keys: jax.Array, iteration: Iteration, draws: jax.Array
    ) -> tuple[jax.Array, jax.Array | None]:
        """What leaves are worth to every player, float32[B, N], and the last lines of their rows.

        float32[B, lines, A], or None without such lines.
        """
        ...


def shared_capacity(iterations: int) -> int:
    """Room that searches of about so many iterations have in common: one program serves them."""
    return min(MOST_ITERATIONS, max(_LEAST_CAPACITY, 1 << (iterations - 1).bit_length()))


def words(keys: jax.Array, number: jax.Array, count: int) -> jax.Array:
    """uint32[B, count]: the random words of iteration `number`, for each of `keys` uint32[B, 2].

    Real random numbers took most of the time of a search.
    """
    turn = number.astype(jnp.uint32) * np.array([0x85EBCA77, 0xC2B2AE3D], np.uint32)
    return jax.vmap(lambda key: scrambled(key ^ turn, count))(keys)


def draw(draws: jax.Array, ply: jax.Array) -> jax.Array:
    """float32[B] in [0, 1): the draws of one ply, two in a word uint32."""
    word = draws[ply // 2]
    half = jnp.where(ply % 2 == 0, word & 0xFFFF, word >> 16)
    return half.astype(jnp.float32) * np.float32(2**-16)


def grow(
    search: Search, params: Any, roots: Any, lanes: jax.Array, iterations: jax.Array, key: jax.Array
) -> Any:
    """Statistics of roots[B] after `iterations` int32[], `capacity` at most; trees grow in place.

    RootStatistics, or what the solver makes of them. `lanes` uint32[B] number the searches: each
    draws by its own number. A terminal root stands still, and so does a solved one.
    """
    keys = jax.random.key_data(jax.vmap(partial(jax.random.fold_in, key))(lanes))
    batch = roots.terminal.shape[0]
    path = jnp.zeros((search.depth, batch), jnp.int32)
    leaves = Leaves(roots, path[0], path, path, path, path.astype(jnp.float32), path, path[0] - 1)
    tree = _plant(search, roots)
    # Roots of which something is to be kept are valued as leaves are, in an iteration of their own.
    start = jnp.int32(-1 if search.keeps_states else 0)

    def iterate(carry: tuple[jax.Array, Tree, Leaves]) -> tuple[jax.Array, Tree, Leaves]:
        number, tree, leaves = carry
        iteration = Iteration(number, iterations)
        draws = search.draws(keys, iteration)
        leaves = _descend(search, tree, leaves._replace(states=roots), draws, number >= 0)
        if search.game.stochastic:
            chance = iteration.words(keys, 1, search.game.spawn_words)
            spawned = jax.vmap(search.game.spawn_from)(leaves.states, chance)
            leaves = leaves._replace(states=select(leaves.made >= 0, spawned, leaves.states))
        gains, lines = search.evaluate(params, leaves, keys, iteration, draws)
        if lines is not None:
            tree = _write(tree, leaves.states, lines, number + 1)
        edges = _back_up(search, tree.edges, leaves, gains, number + 1)
        if search.solver is not None:
            edges = search.solver.prove(edges, leaves)
        return number + 1, tree._replace(edges=edges), leaves

    def unfinished(carry: tuple[jax.Array, Tree, Leaves]) -> jax.Array:
        number, tree, _ = carry
        if search.solver is None:
            return number < iterations
        # The roots have no rows yet before their own iteration.
        open_ = (number < 0) | ~search.solver.solved(tree.edges[:batch]).all()
        return (number < iterations) & open_

    _, tree, _ = jax.lax.while_loop(unfinished, iterate, (start, tree, leaves))
    visits, totals = tree.edges[:batch, VISITS], tree.edges[:batch, TOTAL]
    found = RootStatistics(visits.astype(jnp.int32), totals / jnp.maximum(visits, 1))
    if search.solver is None:
        return found
    return search.solver.statistics(tree.edges[:batch], roots, found)


def _plant(search: Search, roots: Any) -> Tree:
    """Trees of a root each."""
    batch = roots.terminal.shape[0]
    rows = batch * (search.capacity + 1)
    columns = CHILD + search.width + search.lines
    edges = jnp.zeros((rows, columns, search.game.num_actions), jnp.float32)
    if not search.keeps_states:
        return Tree(edges, None)
    states = jax.tree.map(
        lambda leaf: jnp.zeros((rows, *leaf.shape[1:]), leaf.dtype).at[:batch].set(leaf), roots
    )
    return Tree(edges, states)


def _write(tree: Tree, states: Any, lines: jax.Array, node: jax.Array) -> Tree:
    """Keep `states` [B] and the last `lines` float32[B, L, A] of their rows as node `node` int32[].

    Where no node was made nobody ever comes here.
    """
    first = node * lines.shape[0]
    place = (first, tree.edges.shape[1] - lines.shape[1], 0)
    edges = jax.lax.dynamic_update_slice(tree.edges, lines, place)
    kept = jax.tree.map(
        lambda all_, new: jax.lax.dynamic_update_slice_in_dim(all_, new, first, 0),
        tree.states,
        states,
    )
    return Tree(edges, kept)


def _descend(
    search: Search, tree: Tree, leaves: Leaves, draws: jax.Array, going: jax.Array
) -> Leaves:
    """Go down all trees in step, until every descent has left its tree or must stop.

    It starts at `leaves.states`, the roots, or stays there unless `going`, and writes its path over
    that of `leaves`.
    """
    game, roots, keeps = search.game, leaves.states, search.keeps_states
    batch = roots.terminal.shape[0]
    lane, none = jnp.arange(batch, dtype=jnp.int32), jnp.zeros(batch, jnp.int32)

    def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        ply, node, going, at = carry
        row = node * batch + lane
        edges = look_up(tree.edges, row)
        action = search.next_action(edges, at.states, ply, draws)
        slot, child = _child(search, edges, action)
        going &= action >= 0
        made = going & (child == 0)
        if keeps:
            states, player = None, look_up(tree.states.player, row).astype(jnp.int32)
            rewards = look_up(tree.states.rewards, row)
            paid = jnp.take_along_axis(rewards, player[:, None], 1)[:, 0]
            further = going & ~made
        else:
            player, paid = at.states.player.astype(jnp.int32), jnp.zeros(batch, jnp.float32)
            # An illegal action keeps the states of those who have arrived.
            states = jax.vmap(game.afterstate)(at.states, jnp.where(going, action, -1))
            further = going & ~made & ~states.terminal
        at = Leaves(
            states,
            at.depth + going,
            at.rows.at[ply].set(row),
            at.actions.at[ply].set(action),
            at.players.at[ply].set(player),
            at.paid.at[ply].set(paid),
            at.slots.at[ply].set(slot),
            jnp.where(made, action, at.made),
        )
        node = jnp.where(going & ~made, child, node)
        return ply + 1, node, further & (ply + 1 < search.depth), at

    at = leaves._replace(states=None if keeps else roots, depth=none, made=none - 1)
    start = (jnp.int32(0), none, ~roots.terminal & going, at)
    _, node, _, at = jax.lax.while_loop(lambda carry: carry[2].any(), step, start)
    if not keeps:
        return at
    # The last node on the tree, and the move that left it.
    states = jax.tree.map(lambda leaf: look_up(leaf, node * batch + lane), tree.states)
    return at._replace(states=jax.vmap(game.afterstate)(states, at.made))


def _child(search: Search, edges: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Which of the children behind `action` int32[B] comes next, and its number, 0 if it is new.

    They take turns: so each of them, drawn by chance, counts as much as the others.
    """
    chosen = jnp.arange(search.game.num_actions) == action[:, None]
    if search.width == 1:
        child = jnp.where(chosen, edges[:, CHILD], 0).sum(1)
        return jnp.zeros_like(action), child.astype(jnp.int32)
    visits = jnp.where(chosen, edges[:, VISITS], 0).sum(1).astype(jnp.int32)
    slot = visits % search.width
    children = edges[:, CHILD : CHILD + search.width]
    there = chosen[:, None] & (jnp.arange(search.width) == slot[:, None])[..., None]
    return slot, jnp.where(there, children, 0).sum((1, 2)).astype(jnp.int32)


def _back_up(
    search: Search, edges: jax.Array, leaves: Leaves, gains: jax.Array, node: jax.Array
) -> jax.Array:
    """Credit the edges of every descent with gains float32[B, N]; a new one leads to `node`."""
    slots, rest = np.arange(search.width), jnp.zeros((len(gains), search.lines))

    def step(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        ply, edges = carry
        passed = ply < leaves.depth
        gain = (
            jnp.take_along_axis(gains, leaves.players[ply][:, None], 1) - leaves.paid[ply, :, None]
        )
        new = (leaves.made >= 0) & (ply + 1 == leaves.depth)
        there = new[:, None] & (leaves.slots[ply, :, None] == slots)
        parts = [jnp.ones_like(gain), gain, jnp.where(there, node, 0), rest]
        # The row of those who went less deep stays as it is.
        change = jnp.where(passed[:, None], jnp.concatenate(parts, 1), 0.0)
        place = edges.at[leaves.rows[ply], :, leaves.actions[ply]]
        edges = place.add(change, mode="promise_in_bounds", unique_indices=True)
        return ply + 1, edges

    deepest = leaves.depth.max()
    return jax.lax.while_loop(lambda carry: carry[0] < deepest, step, (jnp.int32(0), edges))[1]
