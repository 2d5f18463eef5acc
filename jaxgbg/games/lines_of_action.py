"""Lines of Action on 3x3 to 8x8 squares.

Sources of the rules: Sackson, "A Gamut of Games"; the rules of the Mind Sports Olympiad. Where
they leave a choice, it is a parameter.
"""

from __future__ import annotations

import dataclasses
from functools import reduce
from typing import NamedTuple

import numpy as np

from jaxgbg.games import bitboards, line_moves
from jaxgbg.games.bitboards import Board
from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.grids import grid_adjacency, grid_symmetries
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting
from jaxgbg.xla import materialize

_CONCENTRATION_UNITS = 10_000


class LinesOfActionState(NamedTuple):
    """`stones` uint32[2, 2]: the bitboard of each player. `plies` int16[], `passed` bool[]: whether
    the last ply was a pass.

    For "shuffle" alone: `trail` int8[2, 2], from and to of the last two plies, the last one last,
    -1 after a capture or a pass; `shuffles` int8[], how many plies running have taken back their
    player's last. For "threefold" and "board" alone: `history` uint32[max_plies + 1, 2, 2], the
    stones of all positions so far. What a rule does not need is None.
    """

    stones: jax.Array
    plies: jax.Array
    passed: jax.Array
    trail: jax.Array | None
    shuffles: jax.Array | None
    history: jax.Array | None
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class LinesOfAction(Game[LinesOfActionState]):
    """Move one stone along a line, as far as there are stones on it; connect all own stones to win.

    Stones jump own stones, not others, and capture where they land. Action = size**2 * direction
    + target, directions N NE E SE S SW W NW; the last action is to pass, legal where there is no
    other. Player 0 is black, on the top and bottom rows.

    `both`: the result of a move that connects both players, "draw" or a win of the "mover".
    `stuck`: a player who cannot move must "pass" (two passes in a row are a draw), or has a "loss".
    `repetition`: what counts as a repetition, which is a draw. "shuffle": `shuffle_limit` plies in
    a row each take back, without capture, their player's last one; "threefold": the same position
    and player to move for the third time; "board": the same stones for the second time; "none": no
    draw. After `max_plies` the game is a draw too. Digits: 0 black, 1 white, 2 empty.
    """

    size: int = setting(8, low=3, high=8)
    both: str = setting("draw", choices=("draw", "mover"))
    stuck: str = setting("pass", choices=("pass", "loss"))
    repetition: str = setting("shuffle", choices=("shuffle", "threefold", "board", "none"))
    shuffle_limit: int = setting(6, low=1, high=100)
    max_plies: int = setting(600, low=1, high=10_000)

    name = "lines_of_action"
    title = "Lines of Action"
    num_players = 2
    sides = ("black", "white")
    piece_digits = (0, 1)
    num_cell_values = 3
    extra_names = ("immobility", "freedom", "concentration", "cluster")

    @property
    def num_actions(self) -> int:
        return 8 * self.num_cells + 1

    @property
    def num_cells(self) -> int:
        return self.size**2

    @property
    def _stones_a_side(self) -> int:
        return 2 * (self.size - 2)

    @property
    def symmetries(self) -> np.ndarray:
        return grid_symmetries(self.size, self.size)

    @property
    def action_symmetries(self) -> np.ndarray:
        # Image j shows cell symmetries[j, i] at place i: the stone of cell c moves to its place.
        places = np.argsort(self.symmetries, axis=1)
        middle = self.size + 1
        neighbours = [middle + self.size * down + right for down, right in line_moves.STEPS]
        coordinates = np.stack(np.divmod(places, self.size), -1)
        turned = coordinates[:, neighbours] - coordinates[:, [middle]]
        direction = (turned[:, :, None] == np.array(line_moves.STEPS)).all(-1).argmax(-1)
        images = self.num_cells * direction[:, :, None] + places[:, None]
        passing = np.full((len(places), 1), self.num_actions - 1)
        return np.concatenate([images.reshape(len(places), -1), passing], 1).astype(np.int32)

    @property
    def seat_rotations(self) -> SeatRotations:
        views = self.player_views
        images = [(self.symmetries == view).all(1).argmax() for view in views]
        return rotations(
            self,
            cells=views,
            digits=exchanged(self.piece_digits, self.num_cell_values),
            actions=self.action_symmetries[images],
        )

    @property
    def player_views(self) -> np.ndarray:
        board = np.arange(self.num_cells, dtype=np.int32).reshape(self.size, self.size)
        return np.stack([board.ravel(), board.T.ravel()])

    @property
    def adjacency(self) -> np.ndarray:
        return grid_adjacency(self.size, self.size, diagonal=True)

    def init(self, key: jax.Array) -> LinesOfActionState:
        del key
        edge = np.zeros((self.size, self.size), bool)
        edge[[0, -1], 1:-1] = True
        stones = jnp.asarray(bitboards.words(np.stack([edge, edge.T])))
        shuffle, history = self.repetition == "shuffle", None
        if self.repetition in ("threefold", "board"):
            history = jnp.zeros((self.max_plies + 1, 2, 2), jnp.uint32).at[0].set(stones)
        return LinesOfActionState(
            stones=stones,
            plies=jnp.int16(0),
            passed=jnp.bool_(False),
            trail=jnp.full((2, 2), -1, jnp.int8) if shuffle else None,
            shuffles=jnp.int8(0) if shuffle else None,
            history=history,
            player=jnp.int8(0),
            terminal=jnp.bool_(False),
            rewards=jnp.zeros(2, jnp.float32),
        )

    def legal_actions(self, state: LinesOfActionState) -> jax.Array:
        own, enemy = line_moves.sides(state.stones, state.player)
        landing = line_moves.targets(own, enemy, line_moves.count_lines(own, enemy), self.size)
        targets = line_moves.by_square(landing, self.size).reshape(-1)
        passes = ~targets.any() & (self.stuck == "pass")
        return jnp.append(targets, passes) & ~state.terminal

    def moves(self, state: LinesOfActionState) -> tuple[jax.Array, jax.Array]:
        """(legal bool[8, C], target int32[8, C]): the moves of the stone on each square.

        For the player to move, in each direction; where none is legal the target means nothing.
        """
        own, enemy = line_moves.sides(state.stones, state.player)
        counts = line_moves.count_lines(own, enemy)
        landing = line_moves.targets(own, enemy, counts, self.size)
        starts = line_moves.origins(landing, counts, self.size)
        legal = line_moves.by_square(starts, self.size) & ~state.terminal
        step = np.array([self.size * down + right for down, right in line_moves.STEPS], np.int32)
        steps = line_moves.line_lengths(own, enemy, self.size)
        squares = jnp.arange(self.num_cells, dtype=jnp.int32)
        return legal, squares + steps * step[:, None]

    def afterstate(self, state: LinesOfActionState, action: jax.Array) -> LinesOfActionState:
        own, enemy = line_moves.sides(state.stones, state.player)
        passes = action == self.num_actions - 1
        number = jnp.clip(action, 0, self.num_actions - 2)
        origin, start, end, free = line_moves.move_of(own, enemy, number, self.size)
        # An attempt to pass where that is never allowed counts as a move that is not free.
        free &= ~passes
        if self.stuck == "pass":
            asked = passes & ~state.terminal
            free |= line_moves.cannot_move(self.size, state.stones, state.player, asked)
        legal = self.in_range(action) & ~state.terminal & free
        still = passes | ~legal
        start, end = (bitboards.unless(still, board) for board in (start, end))
        capture = line_moves.some(end, enemy)
        landed = materialize((own[0] & ~start[0]) | end[0], (own[1] & ~start[1]) | end[1])
        left = materialize(enemy[0] & ~end[0], enemy[1] & ~end[1])
        own, enemy = (landed[0], landed[1]), (left[0], left[1])
        first = state.player == 0
        stones = jnp.stack([*own, *enemy]).reshape(2, 2)
        moved = state._replace(
            stones=jnp.where(first, stones, stones[::-1]),
            plies=state.plies + jnp.int16(1),
            passed=passes,
            player=(1 - state.player).astype(jnp.int8),
        )
        square = jnp.stack([origin, number % self.num_cells])
        moved, drawn = self._remembered(moved, jnp.where(capture | passes, -1, square))
        drawn |= (passes & state.passed) | (moved.plies >= self.max_plies)
        lead, over = self._end(own, enemy, drawn)
        mine = jnp.where(first, lead, -lead)
        moved = moved._replace(terminal=over, rewards=jnp.stack([mine, -mine]))
        return keep_if(legal, moved, state)

    @property
    def most_altered(self) -> int:
        return 2

    def altered(self, state: LinesOfActionState, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        own, enemy = line_moves.sides(state.stones, state.player)
        number = jnp.clip(action, 0, self.num_actions - 2)
        origin, _, end, _ = line_moves.move_of(own, enemy, number, self.size)
        squares = jnp.stack([origin, number % self.num_cells])
        squares = jnp.where(action == self.num_actions - 1, -1, squares)
        mine, none = state.player.astype(jnp.int32), jnp.int32(2)
        there = jnp.where(line_moves.some(end, enemy), 1 - mine, none)
        return squares, jnp.stack([mine, none, there, mine]).reshape(2, 2)

    def _remembered(
        self, moved: LinesOfActionState, squares: jax.Array
    ) -> tuple[LinesOfActionState, jax.Array]:
        """The state with what its rule of repetition remembers, and whether that is a draw.

        `squares` int32[2]: from and to of the move, -1 where it cannot be taken back.
        """
        if moved.history is not None:
            plies = jnp.arange(self.max_plies + 1)
            same = (plies < moved.plies) & (moved.history == moved.stones).all((1, 2))
            often = 1
            if self.repetition == "threefold":
                # The player to move changes with every ply.
                same, often = same & ((plies - moved.plies) % 2 == 0), 2
            history = moved.history.at[moved.plies].set(moved.stones)
            return moved._replace(history=history), same.sum() >= often
        if moved.trail is None or moved.shuffles is None:
            return moved, jnp.bool_(False)
        squares = squares.astype(jnp.int8)
        back = (squares[0] >= 0) & (moved.trail[0] == squares[::-1]).all()
        shuffles = jnp.where(back, moved.shuffles + 1, 0).astype(jnp.int8)
        trail = jnp.stack([moved.trail[1], squares])
        return moved._replace(trail=trail, shuffles=shuffles), shuffles >= self.shuffle_limit

    def _end(self, own: Board, enemy: Board, drawn: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(the mover's reward float32[], game over bool[]) after its move."""
        steps = self._stones_a_side - 1
        mover, other = materialize(
            bitboards.connected(own, steps), bitboards.connected(enemy, steps)
        )
        wins = mover & ~other if self.both == "draw" else mover
        if self.stuck == "loss":
            counts = line_moves.count_lines(own, enemy)
            replies = line_moves.targets(enemy, own, counts, self.size)
            wins |= ~mover & ~other & ~line_moves.by_square(replies, self.size).any()
        lead = wins.astype(jnp.float32) - (other & ~mover).astype(jnp.float32)
        return lead, mover | other | wins | drawn

    def cells(self, state: LinesOfActionState) -> jax.Array:
        # Otherwise XLA repeats the move that led here for every square.
        (stones,) = materialize(state.stones)
        black, white = bitboards.squares(stones, self.size).reshape(2, -1)
        return (2 - 2 * black - white).astype(jnp.int8)

    @property
    def extra_scales(self) -> tuple[float, ...]:
        stones = self._stones_a_side
        return (stones, 8 * stones, _CONCENTRATION_UNITS, stones)

    def extras(self, state: LinesOfActionState) -> jax.Array:
        """int32[2, 4]: the meta-features of Sasso & van Lohuizen (2018), for each player to move.

        Stones that cannot move, moves, concentration, the largest group.
        """
        # As in `cells`.
        (stones,) = materialize(state.stones)
        sides = [line_moves.sides(stones, jnp.int8(player)) for player in (0, 1)]
        counts = line_moves.count_lines(*sides[0])
        players = [self._extras(own, enemy, counts) for own, enemy in sides]
        # Extra by extra, so that XLA removes unused ones.
        return jnp.stack([jnp.stack(both) for both in zip(*players, strict=True)], 1)

    def _extras(self, own: Board, enemy: Board, counts: line_moves.Counts) -> tuple[jax.Array, ...]:
        """The extras of one side, int32[] each."""
        landing = line_moves.targets(own, enemy, counts, self.size)
        starts = line_moves.origins(landing, counts, self.size)
        movable = bitboards.count(reduce(bitboards.union, starts))
        # Each square where stones may land is one move.
        freedom = sum(map(bitboards.count, landing), start=jnp.int32(0))
        number = bitboards.count(own)
        largest = bitboards.largest_group(own)
        least = jnp.where(number < 10, number - 1, 2 * number - 10)
        surplus = _distances(own, number)
        spread = number**2 + jnp.maximum(0, surplus - number * least)
        concentration = (2 * _CONCENTRATION_UNITS * number**2 + spread) // (2 * spread)
        return number - movable, freedom, concentration, largest


def _distances(stones: Board, number: jax.Array) -> jax.Array:
    """int32[]: king moves from all of `number` stones to their centre, in `number`-ths of one.

    In these units the centre of mass lies on whole numbers. The greater of |a| and |b| is half of
    |a + b| + |a - b|: what counts is on which diagonals the stones stand.
    """
    total = jnp.int32(0)
    for sign in (1, -1):
        on = [
            (line, bitboards.count((stones[0] & low, stones[1] & high)))
            for line, (low, high) in bitboards.diagonals(sign)
        ]
        centre = sum(line * there for line, there in on)
        total += sum(there * jnp.abs(number * line - centre) for line, there in on)
    return total // 2
