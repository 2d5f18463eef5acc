"""2048: the tiles of each row, 0 for an empty cell, then the score, `2 4 8 16/0 0 2 4/... 1234`.

The word `afterstate` follows while the new tile is still to be placed.
"""

from __future__ import annotations

import re

import numpy as np

from jaxgbg.games.game2048 import LARGEST, MAX_SCORE, Game2048
from jaxgbg.games.notations.core import BoardText, Notation, no_more, start_of
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import PyTree

_AFTER = "afterstate"
_EXAMPLE = np.array([[1, 2, 3, 4], [0, 0, 1, 2], [0, 0, 0, 0], [0, 1, 0, 0]])


def game2048(game: Game2048) -> Notation:
    height, width = game.rows, game.columns

    def write(state: PyTree) -> str:
        board = _board(np.asarray(state.tiles, int).reshape(height, width))
        return f"{board} {int(state.score)}{f' {_AFTER}' if state.slid else ''}"

    def read(text: str) -> PyTree:
        rows = [row.split() for row in re.split(r"[/\n]", text.strip()) if row.strip()]
        if len(rows) < height:
            raise ValueError(f"{pluralize(len(rows), 'row')}, not {height} with a / between")
        last = height - 1
        fields = [*rows[last][width:], *(word for row in rows[height:] for word in row)]
        rows = [*rows[:last], rows[last][:width]]
        digits = [_row(at + 1, row, width) for at, row in enumerate(rows)]
        tiles = np.array(digits, np.int8).ravel()
        slid = fields[-1:] == [_AFTER]
        fields = fields[:-1] if slid else fields
        no_more(fields[1:])
        _check(tiles, slid)
        score = _score(tiles, fields[0] if fields else None)
        start = start_of(game)
        stuck = not np.asarray(game.movable(jnp.asarray(tiles))).any()
        return start._replace(
            tiles=tiles,
            score=np.float32(score),
            slid=np.bool_(slid),
            terminal=np.bool_(stuck and not slid),
            # Compiled as in training, where a quotient may differ in its last bit.
            rewards=np.asarray(_share(np.float32(score)))[None],
        )

    example = _EXAMPLE[:height, :width]
    contents = {0: "0"} | {exponent: str(2**exponent) for exponent in range(1, LARGEST + 1)}
    cells = np.arange(game.num_cells).reshape(height, width).tolist()
    board = BoardText(contents, cells, between=" ")
    return Notation(f"{_board(example)} {_score(example, None)}", write, read, board=board)


def _board(exponents: np.ndarray) -> str:
    """The tiles of int[rows, columns]."""
    tiles = np.where(exponents > 0, 2**exponents, 0)
    return "/".join(" ".join(map(str, row)) for row in tiles.tolist())


@jit
def _share(score: jax.Array) -> jax.Array:
    return score / MAX_SCORE


def _row(number: int, words: list[str], width: int) -> list[int]:
    """The exponents of a row."""
    if len(words) != width:
        tiles = pluralize(len(words), "tile")
        raise ValueError(f"row {number} has {tiles}, not {width}, 0 for empty")
    exponents = []
    for column, word in enumerate(words):
        tile = int(word) if word.isdigit() and word.isascii() and len(word) < 10 else -1
        exponent = tile.bit_length() - 1
        if word in (".", "-", "_") or tile == 0:
            exponent = 0
        elif tile < 2 or tile != 1 << exponent or exponent > LARGEST:
            raise ValueError(
                f"row {number}, column {column + 1}: {shown(word)} is no tile, which are 2, 4, 8 to"
                f" {2**LARGEST:,}, or 0 for an empty cell"
            )
        exponents.append(exponent)
    return exponents


def _check(tiles: np.ndarray, slid: bool) -> None:
    """Raise ValueError for tiles that no game has."""
    count = int((tiles > 0).sum())
    if slid and count in (0, tiles.size):
        most = tiles.size - 1
        raise ValueError(
            f"{pluralize(count, 'tile')} before the new one is placed, not 1 to {most}"
        )
    if not slid and count < 2:
        raise ValueError(f"{pluralize(count, 'tile')}, and there are at least 2 in every game")
    if not slid and not ((tiles == 1) | (tiles == 2)).any():
        raise ValueError("no tile is 2 or 4, as the last new one must be")


def _score(tiles: np.ndarray, word: str | None) -> int:
    """The score, by default that of tiles that all began as 2; raises ValueError."""
    # A tile 2**e that was made of tiles of 2 alone has paid (e - 1) * 2**e, of tiles of 4 alone
    # (e - 2) * 2**e, and for each tile of 4 in between it is 4 points less.
    exponents = tiles[tiles > 0].astype(int)
    high = int(((exponents - 1) * 2**exponents).sum())
    low = int((np.maximum(exponents - 2, 0) * 2**exponents).sum())
    if word is None:
        return high
    score = int(word) if word.isdigit() and word.isascii() and len(word) < 10 else -1
    if not low <= score <= high or score % 4:
        raise ValueError(
            f"the score of these tiles is a multiple of 4 from {low:,} to {high:,}, not"
            f" {shown(word)}"
        )
    return score
