"""Plain rules of Hex, Othello and 2048, written to be obviously right.

Same protocol as `rules`, but 2048 moves in two steps: the player slides, then chance adds a tile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .rules import Cells, State, require_legal, square_symmetries, symmetries, two_player_outcome


class Hex:
    """Connect two sides of a rhombus of hexagons; cell size * row + column.

    Digits: 0 = empty, 1 = player 0, who connects the top row to the bottom row, 2 = player 1, who
    connects the left column to the right column. There is no swap and there are no draws. With
    `misere` whoever connects loses.
    """

    num_players = 2
    num_cell_values = 3
    neighbour_steps = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))

    def __init__(self, size: int = 6, misere: bool = False) -> None:
        self.size = size
        self.misere = misere
        self.num_cells = self.num_actions = size * size

    def initial(self) -> State:
        """The empty board with player 0 to move."""
        return State((0,) * self.num_cells, 0, False, (0.0, 0.0))

    def legal(self, state: State) -> list[int]:
        """The empty cells; none when the game is over."""
        if state.terminal:
            return []
        return [cell for cell in range(self.num_cells) if state.cells[cell] == 0]

    def play(self, state: State, action: int) -> State:
        """Put the mover's stone on cell `action`; ValueError if it is taken."""
        require_legal(self, state, action)
        mover = state.player
        board = list(state.cells)
        board[action] = mover + 1
        connected = self._connected(board, mover)
        winner = 1 - mover if self.misere else mover
        terminal, rewards = two_player_outcome(winner, connected, False)
        return State(tuple(board), 1 - mover, terminal, rewards)

    def _connected(self, board: list[int], player: int) -> bool:
        """Whether stones of `player` lead from his first side to his second, by flood fill."""
        sides = [[(0, k), (self.size - 1, k)] for k in range(self.size)]
        if player == 1:
            sides = [[(column, row) for row, column in pair] for pair in sides]
        goal = {second for _, second in sides}
        waiting = [first for first, _ in sides]
        reached: set[tuple[int, int]] = set()
        while waiting:
            row, column = waiting.pop()
            on_board = 0 <= row < self.size and 0 <= column < self.size
            if not on_board or (row, column) in reached:
                continue
            if board[self.size * row + column] == player + 1:
                reached.add((row, column))
                waiting += [(row + down, column + right) for down, right in self.neighbour_steps]
        return bool(reached & goal)


class Othello:
    """Enclose lines of the opponent's discs to turn them over; row-major cells, most discs win.

    Digits: 0 = black disc (player 0), 1 = white disc (player 1), 2 = empty, 3 = empty and legal for
    the player to move in that state; a terminal board shows no 3. There is no action for a pass: a
    player whose opponent cannot move stays on turn.
    """

    num_players = 2
    num_cell_values = 4
    empty = 2
    playable = 3
    directions = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))

    def __init__(self, size: int = 8) -> None:
        if size < 4 or size % 2:
            raise ValueError(f"Othello needs an even size of 4 or more, not {size}")
        self.size = size
        self.num_cells = self.num_actions = size * size

    def initial(self) -> State:
        """Two discs of each colour across the centre, player 0 to move."""
        board = [self.empty] * self.num_cells
        low, high = self.size // 2 - 1, self.size // 2
        for row, column, player in ((low, high, 0), (high, low, 0), (low, low, 1), (high, high, 1)):
            board[self.size * row + column] = player
        return self._state(board, (0, 1))

    def legal(self, state: State) -> list[int]:
        """The cells marked as playable; none when the game is over."""
        return [cell for cell in range(self.num_cells) if state.cells[cell] == self.playable]

    def play(self, state: State, action: int) -> State:
        """Put the mover's disc on cell `action` and turn discs; ValueError if it turns none."""
        require_legal(self, state, action)
        mover = state.player
        board = [self.empty if digit == self.playable else digit for digit in state.cells]
        for cell in [action, *self._turned(board, action, mover)]:
            board[cell] = mover
        return self._state(board, (1 - mover, mover))

    def _state(self, board: list[int], turn_order: tuple[int, int]) -> State:
        """The state in which the first of `turn_order` who can move is to move."""
        for player in turn_order:
            moves = [
                cell
                for cell, digit in enumerate(board)
                if digit == self.empty and self._turned(board, cell, player)
            ]
            if moves:
                for cell in moves:
                    board[cell] = self.playable
                return State(tuple(board), player, False, (0.0, 0.0))
        black, white = board.count(0), board.count(1)
        black_result = (black > white) - (black < white)
        rewards = float(black_result), float(-black_result)
        return State(tuple(board), turn_order[0], True, rewards)

    def _turned(self, board: list[int], cell: int, player: int) -> list[int]:
        """The opponent's discs between `cell` and the next disc of `player`, in all directions."""
        turned = []
        for down, right in self.directions:
            row, column = divmod(cell, self.size)
            enclosed = []
            while True:
                row, column = row + down, column + right
                if not (0 <= row < self.size and 0 <= column < self.size):
                    break
                other = self.size * row + column
                if board[other] == player:
                    turned += enclosed
                if board[other] != 1 - player:
                    break
                enclosed.append(other)
        return turned


Spawn = tuple[int, int]
"""The cell of a new tile and its exponent: 1 for a tile of 2, 2 for a tile of 4."""


class TileState(NamedTuple):
    """A position of 2048, before or after the new tile; has all that a `State` has.

    `tiles`: exponents without a limit, 0 = empty. `score`: sum of the values of merged tiles.
    """

    tiles: Cells
    score: int
    terminal: bool

    @property
    def cells(self) -> Cells:
        """The digits that index tables: a tile above 2**14 reads as 2**14."""
        return tuple(min(exponent, Game2048.num_cell_values - 1) for exponent in self.tiles)

    @property
    def player(self) -> int:
        """The only player."""
        return 0

    @property
    def rewards(self) -> tuple[float, ...]:
        """The score as a share of a bound on all scores."""
        return (self.score / Game2048.score_bound,)


class Game2048:
    """Slide tiles to merge equal ones; row-major cells, action 0 left, 1 up, 2 right, 3 down.

    `initial` is the empty board, `place` puts the two start tiles there. A move is `afterstate`,
    the slide, and then `place`, the new tile; `draw_spawn` draws one. The game has 4 x 4 cells; a
    smaller `size` makes games that can be followed by hand.
    """

    num_players = 1
    num_actions = 4
    num_cell_values = 15
    # A perfect game ends 56 points below; learning rates and TC-Init are published for this unit.
    score_bound = 3_932_156

    def __init__(self, size: int = 4) -> None:
        self.num_cells = size * size
        rows = np.arange(self.num_cells).reshape(size, size)
        # The cells of each line, from the side towards which an action slides them.
        self.lines = [lines.tolist() for lines in (rows, rows.T, rows[:, ::-1], rows.T[:, ::-1])]

    def initial(self) -> TileState:
        """The empty board, which still waits for its two start tiles."""
        return TileState((0,) * self.num_cells, 0, False)

    def legal(self, state: TileState) -> list[int]:
        """The actions that move or merge a tile."""
        return [a for a in range(self.num_actions) if self._slide(state, a)[0] != state.tiles]

    def afterstate(self, state: TileState, action: int) -> TileState:
        """Slide all tiles; ValueError if that changes nothing. Some cell is empty afterwards."""
        require_legal(self, state, action)
        tiles, gain = self._slide(state, action)
        return TileState(tiles, state.score + gain, False)

    def place(self, state: TileState, cell: int, exponent: int) -> TileState:
        """Add a tile; the game is over if no move is left. ValueError if there cannot be one."""
        empty = [place for place, tile in enumerate(state.tiles) if tile == 0]
        if cell not in empty or exponent not in (1, 2):
            raise ValueError(f"no tile 2**{exponent} can appear on cell {cell} of {state}")
        placed = state._replace(tiles=(*state.tiles[:cell], exponent, *state.tiles[cell + 1 :]))
        return placed._replace(terminal=not self.legal(placed))

    def draw_spawn(self, state: TileState, rng: np.random.Generator) -> Spawn:
        """A uniformly drawn empty cell, and a 2 with probability 0.9 or else a 4."""
        cell = int(rng.choice([cell for cell, tile in enumerate(state.tiles) if tile == 0]))
        return cell, 1 if rng.random() < 0.9 else 2

    def _slide(self, state: TileState, action: int) -> tuple[Cells, int]:
        """The tiles after sliding them, and the sum of the values of merged tiles."""
        tiles = list(state.tiles)
        gain = 0
        for line in self.lines[action]:
            waiting = [tiles[cell] for cell in line if tiles[cell] != 0]
            for cell in line:
                tiles[cell] = waiting.pop(0) if waiting else 0
                if waiting and waiting[0] == tiles[cell]:
                    tiles[cell] = waiting.pop(0) + 1
                    gain += 2 ** tiles[cell]
        return tuple(tiles), gain


@symmetries.register
def _(game: Hex) -> np.ndarray:
    identity = np.arange(game.num_cells)
    return np.array([identity, identity[::-1]])


@symmetries.register(Othello)
@symmetries.register(Game2048)
def _(game: Othello | Game2048) -> np.ndarray:
    return square_symmetries(game.num_cells)
