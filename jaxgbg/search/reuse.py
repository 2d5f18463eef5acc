"""Trees that are kept between the moves of a game.

Before a move, the position is looked up in the tree of the player's last move, by its state alone.
So any number of players may have moved in between, and chance may have had any outcome. The subtree
below the position is kept and moved together; the rest is dropped. A position that is not in the
tree gets a new tree. The visits below the position count as iterations, and the search continues to
the requested number. So every choice rests on the same number of iterations, and no tree needs more
room than a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxgbg.lazy import jax, jnp
from jaxgbg.search.chunking import map_in_chunks
from jaxgbg.search.puct import PUCT
from jaxgbg.search.simulation import new_tree, resume, statistics
from jaxgbg.search.tree import CHILD, VISITS, Tree, TreePolicy
from jaxgbg.types import Params, PyTree, State

if TYPE_CHECKING:
    from jax.typing import ArrayLike

# Each kept tree exists before and after the move; the trees of a chunk also while they grow.
_TIMES = 2


def no_trees(search: PUCT, states: State, copies: int = 1) -> Tree:
    """Return empty trees for games at states[B], before their first move.

    Raises ValueError if the trees of all games do not fit into memory with those that grow.
    """
    _chunk_size(search, states.terminal.shape[0], copies)
    return new_tree(search, states)


def search_on(
    search: PUCT,
    params: Params,
    states: State,
    iterations: ArrayLike,
    key: jax.Array,
    trees: Tree,
    copies: int = 1,
) -> tuple[PyTree, Tree]:
    """`PUCT.search` with the trees of the last moves, and the trees as they are after it.

    The trees of states that are over stay as they are. `copies` of the agent each have as many.
    """
    batch, total = states.terminal.shape[0], jnp.int32(iterations)

    def search_chunk(
        roots: State, lanes: jax.Array, place: jax.Array, trees: Tree
    ) -> tuple[PyTree, Tree]:
        kept = reroot(search, trees, lanes, batch, roots)
        grown = resume(search, params, roots, lanes.astype(jnp.uint32), total, key, kept)
        return statistics(search, grown, roots), put_back(trees, place, batch, grown)

    nothing = search.nothing_of(states)
    size = _chunk_size(search, batch, copies)
    return map_in_chunks(states, size, nothing, search_chunk, trees)


def _chunk_size(search: PUCT, batch: int, copies: int) -> int:
    """The number of searches of `batch` games that go on in step when all trees are kept."""
    games = copies * batch
    size = min(search.chunk_size(batch), search.max_trees // _TIMES - games)
    if size < 1:
        raise ValueError(
            f"search: the trees of {games:,} games that reuse=1 keeps do not fit into"
            f" {search.settings.megabytes:,} megabytes: allow more, or leave it out"
        )
    return size


def reroot(
    search: TreePolicy, trees: Tree, lanes: jax.Array, searches: int, states: State
) -> tuple[Tree, jax.Array]:
    """Trees of the positions states[S], and the visits below each of them, int32[S].

    They come from trees number `lanes` int32[S] of the `searches` trees that `trees` holds. Of
    equal positions in a tree that of most visits counts.
    """
    nodes = trees.edges.shape[0] // searches
    number = jnp.arange(nodes, dtype=jnp.int32)[:, None]
    rows = number * searches + lanes
    edges, known = jax.tree.map(lambda leaf: leaf[rows], (trees.edges, trees.states))
    visits = edges[:, :, VISITS].sum(2)
    # Rows that were never written have no prior.
    same = (edges[:, :, -1] != 0).any(2) & _equal(known, states)
    root = jnp.where(same, visits, -1.0).argmax(0)
    children = edges[:, :, CHILD : CHILD + search.width].astype(jnp.int32)
    kept = _below(children, same & (number == root), search.depth)
    place = jnp.cumsum(kept, 0, dtype=jnp.int32) - 1

    # From where each node of the new tree comes; the order of nodes stays as it is.
    entry = jnp.zeros_like(place).at[_where(kept, place), jnp.arange(len(lanes))]
    source = entry.set(jnp.broadcast_to(number, place.shape), mode="drop")
    there = number <= place[-1]
    renumbered = _of_nodes(place, children.reshape(nodes, len(lanes), -1)).reshape(children.shape)
    renumbered = jnp.where(children > 0, renumbered, 0).astype(edges.dtype)
    edges = edges.at[:, :, CHILD : CHILD + search.width].set(renumbered)
    edges, known = jax.tree.map(lambda leaf: _of_nodes(leaf, source), (edges, known))
    edges = jnp.where(there[..., None, None], edges, 0)
    known = jax.tree.map(lambda all_, own: all_.at[0].set(own), known, states)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (edges, known))
    return Tree(*flat), edges[0, :, VISITS].sum(1).astype(jnp.int32)


def put_back(trees: Tree, lanes: jax.Array, searches: int, grown: Tree) -> Tree:
    """`trees` with those of `grown` for number `lanes` int32[S]; beyond the `searches` nowhere."""
    nodes = trees.edges.shape[0] // searches
    rows = jnp.arange(nodes)[:, None] * searches + lanes
    rows = jnp.where(lanes < searches, rows, nodes * searches).reshape(-1)
    return jax.tree.map(lambda all_, new: all_.at[rows].set(new, mode="drop"), trees, grown)


def _equal(known: State, states: State) -> jax.Array:
    """bool[K, S]: which of states [K, S] are states[S]."""
    pairs = zip(jax.tree.leaves(known), jax.tree.leaves(states), strict=True)
    equal = [(one == other).reshape(*one.shape[:2], -1).all(2) for one, other in pairs]
    return jnp.stack(equal).all(0)


def _below(children: jax.Array, root: jax.Array, depth: int) -> jax.Array:
    """bool[K, S]: the nodes at `root` bool[K, S] and below, by children int32[K, S, W, A].

    In each round every node asks an ancestor twice as far away as in the last one.
    """
    nodes, searches = root.shape
    number = jnp.broadcast_to(jnp.arange(nodes, dtype=jnp.int32)[:, None], root.shape)
    of_all = children.reshape(nodes, searches, -1)
    place = _where(of_all > 0, of_all), jnp.arange(searches)[:, None]
    above = number.at[place].set(jnp.broadcast_to(number[..., None], of_all.shape), mode="drop")
    kept = root
    for _ in range(min(depth, nodes).bit_length()):
        kept |= _of_nodes(kept, above)
        above = _of_nodes(above, above)
    return kept


def _where(chosen: jax.Array, number: jax.Array) -> jax.Array:
    """Numbers of what is `chosen`; of all else one beyond everything."""
    return jnp.where(chosen, number, jnp.iinfo(jnp.int32).max)


def _of_nodes(leaf: jax.Array, number: jax.Array) -> jax.Array:
    """The entries of nodes `number` int32[K, S, ...] in leaf[K, S, ...], tree by tree."""
    by_tree = jax.vmap(lambda own, nodes: own[nodes], in_axes=1, out_axes=1)
    found: jax.Array = by_tree(leaf, number)
    return found
