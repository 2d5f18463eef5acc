"""Layouts of n-tuples: random walks, fixed lists and layout files."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxgbg.contents import read_json
from jaxgbg.games.core import Game

Layout = tuple[tuple[int, ...], ...]

# A whole board is one n-tuple where its table has no more rows than this, and walks are no longer.
_MOST_ROWS = 2**16
MOST_TUPLES = 1_000
"""A layout, drawn or given, has no more n-tuples than this."""


@functools.lru_cache(maxsize=64)
def random_walk(game: Game, num_tuples: int, length: int, seed: int) -> Layout:
    """Draw connected cell sets by random walks over neighbouring cells.

    Start at a uniform cell; then, again and again, pick a uniform cell of the tuple and add one of
    its neighbours that is not yet in it. Two tuples may coincide, no cell stands twice in one.

    Source: GBG (Konen), "random walk" n-tuple generation.
    """
    if not 1 <= length <= game.num_cells:
        raise ValueError(f"{game.name}: a tuple holds 1 to {game.num_cells} cells, not {length}")
    generator = np.random.default_rng(seed)
    adjacency, layout = game.adjacency, []
    for _ in _numbers(num_tuples):
        start = [int(generator.integers(game.num_cells))]
        layout.append(_walk(adjacency, start, length, generator))
    return tuple(layout)


@functools.lru_cache(maxsize=64)
def line_walk(game: Game, num_tuples: int, length: int, seed: int) -> Layout:
    """Draw cell sets that each hold a line of the game, and go on from it as random walks do.

    Of lines that the symmetries make of each other one stands for all. In random order all are
    taken before one is taken again. Raises ValueError for a game that names no lines, and for walks
    that are shorter than these or longer than the board.
    """
    lines = different_lines(game)
    if not lines:
        raise ValueError(f"{game.name}: has no winning lines, which from_lines needs")
    least = len(lines[0])
    if not least <= length <= game.num_cells:
        raise ValueError(
            f"{game.name}: a tuple around a line holds {least} to {game.num_cells} cells,"
            f" not {length}"
        )
    generator = np.random.default_rng(seed)
    adjacency, layout, order = game.adjacency, [], np.empty(0, int)
    for number in _numbers(num_tuples):
        if number % len(lines) == 0:
            order = generator.permutation(len(lines))
        start = list(lines[order[number % len(lines)]])
        layout.append(_walk(adjacency, start, length, generator))
    return tuple(layout)


def _numbers(num_tuples: int) -> range:
    if num_tuples < 1:
        raise ValueError(f"walks: draw at least 1 tuple, not {num_tuples}")
    return range(num_tuples)


def different_lines(game: Game) -> list[tuple[int, ...]]:
    """The lines of a game, each sorted, but those that are images of others before them."""
    found: dict[frozenset[int], tuple[int, ...]] = {}
    for line in np.asarray(game.lines):
        images = {frozenset(map(int, symmetry[line])) for symmetry in game.symmetries}
        if not images & found.keys():
            found[frozenset(map(int, line))] = tuple(sorted(map(int, line)))
    return list(found.values())


def _walk(
    adjacency: np.ndarray, cells: list[int], length: int, generator: np.random.Generator
) -> tuple[int, ...]:
    """Go on from `cells`, by a neighbour of one of them that is drawn, until they are `length`."""
    while len(cells) < length:
        neighbours = np.flatnonzero(adjacency[cells[generator.integers(len(cells))]])
        fresh = np.setdiff1d(neighbours, cells)
        if fresh.size:
            cells.append(int(generator.choice(fresh)))
        elif not np.setdiff1d(np.flatnonzero(adjacency[cells].any(0)), cells).size:
            raise ValueError(
                f"walks: no more than {len(cells)} cells are connected with {min(cells)}, for"
                f" tuples of {length}"
            )
    return tuple(sorted(cells))


def default_layout(game: Game) -> Layout:
    """The game's own, or our choice by its size: all cells in one n-tuple, or two walks a cell."""
    if game.own_tuples:
        return check_layout(game, game.own_tuples, f"{game.name}: own_tuples")
    if whole_board(game):
        return (tuple(range(game.num_cells)),)
    digits = game.num_cell_values
    length = max((n for n in range(1, game.num_cells + 1) if digits**n <= _MOST_ROWS), default=1)
    return random_walk(game, 2 * game.num_cells, length, seed=0)


def whole_board(game: Game) -> bool:
    """Whether the table of all boards is small enough for one n-tuple of all cells."""
    return bool(game.num_cell_values**game.num_cells <= _MOST_ROWS)


def check_layout(game: Game, tuples: Sequence[Sequence[int]], source: str) -> Layout:
    """Return `tuples` as a Layout; raises ValueError naming `source` if they do not fit."""
    layout = []
    for number, cells in enumerate(tuples):
        whole = isinstance(cells, Sequence) and not isinstance(cells, str)
        if not whole or not cells or not all(type(cell) is int for cell in cells):
            raise ValueError(f"{source}: tuple {number} is not a non-empty list of cell numbers")
        outside = [cell for cell in cells if not 0 <= cell < game.num_cells]
        if outside:
            raise ValueError(
                f"{source}: tuple {number} names cell {outside[0]},"
                f" but the {game.name} board has cells 0 to {game.num_cells - 1}"
            )
        if len(set(cells)) != len(cells):
            raise ValueError(f"{source}: tuple {number} names a cell twice")
        layout.append(tuple(cells))
    if not layout:
        raise ValueError(f"{source}: holds no tuple")
    return tuple(layout)


def read_layout(game: Game, path: str | Path) -> Layout:
    """Read a layout file: JSON, a list of tuples, each a list of cell numbers.

    Raises ValueError in one line when the file cannot be read or does not fit `game`.
    """
    try:
        tuples = read_json(path)
    except FileNotFoundError as error:
        raise ValueError(f"layout file {path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"layout file {error}") from error
    if not isinstance(tuples, list):
        raise ValueError(f"layout file {path}: expected a list of tuples")
    if len(tuples) > MOST_TUPLES:
        raise ValueError(f"layout file {path}: holds more than {MOST_TUPLES:,} tuples")
    return check_layout(game, tuples, f"layout file {path}")
