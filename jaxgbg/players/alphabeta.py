"""Perfect ConnectFour opponents on the solver bitbully, an optional extra.

The solver scores every column of a position for the player to move. It is asked through its public
classes only, and only when a position is new: scores are kept for the life of the process and
shared by all players.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from types import ModuleType
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import ConnectFour, Game
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players.core import History, MissingExtra, PlayerBase
from jaxgbg.types import State

ILLEGAL = -128
"""Score of a column where no stone can go."""

_COLUMNS, _ROWS = 7, 6
_ROW_BITS = 1 << np.arange(_ROWS)
_COLUMN_PLACES = 128 ** np.arange(_COLUMNS)


class AlphaBeta(PlayerBase):
    """Perfect ConnectFour, without ("ab") or with ("ab-dl") an eye for distance.

    "ab" plays uniformly among the moves of the best outcome: any winning move, however slow, else
    any drawing move, else, when lost, any legal move. "ab-dl" plays uniformly among the moves of
    the best exact score: the fastest win, else a draw, else the most distant loss. "ab" is the
    opponent AB of the General Board Game framework (GBG, Konen 2019) on another solver; GBG's AB-DL
    is not exact, see GBGAlphaBeta.

    Raises MissingExtra where bitbully is not installed. Runs on the host, outside `jit`.
    """

    def __init__(self, distant_losses: bool = False) -> None:
        _import_bitbully()
        self.distant_losses = distant_losses

    @property
    def name(self) -> str:
        return "ab-dl" if self.distant_losses else "ab"

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """ConnectFour states[B] -> int32[B]; a terminal state gives 0."""
        best = self.best_actions(cast(ConnectFourState, states))
        return choose_uniformly(jnp.asarray(best), key)

    def best_actions(self, states: ConnectFourState) -> np.ndarray:
        """ConnectFour states[B] -> bool[B, 7]: the columns that `act` chooses from."""
        scores = self.scores(states)
        legal = scores != ILLEGAL
        grades = np.where(legal, self._grades(scores, states), np.iinfo(np.int32).min)
        return legal & (grades == grades.max(axis=1, keepdims=True))

    def _grades(self, scores: np.ndarray, states: ConnectFourState) -> np.ndarray:
        """The grades of the columns; the player chooses among those with the best grade."""
        return scores if self.distant_losses else np.sign(scores)

    def scores(self, states: ConnectFourState) -> np.ndarray:
        """ConnectFour states[B] -> int32[B, 7]: exact scores of the columns for the mover.

        0 is a draw; k > 0 a win with the k-th last of the winner's 21 stones, so that a larger k
        is a sooner win, and -k the same for a loss. A full column, and every column of a terminal
        state, is ILLEGAL.
        """
        digits = _column_digits(states)
        codes, mirrored = digits @ _COLUMN_PLACES, digits[:, ::-1] @ _COLUMN_PLACES
        rows = [_column_scores(code) for code in np.minimum(codes, mirrored).tolist()]
        scores = np.frombuffer(b"".join(rows), np.int8).reshape(-1, _COLUMNS).astype(np.int32)
        scores = np.where((mirrored < codes)[:, None], scores[:, ::-1], scores)
        return np.where(np.asarray(states.terminal)[:, None], np.int32(ILLEGAL), scores)


class GBGAlphaBeta(AlphaBeta):
    """GBG's opponent AB-DL ("ab-dl-gbg"), which delays its losses, but not always and not exactly.

    Source: AlphaBetaAgent.java of GBG with the settings of EvaluatorC4.java, early in 2020. It
    scores in its own way (`scores_of_gbg`) and plays uniformly among the moves of the best score.
    Where its scores depend on the order of its search and on what its hash tables keep of earlier
    moves, their distances are here the exact ones, and a forced win that takes two more moves of
    the winner counts as seen at once, as GBG sees most of them.
    """

    @property
    def name(self) -> str:
        return "ab-dl-gbg"

    def _grades(self, scores: np.ndarray, states: ConnectFourState) -> np.ndarray:
        placed = np.bitwise_count(np.asarray(states.stones)).sum((1, 2), dtype=np.int32)
        return scores_of_gbg(scores, placed[:, None])


def scores_of_gbg(scores: np.ndarray, placed: np.ndarray) -> np.ndarray:
    """Exact scores of moves on boards of `placed` stones -> what GBG's AB-DL gives them.

    - 1001 where this move or the next one ends the game, less than for a win or loss soon after.
    - 1020 - d for one that is seen d < 14 plies after the move.
    - 1000 - n // 20 for a later one, n the stones on the board before the last one; n counts as 0
      where that takes the last cell.
    - Up to 8 stones, the move's own included: 992 for all but what is seen by then, from a book
      without distances. Up to 12 stones in the same way, from a book with distances.
    """
    stones = placed + 1
    first_wins = (scores > 0) == (placed % 2 == 0)
    last = 2 * (22 - abs(scores)) - first_wins
    distance = last - stones
    seen = np.maximum(distance - 3, 1 + distance % 2)
    # On a board that is in the book GBG looks for an immediate win first, for all others later.
    in_book = stones + seen + (distance > 3) > np.where(stones <= 8, 8, 12)
    sizes = np.select(
        [distance <= 1, in_book & (stones <= 8), in_book & (stones <= 12), seen < 14],
        [1001, 992, 113 - last, 1020 - seen],
        1000 - np.where(last < 42, (last - 1) // 20, 0),
    )
    return np.sign(scores) * sizes


@partial(jax.jit, static_argnums=0)
def _batched_cells(game: Game, states: ConnectFourState) -> jax.Array:
    return jax.vmap(game.cells)(states)


def _column_digits(states: ConnectFourState) -> np.ndarray:
    """int64[B, 7] in 0..126: the stones of a column, plus those of the player to move.

    Stones are bits, so h of them are 2**h - 1, and the sum names the whole column: it lies in
    2**h - 1 .. 2**(h + 1) - 2. An empty board stands in for a terminal state.
    """
    game = ConnectFour()
    cells = np.asarray(_batched_cells(game, states)).reshape(-1, _COLUMNS, _ROWS)
    player, terminal = np.asarray(states.player), np.asarray(states.terminal)
    own = cells == 1 + player[:, None, None]
    occupied = (cells == 1) | (cells == 2)
    return (occupied.astype(np.int64) + own) @ _ROW_BITS * ~terminal[:, None]


def _stones(code: int) -> list[list[int]]:
    """Undo the code: 7 columns of 6 cells from the bottom, 0 empty, 1 first player, 2 second."""
    digits = [code // place % 128 for place in _COLUMN_PLACES.tolist()]
    heights = [(digit + 1).bit_length() - 1 for digit in digits]
    own, other = (2, 1) if sum(heights) % 2 else (1, 2)
    return [
        [(own if (digit + 1 >> row) & 1 else other) for row in range(height)]
        + [0] * (_ROWS - height)
        for digit, height in zip(digits, heights, strict=True)
    ]


@lru_cache(maxsize=1 << 19)
def _column_scores(code: int) -> bytes:
    """Seven int8: the scores of one position that is not over."""
    import bitbully

    scores = np.full(_COLUMNS, ILLEGAL, np.int8)
    for column, score in _solver().score_all_moves(bitbully.Board(_stones(code))).items():
        scores[column] = score
    return scores.tobytes()


def ab(game: Game) -> AlphaBeta:
    """Perfect play that does not see how far off a win or loss is; raises ValueError."""
    return _build(game, AlphaBeta)


def ab_dl(game: Game) -> AlphaBeta:
    """Perfect play that prefers late losses; raises ValueError."""
    return _build(game, partial(AlphaBeta, True))


def ab_dl_gbg(game: Game) -> AlphaBeta:
    """As the opponent of that name in GBG; raises ValueError."""
    return _build(game, GBGAlphaBeta)


def _build(game: Game, player: Callable[[], AlphaBeta]) -> AlphaBeta:
    if not isinstance(game, ConnectFour):
        raise ValueError(f"alpha-beta plays connectfour only, not {game.name}")
    if game != ConnectFour():
        raise ValueError(f"alpha-beta does not support a draw after {game.draw_after} plies")
    return player()


def _import_bitbully() -> ModuleType:
    try:
        import bitbully
        import bitbully_databases  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "this opponent needs bitbully: pip install 'jaxgbg[connectfour]'"
        ) from error
    return bitbully


@lru_cache(maxsize=1)
def _solver() -> Any:
    """The one solver of this process, with its book of all 12-ply positions and distances."""
    return _import_bitbully().BitBully(opening_book="12-ply-dist")
