"""2048: slide and merge tiles, then a new tile falls on an empty cell; 4x4 cells or fewer."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.grids import grid_adjacency, grid_symmetries
from jaxgbg.games.scale import Scale
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

MAX_SCORE = 3_932_156
"""The highest score that play can reach on 4x4 cells; rewards are shares of it on all boards."""
LARGEST = 17
"""The exponent of the largest tile that play can reach on 4x4 cells, 131072."""

# Every spawn adds 2 or more to tiles whose sum stays below 2**18.
_MOST_MOVES = 2**18
# A line is a number of four digits below this; after sliding it has 5 bits for each cell.
_EXPONENTS = LARGEST + 1
_DIGITS = _EXPONENTS ** np.arange(4, dtype=np.int32)
_SHIFTS = np.array([0, 5, 10, 15], np.int32)


class Game2048State(NamedTuple):
    """`tiles` int8[C]: exponents of two, 0 where empty. `score` float32[]: points so far, a whole
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
    changes nothing is illegal.

    Cells are row-major, their digits the exponents 0 to `digits` - 1; larger tiles have the largest
    digit, but the rules tell them apart. The paper's n-tuples have 15 digits, so a 32768 tile looks
    like a 16384 tile to them. An n-tuple of six cells can have 16 digits, one of five all 18.
    """

    rows: int = setting(4, added=True, low=2, high=4)
    columns: int = setting(4, added=True, low=2, high=4)
    digits: int = setting(15, added=True, low=3, high=LARGEST + 1)

    name = "2048"
    num_players = 1
    sides = ("agent",)
    num_actions = 4
    max_plies = _MOST_MOVES

    @property
    def num_cells(self) -> int:
        return self.rows * self.columns

    @property
    def num_cell_values(self) -> int:
        return self.digits

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def scale(self) -> Scale:
        return Scale("points", factor=MAX_SCORE, low=0.0, digits=0)

    @property
    def symmetries(self) -> np.ndarray:
        return grid_symmetries(self.rows, self.columns)

    @cached_property
    def _walls(self) -> list[list[list[int]]]:
        """For each action, its lines of cells, from the wall that they slide towards."""
        board = np.arange(self.num_cells).reshape(self.rows, self.columns)
        return [each.tolist() for each in (board, board.T, board[:, ::-1], board.T[:, ::-1])]

    @cached_property
    def _lines(self) -> np.ndarray:
        """int32[4, 4, 4]: `_walls`; of shorter or missing lines other cells are number C."""
        lines = np.full((4, 4, 4), self.num_cells, np.int32)
        for action, walls in enumerate(self._walls):
            lines[action, : len(walls), : len(walls[0])] = walls
        return lines

    @cached_property
    def _places(self) -> np.ndarray:
        """int32[4, C]: for each action, where among its lines each cell stands."""
        order = np.argsort(self._lines.reshape(4, 16), axis=1, kind="stable")
        return order[:, : self.num_cells].astype(np.int32)

    @property
    def action_symmetries(self) -> np.ndarray:
        # An action is known by the wall that it pushes against.
        walls = [{line[0] for line in lines} for lines in self._walls]
        images = [
            [walls.index({int(place[cell]) for cell in wall}) for wall in walls]
            for place in np.argsort(self.symmetries, axis=1)
        ]
        return np.array(images, np.int32)

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(self.rows, self.columns, diagonal=False)

    init_words = 2
    spawn_words = 1

    def init(self, key: jax.Array) -> Game2048State:
        return self.init_from(jax.random.bits(key, (self.init_words,), jnp.uint32))

    def init_from(self, words: jax.Array) -> Game2048State:
        slid = Game2048State(
            jnp.zeros(self.num_cells, jnp.int8),
            jnp.float32(0),
            jnp.bool_(True),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(1, jnp.float32),
        )
        one_tile = self.spawn_from(slid, words[:1])
        return self.spawn_from(one_tile._replace(slid=jnp.bool_(True)), words[1:])

    def legal_actions(self, state: Game2048State) -> jax.Array:
        return self.movable(state.tiles) & ~state.terminal & ~state.slid

    def afterstate(self, state: Game2048State, action: jax.Array) -> Game2048State:
        direction = jnp.clip(action, 0, 3)
        lines = jnp.asarray(self._lines)[direction]
        full = self.num_cells == lines.size
        cells = (state.tiles if full else jnp.append(state.tiles, 0))[lines].astype(jnp.int32)
        code = (cells * _DIGITS).sum(1)
        slid = (jnp.asarray(_SLID)[code][:, None] >> _SHIFTS) & 31
        tiles = slid.astype(jnp.int8).reshape(16)[jnp.asarray(self._places)[direction]]
        score = state.score + jnp.asarray(_POINTS)[code].sum()
        legal = self.in_range(action) & (slid != cells).any() & ~state.terminal & ~state.slid
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
        earlier = np.triu(np.ones((self.num_cells, self.num_cells), np.float32), 1)
        before = empty.astype(jnp.float32) @ earlier
        tile = jnp.where((words[0] & 0xFFFF) < np.uint32(0.9 * 2**16), jnp.int8(1), jnp.int8(2))
        return self._placed(state, empty & (before == rank), tile)

    @property
    def num_spawns(self) -> int:
        # A 2 on each cell, then a 4 on each.
        return 2 * self.num_cells

    def spawn_probabilities(self, state: Game2048State) -> jax.Array:
        empty = (state.tiles == 0) & state.slid
        share = empty.astype(jnp.float32) / jnp.maximum(empty.sum(), 1)
        return jnp.concatenate([share * np.float32(0.9), share * np.float32(0.1)])

    def spawn_outcome(self, state: Game2048State, number: jax.Array) -> Game2048State:
        place = (jnp.arange(self.num_cells) == number % self.num_cells) & (state.tiles == 0)
        return self._placed(state, place, (1 + number // self.num_cells).astype(jnp.int8))

    def _placed(self, state: Game2048State, place: jax.Array, tile: jax.Array) -> Game2048State:
        """The state with a new tile at `place` bool[C], if one is due."""
        tiles = jnp.where(place, tile, state.tiles)
        stuck = ~self.movable(tiles).any()
        placed = state._replace(tiles=tiles, slid=jnp.bool_(False), terminal=stuck)
        return keep_if(state.slid, placed, state)

    def cells(self, state: Game2048State) -> jax.Array:
        return jnp.minimum(state.tiles, self.num_cell_values - 1)

    def progress(self, cells: jax.Array) -> jax.Array:
        """The exponent of the largest tile."""
        return cells.max(-1).astype(jnp.int32)

    def display_cells(self, state: Game2048State) -> jax.Array:
        return state.tiles

    def movable(self, tiles: jax.Array) -> jax.Array:
        """bool[4]: whether `tiles` int8[C] can slide left, up, right, down."""
        board, movable = tiles.reshape(self.rows, self.columns), []
        for grid in (board, board.T):
            near, far = grid[:, :-1], grid[:, 1:]
            merges = ((near == far) & (near > 0) & (near < LARGEST)).any()
            towards = ((near == 0) & (far > 0)).any()
            away = ((near > 0) & (far == 0)).any()
            movable.append((merges | towards, merges | away))
        return jnp.stack([movable[0][0], movable[1][0], movable[0][1], movable[1][1]])


def _slide_table() -> tuple[np.ndarray, np.ndarray]:
    """Every line of four exponents, the wall's cell as the lowest digit: (the line after sliding
    int32[18**4], 5 bits a cell, points float32[18**4]).
    """
    tiles = (np.arange(_EXPONENTS**4)[:, None] // _DIGITS) % _EXPONENTS
    packed = np.take_along_axis(tiles, np.argsort(tiles == 0, axis=1, kind="stable"), 1)
    points = np.zeros(_EXPONENTS**4)
    for cell in range(3):
        tile = packed[:, cell]
        merges = (tile > 0) & (tile < LARGEST) & (tile == packed[:, cell + 1])
        points += np.where(merges, 2.0 ** (tile + 1), 0)
        packed[:, cell] += merges
        packed[merges, cell + 1] = 0
        packed = np.take_along_axis(packed, np.argsort(packed == 0, axis=1, kind="stable"), 1)
    return (packed << _SHIFTS).sum(1).astype(np.int32), points.astype(np.float32)


_SLID, _POINTS = _slide_table()
