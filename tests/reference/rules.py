"""Plain rules of the small games, written to be obviously right.

Every game has `initial()`, `legal(state)` and `play(state, action)`; states are immutable tuples.
Boards show the same digits to all players: nothing is inverted for the player to move.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import NamedTuple, Protocol

import numpy as np

Cells = tuple[int, ...]


class State(NamedTuple):
    """A position.

    `cells`: C digits, the base of every n-tuple index. `player`: who is to move, in a terminal
    state who would be next. `rewards`: N cumulative rewards, zero until the game is over.
    """

    cells: Cells
    player: int
    terminal: bool
    rewards: tuple[float, ...]


class Game(Protocol):
    """What the reference learner needs to know of a game."""

    @property
    def num_players(self) -> int: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def num_cells(self) -> int: ...
    @property
    def num_cell_values(self) -> int: ...
    def initial(self) -> State: ...
    def legal(self, state: State) -> list[int]: ...
    def play(self, state: State, action: int) -> State: ...


def require_legal(game: Game, state: State, action: int) -> None:
    """ValueError if `action` is not legal."""
    if action not in game.legal(state):
        raise ValueError(f"action {action} is not legal in {state}")


def two_player_outcome(mover: int, won: bool, drawn: bool) -> tuple[bool, tuple[float, ...]]:
    """Whether the game is over, and the rewards: +1 for the winner, -1 for the loser, else 0."""
    if won:
        return True, (1.0, -1.0) if mover == 0 else (-1.0, 1.0)
    return drawn, (0.0, 0.0)


class TicTacToe:
    """Three in a row on nine row-major cells: 0 = O (player 1), 1 = empty, 2 = X (player 0)."""

    num_players = 2
    num_actions = 9
    num_cells = 9
    num_cell_values = 3
    stones = (2, 0)
    empty = 1
    lines = (
        (0, 1, 2), (3, 4, 5), (6, 7, 8),
        (0, 3, 6), (1, 4, 7), (2, 5, 8),
        (0, 4, 8), (2, 4, 6),
    )  # fmt: skip

    def initial(self) -> State:
        """The empty board with player 0 to move."""
        return State((self.empty,) * 9, 0, False, (0.0, 0.0))

    def legal(self, state: State) -> list[int]:
        """The empty cells; none when the game is over."""
        if state.terminal:
            return []
        return [cell for cell in range(9) if state.cells[cell] == self.empty]

    def play(self, state: State, action: int) -> State:
        """Put the mover's stone on cell `action`; ValueError if it is taken."""
        require_legal(self, state, action)
        mover = state.player
        stone = self.stones[mover]
        board = list(state.cells)
        board[action] = stone
        won = any(all(board[cell] == stone for cell in line) for line in self.lines)
        terminal, rewards = two_player_outcome(mover, won, self.empty not in board)
        return State(tuple(board), 1 - mover, terminal, rewards)


class ConnectFour:
    """Four in a line on 7 columns of 6 rows; cell 6 * column + row, row 0 at the bottom.

    Digits: 0 = empty and unreachable, 1 = player 0, 2 = player 1, 3 = empty and reachable, which is
    the lowest empty cell of each column, on finished boards too. After `draw_after` stones it is a
    draw.
    """

    num_players = 2
    num_actions = 7
    num_cells = 42
    num_cell_values = 4
    columns = 7
    rows = 6
    reachable = 3

    def __init__(self, draw_after: int = 42) -> None:
        self.draw_after = draw_after

    def initial(self) -> State:
        """The empty board with player 0 to move; only the bottom row is reachable."""
        column = (self.reachable,) + (0,) * (self.rows - 1)
        return State(column * self.columns, 0, False, (0.0, 0.0))

    def legal(self, state: State) -> list[int]:
        """The columns with an empty cell; none when the game is over."""
        if state.terminal:
            return []
        return [column for column in range(7) if self.reachable in self._column(state, column)]

    def play(self, state: State, action: int) -> State:
        """Drop the mover's stone into column `action`; ValueError if it is full."""
        require_legal(self, state, action)
        mover = state.player
        row = self._column(state, action).index(self.reachable)
        board = list(state.cells)
        board[self.rows * action + row] = mover + 1
        if row + 1 < self.rows:
            board[self.rows * action + row + 1] = self.reachable
        won = self._four_through(board, action, row)
        stones = board.count(1) + board.count(2)
        terminal, rewards = two_player_outcome(mover, won, stones == self.draw_after)
        return State(tuple(board), 1 - mover, terminal, rewards)

    def _column(self, state: State, column: int) -> Cells:
        return state.cells[self.rows * column : self.rows * (column + 1)]

    def _four_through(self, board: list[int], column: int, row: int) -> bool:
        """Whether the stone at (column, row) is part of a line of four or more."""
        stone = board[self.rows * column + row]
        for step_column, step_row in ((1, 0), (0, 1), (1, 1), (1, -1)):
            length = 1
            for sign in (1, -1):
                c, r = column + sign * step_column, row + sign * step_row
                while (
                    0 <= c < self.columns
                    and 0 <= r < self.rows
                    and board[self.rows * c + r] == stone
                ):
                    length += 1
                    c, r = c + sign * step_column, r + sign * step_row
            if length >= 4:
                return True
        return False


class Nim:
    """Take 1 to `max_take` items (default: up to a whole heap) from one heap. Cells: heap sizes.

    Action = heap * max_take + (items taken - 1). With two players the taker of the last item wins
    (+1, -1). With three, that taker gets 0, the next player 1.0 and the one before the taker 0.2.
    """

    def __init__(
        self, heaps: int = 3, heap_size: int = 5, num_players: int = 2, max_take: int | None = None
    ) -> None:
        if num_players not in (2, 3):
            raise ValueError(f"Nim is defined for 2 or 3 players, not {num_players}")
        self.heaps = heaps
        self.heap_size = heap_size
        self.max_take = heap_size if max_take is None else max_take
        self.num_players = num_players
        self.num_actions = heaps * self.max_take
        self.num_cells = heaps
        self.num_cell_values = heap_size + 1

    def initial(self) -> State:
        """All heaps full, player 0 to move."""
        no_rewards = (0.0,) * self.num_players
        return State((self.heap_size,) * self.heaps, 0, False, no_rewards)

    def legal(self, state: State) -> list[int]:
        """Every heap and every number of items that may be taken from it."""
        return [
            heap * self.max_take + take - 1
            for heap in range(self.heaps)
            for take in range(1, min(state.cells[heap], self.max_take) + 1)
        ]

    def play(self, state: State, action: int) -> State:
        """Take the items; ValueError if the heap does not hold them."""
        require_legal(self, state, action)
        heap, take_minus_one = divmod(action, self.max_take)
        sizes = list(state.cells)
        sizes[heap] -= take_minus_one + 1
        mover = state.player
        following = (mover + 1) % self.num_players
        rewards = [0.0] * self.num_players
        terminal = sum(sizes) == 0
        if terminal and self.num_players == 2:
            rewards[mover] = 1.0
            rewards[following] = -1.0
        elif terminal:
            rewards[following] = 1.0
            rewards[mover - 1] = 0.2
        return State(tuple(sizes), following, terminal, tuple(rewards))


class Nim3P(Nim):
    """Nim for three players."""

    def __init__(self, heaps: int = 3, heap_size: int = 5, max_take: int | None = None) -> None:
        super().__init__(heaps, heap_size, num_players=3, max_take=max_take)


class Knockout(Nim):
    """Who takes the last item of a heap is out, and the others play on; the last one left wins.

    With a heap for each player but one. The first to leave gets -1, the second -0.5, and so on, the
    winner 1. If it `shoves`, the next player who is still in is out in place of the mover.
    """

    def __init__(self, heap_size: int = 3, num_players: int = 3, shoves: bool = False) -> None:
        super().__init__(num_players - 1, heap_size)
        self.num_players, self.shoves = num_players, shoves

    def active(self, state: State) -> tuple[bool, ...]:
        """Who may still have to move."""
        return tuple(paid == 0 and not state.terminal for paid in state.rewards)

    def play(self, state: State, action: int) -> State:
        """Take the items, and leave with the last one of the heap."""
        heap, mover = action // self.max_take, state.player
        sizes = super().play(state, action).cells
        rewards = list(state.rewards)
        order = [(mover + step) % self.num_players for step in range(1, self.num_players + 1)]
        if sizes[heap] == 0:
            following = next(player for player in order if rewards[player] == 0)
            rewards[following if self.shoves else mover] = -1.0 / sizes.count(0)
        left = [player for player in order if rewards[player] == 0]
        if len(left) == 1:
            rewards[left[0]] = 1.0
        return State(sizes, left[0], len(left) == 1, tuple(rewards))


def is_out(game: Game, state: State, player: int) -> bool:
    """Whether `player` has left while others play on."""
    return not state.terminal and isinstance(game, Knockout) and not game.active(state)[player]


def square_symmetries(num_cells: int) -> np.ndarray:
    """The eight symmetries int [8, C] of a square of row-major cells, identity first."""
    side = math.isqrt(num_cells)
    square = np.arange(num_cells).reshape(side, side)
    turned = [np.rot90(square, quarter) for quarter in range(4)]
    return np.array([image.ravel() for s in turned for image in (s, s.T)])


@singledispatch
def symmetries(game: Game) -> np.ndarray:
    """Permutations int [N_S, C]; image j of a board b is `b[symmetries[j]]`, identity first."""
    return np.arange(game.num_cells)[None]


@symmetries.register
def _(game: TicTacToe) -> np.ndarray:
    return square_symmetries(game.num_cells)


@symmetries.register
def _(game: ConnectFour) -> np.ndarray:
    identity = np.arange(game.num_cells)
    mirrored = identity.reshape(game.columns, game.rows)[::-1]
    return np.array([identity, mirrored.ravel()])
