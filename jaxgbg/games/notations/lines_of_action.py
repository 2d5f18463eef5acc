"""Lines of Action: rows from the top, the side, the plies so far, and what repetition remembers.

The start is `.BBBBBB./W......W/ ... /.BBBBBB. B 0 - - 0`: after the plies come the last two plies,
the last one last (`a1-a3`; `-` for a capture, `pass` for a pass), and how many plies running have
taken back their player's last. Squares are named as on the page. With `repetition` "none" only the
last ply follows, and its squares do not matter.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from jaxgbg.games import bitboards, line_moves
from jaxgbg.games.lines_of_action import LinesOfAction, LinesOfActionState
from jaxgbg.games.notations.core import Grid, Notation, cells_of, no_more, side_of, start_of
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.specs import shown
from jaxgbg.types import PyTree

_LETTERS = {"B": 0, "W": 1, ".": 2, "-": 2, "_": 2, "X": 0, "O": 1}
_SIDES = {"B": 0, "W": 1, "X": 0, "O": 1}
_PASS, _NONE = "pass", "-"


def lines_of_action(game: LinesOfAction) -> Notation | None:
    """None where the rules remember all positions so far."""
    if game.repetition in ("threefold", "board"):
        return None
    grid = Grid(game.size, game.size, _LETTERS, empty=2)

    def write(state: PyTree) -> str:
        board = cells_of(game, state).reshape(game.size, game.size)
        words = [grid.write(board), "BW"[int(state.player)], str(int(state.plies))]
        trail = np.full((2, 2), -1) if state.trail is None else np.asarray(state.trail)
        plies = [_ply(game, squares) for squares in trail]
        if state.passed:
            plies[1] = _PASS
            # Two passes end the game.
            fresh = _state(game, board, int(state.player), int(state.plies), True, trail, 0, False)
            twice = bool(state.terminal) and not jax.device_get(fresh).terminal
            plies[0] = _PASS if twice else plies[0]
        if state.shuffles is None:
            return " ".join([*words, *(plies if plies[0] == _PASS else plies[1:])])
        return " ".join([*words, *plies, str(int(state.shuffles))])

    def read(text: str) -> PyTree:
        board, fields = grid.read(text)
        if not fields:
            raise ValueError("the side to move, B or W, is missing after the board")
        player = side_of(fields[0], _SIDES)
        plies = _count("plies so far", fields[1:2], game.max_plies)
        if len(fields) < 2:
            plies = _fewest(game, board, player)
        shuffles, last = 0, fields[2:]
        if game.repetition == "shuffle" and len(last) > 1:
            shuffles, last = _count("plies taken back", last[2:3], game.shuffle_limit), last[:2]
            no_more(fields[5:])
        no_more(last[2:])
        last = [_NONE, _NONE, *last][-2:]
        if _PASS in last and game.stuck == "loss":
            raise ValueError("nobody passes: by stuck=loss, who cannot move has lost")
        trail = np.array([_squares(game, word) for word in last], np.int8)
        _check(game, board, player, plies)
        _check_last(game, board, player, trail, last)
        if shuffles:
            _check_shuffles(shuffles, plies, last)
        twice = last == [_PASS, _PASS]
        passed = last[1] == _PASS
        state: PyTree = jax.device_get(
            _state(game, board, player, plies, passed, trail, shuffles, twice)
        )
        if game.repetition == "none":
            state = state._replace(trail=None, shuffles=None)
        return state

    start = start_of(game)
    return Notation(write(start), write, read, board=grid.board_text("BW"))


def _state(
    game: LinesOfAction,
    board: np.ndarray,
    player: int,
    plies: int,
    passed: bool,
    trail: np.ndarray,
    shuffles: int,
    twice: bool,
) -> PyTree:
    """The state as after a move of the other player; `twice` says that both have passed."""
    stones = _stones(board)
    mover = 1 - player
    drawn = twice or plies >= game.max_plies or shuffles >= game.shuffle_limit
    lead, over = _end(game, stones, jnp.int8(mover), jnp.bool_(drawn))
    # Nobody has moved at the start.
    lead, over = (lead, over) if plies else (jnp.float32(0), jnp.bool_(False))
    mine = lead if mover == 0 else -lead
    return LinesOfActionState(
        stones=stones,
        plies=jnp.int16(plies),
        passed=jnp.bool_(passed),
        trail=jnp.asarray(trail, jnp.int8),
        shuffles=jnp.int8(shuffles),
        history=None,
        player=jnp.int8(player),
        terminal=over,
        rewards=jnp.stack([mine, -mine]).astype(jnp.float32),
    )


def _stones(board: np.ndarray) -> jax.Array:
    """uint32[2, 2]: the bitboards of int[size, size]."""
    return jnp.asarray(bitboards.words(np.stack([board == side for side in (0, 1)])))


@partial(jit, static_argnums=0)
def _end(
    game: LinesOfAction, stones: jax.Array, mover: jax.Array, drawn: jax.Array
) -> tuple[jax.Array, jax.Array]:
    return game._end(*line_moves.sides(stones, mover), drawn)


def _check(game: LinesOfAction, board: np.ndarray, player: int, plies: int) -> None:
    """Raise ValueError for stones and plies that no game has."""
    most = 2 * (game.size - 2)
    counts = [int((board == side).sum()) for side in (0, 1)]
    for name, count in zip(game.sides, counts, strict=True):
        if not 1 <= count <= most:
            raise ValueError(f"{name} has {count} stones, and 1 to {most} in every game")
    if plies % 2 != player:
        raise ValueError(f"after {plies} plies {game.sides[plies % 2]} is to move")
    lost = 2 * most - sum(counts)
    if lost > plies:
        raise ValueError(f"{lost} stones are captured, and {plies} plies cannot capture as many")
    if not plies and not _is_start(game, board):
        raise ValueError("with 0 plies the board is that of the start: write how many were played")


def _check_last(
    game: LinesOfAction, board: np.ndarray, player: int, trail: np.ndarray, words: list[str]
) -> None:
    """Raise ValueError if `player` and the other cannot have made the last two plies."""
    first, last = words
    _check_ply(game, board, 1 - player, trail[1], last, (1 - player,))
    before = board.ravel().copy()
    if trail[1, 0] >= 0:
        before[trail[1]] = 1 - player, 2
    # The last ply may have captured the stone that moved before.
    ends = (player, 1 - player) if last == _NONE else (player,)
    if first != _PASS or last == _PASS:
        _check_ply(game, before, player, trail[0], first, ends)


def _check_ply(
    game: LinesOfAction,
    board: np.ndarray,
    mover: int,
    squares: np.ndarray,
    word: str,
    ends: tuple[int, ...],
) -> None:
    """Raise ValueError if `mover` cannot have made a ply that leads to a board.

    `ends` are the digits of the square where its stone has landed.
    """
    side = game.sides[mover]
    if word == _PASS:
        stones = _stones(board.reshape(game.size, game.size))
        if not line_moves.cannot_move(game.size, stones, jnp.int8(mover), jnp.bool_(True)):
            raise ValueError(f"{side} has not just passed: it can move")
    elif squares[0] >= 0:
        start, end = (int(board.ravel()[square]) for square in squares)
        if start != 2 or end not in ends:
            raise ValueError(
                f"{side} has not just moved {word}: its stone must be on the second square, and the"
                " first must be empty"
            )


def _check_shuffles(shuffles: int, plies: int, words: list[str]) -> None:
    """Raise ValueError if so many plies in a row cannot have taken back their player's last one."""
    if shuffles > plies - 2:
        raise ValueError(f"{plies} plies cannot have taken back {shuffles}")
    unknown = [word for word in words[-min(shuffles, 2) :] if word in (_NONE, _PASS)]
    if unknown:
        raise ValueError(
            f"{shuffles} plies in a row took one back: write the last two, not {shown(unknown[0])}"
        )


def _is_start(game: LinesOfAction, board: np.ndarray) -> bool:
    start = start_of(game)
    return bool((cells_of(game, start).reshape(board.shape) == board).all())


def _fewest(game: LinesOfAction, board: np.ndarray, player: int) -> int:
    """The smallest number of plies after which the stones may lie so."""
    if player == 0 and _is_start(game, board):
        return 0
    lost = max(1, 4 * (game.size - 2) - int((board < 2).sum()))
    return lost + (lost % 2 != player)


def _count(what: str, words: list[str], most: int) -> int:
    if not words:
        return 0
    word = words[0]
    if not (word.isdigit() and word.isascii() and len(word) < 10 and int(word) <= most):
        raise ValueError(f"the number of {what} is 0 to {most:,}, not {shown(word)}")
    return int(word)


def _square(game: LinesOfAction, square: int) -> str:
    row, column = divmod(square, game.size)
    return f"{chr(ord('a') + column)}{game.size - row}"


def _ply(game: LinesOfAction, squares: np.ndarray) -> str:
    if squares[0] < 0:
        return _NONE
    return "-".join(_square(game, int(square)) for square in squares)


def _squares(game: LinesOfAction, word: str) -> list[int]:
    """From and to of a ply, -1 if it cannot be taken back."""
    if word in (_NONE, _PASS):
        return [-1, -1]
    names = {_square(game, square): square for square in range(game.num_cells)}
    start, _, end = word.lower().partition("-")
    if start not in names or end not in names:
        raise ValueError(f"a ply is two squares such as a1-a3, - or pass, not {shown(word)}")
    return [names[start], names[end]]
