"""EinStein wuerfelt nicht: numbered stones that a die moves to the opposite corner."""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if, scrambled
from jaxgbg.games.dice import face_probabilities, rolled
from jaxgbg.games.grids import grid_adjacency
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.games.scale import WIN_RATE, Scale
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

CORNERS = ("top left", "bottom right", "bottom left", "top right")
"""Where each player starts; the goal is the opposite corner."""

# Rows down and columns right of each player's steps: along the row, the column and the diagonal.
_FORWARD = np.array([(1, 1), (-1, -1), (-1, 1), (1, -1)])
STEPS = np.stack([_FORWARD * mask for mask in ((0, 1), (1, 0), (1, 1))], 1)

_MOST_ROWS = 2**17
# Of all n-tuples of stones, for all players: 300 MB in training.
_MOST_WEIGHTS = 25_000_000
_TEAMS = {2: (0, 1), 3: (0, 0, 1), 4: (0, 1, 0, 1)}


class EinsteinState(NamedTuple):
    """`position` int8[N, stones]: the cell of each stone, -1 if it was captured. `die` int8[]: the
    face that the player to move has rolled, 0 in an afterstate.
    """

    position: jax.Array
    die: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class EinStein(Game[EinsteinState]):
    """Action 3 * stone + direction: along the row 0, the column 1 or the diagonal 2.

    A stone moves one step towards the opposite corner and captures what stands there, own stones
    too. The die says which stone. If that one is gone, the player chooses between the next lower
    and the next higher number left or, with `choice` "nearest", has to take the nearer of the two.

    A stone in its opposite corner wins. Who has no stones left has lost. With four players 0 and 2
    play against 1 and 3, with three 0 and 1 against 2, whose corner alone is a goal: stones of the
    others can get stuck, and a player without a move passes, by action 3 * stones. The winners get
    +1, the losers -1.

    Cells are row-major. Digits: 0 empty, then by `coding` the players ("colour"), each player's
    stones 1-2, 3-4 and 5-6, with three stones its stones ("groups"), or its stones ("stones"). With
    `coding` "squares" there is a cell for each stone instead, player by player: 0 captured, else
    1 + where it stands. n-tuples then see stones that are far apart, and no mirror image.
    `stones` 0 stands for 3 on boards of 3 and 4, else 6. With `start` "random" every player's
    numbers lie in random order.

    Source: Althoefer 2004; for three and four players the rules of GBG (Konen).
    """

    size: int = setting(5, low=3, high=6)
    players: int = setting(2, low=2, high=4)
    stones: int = setting(0, choices=(0, 3, 6))
    choice: str = setting("any", choices=("any", "nearest"))
    start: str = setting("fixed", choices=("fixed", "random"))
    coding: str = setting("groups", choices=("colour", "groups", "stones", "squares"))

    name = "ewn"
    title = "EinStein würfelt nicht"
    spawn_words = 1
    init_words = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        starts = _starts(self.size, self.players, self.num_stones)
        if len(np.unique(starts)) < starts.size:
            raise ValueError(
                f"ewn: {self.players} players with {self.num_stones} stones each have no room on"
                f" size {self.size}: take a larger size, or fewer players or stones"
            )

    @property
    def num_stones(self) -> int:
        """The stones of each player, and the faces of the die."""
        return self.stones or (3 if self.size < 5 else 6)

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def teams(self) -> tuple[int, ...]:
        return _TEAMS[self.players]

    @property
    def num_actions(self) -> int:
        return 3 * self.num_stones + self._passes

    @property
    def _passes(self) -> bool:
        return self.players == 3

    @property
    def _of_stones(self) -> bool:
        return self.coding == "squares"

    @property
    def num_cells(self) -> int:
        return self.players * self.num_stones if self._of_stones else self.size**2

    @property
    def num_cell_values(self) -> int:
        if self._of_stones:
            return self.size**2 + 1
        kinds = {"colour": 1, "groups": 3, "stones": self.num_stones}
        return self.players * kinds[self.coding] + 1

    @property
    def max_plies(self) -> int:
        # Every move brings a stone nearer to its corner. Of three players the third never passes.
        row, column = np.divmod(_starts(self.size, self.players, self.num_stones)[0], self.size)
        moves = int((2 * (self.size - 1) - row - column - 1).sum())
        return self.players * (moves + 1) if self._passes else self.players * moves + 1

    @property
    def num_spawns(self) -> int:  # type: ignore[override]
        return self.num_stones

    @property
    def scale(self) -> Scale:
        return WIN_RATE

    @property
    def symmetries(self) -> np.ndarray:
        if self._of_stones:
            return super().symmetries
        cells = np.arange(self.size**2, dtype=np.int32).reshape(self.size, self.size)
        return np.stack([cells.ravel(), cells.T.ravel()][: 2 if self.players == 2 else 1])

    @property
    def action_symmetries(self) -> np.ndarray:
        actions = np.arange(self.num_actions, dtype=np.int32)
        if self.players > 2 or self._of_stones:
            return actions[None]
        # In the mirror a step along the row is one along the column.
        return np.stack([actions, actions.reshape(-1, 3)[:, [1, 0, 2]].ravel()])

    @property
    def seat_rotations(self) -> SeatRotations | None:
        if self.players == 3:
            return None
        owner, squares = self._owner, self._seen_squares()
        if self._of_stones:
            stones = np.arange(self.num_cells)
            shifts = self.num_stones * (np.arange(self.players) - owner)
            # 0 for a captured stone.
            digits = np.pad(1 + np.argsort(squares, axis=1), ((0, 0), (1, 0)))
            return rotations(
                self, owner, (stones + shifts[:, None]) % self.num_cells, digits=digits
            )
        pieces = np.arange(1, self.num_cell_values).reshape(self.players, -1)
        return rotations(self, owner, squares, exchanged(pieces, self.num_cell_values, owner))

    @property
    def _owner(self) -> np.ndarray:
        """int[N]: 0 owns all of two players, of four the partners 0 and 1 own 2 and 3."""
        return np.arange(self.players) % (self.players // 2)

    def _seen_squares(self) -> np.ndarray:
        """int[N, size**2]: the squares on each player's image: a half turn, or top to bottom."""
        board = np.arange(self.size**2).reshape(self.size, self.size)
        image = board[::-1, ::-1] if self.players == 2 else board[::-1]
        own = self._owner == np.arange(self.players)
        return np.where(own[:, None], board.ravel(), image.ravel())

    def rotated_start(self, state: EinsteinState, player: int) -> EinsteinState:
        places = np.argsort(self._seen_squares()[player]).astype(np.int8)
        seen = jnp.where(state.position < 0, jnp.int8(-1), jnp.asarray(places)[state.position])
        shift = self._owner[player] - player
        return super().rotated_start(state, player)._replace(position=jnp.roll(seen, shift, 0))

    @property
    def adjacency(self) -> np.ndarray:
        if self._of_stones:
            return super().adjacency
        return grid_adjacency(self.size, self.size, diagonal=True)

    @property
    def own_tuples(self) -> tuple[tuple[int, ...], ...]:
        """All squares of 2x2 or, on boards from 5, rectangles of 2x3, as in GBG.

        Where a table of six cells had too many rows they are squares. With `coding` "squares", all
        sets of as many stones as have room.
        """
        if self._of_stones:
            return tuple(itertools.combinations(range(self.num_cells), self._most_stones()))
        board = np.arange(self.size**2).reshape(self.size, self.size)
        shapes = [(2, 2)]
        if self.size > 4 and self.num_cell_values**6 <= _MOST_ROWS:
            shapes = [(2, 3), (3, 2)]
        windows = [np.lib.stride_tricks.sliding_window_view(board, shape) for shape in shapes]
        return tuple(
            tuple(int(cell) for cell in window)
            for each in windows
            for window in each.reshape(-1, each.shape[2] * each.shape[3])
        )

    def _most_stones(self) -> int:
        """The stones of an n-tuple if all sets of so many are taken."""
        count, digits = self.num_cells, self.num_cell_values
        lengths = range(1, count + 1)
        weights = [self.players * math.comb(count, n) * digits**n for n in lengths]
        return max(n for n in lengths if weights[n - 1] <= _MOST_WEIGHTS)

    @property
    def piece_digits(self) -> tuple[int, ...] | None:
        return tuple(range(1, self.players + 1)) if self.coding == "colour" else None

    def init(self, key: jax.Array) -> EinsteinState:
        return self.init_from(jax.random.bits(key, (self.init_words,), jnp.uint32))

    def init_from(self, words: jax.Array) -> EinsteinState:
        position = jnp.asarray(_starts(self.size, self.players, self.num_stones))
        if self.start == "random":
            draws = scrambled(words, position.size).reshape(position.shape)
            position = jnp.take_along_axis(position, jnp.argsort(draws, axis=1), 1)
        return EinsteinState(
            position,
            (1 + rolled(words[0], self.num_stones)).astype(jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(self.players, jnp.float32),
        )

    def _moves(self, state: EinsteinState) -> jax.Array:
        """int8[stones, 3]: where each stone of the mover may go, -1 where it may not."""
        own = state.position[state.player]
        alive = ((own >= 0) << np.arange(self.num_stones)).sum()
        stones = jnp.asarray(_choices(self.num_stones, self.choice))[alive, state.die]
        chosen = (stones >> np.arange(self.num_stones)) & 1 == 1
        # A captured stone looks up the last row.
        targets = jnp.asarray(_targets(self.size))[state.player, own]
        return jnp.where((chosen & ~state.terminal)[:, None], targets, jnp.int8(-1))

    def legal_actions(self, state: EinsteinState) -> jax.Array:
        legal = (self._moves(state) >= 0).reshape(-1)
        if not self._passes:
            return legal
        return jnp.append(legal, ~legal.any() & (state.die > 0) & ~state.terminal)

    def afterstate(self, state: EinsteinState, action: jax.Array) -> EinsteinState:
        moves = self._moves(state).reshape(-1)
        stone_move = (action >= 0) & (action < moves.size)
        target = jnp.where(stone_move, moves[jnp.clip(action, 0, moves.size - 1)], jnp.int8(-1))
        steps = target >= 0
        stone = jnp.arange(self.players * self.num_stones) == (
            state.player * self.num_stones + action // 3
        )
        captured = (state.position == target) & steps
        left = jnp.where(captured, jnp.int8(-1), state.position)
        position = jnp.where(stone.reshape(left.shape) & steps, target, left)
        goal = jnp.asarray(_goals(self.size, self.players))[state.player]
        won = steps & (target == goal)
        bare = (position < 0).all(1)
        teams = np.array(self.teams, np.int8)
        # The goal counts first.
        winner = jnp.where(
            won, jnp.asarray(teams)[state.player], 1 - jnp.asarray(teams)[bare.argmax()]
        )
        over = won | bare.any()
        following = jnp.where(state.player == self.players - 1, 0, state.player + 1)
        moved = EinsteinState(
            position=position,
            die=jnp.int8(0),
            player=following,
            terminal=over,
            rewards=jnp.where(over, jnp.where(teams == winner, 1.0, -1.0), 0.0),
        )
        legal = steps
        if self._passes:
            passing = (action == moves.size) & (moves < 0).all() & (state.die > 0)
            legal |= passing & ~state.terminal
        return keep_if(legal, moved, state)

    def spawn(self, state: EinsteinState, key: jax.Array) -> EinsteinState:
        return self.spawn_from(state, jax.random.bits(key, (self.spawn_words,), jnp.uint32))

    def spawn_from(self, state: EinsteinState, words: jax.Array) -> EinsteinState:
        return self.spawn_outcome(state, rolled(words[0], self.num_stones))

    def spawn_probabilities(self, state: EinsteinState) -> jax.Array:
        return face_probabilities(self._due(state), self.num_stones)

    def spawn_outcome(self, state: EinsteinState, number: jax.Array) -> EinsteinState:
        return state._replace(
            die=jnp.where(self._due(state), number + 1, state.die).astype(jnp.int8)
        )

    def _due(self, state: EinsteinState) -> jax.Array:
        return (state.die == 0) & ~state.terminal

    def cells(self, state: EinsteinState) -> jax.Array:
        if self._of_stones:
            return (state.position + 1).reshape(-1)
        stones = np.arange(self.num_stones)
        kind = {"colour": 0 * stones, "groups": stones * 3 // self.num_stones, "stones": stones}
        kinds = kind[self.coding]
        digits = 1 + np.arange(self.players)[:, None] * (kinds.max() + 1) + kinds
        return self._board_of(state, digits)

    def display_cells(self, state: EinsteinState) -> jax.Array:
        """Every stone by its number, with any coding, followed by the die and the player."""
        digits = 1 + np.arange(self.players * self.num_stones).reshape(self.players, -1)
        board = self._board_of(state, digits)
        return jnp.concatenate([board, jnp.stack([state.die, state.player])])

    def _board_of(self, state: EinsteinState, digits: np.ndarray) -> jax.Array:
        """int8[C]: the board with `digits` int[N, stones] for the stones."""
        here = state.position[..., None] == np.arange(self.size**2)
        return (here * digits[..., None]).sum((0, 1)).astype(jnp.int8)


@lru_cache(maxsize=32)
def _starts(size: int, players: int, stones: int) -> np.ndarray:
    """int8[N, stones]: where the stones stand in the arrangement of GBG."""
    first = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    numbers = [1, 3, 6, 2, 5, 4]
    if stones == 3:
        first = [(0, 0), (0, 1), (1, 0)]
        numbers = [1, 2, 3] if (size, players) == (4, 4) else [1, 3, 2]
    row, column = np.array(first)[np.argsort(numbers)].T
    last = size - 1
    seats = [(row, column), (last - row, last - column), (last - column, row), (column, last - row)]
    return np.array([size * down + right for down, right in seats[:players]], np.int8)


@lru_cache(maxsize=8)
def _targets(size: int) -> np.ndarray:
    """int8[4, C + 1, 3]: where each step leads from each cell, -1 off the board and at the end."""
    row, column = np.divmod(np.arange(size**2), size)
    down = row[None, :, None] + STEPS[:, None, :, 0]
    right = column[None, :, None] + STEPS[:, None, :, 1]
    on = (down >= 0) & (down < size) & (right >= 0) & (right < size)
    targets = np.where(on, size * down + right, -1)
    return np.pad(targets, ((0, 0), (0, 1), (0, 0)), constant_values=-1).astype(np.int8)


def _goals(size: int, players: int) -> np.ndarray:
    """int8[N]: the corner in which a stone of each player wins; -2 for none."""
    goals = np.array([size**2 - 1, 0, size - 1, size**2 - size], np.int8)[:players]
    return np.where(np.arange(players) < 2, np.int8(-2), goals) if players == 3 else goals


@lru_cache(maxsize=8)
def _choices(stones: int, choice: str) -> np.ndarray:
    """uint8[2**stones, stones + 1]: bits of the stones that may move, by those left and the die."""
    table = np.zeros((2**stones, stones + 1), np.uint8)
    for alive in range(2**stones):
        left = [stone for stone in range(stones) if alive >> stone & 1]
        for die in range(1, stones + 1):
            wanted = die - 1
            near = [wanted] if wanted in left else []
            if not near:
                lower = [stone for stone in left if stone < wanted][-1:]
                higher = [stone for stone in left if stone > wanted][:1]
                near = lower + higher
            if choice == "nearest" and near:
                least = min(abs(stone - wanted) for stone in near)
                near = [stone for stone in near if abs(stone - wanted) == least]
            table[alive, die] = sum(1 << stone for stone in near)
    return table
