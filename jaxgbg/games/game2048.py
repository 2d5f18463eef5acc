"""2048: slide and merge tiles on a 4x4 board, then a new tile falls on an empty cell."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.grids import grid_adjacency, square_symmetries
from jaxgbg.games.scale import Scale
from jaxgbg.lazy import jax, jnp

MAX_SCORE = 3_932_156
"""The highest score that play can reach; rewards are shares of it."""

# Every spawn adds 2 or more to tiles that cannot exceed 16 times 32768.
_MOST_MOVES = 2**18
_LARGEST = 15
_EARLIER = np.triu(np.ones((16, 16), np.float32), 1)


class Game2048State(NamedTuple):
    """`tiles` int8[16]: exponents of two, 0 where empty. `score` float32[]: points so far, a whole
    number. `slid`: whether a tile must still be placed.
    """

    tiles: jax.Array
    score: jax.Array
    slid: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Game2048(Game[Game2048State]):
    """Actions 0 left, 1 up, 2 right, 3 down; the reward is the score divided by MAX_SCORE.

    An `afterstate` has slid but holds no new tile; `spawn` places a 2 with probability 0.9, else a
    4, on a uniformly random empty cell, and ends the game if nothing can move then. A move that
    changes nothing is illegal. Two 32768 tiles do not merge: that is the largest tile.

    Cells are row-major, digits the exponents 0..14. A 32768 tile shows the digit of a 16384 tile,
    so that an n-tuple's index never leaves its table, which has no room for it; the rules know the
    difference.
    """

    name = "2048"
    num_players = 1
    sides = ("agent",)
    num_actions = 4
    num_cells = 16
    num_cell_values = 15
    max_plies = _MOST_MOVES

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def scale(self) -> Scale:
        return Scale("points", factor=MAX_SCORE, low=0.0, digits=0)

    @property
    def symmetries(self) -> np.ndarray:
        return square_symmetries(4)

    @cached_property
    def _lines(self) -> np.ndarray:
        """int32[4, 4, 4]: for each action, the cells of its four lines, from the wall they hit."""
        rows = np.arange(16, dtype=np.int32).reshape(4, 4)
        return np.stack([rows, rows.T, rows[:, ::-1], rows.T[:, ::-1]])

    @cached_property
    def _places(self) -> np.ndarray:
        """int32[4, 16]: for each action, where among its lines each cell stands."""
        return np.argsort(self._lines.reshape(4, 16), axis=1).astype(np.int32)

    @property
    def action_symmetries(self) -> np.ndarray:
        place = np.argsort(self.symmetries, axis=1)
        lines = np.sort(self._lines[:, :, 0], axis=1)
        # An action is known by the wall that it pushes against.
        walls = np.sort(place[:, lines], axis=2)
        return (walls[:, :, None] == lines).all(3).argmax(2).astype(np.int32)

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(4, 4, diagonal=False)

    init_words = 2
    spawn_words = 1

    def init(self, key: jax.Array) -> Game2048State:
        return self.init_from(jax.random.bits(key, (self.init_words,), jnp.uint32))

    def init_from(self, words: jax.Array) -> Game2048State:
        slid = Game2048State(
            jnp.zeros(16, jnp.int8),
            jnp.float32(0),
            jnp.bool_(True),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(1, jnp.float32),
        )
        one_tile = self.spawn_from(slid, words[:1])
        return self.spawn_from(one_tile._replace(slid=jnp.bool_(True)), words[1:])

    def legal_actions(self, state: Game2048State) -> jax.Array:
        return _movable(state.tiles.reshape(4, 4)) & ~state.terminal & ~state.slid

    def afterstate(self, state: Game2048State, action: jax.Array) -> Game2048State:
        direction = jnp.clip(action, 0, 3)
        lines = jnp.asarray(self._lines)[direction]
        code = (state.tiles[lines].astype(jnp.int32) << np.array([0, 4, 8, 12])).sum(1)
        slid = jnp.asarray(_SLID)[code].astype(jnp.int32)
        shifted = ((slid[:, None] >> np.array([0, 4, 8, 12])) & 15).astype(jnp.int8)
        tiles = shifted.reshape(16)[jnp.asarray(self._places)[direction]]
        score = state.score + jnp.asarray(_POINTS)[code].sum()
        legal = self.in_range(action) & (slid != code).any() & ~state.terminal & ~state.slid
        moved = state._replace(
            tiles=tiles, score=score, slid=jnp.bool_(True), rewards=score[None] / MAX_SCORE
        )
        return keep_if(legal, moved, state)

    def spawn(self, state: Game2048State, key: jax.Array) -> Game2048State:
        return self.spawn_from(state, jax.random.bits(key, (self.spawn_words,), jnp.uint32))

    def spawn_from(self, state: Game2048State, words: jax.Array) -> Game2048State:
        empty = state.tiles == 0
        count = empty.sum(dtype=jnp.uint32)
        rank = ((words[0] >> 16) * count) >> 16
        before = empty.astype(jnp.float32) @ _EARLIER
        tile = jnp.where((words[0] & 0xFFFF) < np.uint32(0.9 * 2**16), jnp.int8(1), jnp.int8(2))
        return self._placed(state, empty & (before == rank), tile)

    # A 2 on each cell, then a 4 on each.
    num_spawns = 32

    def spawn_probabilities(self, state: Game2048State) -> jax.Array:
        empty = (state.tiles == 0) & state.slid
        share = empty.astype(jnp.float32) / jnp.maximum(empty.sum(), 1)
        return jnp.concatenate([share * np.float32(0.9), share * np.float32(0.1)])

    def spawn_outcome(self, state: Game2048State, number: jax.Array) -> Game2048State:
        place = (jnp.arange(16) == number % 16) & (state.tiles == 0)
        return self._placed(state, place, (1 + number // 16).astype(jnp.int8))

    def _placed(self, state: Game2048State, place: jax.Array, tile: jax.Array) -> Game2048State:
        """The state with a new tile at `place` bool[16], if one is due."""
        tiles = jnp.where(place, tile, state.tiles)
        stuck = ~_movable(tiles.reshape(4, 4)).any()
        placed = state._replace(tiles=tiles, slid=jnp.bool_(False), terminal=stuck)
        return keep_if(state.slid, placed, state)

    def cells(self, state: Game2048State) -> jax.Array:
        return jnp.minimum(state.tiles, self.num_cell_values - 1)

    def display_cells(self, state: Game2048State) -> jax.Array:
        return state.tiles


def _movable(board: jax.Array) -> jax.Array:
    """bool[4]: whether the tiles int8[4, 4] can slide left, up, right, down."""
    movable = []
    for grid in (board, board.T):
        near, far = grid[:, :-1], grid[:, 1:]
        merges = ((near == far) & (near > 0) & (near < _LARGEST)).any()
        towards = ((near == 0) & (far > 0)).any()
        away = ((near > 0) & (far == 0)).any()
        movable.append((merges | towards, merges | away))
    return jnp.stack([movable[0][0], movable[1][0], movable[0][1], movable[1][1]])


def _slide_table() -> tuple[np.ndarray, np.ndarray]:
    """Every line of four exponents, as a number of four hexadecimal digits with the wall's cell
    lowest: (the line after sliding uint16[65536], points float32[65536]).
    """
    tiles = (np.arange(1 << 16)[:, None] >> np.array([0, 4, 8, 12])) & 15
    packed = np.take_along_axis(tiles, np.argsort(tiles == 0, axis=1, kind="stable"), 1)
    points = np.zeros(1 << 16)
    for cell in range(3):
        tile = packed[:, cell]
        merges = (tile > 0) & (tile < _LARGEST) & (tile == packed[:, cell + 1])
        points += np.where(merges, 2.0 ** (tile + 1), 0)
        packed[:, cell] += merges
        packed[merges, cell + 1] = 0
        packed = np.take_along_axis(packed, np.argsort(packed == 0, axis=1, kind="stable"), 1)
    return (packed << np.array([0, 4, 8, 12])).sum(1).astype(np.uint16), points.astype(np.float32)


_SLID, _POINTS = _slide_table()
