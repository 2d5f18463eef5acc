"""The parts of a notation of positions, and helpers that several games share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import PyTree, State
from jaxgbg.xla import fast_compile_options


class BoardText(NamedTuple):
    """How a notation writes a board of which every cell is known, for pages that set up positions.

    `contents` are the words of a cell by its digit of `Game.display_cells`, the empty cell first.
    `rows` are the cells of each row, from the top; rows are separated by a slash, cells by
    `between`. `sides` are the words of the players to move, empty if the board determines them.
    """

    contents: Mapping[int, str]
    rows: Sequence[Sequence[int]]
    between: str = ""
    sides: Sequence[str] = ()


class Notation(NamedTuple):
    """How one game writes and reads its positions: `example` is the start, or a typical position.

    `write(state)` returns one line without semicolons. `read(text)` returns the state, as arrays of
    NumPy, with every field as the rules would have it. It raises ValueError for a text that is no
    position of the game, with what is wrong and where. `numbers` says that digits alone may be a
    position, if they are the number of no action. With `board`, the play page sets positions up by
    clicks on cells.
    """

    example: str
    write: Callable[[PyTree], str]
    read: Callable[[str], PyTree]
    numbers: bool = False
    board: BoardText | None = None


@cache
def start_of(game: Game) -> PyTree:
    """The start position, as arrays of NumPy; where it is random, one that no words draw."""
    begin = jax.jit(game.init_from, compiler_options=fast_compile_options())
    return jax.device_get(begin(np.zeros(game.init_words, np.uint32)))


def cells_of(game: Game, state: PyTree) -> np.ndarray:
    """int8[C]: the board of one state."""
    return np.asarray(_cells(game, state))


@partial(jit, static_argnums=0)
def _cells(game: Game, state: PyTree) -> jax.Array:
    return game.cells(state)


class Grid(NamedTuple):
    """A board of `rows` x `columns` cells in letters, from top left: `letters` to digits.

    The first letter of a digit is the one that is written, upper case and lower case are read
    alike. `empty` is the digit of an empty cell, of which a number stands for so many in a row.
    `joined` boards are written without a slash after each row.
    """

    rows: int
    columns: int
    letters: Mapping[str, int]
    empty: int
    joined: bool = False

    def write(self, digits: np.ndarray) -> str:
        """The text of int[rows, columns]."""
        letter = {digit: letter for letter, digit in reversed(list(self.letters.items()))}
        rows = ["".join(letter[int(digit)] for digit in row) for row in digits]
        return ("" if self.joined else "/").join(rows)

    def board_text(
        self, sides: Sequence[str] = (), rows: Sequence[Sequence[int]] | None = None
    ) -> BoardText:
        """The board as pages write it; its cells go row by row from the top, or as in `rows`."""
        letters = {digit: letter for letter, digit in reversed(list(self.letters.items()))}
        contents = {self.empty: letters.pop(self.empty)} | dict(reversed(list(letters.items())))
        whole = np.arange(self.rows * self.columns).reshape(self.rows, self.columns).tolist()
        return BoardText(contents, rows or whole, sides=sides)

    def read(self, text: str) -> tuple[np.ndarray, list[str]]:
        """(digits int8[rows, columns], the words after the board); raises ValueError."""
        words = [word for word in re.split(r"[\s/]+", text) if word]
        cells = self.rows * self.columns
        if len(words) >= cells and all(len(word) == 1 for word in words[:cells]):
            words = ["".join(words[:cells]), *words[cells:]]
        rows, fields = words[: self.rows], words[self.rows :]
        if words and len(whole := self._spread(words[0])) == cells and self.rows > 1:
            rows = [whole[at : at + self.columns] for at in range(0, cells, self.columns)]
            fields = words[1:]
        if len(rows) < self.rows:
            raise ValueError(
                f"{pluralize(len(rows), 'row')}, and the board has {self.rows} with a / between"
            )
        return np.array([self._row(at + 1, row) for at, row in enumerate(rows)], np.int8), fields

    def _spread(self, row: str) -> str:
        """A row with a letter for each cell."""
        letter = next(letter for letter, digit in self.letters.items() if digit == self.empty)
        # No board has more columns; a longer number is left as it is, and is no letter.
        return re.sub(r"(?<!\d)\d{1,2}(?!\d)", lambda many: letter * int(many[0]), row.upper())

    def _row(self, number: int, row: str) -> list[int]:
        spread = self._spread(row)
        for letter in spread:
            if letter not in self.letters:
                known = " ".join(dict.fromkeys(self.letters))
                raise ValueError(f"row {number}: {shown(letter)} is not one of {known}")
        if len(spread) != self.columns:
            raise ValueError(
                f"row {number} has {pluralize(len(spread), 'cell')}, not {self.columns}"
                f" ({shown(row)})"
            )
        return [self.letters[letter] for letter in spread]


def side_of(word: str, sides: Mapping[str, int]) -> int:
    """The player that a letter names; raises ValueError."""
    if word.upper() not in sides:
        letters = dict.fromkeys(sides)
        raise ValueError(f"the side to move is one of {' '.join(letters)}, not {shown(word)}")
    return sides[word.upper()]


def no_more(fields: Sequence[str]) -> None:
    """Raise ValueError if words are left."""
    if fields:
        raise ValueError(f"nothing follows here: {shown(' '.join(fields))}")


def side_by_count(
    names: Sequence[str], counts: Sequence[int], field: str | None, sides: Mapping[str, int]
) -> int:
    """The player to move, where two players place one stone each in turn, `names` of their stones.

    `field` is the letter that the text has for it, if any. Raises ValueError for counts that no
    game has, and for another player.
    """
    first, second = counts
    if first - second not in (0, 1):
        raise ValueError(
            f"{first} {names[0]} and {second} {names[1]}: {names[0]} moves first, so has as many as"
            f" {names[1]} or one more"
        )
    mover = first - second
    if field is not None and side_of(field, sides) != mover:
        raise ValueError(
            f"{names[mover]} is to move with {first} {names[0]} and {second} {names[1]}, not"
            f" {names[1 - mover]}"
        )
    return mover


def placed(game: Game, orders: np.ndarray) -> PyTree | None:
    """The state after the first of several lists of moves int[K, T] that the rules allow.

    None if they allow none: an illegal move, or a move after the end.
    """
    room = np.full((len(orders), game.max_plies), -1, np.int32)
    room[:, : orders.shape[1]] = orders
    fine, states = jax.device_get(_replay()(game, room))
    if not fine.any():
        return None
    first: int = int(fine.argmax())
    return jax.tree.map(lambda leaf: leaf[first], states)


@cache
def _replay() -> Callable[..., tuple[jax.Array, State]]:
    return jax.jit(_all, static_argnums=0, compiler_options=fast_compile_options())


def _all(game: Game, orders: jax.Array) -> tuple[jax.Array, State]:
    """(whether all moves are legal bool[K], states[K] after them) of int32[K, T], -1 for none."""

    def one(actions: jax.Array) -> tuple[jax.Array, State]:
        def ply(state: State, action: jax.Array) -> tuple[State, jax.Array]:
            legal = game.legal_actions(state)[jnp.clip(action, 0, game.num_actions - 1)]
            return game.afterstate(state, action), legal | (action < 0)

        start = game.init_from(jnp.zeros(game.init_words, jnp.uint32))
        state, fine = jax.lax.scan(ply, start, actions)
        return fine.all(), state

    return jax.vmap(one)(orders)


def last_moves(actions: Sequence[Sequence[int]]) -> np.ndarray:
    """int[K, T]: the moves of two players in turn, once for each that may be the very last."""
    total = sum(map(len, actions))
    mover = (total - 1) % 2 if total else 0
    orders = []
    for at in range(max(len(actions[mover]), 1)):
        own = [*actions[mover][:at], *actions[mover][at + 1 :], *actions[mover][at : at + 1]]
        lists = [list(actions[0]), list(actions[1])]
        lists[mover] = own
        orders.append([lists[ply % 2][ply // 2] for ply in range(total)])
    return np.array(orders, np.int32).reshape(len(orders), total)
