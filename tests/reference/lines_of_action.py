"""Plain rules of Lines of Action, written to be obviously right; the protocol is that of `rules`.

Nothing here is shared with the package but the numbers of actions: lines are walked square by
square, groups are flooded, and a position knows all positions and moves before it.
"""

from __future__ import annotations

from typing import NamedTuple

from .rules import Cells, require_legal

BLACK, WHITE, EMPTY = range(3)
# N NE E SE S SW W NW: rows down, columns right.
DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
Ply = tuple[int, int, bool] | None
"""(from, to, whether it captured); None for a pass."""


class Position(NamedTuple):
    """As `rules.State`, with the plies made and the positions (cells, player) that they left."""

    cells: Cells
    player: int
    terminal: bool
    rewards: tuple[float, ...]
    plies: tuple[Ply, ...]
    before: tuple[tuple[Cells, int], ...]


class LinesOfAction:
    """Action = size**2 * direction + target; the last one is to pass."""

    num_players = 2
    num_cell_values = 3

    def __init__(
        self,
        size: int = 8,
        both: str = "draw",
        stuck: str = "pass",
        repetition: str = "shuffle",
        max_plies: int = 600,
    ) -> None:
        self.size, self.both, self.stuck = size, both, stuck
        self.repetition, self.max_plies = repetition, max_plies
        self.num_cells = size * size
        self.num_actions = 8 * self.num_cells + 1

    def initial(self) -> Position:
        """Black on the top and bottom rows, White on the left and right columns, corners empty."""
        cells = [EMPTY] * self.num_cells
        for at in range(1, self.size - 1):
            for edge in (0, self.size - 1):
                cells[self.size * edge + at] = BLACK
                cells[self.size * at + edge] = WHITE
        return Position(tuple(cells), 0, False, (0.0, 0.0), (), ())

    def moves(self, cells: Cells, player: int) -> dict[int, tuple[int, int]]:
        """(from, to) of every move of a player, by its action."""
        found = {}
        for start in range(self.num_cells):
            if cells[start] == player:
                for direction in range(8):
                    end = self._landing(cells, start, direction)
                    if end is not None:
                        found[self.num_cells * direction + end] = (start, end)
        return found

    def _landing(self, cells: Cells, start: int, direction: int) -> int | None:
        """Where the stone of square `start` lands, if it may go in this direction."""
        ahead = self._walk(start, direction)
        behind = self._walk(start, (direction + 4) % 8)
        steps = sum(cells[square] != EMPTY for square in [start, *ahead, *behind])
        if steps > len(ahead):
            return None
        *passed, end = ahead[:steps]
        own = cells[start]
        if cells[end] == own or any(cells[square] == 1 - own for square in passed):
            return None
        return end

    def _walk(self, start: int, direction: int) -> list[int]:
        """The squares from `start`, which is left out, to the edge."""
        row, column = divmod(start, self.size)
        down, right = DIRECTIONS[direction]
        squares = []
        while True:
            row, column = row + down, column + right
            if not (0 <= row < self.size and 0 <= column < self.size):
                return squares
            squares.append(self.size * row + column)

    def groups(self, cells: Cells, player: int) -> list[set[int]]:
        """The groups of a player's stones; corners touch."""
        left = {square for square in range(self.num_cells) if cells[square] == player}
        found = []
        while left:
            waiting, group = [left.pop()], set()
            while waiting:
                square = waiting.pop()
                group.add(square)
                near = {
                    ahead[0]
                    for direction in range(8)
                    if (ahead := self._walk(square, direction)) and ahead[0] in left
                }
                left -= near
                waiting += near
            found.append(group)
        return found

    def legal(self, state: Position) -> list[int]:
        """The moves; to pass where there is none and that is no loss."""
        if state.terminal:
            return []
        moves = sorted(self.moves(state.cells, state.player))
        return moves or [self.num_actions - 1] * (self.stuck == "pass")

    def play(self, state: Position, action: int) -> Position:
        """The position after a move or a pass; ValueError where it is not legal."""
        require_legal(self, state, action)  # type: ignore[arg-type]
        mover, board = state.player, list(state.cells)
        ply: Ply = None
        if action < self.num_actions - 1:
            start, end = self.moves(state.cells, mover)[action]
            ply = start, end, board[end] != EMPTY
            board[start], board[end] = EMPTY, mover
        after = Position(
            tuple(board),
            1 - mover,
            False,
            (0.0, 0.0),
            (*state.plies, ply),
            (*state.before, (state.cells, mover)),
        )
        winner = self._winner(after)
        if winner is None:
            return after
        rewards = {BLACK: (1.0, -1.0), WHITE: (-1.0, 1.0), EMPTY: (0.0, 0.0)}[winner]
        return after._replace(terminal=True, rewards=rewards)

    def _winner(self, state: Position) -> int | None:
        """Who has won, EMPTY for a draw, None where the game goes on."""
        other, mover = state.player, 1 - state.player
        whole = {player for player in (0, 1) if len(self.groups(state.cells, player)) == 1}
        if whole == {0, 1}:
            return mover if self.both == "mover" else EMPTY
        if whole:
            return whole.pop()
        if self.stuck == "loss" and not self.moves(state.cells, other):
            return mover
        passes = state.plies[-2:] == (None, None)
        return EMPTY if passes or self._repeated(state) or self._too_long(state) else None

    def _too_long(self, state: Position) -> bool:
        return len(state.plies) >= self.max_plies

    def _repeated(self, state: Position) -> bool:
        if self.repetition == "threefold":
            return state.before.count((state.cells, state.player)) >= 2
        if self.repetition == "board":
            return any(cells == state.cells for cells, _ in state.before)
        if self.repetition == "none" or len(state.plies) < 8:
            return False
        return all(
            _takes_back(state.plies[ply], state.plies[ply - 2])
            for ply in range(len(state.plies) - 6, len(state.plies))
        )


def _takes_back(ply: Ply, before: Ply) -> bool:
    """Whether a ply takes back another one, neither of them capturing."""
    return None not in (ply, before) and ply == (before[1], before[0], False) and not before[2]
