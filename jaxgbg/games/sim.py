"""Sim: color the edges of a complete graph, and make no triangle of your own color.

Sources of the rules: Simmons, "The game of Sim", Journal of Recreational Mathematics 2 (1969); for
three and four players GBG (Konen).
"""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import keep_if
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.games.seats import EliminationGame, Standing, after_move
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting


class SimState(NamedTuple):
    """`edges` uint32[N]: the edges of each player, one bit an edge. `out` bool[N]: who has made a
    triangle.
    """

    edges: jax.Array
    out: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Sim(EliminationGame[SimState]):
    """Action = edge; edges in the order (0, 1), (0, 2), .., (nodes - 2, nodes - 1).

    Who completes a triangle of edges that are all its own is out and gets -1; its edges stay. The
    last player left gets 1. If all edges are colored before, the players still in get 0. With
    `coalition` players 1 and 2 play together against player 0, and the first triangle ends the
    game. Digits: 0 free, 1 + player.

    Every permutation of the nodes is a symmetry. "few" `images` are a group that takes every edge
    to every other: all permutations of 4 nodes, x -> a x + b of 5 and 7, and the projective linear
    group of 6 and 8 nodes. "all" is offered for up to 6 nodes. With "none" a move looks up less,
    and shares nothing between images.
    """

    nodes: int = setting(6, low=4, high=8)
    players: int = setting(2, low=2, high=4)
    coalition: bool = False
    images: str = setting("few", choices=("none", "few", "all"))

    name = "sim"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coalition and self.players != 3:
            raise ValueError(f"sim: coalition is for players=3, not {self.players}")
        if self.images == "all" and self.nodes > 6:
            raise ValueError(f"sim: images=all is for up to 6 nodes, not {self.nodes}; use few")

    @property
    def teams(self) -> tuple[int, ...]:
        return (0, 1, 1) if self.coalition else super().teams

    @property
    def num_actions(self) -> int:
        return self.num_cells

    @property
    def num_cells(self) -> int:
        return self.nodes * (self.nodes - 1) // 2

    @property
    def num_cell_values(self) -> int:
        return 1 + self.players

    @property
    def max_plies(self) -> int:
        return self.num_cells

    @property
    def piece_digits(self) -> tuple[int, ...]:
        return tuple(range(1, 1 + self.players))

    @property
    def stone_digits(self) -> tuple[int, ...]:
        return self.piece_digits

    @cached_property
    def ends(self) -> np.ndarray:
        """int32[C, 2]: the two nodes of every edge."""
        return np.array(list(itertools.combinations(range(self.nodes), 2)), np.int32)

    @cached_property
    def _edge(self) -> np.ndarray:
        """int32[nodes, nodes]: the edge between two nodes."""
        edge = np.zeros((self.nodes, self.nodes), np.int32)
        first, second = self.ends.T
        edge[first, second] = edge[second, first] = np.arange(self.num_cells)
        return edge

    @property
    def lines(self) -> np.ndarray:
        corners = np.array(list(itertools.combinations(range(self.nodes), 3)))
        return self._edge[corners[:, [0, 0, 1]], corners[:, [1, 2, 2]]]

    @property
    def adjacency(self) -> np.ndarray:
        shared = self.ends[:, None, :, None] == self.ends[None, :, None, :]
        return shared.any((2, 3)) & ~np.eye(self.num_cells, dtype=bool)

    @property
    def symmetries(self) -> np.ndarray:
        if self.images == "none":
            return super().symmetries
        nodes = _permutations(self.nodes, few=self.images == "few")
        first, second = self.ends.T
        return self._edge[nodes[:, first], nodes[:, second]]

    @property
    def action_symmetries(self) -> np.ndarray:
        return np.argsort(self.symmetries, axis=1).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations | None:
        if self.coalition:
            return None
        return rotations(self, digits=exchanged(self.piece_digits, self.num_cell_values))

    @cached_property
    def _closing(self) -> np.ndarray:
        """uint32[C, nodes - 2]: for each edge the pairs of edges that make a triangle with it."""
        pairs = [
            [
                (1 << self._edge[first, third]) | (1 << self._edge[second, third])
                for third in range(self.nodes)
                if third not in (first, second)
            ]
            for first, second in self.ends
        ]
        return np.array(pairs, np.uint32)

    def init(self, key: jax.Array) -> SimState:
        return SimState(jnp.zeros(self.players, jnp.uint32), *self.first_standing())

    def _taken(self, state: SimState) -> jax.Array:
        """uint32[]: the edges of all players."""
        return jnp.bitwise_or.reduce(state.edges)

    def legal_actions(self, state: SimState) -> jax.Array:
        free = (self._taken(state) >> np.arange(self.num_cells, dtype=np.uint32)) & 1 == 0
        return free & ~state.terminal

    def afterstate(self, state: SimState, action: jax.Array) -> SimState:
        edge = jnp.uint32(1) << jnp.clip(action, 0, self.num_cells - 1).astype(jnp.uint32)
        taken = self._taken(state)
        legal = self.in_range(action) & (taken & edge == 0) & ~state.terminal
        own = state.edges[state.player]
        pairs = jnp.asarray(self._closing)[action]
        loses = (own & pairs == pairs).any()
        mover = jnp.arange(self.players) == state.player
        full = taken | edge == np.uint32((1 << self.num_cells) - 1)
        standing = after_move(state, jnp.bool_(False), loses, full, ranks=False)
        if self.coalition:
            standing = self._of_coalition(standing, mover, loses)
        moved = SimState(jnp.where(mover, own | edge, state.edges), *standing)
        return keep_if(legal, moved, state)

    def _of_coalition(self, standing: Standing, mover: jax.Array, loses: jax.Array) -> Standing:
        """The standing where the first triangle decides between player 0 and the other two."""
        alone = np.arange(3) == 0
        losers = alone == mover[0]
        return standing._replace(
            terminal=standing.terminal | loses,
            rewards=jnp.where(loses, jnp.where(losers, -1, 1), 0).astype(jnp.float32),
        )

    def outcomes(self, state: SimState) -> tuple[jax.Array, jax.Array]:
        legal = self.legal_actions(state)
        own = state.edges[state.player]
        loses = (own & self._closing == self._closing).any(1) & legal
        ends = self.coalition | ((~state.out).sum() == 2)
        over = (loses & ends) | (legal & (legal.sum() == 1)) | state.terminal
        return -loses.astype(jnp.float32), over

    def cells(self, state: SimState) -> jax.Array:
        bits = (state.edges[:, None] >> np.arange(self.num_cells, dtype=np.uint32)) & 1
        digits = np.arange(1, 1 + self.players, dtype=np.uint32)[:, None]
        return (bits * digits).sum(0).astype(jnp.int8)


@cache
def _permutations(nodes: int, few: bool) -> np.ndarray:
    """int[S, nodes]: permutations of the nodes that are a group, the identity first."""
    if not few or nodes == 4:
        return np.array(list(itertools.permutations(range(nodes))))
    prime = nodes if nodes % 2 else nodes - 1
    found = set()
    # x -> (a x + b) / (c x + d); with an odd number of nodes there is no node for infinity.
    for a, b, c, d in itertools.product(range(prime), repeat=4):
        if (a * d - b * c) % prime and (nodes > prime or c == 0):
            image = [_divided(a * x + b, c * x + d, prime) for x in range(prime)]
            found.add((*image, _divided(a, c, prime))[:nodes])
    return np.array(sorted(found))


def _divided(numerator: int, denominator: int, prime: int) -> int:
    """A quotient modulo `prime`; `prime` itself stands for infinity."""
    if denominator % prime == 0:
        return prime
    return numerator * pow(denominator, -1, prime) % prime
