"""Chinese checkers on a star of 13 to 121 cells.

With `rows` 4, `backward`, `goal` "own" and `turns` 1000 the rules are OpenSpiel's. Random play by
them does not come to an end; the defaults are rules by which it does.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import keep_if
from jaxgbg.games.hexagons import STEPS, HexCells, shifted, star
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.games.seats import EliminationGame, after_turn
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

# The triangle in which each player starts: 0 is the upper one, the others follow clockwise.
_HOMES = {2: (0, 3), 3: (0, 2, 4), 4: (0, 1, 3, 4), 6: (0, 1, 2, 3, 4, 5)}
# How much nearer to the opposite triangle a row down, a column right, and the third coordinate of
# a cell, minus row minus column, bring a player of each triangle.
_WAYS = np.array([(1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0), (0, 0, -1)])


class ChineseCheckersState(NamedTuple):
    """`stones` uint32[N, R]: the rows of each player. `hop_from` int8[]: the cell of the stone that
    may hop on, -1 if a turn begins. `visited` uint32[R]: the cells that its chain has been on.
    `turn` int16[]: the turns so far. `out` bool[N]: who has a rank.
    """

    stones: jax.Array
    hop_from: jax.Array
    visited: jax.Array
    turn: jax.Array
    out: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


class _Move(NamedTuple):
    """What an action does: `start` and `end` int32[] are cells, `num_cells` for none.

    `stones` uint32[N, R] after it; `legal`; whether it is a `hop`, and the chain goes `on`.
    """

    start: jax.Array
    end: jax.Array
    stones: jax.Array
    legal: jax.Array
    hop: jax.Array
    on: jax.Array


@dataclasses.dataclass(frozen=True)
class ChineseCheckers(EliminationGame[ChineseCheckersState]):
    """Bring all stones to the opposite triangle, by steps to a neighbor cell or by chains of hops.

    Action = 6 * cell + direction, directions as in `hexagons.DIRECTIONS`; the last action is to
    pass. A stone steps to a free cell, or hops over any adjacent stone to the free cell behind. A
    hop is a ply of its own: the same player hops on with the same stone, to cells that this chain
    has not been on, or passes. A turn ends with a step, a pass, or a hop after which there is none.
    A player who cannot move passes.

    Each triangle has `rows` rows. `backward`: whether a step or a hop may lead away from the goal,
    in rows of the goal's triangle. `goal`: who ends its turn wins if all cells of its goal have
    "own" stones, or if they are "filled", one of them at least with an own one. After `turns` turns
    of all together it is a draw. The winner gets 1, each of the others -1 / (N - 1). With `ranks`
    the others play on, without the finished player, for rank r of N, which pays
    1 - 2 (r - 1) / (N - 1); in a draw those still in share the mean of the ranks left. Digits: 0
    empty, 1 + player, and N + 1 for the stone that may hop on.
    """

    rows: int = setting(2, low=1, high=4)
    players: int = setting(2, choices=(2, 3, 4, 6))
    backward: bool = False
    goal: str = setting("filled", choices=("own", "filled"))
    turns: int = setting(300, low=1, high=5000)
    ranks: bool = False

    name = "chinese_checkers"
    title = "Chinese checkers"
    most_altered = 2

    @property
    def board(self) -> HexCells:
        """The cells of the board."""
        return star(self.rows)

    @property
    def num_actions(self) -> int:
        return 6 * self.num_cells + 1

    @property
    def num_cells(self) -> int:
        return 6 * self.rows**2 + 6 * self.rows + 1

    @property
    def num_cell_values(self) -> int:
        return self.players + 2

    @property
    def max_plies(self) -> int:
        # A chain hops over each of the other stones once at most, and then there is a pass.
        return self.turns * (self.players * self.rows * (self.rows + 1) // 2 + 2)

    @property
    def reward_range(self) -> tuple[float, float]:
        return (-1.0 if self.ranks else -1.0 / (self.players - 1), 1.0)

    @property
    def symmetries(self) -> np.ndarray:
        identity = np.arange(self.num_cells, dtype=np.int32)
        if self.players > 2:
            return identity[None]
        return np.stack([identity, self.board.image((0, 2, 1))])

    @property
    def action_symmetries(self) -> np.ndarray:
        images = []
        for cells, directions in zip(
            self.symmetries, ([0, 1, 2, 3, 4, 5], [1, 0, 3, 2, 5, 4]), strict=False
        ):
            moves = 6 * cells[:, None] + np.array(directions)
            images.append(np.append(moves, self.num_actions - 1))
        return np.array(images, np.int32)

    @property
    def seat_rotations(self) -> SeatRotations:
        # By a half turn of the board players 0 and 2 of four change places, and 1 and 3.
        owner = np.arange(self.players) % 2 if self.players == 4 else np.zeros(self.players, int)
        axes = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        turns = np.stack([self.board.image(each, sign) for sign in (1, -1) for each in axes])
        alike = self.homes[:, turns] == self.homes[owner][:, None]
        cells = turns[alike.all(2).argmax(1)]
        # Where each cell goes, and the six neighbors of the center.
        places, around = np.argsort(cells, axis=1), self.board.neighbours()[self.num_cells // 2]
        directions = (places[:, around][:, :, None] == around).argmax(-1)
        moves = 6 * places[:, :, None] + directions[:, None]
        passing = np.full((self.players, 1), self.num_actions - 1)
        return rotations(
            self,
            owner,
            cells,
            exchanged(np.arange(1, 1 + self.players), self.num_cell_values, owner),
            np.concatenate([moves.reshape(self.players, -1), passing], 1),
        )

    @property
    def adjacency(self) -> np.ndarray:
        return self.board.adjacency

    @cached_property
    def _axes(self) -> np.ndarray:
        """int[6, C]: how far each cell is along the way of each triangle's player."""
        row, column = self.board.rows - 2 * self.rows, self.board.columns - 2 * self.rows
        return _WAYS @ np.stack([row, column, -row - column])

    @cached_property
    def homes(self) -> np.ndarray:
        """bool[N, C]: the cells on which each player starts."""
        return self._axes[list(_HOMES[self.players])] < -self.rows

    @cached_property
    def goals(self) -> np.ndarray:
        """bool[N, C]: the cells that each player has to reach."""
        return self._axes[list(_HOMES[self.players])] > self.rows

    @cached_property
    def _allowed(self) -> np.ndarray:
        """bool[N, 6]: in which directions each player may move."""
        steps = [(down, right, -down - right) for down, right in STEPS]
        nearer = _WAYS[list(_HOMES[self.players])] @ np.array(steps).T
        return (nearer >= 0) | self.backward

    @cached_property
    def _beside(self) -> tuple[np.ndarray, np.ndarray]:
        """int32[C + 1, 6] twice: the cells one and two steps away, `num_cells` for none."""
        outside = ((0, 1), (0, 0))
        return tuple(
            np.pad(self.board.neighbours(steps), outside, constant_values=self.num_cells)
            for steps in (1, 2)
        )  # type: ignore[return-value]

    def init(self, key: jax.Array) -> ChineseCheckersState:
        return ChineseCheckersState(
            jnp.asarray(np.stack([self.board.words(home) for home in self.homes])),
            jnp.int8(-1),
            jnp.asarray(np.zeros_like(self.board.all)),
            jnp.int16(0),
            *self.first_standing(),
        )

    def _movable(self, state: ChineseCheckersState) -> jax.Array:
        """uint32[6, R]: the cells whose stone may go in each direction."""
        stones = jnp.bitwise_or.reduce(state.stones)
        free = jnp.asarray(self.board.all) & ~stones
        chain = state.hop_from >= 0
        movers = jnp.where(chain, self.board.bit(state.hop_from), state.stones[state.player])
        allowed = jnp.asarray(self._allowed)[state.player]
        directions = []
        for number, (down, right) in enumerate(STEPS):
            step = jnp.where(chain, 0, shifted(free, -down, -right))
            over = shifted(stones, -down, -right)
            hop = over & shifted(free & ~state.visited, -2 * down, -2 * right)
            directions.append(jnp.where(allowed[number], movers & (step | hop), 0))
        return jnp.stack(directions)

    def legal_actions(self, state: ChineseCheckersState) -> jax.Array:
        moves = self.board.of_words(self._movable(state)).T.reshape(-1) == 1
        passes = (state.hop_from >= 0) | ~moves.any()
        return jnp.append(moves, passes) & ~state.terminal

    def _hops(
        self, stones: jax.Array, visited: jax.Array, cell: jax.Array, player: jax.Array
    ) -> jax.Array:
        """bool[6]: in which directions a stone on `cell` may hop."""
        over, end = (jnp.asarray(cells)[cell] for cells in self._beside)
        free = self.board.has(jnp.asarray(self.board.all) & ~stones & ~visited, end)
        return self.board.has(stones, over) & free & jnp.asarray(self._allowed)[player]

    def _move(self, state: ChineseCheckersState, action: jax.Array) -> _Move:
        passes = action == self.num_actions - 1
        moves = self.in_range(action) & ~passes
        start = jnp.where(moves, action // 6, self.num_cells)
        direction = jnp.where(moves, action % 6, 0)
        stones = jnp.bitwise_or.reduce(state.stones)
        chain = state.hop_from >= 0
        one, two = (jnp.asarray(cells)[start, direction] for cells in self._beside)
        own = self.board.has(state.stones[state.player], start)
        own &= ~chain | (start == state.hop_from)
        hop = own & self._hops(stones, state.visited, start, state.player)[direction]
        free = self.board.has(jnp.asarray(self.board.all) & ~stones, one)
        step = own & ~chain & free & jnp.asarray(self._allowed)[state.player, direction]
        legal = hop | step | (passes & (chain | ~(self._movable(state) != 0).any()))
        start = jnp.where(hop | step, start, self.num_cells)
        end = jnp.where(hop, two, jnp.where(step, one, self.num_cells))
        change = self.board.bit(start) ^ self.board.bit(end)
        mover = np.arange(self.players)[:, None] == state.player
        moved = state.stones ^ jnp.where(mover, change, 0)
        visited = state.visited | change
        after = jnp.bitwise_or.reduce(moved)
        on = hop & self._hops(after, visited, end, state.player).any()
        return _Move(start, end, moved, legal & ~state.terminal, hop, on)

    def afterstate(self, state: ChineseCheckersState, action: jax.Array) -> ChineseCheckersState:
        move = self._move(state, action)
        own = move.stones[state.player]
        goals = jnp.asarray(np.stack([self.board.words(goal) for goal in self.goals]))
        goal = goals[state.player]
        if self.goal == "own":
            done = (own & goal == goal).all()
        else:
            filled = jnp.bitwise_or.reduce(move.stones) & goal == goal
            done = filled.all() & (own & goal != 0).any()
        ends = ~move.on
        turn = state.turn + ends.astype(jnp.int16)
        standing = after_turn(state, ends & done, turn >= self.turns, self.ranks)
        changed = self.board.bit(move.start) | self.board.bit(move.end)
        moved = ChineseCheckersState(
            move.stones,
            jnp.where(move.on, move.end, -1).astype(jnp.int8),
            jnp.where(move.on, state.visited | changed, 0),
            turn,
            *standing._replace(player=jnp.where(ends, standing.player, state.player)),
        )
        return keep_if(move.legal, moved, state)

    def altered(
        self, state: ChineseCheckersState, action: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        move = self._move(state, action)
        chain = state.hop_from >= 0
        own = 1 + state.player.astype(jnp.int32)
        here = jnp.where(chain, self.players + 1, own)
        there = jnp.where(move.on, self.players + 1, own)
        still = move.start == self.num_cells
        # A pass that ends a chain leaves the stone where it is.
        start = jnp.where(still, jnp.where(chain, state.hop_from, -1), move.start)
        end = jnp.where(still, -1, move.end)
        none = jnp.int32(0)
        digits = jnp.stack([here, jnp.where(still, own, none), none, there])
        return jnp.stack([start, end]).astype(jnp.int32), digits.reshape(2, 2)

    def cells(self, state: ChineseCheckersState) -> jax.Array:
        return self._digits(state, jnp.int8(self.players + 1))

    def display_cells(self, state: ChineseCheckersState) -> jax.Array:
        """int8[C]: as `cells`, but N + 1 + player for the stone that may hop on."""
        return self._digits(state, (self.players + 1 + state.player).astype(jnp.int8))

    def _digits(self, state: ChineseCheckersState, hopping: jax.Array) -> jax.Array:
        stones = self.board.of_words(state.stones)
        digits = np.arange(1, 1 + self.players, dtype=np.uint32)[:, None]
        board = (stones * digits).sum(0).astype(jnp.int8)
        return jnp.where(np.arange(self.num_cells) == state.hop_from, hopping, board)
