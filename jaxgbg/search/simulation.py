"""Simulations of all tree searches in step: descend, add a node, evaluate it, back up.

With several leaves in a step, their descents go down together, one ply at a time. At each node they
choose in turn and see the visits of earlier ones (virtual loss, Chaslot, Winands & van den Herik
2008). The result is that of descents one after the other, because a node has only one depth.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from jaxgbg.games.rollout import select
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.masks import most_of_lanes
from jaxgbg.search.backup import first_of_each, learn_edges
from jaxgbg.search.outcomes import (
    Outcomes,
    find,
    learn_outcomes,
    no_entry,
    no_outcomes,
    to_unit_range,
)
from jaxgbg.search.tree import (
    CHILD,
    TOTAL,
    VISITS,
    Iteration,
    Leaves,
    RootStatistics,
    Tree,
    TreePolicy,
)
from jaxgbg.types import Params, PyTree, State
from jaxgbg.values.indices import look_up


def simulate(
    search: TreePolicy,
    params: Params,
    roots: State,
    lanes: jax.Array,
    iterations: jax.Array,
    key: jax.Array,
) -> PyTree:
    """Statistics of roots[B] after `iterations` int32[], at most `capacity`; trees grow in place.

    Returns RootStatistics, or the solver's statistics. `lanes` uint32[B] number the searches: each
    draws by its own number. The tree of a terminal or a solved root does not change.
    """
    tree = resume(search, params, roots, lanes, iterations, key, None)
    return statistics(search, tree, roots)


def statistics(search: TreePolicy, tree: Tree, roots: State) -> PyTree:
    """The statistics of trees of roots[B]: RootStatistics, or the solver's statistics."""
    edges = tree.edges[: roots.terminal.shape[0]]
    visits, totals = edges[:, VISITS], edges[:, TOTAL]
    found = RootStatistics(visits.astype(jnp.int32), totals / jnp.maximum(visits, 1))
    return found if search.solver is None else search.solver.statistics(edges, roots, found)


def resume(
    search: TreePolicy,
    params: Params,
    roots: State,
    lanes: jax.Array,
    iterations: jax.Array,
    key: jax.Array,
    kept: tuple[Tree, jax.Array] | None,
) -> Tree:
    """Return the trees of `simulate`, or resume those that were `kept`.

    Kept trees come with the number of their iterations, int32[B], and belong to a search that keeps
    states. There is room for new nodes, because the number of a node exceeds that of its iteration.
    """
    keys = jax.random.key_data(jax.vmap(partial(jax.random.fold_in, key))(lanes))
    batch, step = roots.terminal.shape[0], search.leaves
    tree = new_tree(search, roots) if kept is None else kept[0]
    done = None if kept is None else jnp.where(roots.terminal, iterations, kept[1])
    keys, roots_of_all = _for_each(step, keys), _for_each(step, roots)
    leaves = _no_leaves(search, roots_of_all)
    # If states are kept, roots are evaluated like leaves, in a separate step.
    start = jnp.int32(-step if search.keeps_states else 0)

    def iterate(carry: tuple[jax.Array, Tree, Leaves]) -> tuple[jax.Array, Tree, Leaves]:
        number, tree, leaves = carry
        numbers = number if step == 1 else number + jnp.repeat(jnp.arange(step), batch)
        iteration = Iteration(numbers, iterations)
        draws = search.draws(keys, iteration)
        leaves = leaves._replace(states=roots_of_all)
        # The last step may have more descents than iterations that are left.
        going, new = (numbers >= 0) & (numbers < iterations), None
        if done is not None:
            going &= numbers >= _for_each(step, done)
            new = going | (numbers < 0) & (_for_each(step, done) == 0)
        chance = _chance_on_the_way(search, keys, iteration)
        leaves = _descend(search, tree, leaves, draws, going, chance)
        if search.game.stochastic and search.width:
            leaves = _spawn_new(search, leaves, keys, iteration)
        gains, lines = search.evaluate(params, leaves, keys, iteration, draws)
        if lines is not None:
            tree = _write(tree, leaves.states, lines, (number + step) * batch, new)
        edges = learn_edges(search, tree.edges, first_of_each(search, leaves), gains, number + step)
        outcomes, after = tree.outcomes, number + step
        if outcomes is not None and leaves.entry is not None:
            gained = gains - roots_of_all.rewards
            outcomes = learn_outcomes(outcomes, leaves.entry, leaves.made >= 0, after, gained)
        if done is not None:
            after = jnp.where(number < 0, done.min() // step * step, after)
        return after, tree._replace(edges=edges, outcomes=outcomes), leaves._replace(before=None)

    def unfinished(carry: tuple[jax.Array, Tree, Leaves]) -> jax.Array:
        number, tree, _ = carry
        if search.solver is None:
            return number < iterations
        # Before their own iteration the roots have no rows.
        open_ = (number < 0) | ~search.solver.solved(tree.edges[:batch]).all()
        return (number < iterations) & open_

    grown: Tree = jax.lax.while_loop(unfinished, iterate, (start, tree, leaves))[1]
    return grown


def _no_leaves(search: TreePolicy, roots: State) -> Leaves:
    """Empty leaves for descents from `roots`."""
    count = len(roots.terminal)
    path = jnp.zeros((search.depth, count), jnp.int32)
    paid = path.astype(jnp.float32)
    entry = no_entry(count) if search.width == 0 else None
    return Leaves(roots, path[0], path, path, path, paid, path, path[0] - 1, entry)


def _spawn_new(search: TreePolicy, leaves: Leaves, keys: jax.Array, iteration: Iteration) -> Leaves:
    """Draw chance for the new leaves."""
    chance = iteration.words(keys, 1, search.game.spawn_words)
    spawned = jax.vmap(search.game.spawn_from)(leaves.states, chance)
    states = select(leaves.made >= 0, spawned, leaves.states)
    return leaves._replace(states=states, before=leaves.states)


def new_tree(search: TreePolicy, roots: State) -> Tree:
    """Return trees with only a root each."""
    batch = roots.terminal.shape[0]
    # The step of the root has nodes too, and so has a last step that is not full.
    rows = batch * search.leaves * (-(-search.capacity // search.leaves) + 1)
    columns = CHILD + search.width + search.lines
    edges = jnp.zeros((rows, columns, search.game.num_actions), jnp.float32)
    outcomes = no_outcomes(batch, search.capacity) if search.width == 0 else None
    if not search.keeps_states:
        return Tree(edges, None, outcomes)
    states = jax.tree.map(
        lambda leaf: jnp.zeros((rows, *leaf.shape[1:]), leaf.dtype).at[:batch].set(leaf), roots
    )
    return Tree(edges, states)


def _chance_on_the_way(
    search: TreePolicy, keys: jax.Array, iteration: Iteration
) -> jax.Array | None:
    """uint32[D, B, W]: the words of chance at each ply of a descent; None if none is drawn."""
    if search.width:
        return None
    words = iteration.words(keys, 1, search.depth * search.game.spawn_words)
    return words.reshape(len(keys), search.depth, -1).swapaxes(0, 1)


def _for_each(leaves: int, each: PyTree) -> PyTree:
    """Arrays [B, ...] for every descent, [leaves * B, ...]."""
    if leaves == 1:
        return each
    return jax.tree.map(lambda leaf: jnp.tile(leaf, (leaves,) + (1,) * (leaf.ndim - 1)), each)


def _write(
    tree: Tree, states: State, lines: jax.Array, first: jax.Array, new: jax.Array | None
) -> Tree:
    """Keep `states` [B] and the last `lines` float32[B, L, A] of their rows, from row `first` on.

    Rows without a new node are never read, except in trees that have been kept: there only the rows
    of `new` nodes bool[B] may be written.
    """
    if new is not None:
        rows = first + jnp.arange(len(new))
        old = look_up(tree.edges, rows)[:, tree.edges.shape[1] - lines.shape[1] :]
        lines = select(new, lines, old)
        states = select(new, states, jax.tree.map(lambda all_: look_up(all_, rows), tree.states))
    place = (first, tree.edges.shape[1] - lines.shape[1], 0)
    edges = jax.lax.dynamic_update_slice(tree.edges, lines, place)
    kept = jax.tree.map(
        lambda all_, new: jax.lax.dynamic_update_slice_in_dim(all_, new, first, 0),
        tree.states,
        states,
    )
    return Tree(edges, kept)


def _descend(
    search: TreePolicy,
    tree: Tree,
    leaves: Leaves,
    draws: jax.Array,
    going: jax.Array,
    chance: jax.Array | None,
) -> Leaves:
    """Descend in all trees in step, until every descent has left its tree or must stop.

    A descent starts at `leaves.states`, the roots; it stays there unless `going`. It overwrites the
    path in `leaves`. `chance` uint32[D, B, W] draws outcomes where `tree.outcomes` finds nodes.
    """
    game, roots, keeps, outcomes = search.game, leaves.states, search.keeps_states, tree.outcomes
    none = jnp.zeros(roots.terminal.shape, jnp.int32)
    batch = len(none) // search.leaves
    lane = _for_each(search.leaves, jnp.arange(batch, dtype=jnp.int32))

    def step(carry: tuple[PyTree, ...]) -> tuple[PyTree, ...]:
        ply, node, going, at = carry
        row = node * batch + lane
        edges, entry = _in_unit_range(outcomes, look_up(tree.edges, row)), at.entry
        if search.leaves == 1:
            action = search.next_action(edges, at.states, ply, draws)
            slot, child = _child(search, edges, action)
        else:
            action, slot, child = _in_turn(search, edges, row, going, ply, draws)
        going &= action >= 0
        made = going & (child == 0)
        if keeps:
            states, player = None, look_up(tree.states.player, row).astype(jnp.int32)
            rewards = look_up(tree.states.rewards, row)
            paid = jnp.take_along_axis(rewards, player[:, None], 1)[:, 0]
            further = going & ~made
        else:
            player, paid = at.states.player.astype(jnp.int32), jnp.zeros(batch, jnp.float32)
            # The illegal action -1 keeps the states of descents that have ended.
            states = jax.vmap(game.afterstate)(at.states, jnp.where(going, action, -1))
            further = going & ~made & ~states.terminal
        if outcomes is not None:
            assert chance is not None
            # Gains count from the root: float32 would round the gain of a move off large scores.
            paid = jnp.take_along_axis(roots.rewards, player[:, None], 1)[:, 0]
            states = jax.vmap(game.spawn_from)(states, chance[ply])
            child, found, room = find(outcomes, node, action, states)
            made, entry = going & (child == 0) & room, select(going, found, entry)
            further = going & (child > 0) & ~states.terminal
        at = _one_edge_on(at, ply, going, (row, action, player, paid, slot))
        at = at._replace(states=states, made=jnp.where(made, action, at.made), entry=entry)
        node = jnp.where(going & ~made, child, node)
        return ply + 1, node, further & (ply + 1 < search.depth), at

    at = leaves._replace(states=None if keeps else roots, depth=none, made=none - 1)
    start = (jnp.int32(0), none, ~roots.terminal & going, at)
    _, node, _, at = jax.lax.while_loop(_anyone, step, start)
    return _at_ends(search, tree, at, node * batch + lane) if keeps else at


def _one_edge_on(
    leaves: Leaves, ply: jax.Array, going: jax.Array, edge: tuple[jax.Array, ...]
) -> Leaves:
    """Write an edge of each path: its row, action, player, that player's reward, and its slot."""
    depth = leaves.depth + going
    path = (leaves.rows, leaves.actions, leaves.players, leaves.paid, leaves.slots)
    rows, actions, players, paid, slots = (
        kept.at[ply].set(new) for kept, new in zip(path, edge, strict=True)
    )
    return leaves._replace(
        depth=depth, rows=rows, actions=actions, players=players, paid=paid, slots=slots
    )


def _at_ends(search: TreePolicy, tree: Tree, leaves: Leaves, rows: jax.Array) -> Leaves:
    """Leaves with their states, by the `rows` of the last nodes and the moves from there."""
    states = jax.tree.map(lambda leaf: look_up(leaf, rows), tree.states)
    return leaves._replace(states=jax.vmap(search.game.afterstate)(states, leaves.made))


def _anyone(carry: tuple[PyTree, ...]) -> jax.Array:
    """Whether a descent continues; lanes that train in step wait for the last one."""
    return most_of_lanes(carry[2].any().astype(jnp.int32)) > 0


def _in_unit_range(outcomes: Outcomes | None, edges: jax.Array) -> jax.Array:
    """Rows float32[B, C, A]; in a search with chance their totals are of gains from 0 to 1."""
    if outcomes is None:
        return edges
    totals = to_unit_range(outcomes, edges[:, TOTAL], edges[:, VISITS])
    return edges.at[:, TOTAL].set(totals)


def _in_turn(
    search: TreePolicy,
    edges: jax.Array,
    row: jax.Array,
    going: jax.Array,
    ply: jax.Array,
    draws: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Action, slot and child of all descents [L * B]; each sees the earlier ones of its tree.

    Their rows are `edges` float32[L * B, C, A], numbered `row`; only the `going` ones count.
    """
    numbers = np.arange(search.game.num_actions)
    by_turn = (search.leaves, -1)
    rows, edges = row.reshape(by_turn), edges.reshape(search.leaves, -1, *edges.shape[1:])

    def choose(actions: jax.Array, turn: tuple[jax.Array, ...]) -> tuple[jax.Array, PyTree]:
        number, own_row, own_edges, own_going = turn
        # Later descents still have the action -1.
        met = (rows == own_row)[..., None] & (actions[..., None] == numbers)
        passed = met.sum(0).astype(jnp.float32)
        own_edges = own_edges.at[:, VISITS].add(passed)
        own_edges = own_edges.at[:, TOTAL].add(passed * np.float32(search.virtual_loss))
        action = search.next_action(own_edges, None, ply, draws)
        found = (action, *_child(search, own_edges, action))
        return actions.at[number].set(jnp.where(own_going, action, -1)), found

    turns = (jnp.arange(search.leaves), rows, edges, going.reshape(by_turn))
    found = jax.lax.scan(choose, jnp.full_like(rows, -1), turns)[1]
    action, slot, child = (each.reshape(-1) for each in found)
    return action, slot, child


def _child(search: TreePolicy, edges: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The slot of the next child below `action` int32[B], and its number, 0 if it is new.

    The children, drawn by chance, are visited in turn, so each of them has the same weight.
    """
    chosen = jnp.arange(search.game.num_actions) == action[:, None]
    if search.width == 0:
        return jnp.zeros_like(action), jnp.zeros_like(action)
    if search.width == 1:
        child = jnp.where(chosen, edges[:, CHILD], 0).sum(1)
        return jnp.zeros_like(action), child.astype(jnp.int32)
    visits = jnp.where(chosen, edges[:, VISITS], 0).sum(1).astype(jnp.int32)
    slot = visits % search.width
    children = edges[:, CHILD : CHILD + search.width]
    there = chosen[:, None] & (jnp.arange(search.width) == slot[:, None])[..., None]
    return slot, jnp.where(there, children, 0).sum((1, 2)).astype(jnp.int32)
