"""Nim: the heaps and the number of the player to move, `3+5+1 2`."""

from __future__ import annotations

import numpy as np

from jaxgbg.games.nim import Nim
from jaxgbg.games.notations.core import Notation, cells_of, no_more, start_of
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import PyTree


def nim(game: Nim) -> Notation:
    def write(state: PyTree) -> str:
        heaps = "+".join(map(str, cells_of(game, state).tolist()))
        return f"{heaps} {int(state.player) + 1}"

    def read(text: str) -> PyTree:
        # Blanks may stand around each plus.
        words = text.replace("+", " + ").split()
        heaps: list[str] = []
        while words and (not heaps or words[0] == "+"):
            if heaps:
                words.pop(0)
            heaps.append(words.pop(0) if words else "")
        player = _number(words[0], "the player to move", 1, game.players) if words else None
        no_more(words[1:])
        if len(heaps) != game.heaps:
            raise ValueError(
                f"{pluralize(len(heaps), 'heap')}, and the game has {game.heaps}: write them as"
                f" {'+'.join([str(game.size)] * game.heaps)}"
            )
        left = [_number(word, f"heap {at + 1}", 0, game.size) for at, word in enumerate(heaps)]
        if player is None:
            raise ValueError(f"the player to move, 1 to {game.players}, is missing after the heaps")
        return _state(game, np.array(left, np.int8), player - 1)

    heaps = "+".join([str(game.size)] * game.heaps)
    return Notation(f"{heaps} 1", write, read)


def _state(game: Nim, left: np.ndarray, player: int) -> PyTree:
    """The state, by the last move that may have led there; raises ValueError if none did."""
    removed = game.size - left.astype(int)
    most = game.max_take or game.size
    fewest, plies = int((-(-removed // most)).sum()), int(removed.sum())
    if not any(number % game.players == player for number in range(fewest, plies + 1)):
        raise ValueError(
            f"player {player + 1} is not to move after {pluralize(plies, 'item')} taken, 1 to"
            f" {most} at a time"
        )
    start = start_of(game)
    if left.any():
        return start._replace(heaps=left, player=np.int8(player))
    before = start._replace(
        heaps=np.eye(game.heaps, dtype=np.int8)[0], player=np.int8((player - 1) % game.players)
    )
    after: PyTree = jax.device_get(game.afterstate(before, jnp.int32(0)))
    return after


def _number(word: str, what: str, low: int, high: int) -> int:
    if not (word.isdigit() and word.isascii() and len(word) < 10 and low <= int(word) <= high):
        raise ValueError(f"{what} is a number from {low} to {high}, not {shown(word)}")
    return int(word)
