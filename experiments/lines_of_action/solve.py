"""Solves small boards of Lines of Action by retrograde analysis; endless play is a draw.

    python -m experiments.lines_of_action.solve

Writes the section "solved" of results.json: for each board the value of the start, the first moves
that keep it, and how many positions are won, lost and drawn for the player to move.
"""

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import Section, make_parser
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import LinesOfAction, bitboards

BOARDS = ((3, "draw"), (4, "draw"), (4, "mover"))
_CHUNK = 2**14
_PAIRS = 2**15


@dataclasses.dataclass(frozen=True)
class Solution:
    """Every position that play can reach, by number; the start is 0.

    `codes` int64[S], see `code`; `value` int8[S] for the player to move, `plies` int16[S] to the
    end under perfect play, 0 for a draw; `first` int64[S + 1] where the moves of each position
    begin among all `action` int32[E], which lead to position `leads_to` int32[E], or end the game
    (-1) and bring their player `gains` int8[E].
    """

    codes: np.ndarray
    value: np.ndarray
    plies: np.ndarray
    first: np.ndarray
    action: np.ndarray
    leads_to: np.ndarray
    gains: np.ndarray

    def moves(self, number: int) -> np.ndarray:
        """The legal actions of a position."""
        return self.action[self.first[number] : self.first[number + 1]]

    def keeping(self, number: int) -> np.ndarray:
        """The actions that keep the value of a position."""
        edges = slice(self.first[number], self.first[number + 1])
        return self.moves(number)[_worth(self, self.value)[edges] == self.value[number]]


def rules(size: int, both: str = "draw") -> LinesOfAction:
    """A board whose positions say all there is: no rule looks at the past but a second pass."""
    return LinesOfAction(size=size, both=both, repetition="none", max_plies=10_000)


def code(game: LinesOfAction, states: Any) -> np.ndarray:
    """int64[B]: the board in base 3, who moves, whether the last ply was a pass."""
    digits = np.asarray(jax.vmap(game.cells)(states), np.int64)
    board = digits @ 3 ** np.arange(game.num_cells, dtype=np.int64)
    return 4 * board + 2 * np.asarray(states.player) + np.asarray(states.passed)


def decode(game: LinesOfAction, codes: np.ndarray) -> Any:
    """The states[B] that have these codes."""
    digits = codes[:, None] // 4 // 3 ** np.arange(game.num_cells, dtype=np.int64) % 3
    boards = digits.reshape(-1, 1, game.size, game.size) == np.array([0, 1])[:, None, None]
    start = game.init(jax.random.key(0))
    states = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], len(codes), 0), start)
    return states._replace(
        stones=jnp.asarray(bitboards.words(boards)),
        player=jnp.asarray(codes // 2 % 2, jnp.int8),
        passed=jnp.asarray(codes % 2, bool),
    )


def solve(game: LinesOfAction) -> Solution:
    """All positions of a board of at most 4x4 squares; raises ValueError for a larger one."""
    if game.size > 4:
        raise ValueError(f"a board of size {game.size} has too many positions: at most 4")
    found = _explored(game)
    value = np.zeros(len(found.codes), np.int8)
    plies = np.zeros(len(value), np.int16)
    for ply in range(1, game.max_plies):
        best = np.maximum.reduceat(_worth(found, value), found.first[:-1])
        new = (value == 0) & (best != 0)
        if not new.any():
            return dataclasses.replace(found, value=value, plies=plies)
        value[new], plies[new] = best[new], ply
    raise AssertionError("no position is farther from the end than there are plies")


def _worth(found: Solution, value: np.ndarray) -> np.ndarray:
    """int8[E]: what every move brings its player, as far as it is known."""
    return np.where(found.leads_to < 0, found.gains, -value[found.leads_to])


def _explored(game: LinesOfAction) -> Solution:
    numbers = np.full(4 * 3**game.num_cells, -1, np.int32)
    start = jax.tree.map(lambda leaf: leaf[None], game.init(jax.random.key(0)))
    codes = [code(game, start)]
    numbers[codes[0]] = 0
    count, done = 1, 0
    moves: list[tuple[np.ndarray, ...]] = []
    while done < count:
        everything = np.concatenate(codes)
        codes = [everything]
        for at in range(done, count, _CHUNK):
            source, action, after, over, gain = _moves(game, everything[at : at + _CHUNK])
            fresh = np.unique(after[~over & (numbers[after] < 0)])
            numbers[fresh] = count + np.arange(len(fresh))
            codes.append(fresh)
            count += len(fresh)
            moves.append((at + source, action, np.where(over, -1, numbers[after]), gain))
        done = len(everything)
    source, action, leads_to, gains = map(np.concatenate, zip(*moves, strict=True))
    first = np.searchsorted(source, np.arange(count + 1))
    nothing = np.zeros(0)
    return Solution(np.concatenate(codes), nothing, nothing, first, action, leads_to, gains)


def _moves(game: LinesOfAction, codes: np.ndarray) -> tuple[np.ndarray, ...]:
    """(position, action, code after it, game over, the mover's gain) of every legal move."""
    filled = np.resize(codes, _CHUNK)
    states = decode(game, filled)
    legal = np.asarray(_legal(game, states))[: len(codes)]
    source, action = np.nonzero(legal)
    parts = []
    for at in range(0, len(source), _PAIRS):
        here = slice(at, at + _PAIRS)
        chosen = [np.resize(array[here], _PAIRS) for array in (source, action)]
        after = _after(game, states, *chosen)
        size = len(source[here])
        mover = np.asarray(states.player)[chosen[0]]
        gain = np.asarray(after.rewards)[np.arange(_PAIRS), mover].astype(np.int8)
        over = np.asarray(after.terminal)
        parts.append([array[:size] for array in (code(game, after), over, gain)])
    after, over, gain = (np.concatenate(each) for each in zip(*parts, strict=True))
    return source, action.astype(np.int32), after, over, gain


@partial(jax.jit, static_argnums=0)
def _legal(game: LinesOfAction, states: Any) -> jax.Array:
    return jax.vmap(game.legal_actions)(states)


@partial(jax.jit, static_argnums=0)
def _after(game: LinesOfAction, states: Any, source: jax.Array, action: jax.Array) -> Any:
    return jax.vmap(game.afterstate)(jax.tree.map(lambda leaf: leaf[source], states), action)


def summary(game: LinesOfAction) -> dict[str, Any]:
    """What is known of a solved board; positions that differ in a pass alone count once."""
    found = solve(game)
    _, first = np.unique(found.codes // 2, return_index=True)
    value = found.value[first]
    return {
        "size": game.size,
        "both": game.both,
        "value": int(found.value[0]),
        "plies": int(found.plies[0]),
        "keeping": [int(action) for action in found.keeping(0)],
        "positions": len(first),
        "won": int((value == 1).sum()),
        "lost": int((value == -1).sum()),
        "drawn": int((value == 0).sum()),
        "longest": int(found.plies.max()),
        "without_a_move": int((found.action[found.first[first]] == game.num_actions - 1).sum()),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    boards = [summary(rules(size, both)) for size, both in BOARDS]
    Section(options.results, "solved").write(boards)
    for board in boards:
        print(board)


if __name__ == "__main__":
    end_in_a_line(main)
