"""Othello: the squares from the top left, X for black, O for white, - for empty, then the side.

The start is `---------------------------OX------XO--------------------------- X`, as Edax and the
collections of end positions write it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from jaxgbg.games.notations.core import Grid, Notation, cells_of, no_more, side_of, start_of
from jaxgbg.games.othello import Othello
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.types import PyTree

_LETTERS = {"X": 0, "O": 1, "-": 2, ".": 2, "_": 2, "B": 0, "*": 0, "W": 1}
_SIDES = {"X": 0, "O": 1, "B": 0, "*": 0, "W": 1}


def othello(game: Othello) -> Notation:
    grid = Grid(game.size, game.size, _LETTERS, empty=2, joined=True)

    def write(state: PyTree) -> str:
        board = cells_of(game, state).reshape(game.size, game.size)
        return f"{grid.write(np.minimum(board, 2))} {'XO'[int(state.player)]}"

    def read(text: str) -> PyTree:
        board, fields = grid.read(text.rstrip("; \n\t"))
        if not fields:
            raise ValueError("the side to move, X or O, is missing after the board")
        no_more(fields[1:])
        player = side_of(fields[0], _SIDES)
        _check(game, board, player)
        state = _state(game, board, player)
        if not state.terminal and not state.moves.any():
            raise ValueError(
                f"{game.sides[player]} cannot move: it is the turn of {game.sides[1 - player]}"
            )
        return state

    return Notation(write(start_of(game)), write, read, board=grid.board_text("XO"))


def _check(game: Othello, board: np.ndarray, player: int) -> None:
    """Raise ValueError for a board that no game leads to, as far as that is easily seen."""
    lower = game.size // 2
    taken = board < 2
    if not taken[lower - 1 : lower + 1, lower - 1 : lower + 1].all():
        raise ValueError("the four squares in the middle have discs in every game")
    reached = np.zeros_like(taken)
    reached[lower, lower] = True
    for _ in range(game.num_cells):
        padded = np.pad(reached, 1)
        near = [
            padded[1 + down : 1 + down + game.size, 1 + right : 1 + right + game.size]
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        ]
        reached = np.any(near, axis=0) & taken
    if (apart := taken & ~reached).any():
        row, column = (int(at) for at in np.argwhere(apart)[0])
        raise ValueError(
            f"row {row + 1}, column {column + 1}: a disc that touches no chain of discs from the"
            " middle"
        )
    start = start_of(game)
    begun = cells_of(game, start).reshape(game.size, game.size)
    if taken.sum() == 4 and (player or (np.minimum(begun, 2) != board).any()):
        raise ValueError("with four discs a game is at its start, with black to move")


def _state(game: Othello, board: np.ndarray, player: int) -> PyTree:
    """The state; without moves, and not terminal, if only the other player can move."""
    discs = np.stack([game._words(board.ravel() == side) for side in (0, 1)])
    counts = [int((board == side).sum()) for side in (0, 1)]
    moves, replies = (
        np.asarray(_moves(game, *sides))
        for sides in ((discs[player], discs[1 - player]), (discs[1 - player], discs[player]))
    )
    terminal = not moves.any() and not replies.any()
    lead = np.float32(np.sign(counts[0] - counts[1]) if terminal else 0)
    rewards = np.array([lead, 0 - lead], np.float32)
    return start_of(game)._replace(
        discs=discs,
        moves=moves,
        player=np.int8(player),
        terminal=np.bool_(terminal),
        rewards=rewards,
    )


@partial(jit, static_argnums=0)
def _moves(game: Othello, own: jax.Array, other: jax.Array) -> jax.Array:
    """The words uint32[2] of the squares where the player of `own` may put a disc."""
    return jnp.stack(game._mobility((own[0], own[1]), (other[0], other[1])))
