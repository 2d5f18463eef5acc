"""The array tree of all Monte Carlo searches: B searches go down and back up in step.

What is known of the edges from a node to its children stands in the row of the node, so that
choosing among the children reads one row. B trees of K nodes are float32[K * B, C, A]: for every
action its visits, their total gain for who takes it, the numbers of the children behind it, and
what else a search keeps there. Row k * B + b is node k of tree b. The root is node 0. A step goes
down L times in each tree, L being the leaves that are valued at once; iteration k makes node k + L,
or none. A search may keep the states of its nodes, else descents make the moves again. The room for
nodes is compiled in, how many iterations there are is not.
"""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, scrambled
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
    """Where B descents end, and the edges on the way there, D of them at most.

    With L descents in a tree at once there are L * B of them: number l * B + b is in tree b.

    Attributes:
      states: [B] the states at the ends.
      depth: int32[B] how many edges below the root they lie.
      rows: int32[D, B] the row of the node that each edge leaves.
      actions: int32[D, B] the action behind each edge.
      players: int32[D, B] who took it.
      paid: float32[D, B] what he had been paid by then, where gains are those from then on; else 0.
      slots: int32[D, B] which of the children behind its action it leads to.
      made: int32[B] the action behind the last edge where it is new, else -1.
      entry: where the new node stands in `Tree.outcomes`, or None.
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


class Iteration(NamedTuple):
    """Iteration `number` int32[], or one for each descent int32[B], of `total` int32[].

    Numbers below 0 value the root.
    """

    number: jax.Array
    total: jax.Array

    def words(self, keys: jax.Array, kind: int, count: int) -> jax.Array:
        """uint32[B, count]: the random words of this iteration for one kind of its draws."""
        return words(keys, self.number + kind * self.total, count)


class Tree(NamedTuple):
    """B trees.

    Attributes:
      edges: float32[K * B, C, A] statistics of every action of every node.
      states: [K * B] the states of the nodes, or None.
      outcomes: which outcomes of chance lead where, or None; see `search.outcomes`.
    """

    edges: jax.Array
    states: PyTree
    outcomes: Outcomes | None = None


class Prover(Protocol):
    """What proves the values of positions in a tree; see `search.solver`."""

    def prove(self, edges: jax.Array, leaves: Leaves) -> jax.Array: ...
    def solved(self, edges: jax.Array) -> jax.Array: ...
    def statistics(self, edges: jax.Array, roots: State, found: RootStatistics) -> PyTree: ...


class TreePolicy(Protocol):
    """What tells one search from another: how it chooses on the way down, and what a leaf is worth.

    `capacity` is how many iterations there may be, `depth` how many edges a descent may be long,
    `width` how many children an action may have, which chance chooses among; with 0 each outcome
    of chance is a child, found by `Tree.outcomes`. With `keeps_states`
    a node's row ends with `lines` more numbers for each action, which `evaluate` gives. A `solver`,
    if there is one, proves values. `leaves` are valued at once in each tree, more than one only
    with `keeps_states`; to the later of them the way of the earlier ones has been gone once more
    with a gain of `virtual_loss`.
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
        """int32[B]: the action to go on by from nodes whose rows are `edges` float32[B, C, A].

        -1 at a node without actions. `states` [B] are None where the tree keeps them.
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
        """What leaves are worth to every player, float32[B, N], and the last lines of their rows.

        float32[B, lines, A], or None without such lines.
        """
        ...


def shared_capacity(iterations: int) -> int:
    """Room that searches of about so many iterations have in common: one program serves them."""
    return min(MOST_ITERATIONS, max(_LEAST_CAPACITY, 1 << (iterations - 1).bit_length()))


def words(keys: jax.Array, number: jax.Array, count: int) -> jax.Array:
    """uint32[B, count]: the random words of iteration `number`, for each of `keys` uint32[B, 2].

    `number` is int32[], or int32[B] where the keys are not in the same iteration.

    Real random numbers took most of the time of a search.
    """
    turn = number.astype(jnp.uint32)[..., None] * np.array([0x85EBCA77, 0xC2B2AE3D], np.uint32)
    return jax.vmap(lambda key: scrambled(key, count))(keys ^ turn)


def draw(draws: jax.Array, ply: jax.Array) -> jax.Array:
    """float32[B] in [0, 1): the draws of one ply, two in a word uint32."""
    word = draws[ply // 2]
    half = jnp.where(ply % 2 == 0, word & 0xFFFF, word >> 16)
    return half.astype(jnp.float32) * np.float32(2**-16)
