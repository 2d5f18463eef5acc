"""Games in the language of Ludax (Todd et al. 2025): its own, `ludax:yavalath`, and those in a
file, `ludax:mine.ldx`.

A cell of ours is a cell of its board: digit 0 where it is empty, else 1 + 2 * the kind of the piece
+ its player. Scores, phases and what a rule remembers of the last moves are left out.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from importlib import resources

import numpy as np

from jaxgbg.contents import read_bytes, reason
from jaxgbg.games.borrowed import Borrowed, BorrowedState, borrow, import_package
from jaxgbg.lazy import jax, jnp

# Where nothing is ever taken off the board there are no more plies than cells; Ludax itself ends a
# game in the 2001st ply.
_LONGEST = 2001
_FILLED = (
    "connect_four",
    "connect_six",
    "gomoku",
    "hex",
    "tic_tac_toe",
    "yavalath",
    "yavalax",
)
_OTHERS = (
    "dai_hasami_shogi",
    "english_draughts",
    "english_draughts_hex",
    "hasami_shogi",
    "hop_through",
    "pente",
    "reversi",
    "wolf_and_sheep",
)
LUDAX_GAMES = tuple(sorted((*_FILLED, *_OTHERS)))
"""What may follow "ludax:" in a game's name, in addition to the path of a file."""
SUFFIX = ".ldx"
_MOST_BYTES = 2**20


@cache
def ludax_game(title: str) -> type[Borrowed]:
    """The class of `ludax:title`; raises ValueError, in one line, for what cannot be had."""
    name = f"ludax:{title}"
    own = title.endswith(SUFFIX)
    if title not in LUDAX_GAMES and not own:
        raise ValueError(f"unknown game {name!r}: ludax has {', '.join(LUDAX_GAMES)}")
    text = _text_of(title) if own else ""
    package = import_package("ludax", name)
    if not own:
        text = (resources.files("ludax") / "games" / f"{title}.ldx").read_text(encoding="utf-8")
    try:
        environment = package.LudaxEnvironment(game_str=text)
    except Exception as error:
        # Its parser and its compiler raise errors of many kinds.
        if not own:
            raise
        line = " ".join(str(error).split())[:200]
        raise ValueError(f"{name}: not a game of Ludax: {type(error).__name__}: {line}") from error
    told = environment.game_info
    squares = tuple(told.board_dims) if told.board_shape != "hexagon_shape" else None
    return borrow(
        LudaxGame,
        name,
        environment,
        board=squares,
        num_cells=int(environment.board_size),
        digit_owners=(-1, *(0, 1) * int(environment.num_piece_types)),
        num_cell_values=1 + 2 * int(environment.num_piece_types),
        max_plies=int(environment.board_size) if title in _FILLED else _LONGEST,
    )


def _text_of(path: str) -> str:
    """The rules in a file; raises ValueError, in one line, if it cannot be read."""
    try:
        return read_bytes(path, _MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"ludax:{path}: {reason(error)}") from error


@dataclasses.dataclass(frozen=True)
class LudaxGame(Borrowed):
    """A game of Ludax; player 0 is its P1."""

    def cells(self, state: BorrowedState) -> jax.Array:
        board = state.inner.game_state.board.astype(jnp.int32)
        kinds = np.arange(board.shape[0])[:, None]
        return jnp.where(board >= 0, 1 + 2 * kinds + board, 0).sum(0).astype(jnp.int8)
