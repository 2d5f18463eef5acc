"""The moves of Lines of Action on bitboards: as far as there are stones on the line.

Directions are numbered N NE E SE S SW W NW; a direction modulo 4 is an axis. A move is named by its
direction and the square where it ends: all stones of a line are bound equally far, so that it can
have come from one square only.

What a tick asks for several times is a `jax.jit` of its own, so that it is traced once.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from jaxgbg.games import bitboards
from jaxgbg.games.bitboards import Board
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.xla import materialize

STEPS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
"""Of each direction, (rows down, columns right)."""
DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")

Counts = tuple[list[Board], ...]
"""For each axis how many stones stand on the lines, as `bitboards.line_counts` has them."""


def sides(stones: jax.Array, player: jax.Array) -> tuple[Board, Board]:
    """The boards of `player` int8[...] and of the other one, of stones uint32[..., 2, 2]."""
    first = player == 0
    black, white = ((stones[..., side, 0], stones[..., side, 1]) for side in (0, 1))
    own = jnp.where(first, black[0], white[0]), jnp.where(first, black[1], white[1])
    enemy = jnp.where(first, white[0], black[0]), jnp.where(first, white[1], black[1])
    return own, enemy


@jit
def count_lines(own: Board, enemy: Board) -> Counts:
    """The stones of both on all lines.

    Without `materialize`: what XLA repeats here costs less than the writing that would prevent it
    (legal actions 2.5 M/s on one core instead of 2.4 M/s, and compiled in two thirds of the time).
    """
    return bitboards.line_counts((own[0] | enemy[0], own[1] | enemy[1]))


@partial(jit, static_argnums=3)
def targets(own: Board, enemy: Board, counts: Counts, size: int) -> list[Board]:
    """The squares on which a stone of `own` may land, for each direction.

    All stones of a line set out together, so one is an obstacle to no other but where it stands.
    """
    board = bitboards.words(np.ones((size, size), bool))
    landing: list[Board] = []
    for direction, (down, right) in enumerate(STEPS):
        going = _nowhere(own)
        for steps in range(size - 1, 0, -1):
            bound = bitboards.of_count(counts[direction % 4], steps)
            going = (
                (going[0] & ~enemy[0]) | (own[0] & bound[0]),
                (going[1] & ~enemy[1]) | (own[1] & bound[1]),
            )
            going = bitboards.shift(going, down, right)
        landing.append((going[0] & ~own[0] & board[0], going[1] & ~own[1] & board[1]))
    return landing


@partial(jit, static_argnums=2)
def origins(landing: list[Board], counts: Counts, size: int) -> list[Board]:
    """The origins of the stones that may land on `landing`, for each direction."""
    starts: list[Board] = []
    for direction, (down, right) in enumerate(STEPS):
        back, ends = _nowhere(landing[0]), landing[direction]
        for steps in range(size - 1, 0, -1):
            bound = bitboards.of_count(counts[direction % 4], steps)
            back = back[0] | (ends[0] & bound[0]), back[1] | (ends[1] & bound[1])
            back = bitboards.shift(back, -down, -right)
        starts.append(back)
    return starts


def by_square(boards: list[Board], size: int) -> jax.Array:
    """bool[8, C]: the squares of one board for each direction."""
    (stacked,) = materialize(jnp.stack([word for board in boards for word in board]))
    return bitboards.squares(stacked.reshape(8, 2), size).reshape(8, -1) == 1


def move_of(
    own: Board, enemy: Board, number: jax.Array, size: int
) -> tuple[jax.Array, Board, Board, jax.Array]:
    """Move `number` int32[] = size**2 * direction + target, if there is one.

    Returns where it comes from as a square int32[] and as a board, where it goes as a board, and
    whether it is a move at all, bool[].
    """
    lines, ways = _tables(size)
    line = _row(lines, number)
    stones = own[0] | enemy[0], own[1] | enemy[1]
    steps = bitboards.count((stones[0] & line[0], stones[1] & line[1]))
    # As many steps as there are squares lead off the board, as none do.
    way = _row(ways, number * size + steps % size)
    start, between = (way[0], way[1]), (way[2], way[3])
    target = number % size**2
    bit = (8 * (target // size) + target % size).astype(jnp.uint32)
    single = jnp.uint32(1) << (bit % 32)
    end = jnp.where(bit < 32, single, 0), jnp.where(bit < 32, 0, single)
    free = some(start, own) & ~some(end, own) & ~some(between, enemy)
    return way[4].astype(jnp.int32), start, end, free


def line_lengths(own: Board, enemy: Board, size: int) -> jax.Array:
    """int32[8, C]: how far a stone on each square is bound in each direction."""
    lines, _ = _tables(size)
    stones = jnp.stack([own[0] | enemy[0], own[1] | enemy[1]])
    counts = jax.lax.population_count(stones & lines).sum(-1)
    return counts.astype(jnp.int32).reshape(8, size**2)


def some(board: Board, other: Board) -> jax.Array:
    """bool[...]: whether two boards share a stone."""
    return ((board[0] & other[0]) | (board[1] & other[1])) != 0


def cannot_move(size: int, stones: jax.Array, player: jax.Array, asked: jax.Array) -> jax.Array:
    """bool[...]: where `asked` bool[...], whether `player` int8[...] has no move.

    `stones` uint32[..., 2, 2]. If no state of a batch is asked, nothing is computed. That is
    the usual case: a player who can move rarely tries to pass.
    """
    return _stuck_test(size)(stones, player, asked)


@lru_cache(maxsize=8)
def _stuck_test(size: int):  # type: ignore[no-untyped-def]
    numbers = np.arange(8 * size**2, dtype=np.int32)

    @jax.jit
    def stuck(stones: jax.Array, player: jax.Array) -> jax.Array:
        # Move by move: slower than all lines at once (`targets`), which would be more code than
        # the rest of a move, compiled twice and seldom run.
        def one(stones: jax.Array, player: jax.Array) -> jax.Array:
            own, enemy = sides(stones, player)
            free = jax.vmap(lambda number: move_of(own, enemy, number, size)[3])(numbers)
            return ~free.any()

        each = jax.vmap(one)(stones.reshape(-1, 2, 2), player.reshape(-1))
        return each.reshape(player.shape)

    @jax.custom_batching.custom_vmap
    def test(stones: jax.Array, player: jax.Array, asked: jax.Array) -> jax.Array:
        return jax.lax.cond(
            asked.any(), lambda: asked & stuck(stones, player), lambda: jnp.zeros_like(asked)
        )

    @test.def_vmap
    def _(axis_size: int, in_batched: list[bool], *arrays: jax.Array) -> tuple[jax.Array, bool]:
        full = (
            array if batched else jnp.broadcast_to(array, (axis_size, *array.shape))
            for array, batched in zip(arrays, in_batched, strict=True)
        )
        return test(*full), True

    return test


def _nowhere(like: Board) -> Board:
    return jnp.zeros_like(like[0]), jnp.zeros_like(like[1])


def _row(table: np.ndarray, number: jax.Array) -> jax.Array:
    return jnp.asarray(table).at[number].get(mode="promise_in_bounds")


@lru_cache(maxsize=8)
def _tables(size: int) -> tuple[np.ndarray, np.ndarray]:
    """(lines uint32[8C, 2], ways uint32[8C * size, 5]) of every direction and target square.

    The line of the target; and for each number of steps the board of the square that they lead
    from, the board of the squares between, and that square's number; all 0 off the board.
    """
    rows, columns = np.divmod(np.arange(size**2), size)
    ahead, lines, ways = np.arange(-size, size), [], []
    for down, right in STEPS:
        for row, column in zip(rows, columns, strict=True):
            # The square itself is at `size` of the line.
            along = np.stack([row + ahead * down, column + ahead * right], -1)
            on = np.all((along >= 0) & (along < size), axis=-1)
            line = np.zeros((size, size), bool)
            line[tuple(along[on].T)] = True
            lines.append(line)
            for steps in range(size):
                start, between = np.zeros((2, size, size), bool)
                if steps and on[size - steps]:
                    start[tuple(along[size - steps])] = True
                    between[tuple(along[size - steps + 1 : size].T)] = True
                square = start.ravel().argmax()
                boards = bitboards.words(np.stack([start, between])).ravel()
                ways.append([*boards.tolist(), square])
    return bitboards.words(np.array(lines)), np.array(ways, np.uint32)
