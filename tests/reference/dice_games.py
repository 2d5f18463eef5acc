"""Plain rules of Pig and EinStein wuerfelt nicht, written to be obviously right.

`initial(roll)` gives a position before a move, `play(state, action, roll)` makes a move and then
lets chance bring `roll`, a face counted from 0, if a roll is due.
"""

from __future__ import annotations

from typing import NamedTuple


class DiceState(NamedTuple):
    """A position before a move; `die` is 0 in a game without one before the move."""

    board: tuple[int, ...]
    die: int
    player: int
    terminal: bool
    rewards: tuple[float, ...]


class Pig:
    """The board: all scores, the points of the turn, the actions so far."""

    def __init__(self, players: int, target: int, faces: int = 6, horizon: int = 1000) -> None:
        self.players, self.target, self.faces, self.horizon = players, target, faces, horizon

    def initial(self, roll: int) -> DiceState:
        del roll
        return DiceState((0,) * (self.players + 2), 0, 0, False, (0.0,) * self.players)

    def legal(self, state: DiceState) -> list[int]:
        """0 rolls, 1 holds; with enough points only 1."""
        if state.terminal:
            return []
        turn = state.board[self.players]
        return [1] if state.board[state.player] + turn >= self.target else [0, 1]

    def play(self, state: DiceState, action: int, roll: int) -> DiceState:
        *scores, turn, plies = state.board
        player, following = state.player, (state.player + 1) % self.players
        rewards = [0.0] * self.players
        last = plies + 1 == self.horizon
        over = last
        if action == 0 and not last:
            face = roll + 1
            turn, player = (0, following) if face == 1 else (turn + face, player)
        elif action == 1:
            scores[player] += turn
            if scores[player] >= self.target:
                over = True
                rewards = [-1.0 / (self.players - 1)] * self.players
                rewards[player] = 1.0
            turn, player = 0, following
        return DiceState((*scores, turn, plies + 1), 0, player, over, tuple(rewards))

    def cells(self, state: DiceState) -> tuple[int, ...]:
        """The scores and the points of the turn, none above the target."""
        return tuple(min(points, self.target) for points in state.board[:-1])


class EinStein:
    """The board: for every cell 0, or 1 + stones * player + stone."""

    forward = ((1, 1), (-1, -1), (-1, 1), (1, -1))

    def __init__(self, size: int, players: int, stones: int, nearest: bool = False) -> None:
        self.size, self.players, self.stones, self.nearest = size, players, stones, nearest
        self.teams = {2: [0, 1], 3: [0, 0, 1], 4: [0, 1, 0, 1]}[players]

    def initial(self, roll: int) -> DiceState:
        last = self.size - 1
        places = {(0, 0): 1, (0, 1): 3, (0, 2): 6, (1, 0): 2, (1, 1): 5, (2, 0): 4}
        if self.stones == 3:
            places = {(0, 0): 1, (0, 1): 3, (1, 0): 2}
            if self.size == 4 and self.players == 4:
                places = {(0, 0): 1, (0, 1): 2, (1, 0): 3}
        board = [0] * self.size**2
        for (row, column), number in places.items():
            turned = [(row, column), (last - row, last - column), (last - column, row)]
            turned.append((column, last - row))
            for player, (down, right) in enumerate(turned[: self.players]):
                board[self.size * down + right] = self.stones * player + number
        return DiceState(tuple(board), roll + 1, 0, False, (0.0,) * self.players)

    def _numbers(self, board: tuple[int, ...] | list[int], player: int) -> list[int]:
        """The numbers that a player has left."""
        first = self.stones * player
        return [n for n in range(1, self.stones + 1) if first + n in board]

    def _step(self, cell: int, player: int, direction: int) -> int | None:
        row, column = divmod(cell, self.size)
        down, right = self.forward[player]
        row += down * (direction != 0)
        column += right * (direction != 1)
        if 0 <= row < self.size and 0 <= column < self.size:
            return row * self.size + column
        return None

    def legal(self, state: DiceState) -> list[int]:
        if state.terminal:
            return []
        left = self._numbers(state.board, state.player)
        numbers = [state.die]
        if state.die not in left:
            numbers = [n for n in left if n < state.die][-1:] + [n for n in left if n > state.die][
                :1
            ]
            if self.nearest:
                distance = min(abs(n - state.die) for n in numbers)
                numbers = [n for n in numbers if abs(n - state.die) == distance]
        actions = [
            3 * (number - 1) + direction
            for number in numbers
            for direction in range(3)
            if self._step(
                state.board.index(self.stones * state.player + number), state.player, direction
            )
            is not None
        ]
        return sorted(actions) or [3 * self.stones]

    def play(self, state: DiceState, action: int, roll: int) -> DiceState:
        board, player, winner = list(state.board), state.player, None
        if action < 3 * self.stones:
            stone = self.stones * player + action // 3 + 1
            start = board.index(stone)
            end = self._step(start, player, action % 3)
            assert end is not None
            board[start], board[end] = 0, stone
            goal = [self.size**2 - 1, 0, self.size - 1, self.size**2 - self.size][player]
            bare = [p for p in range(self.players) if not self._numbers(board, p)]
            if end == goal and not (self.players == 3 and player < 2):
                winner = self.teams[player]
            elif bare:
                winner = 1 - self.teams[bare[0]]
        rewards = [0.0] * self.players
        if winner is not None:
            rewards = [1.0 if team == winner else -1.0 for team in self.teams]
        die = 0 if winner is not None else roll + 1
        following = (player + 1) % self.players
        return DiceState(tuple(board), die, following, winner is not None, tuple(rewards))

    def cells(self, state: DiceState) -> tuple[int, ...]:
        return state.board
