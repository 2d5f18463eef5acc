"""Plain rules of backgammon without the cube, written to be obviously right.

Points 0 to 23 have a positive number of white or a negative number of black checkers. White moves
down to below 0, black up to above 23. `initial(roll)` and `play(state, action, roll)` let chance
bring `roll`, a number from `ROLLS`.
"""

from __future__ import annotations

from typing import NamedTuple

DIFFERENT = [(low, high) for low in range(1, 7) for high in range(low + 1, 7)]
ROLLS = [*DIFFERENT, *((die, die) for die in range(1, 7))]
PASS = 50
# White's checkers by index; black's are the same from the other end.
STARTS = {15: {23: 2, 12: 5, 7: 3, 5: 5}, 3: {23: 1, 22: 1, 21: 1}}


class Board(NamedTuple):
    points: tuple[int, ...]
    bar: tuple[int, int]
    off: tuple[int, int]


class BackgammonState(NamedTuple):
    """`dice`: those left to play, a double up to four times."""

    board: Board
    dice: tuple[int, ...]
    player: int
    plies: int
    terminal: bool
    rewards: tuple[float, float]


class Backgammon:
    def __init__(
        self, checkers: int = 15, gammons: bool = False, height: int = 3, max_plies: int = 2000
    ) -> None:
        self.checkers, self.gammons = checkers, gammons
        self.height, self.max_plies = height, max_plies

    def initial(self, roll: int) -> BackgammonState:
        points = [0] * 24
        for index, count in STARTS[self.checkers].items():
            points[index] += count
            points[23 - index] -= count
        board = Board(tuple(points), (0, 0), (0, 0))
        return BackgammonState(board, _dice(roll), 0, 0, False, (0.0, 0.0))

    def legal(self, state: BackgammonState) -> list[int]:
        if state.terminal:
            return []
        dice, player = state.dice, state.player
        longest = _most_moves(state.board, player, dice)
        if longest == 0:
            return [PASS]
        actions = []
        for die in sorted(set(dice)):
            rest = _without(dice, die)
            for place in range(1, 26):
                after = _moved(state.board, player, place, die)
                if after is not None and 1 + _most_moves(after, player, rest) == longest:
                    smaller = int(die < max(dice))
                    actions.append(2 * (place - 1) + smaller)
        if longest == 1 and len(set(dice)) == 2:
            by_larger = [action for action in actions if action % 2 == 0]
            actions = by_larger or actions
        return sorted(actions)

    def play(self, state: BackgammonState, action: int, roll: int) -> BackgammonState:
        board, dice, player = state.board, state.dice, state.player
        rest: tuple[int, ...] = ()
        if action != PASS:
            die = min(dice) if action % 2 else max(dice)
            after = _moved(board, player, action // 2 + 1, die)
            assert after is not None
            board, rest = after, _without(dice, die)
        plies = state.plies + 1
        rewards = [0.0, 0.0]
        won = board.off[player] == self.checkers
        if won:
            gain = self._gain(board, player)
            rewards[player], rewards[1 - player] = gain, -gain
        if won or plies == self.max_plies:
            return BackgammonState(board, (), player, plies, True, (rewards[0], rewards[1]))
        if _most_moves(board, player, rest) == 0:
            rest, player = _dice(roll), 1 - player
        return BackgammonState(board, rest, player, plies, False, (0.0, 0.0))

    def _gain(self, board: Board, winner: int) -> float:
        loser = 1 - winner
        if not self.gammons:
            return 1.0
        if board.off[loser]:
            return 1 / 3
        home = board.points[:6] if winner == 0 else board.points[18:]
        in_home = any(_count(number, loser) for number in home)
        return 1.0 if in_home or board.bar[loser] else 2 / 3

    def cells(self, state: BackgammonState) -> tuple[int, ...]:
        digits = []
        for number in state.board.points:
            count = min(abs(number), self.height)
            digits.append(count + self.height * (number < 0))
        base = 2 * self.height + 1
        digits += [min(count, base - 1) for count in state.board.bar]
        for count in state.board.off:
            digits += divmod(count, base)
        dice = sorted(state.dice, reverse=True)
        if len(set(dice)) == 2:
            digits += [*dice, 0]
        else:
            digits += [dice[0] if dice else 0, 0, max(0, len(dice) - 1)]
        return tuple(digits)


def _dice(roll: int) -> tuple[int, ...]:
    low, high = ROLLS[roll]
    return (low,) * 4 if low == high else (low, high)


def _without(dice: tuple[int, ...], die: int) -> tuple[int, ...]:
    left = list(dice)
    left.remove(die)
    return tuple(left)


def _count(number: int, player: int) -> int:
    """The checkers of a player on a point with this number."""
    return max(0, number if player == 0 else -number)


def _most_moves(board: Board, player: int, dice: tuple[int, ...]) -> int:
    """How many of the dice can be played, one after the other in any order."""
    most = 0
    for die in set(dice):
        for place in range(1, 26):
            after = _moved(board, player, place, die)
            if after is not None:
                most = max(most, 1 + _most_moves(after, player, _without(dice, die)))
            if most == len(dice):
                return most
    return most


def _moved(board: Board, player: int, place: int, die: int) -> Board | None:
    """The board after a checker `place` from the tray, 25 for the bar, moved; None if it cannot."""
    points, bar, off = list(board.points), list(board.bar), list(board.off)
    sign = 1 if player == 0 else -1

    def index(place: int) -> int:
        return place - 1 if player == 0 else 24 - place

    if place == 25:
        if not bar[player]:
            return None
        bar[player] -= 1
    else:
        if bar[player] or not _count(points[index(place)], player):
            return None
        points[index(place)] -= sign
    target = place - die
    if target >= 1:
        there = index(target)
        others = _count(points[there], 1 - player)
        if others > 1:
            return None
        if others == 1:
            points[there] = 0
            bar[1 - player] += 1
        points[there] += sign
        return Board(tuple(points), (bar[0], bar[1]), (off[0], off[1]))
    behind = [own for own in range(1, 25) if _count(board.points[index(own)], player)]
    if board.bar[player] or max(behind) > 6:
        return None
    if target < 0 and max(behind) > place:
        return None
    off[player] += 1
    return Board(tuple(points), (bar[0], bar[1]), (off[0], off[1]))
