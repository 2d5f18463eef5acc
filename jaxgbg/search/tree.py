"""The array tree of all Monte Carlo searches: B searches descend and back up in step.

The statistics of the edges from a node to its children are in the row of the node, so that a choice
among the children reads one row. B trees of K nodes are float32[K * B, C, A]: for every action its
visits, their total gain for the player who takes it, the numbers of the children below it, and
more numbers that depend on the search. Row k * B + b is node k of tree b. The root is node 0. A
step descends L times in each tree, where L leaves are evaluated at once; iteration k makes node
k + L, or none. A search may keep the states of its nodes; otherwise descents repeat the moves. The
number of nodes is compiled in, the number of iterations is not.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from jaxgbg.games.core import Game, scrambled
from jaxgbg.lazy import jax, jnp
from jaxgbg.search.outcomes import Entry, Outcomes
from jaxgbg.types import Params, PyTree, State

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
    """The ends of B descents, and the edges on the way there, at most D.

    With L descents in a tree at once there are L * B of them: number l * B + b is in tree b.

    Attributes:
      states: [B] the states at the ends.
      depth: int32[B] the number of edges from the root.
      rows: int32[D, B] the row of the node that each edge leaves.
      actions: int32[D, B] the action behind each edge.
      players: int32[D, B] the player who took it.
      paid: float32[D, B] that player's reward before it, if gains count from there; else 0.
      slots: int32[D, B] the child below its action that it leads to.
      made: int32[B] the action of the last edge if that is new, else -1.
      entry: the place of the new node in `Tree.outcomes`, or None.
      before: [B] the states at the ends before chance, or None.
    """

    states: PyTree
    depth: jax.Array
    rows: jax.Array
    actions: jax.Array
    players: jax.Array
    paid: jax.Array
    slots: jax.Array
    made: jax.Array
    entry: Entry | None = None
    before: PyTree = None


class Iteration(NamedTuple):
    """Iteration `number` int32[], or one for each descent int32[B], of `total` int32[].

    Numbers below 0 evaluate the root.
    """

    number: jax.Array
    total: jax.Array

    def words(self, keys: jax.Array, kind: jax.Array | int, count: int) -> jax.Array:
        """uint32[B, count]: the random words of this iteration for one kind of its draws."""
        return words(keys, self.number + kind * self.total, count)


class Tree(NamedTuple):
    """B trees.

    Attributes:
      edges: float32[K * B, C, A] statistics of every action of every node.
      states: [K * B] the states of the nodes, or None.
      outcomes: the nodes of the outcomes of chance, or None; see `search.outcomes`.
    """

    edges: jax.Array
    states: PyTree
    outcomes: Outcomes | None = None


class Prover(Protocol):
    """Proves the values of positions in a tree; see `search.solver`."""

    def prove(self, edges: jax.Array, leaves: Leaves) -> jax.Array: ...
    def solved(self, edges: jax.Array) -> jax.Array: ...
    def statistics(self, edges: jax.Array, roots: State, found: RootStatistics) -> PyTree: ...


class TreePolicy(Protocol):
    """The differences between searches: the choice on the way down, and the value of a leaf.

    `capacity` is the largest number of iterations, `depth` the largest number of edges of a
    descent, and `width` the largest number of children of an action, among which chance chooses;
    with 0 each outcome of chance is a child, found by `Tree.outcomes`. With `keeps_states` a node's
    row ends with `lines` more numbers for each action, which `evaluate` returns. A `solver`, if
    there is one, proves values. `leaves` are evaluated at once in each tree, more than one only
    with `keeps_states`; later ones see an additional visit with the gain `virtual_loss` on the path
    of each earlier one.
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
    def leaves(self) -> int: ...
    @property
    def virtual_loss(self) -> float: ...
    @property
    def solver(self) -> Prover | None: ...

    def draws(self, keys: jax.Array, iteration: Iteration) -> jax.Array:
        """uint32[W, B]: the random words of the way down, by `keys` uint32[B, 2]."""
        ...

    def next_action(
        self, edges: jax.Array, states: PyTree, ply: jax.Array, draws: jax.Array
    ) -> jax.Array:
        """int32[B]: the next action from nodes with the rows `edges` float32[B, C, A].

        -1 at a node without actions. `states` [B] are None if the tree keeps them.
        """
        ...

    def evaluate(
        self,
        params: Params,
        leaves: Leaves,
        keys: jax.Array,
        iteration: Iteration,
        draws: jax.Array,
    ) -> tuple[jax.Array, jax.Array | None]:
        """The values of leaves for every player, float32[B, N], and the last lines of their rows.

        float32[B, lines, A], or None without such lines.
        """
        ...


def shared_capacity(iterations: int) -> int:
    """The capacity that searches with similar numbers of iterations share, and so one program."""
    return min(MOST_ITERATIONS, max(_LEAST_CAPACITY, 1 << (iterations - 1).bit_length()))


def words(keys: jax.Array, number: jax.Array, count: int) -> jax.Array:
    """uint32[B, count]: the random words of iteration `number`, for each of `keys` uint32[B, 2].

    `number` is int32[], or int32[B] where the keys are not in the same iteration.

    Random numbers of better quality would take most of the time of a search.
    """
    turn = number.astype(jnp.uint32)[..., None] * np.array([0x85EBCA77, 0xC2B2AE3D], np.uint32)
    return jax.vmap(lambda key: scrambled(key, count))(keys ^ turn)


def draw(draws: jax.Array, ply: jax.Array) -> jax.Array:
    """float32[B] in [0, 1): the draws of one ply; a word uint32 has two."""
    word = draws[ply // 2]
    half = jnp.where(ply % 2 == 0, word & 0xFFFF, word >> 16)
    return half.astype(jnp.float32) * np.float32(2**-16)
