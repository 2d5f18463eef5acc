"""Find the symmetries of a game's cells by simulation.

A candidate is a permutation of the cells: a turn or reflection of the board. Random games are
played twice in lockstep, the second time on the image of the board. What the actions correspond to
follows from the boards after them. Then many more games are compared position by position.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.grids import grid_shape, grid_symmetries
from jaxgbg.games.hexagons import hexagon
from jaxgbg.games.move_checks import image_differences
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import after_each, select_states
from jaxgbg.games.sampling import Sample, sample_games
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.types import State

# Games in lockstep while the actions are assigned, positions and their moves at once, and games of
# the comparison.
_GAMES, _MOST_MOVES, _COMPARED = 32, 2**15, 32
MOST_ACTIONS = 5000
"""With more actions than this, all pairs of them are too many to compare."""


class Symmetries(NamedTuple):
    """`cells` int32[S, C] and `actions` int32[S, A] as in `Game.symmetries`, the identity first.

    Actions that were not legal in any position that was compared are not `seen` bool[A]: their
    images are guesses.
    """

    cells: np.ndarray
    actions: np.ndarray
    seen: np.ndarray

    def source(self) -> str:
        """The members that the class of the game needs, as Python."""
        inverse = np.array_equal(self.actions, np.argsort(self.cells, axis=1))
        actions = "np.argsort(self.symmetries, axis=1)" if inverse else _array(self.actions)
        actions += ".astype(np.int32)" if inverse else ""
        return "\n".join(
            f"    @property\n    def {name}(self) -> np.ndarray:\n        return {text}\n"
            for name, text in (("symmetries", _array(self.cells)), ("action_symmetries", actions))
        )


def _array(rows: np.ndarray) -> str:
    lines = "".join(f"                {row.tolist()},\n" for row in rows)
    return f"np.array(\n            [\n{lines}            ],\n            np.int32,\n        )"


@in_32_bits
def find_symmetries(game: Game, seconds: float = math.inf) -> Symmetries:
    """All candidates that random games do not refute, the identity first.

    Candidates are turns and reflections of a grid, a hexagon, a row and, if there are not as many
    cells as in a hexagon, a ring of cells that keep the start position. Raises ValueError for a
    game of chance, where two games would draw differently, for one of more than 5,000 actions, and
    if it takes longer than `seconds`.
    """
    deadline = time.monotonic() + seconds
    if game.stochastic or game.init_words:
        raise ValueError(
            f"{game.name} is a game of chance: two games would draw differently, so simulation"
            " cannot find its symmetries"
        )
    if game.num_actions > MOST_ACTIONS:
        raise ValueError(
            f"{game.name} has {game.num_actions:,} actions: simulation compares at most"
            f" {MOST_ACTIONS:,}"
        )
    sample = sample_games(game)
    start = sample.cells[0, 0]
    kept = [cells for cells in candidates(game) if np.array_equal(start[cells], start)]
    identity = np.arange(game.num_actions)
    assigned = [identity, *(_assign(game, sample, cells, deadline) for cells in kept[1:])]
    pairs = [(c, a) for c, a in zip(kept, assigned, strict=True) if a is not None]
    cells, actions = (np.array(each, np.int32) for each in zip(*pairs, strict=True))
    wrong = image_differences(game, cells, actions, _COMPARED)
    right = [number for number in range(len(cells)) if number not in wrong]
    seen = np.asarray(sample.legal[:, :_COMPARED].any((0, 1)))
    return Symmetries(cells[right], actions[right], seen)


def candidates(game: Game) -> Iterator[np.ndarray]:
    """int32[C]: permutations of the cells that may be symmetries, each once, the identity first."""
    seen = set()
    for cells in _shapes(game):
        if cells.tobytes() not in seen:
            seen.add(cells.tobytes())
            yield cells


def _shapes(game: Game) -> Iterator[np.ndarray]:
    count = game.num_cells
    board = np.arange(count, dtype=np.int32)
    yield board
    shape = getattr(game, "board", None) or grid_shape(game)
    shapes = [shape] if shape else [(n, count // n) for n in range(2, count) if count % n == 0]
    for rows, columns in shapes:
        size = rows * columns
        for image in grid_symmetries(rows, columns):
            # Cells beyond the board stay where they are.
            yield np.append(image, board[size:])
    yield board[::-1]
    side = round((3 + np.sqrt(12 * count - 3)) / 6)
    if side > 1 and 3 * side * (side - 1) + 1 == count:
        yield from hexagon(side).images()
    elif shape is None:
        # Refuting so many candidates takes minutes in games where every move only adds a stone.
        for turn in range(count):
            yield np.roll(board, turn)
            yield np.roll(board[::-1], turn)


def _assign(game: Game, sample: Sample, cells: np.ndarray, deadline: float) -> np.ndarray | None:
    """int32[A]: the action on the image for each action; None if some position has none for one."""
    actions = game.num_actions
    games = max(1, min(_GAMES, _MOST_MOVES // actions, sample.states.terminal.shape[1]))
    may = np.ones((actions, actions), bool)
    image = select_states(sample.states, (0, np.arange(games)))
    inverse = np.argsort(cells)
    for ply in range(len(sample.actions)):
        live = ~sample.terminal[ply, :games]
        if not live.any():
            break
        if time.monotonic() > deadline:
            raise ValueError(f"{game.name}: finding its symmetries takes too long")
        states = select_states(sample.states, (ply, np.arange(games)))
        here, there = _moves(game, states, cells), _moves(game, image, None)
        for number in np.flatnonzero(live):
            may &= _alike(here, there, int(number))
        played = sample.actions[ply, :games]
        chosen = [
            _image_of(may, action, inverse) if going else 0
            for action, going in zip(played, live, strict=True)
        ]
        if None in chosen:
            return None
        image = _advance(game, image, jnp.array(chosen, jnp.int32))
    return _matching(may, inverse)


class _Moves(NamedTuple):
    """Legal moves bool[B, A], and hashes uint64[B, A] of the positions after them."""

    legal: np.ndarray
    after: np.ndarray


def _moves(game: Game, states: State, cells: np.ndarray | None) -> _Moves:
    """The moves of states[B]; with `cells` their boards are hashed as the images would be."""
    legal, boards, *rest = jax.device_get(_expand(game, states))
    boards = boards if cells is None else boards[..., cells]
    parts = [boards.astype(np.int64), *(part.astype(np.float32).view(np.int32) for part in rest)]
    facts = np.concatenate([part.reshape(*legal.shape, -1) for part in parts], -1)
    words = np.random.default_rng(0).integers(2**63, size=facts.shape[-1], dtype=np.int64)
    return _Moves(legal, (facts * words).sum(-1))


@partial(jit, static_argnums=0)
def _expand(game: Game, states: State) -> tuple[jax.Array, ...]:
    """Of each state and action: legal, and the cells, player, end and rewards after it."""
    legal, after = jax.vmap(partial(after_each, game))(states)
    cells = jax.vmap(jax.vmap(game.cells))(after)
    return legal, cells, after.player, after.terminal, after.rewards


@partial(jit, static_argnums=0)
def _advance(game: Game, states: State, actions: jax.Array) -> State:
    return jax.vmap(game.afterstate)(states, actions)


def _alike(here: _Moves, there: _Moves, number: int) -> np.ndarray:
    """bool[A, A]: which actions of a position and of its image may correspond."""
    legal, image_legal = here.legal[number], there.legal[number]
    same = here.after[number][:, None] == there.after[number]
    return (legal[:, None] == image_legal) & (same | ~legal[:, None])


def _image_of(may: np.ndarray, action: int, inverse: np.ndarray) -> int | None:
    """An action that may correspond: of the image of the cell of its number, itself, the first."""
    for wanted in (*inverse[action : action + 1], action):
        if wanted < len(may) and may[action, wanted]:
            return int(wanted)
    return int(may[action].argmax()) if may[action].any() else None


def _matching(may: np.ndarray, inverse: np.ndarray) -> np.ndarray | None:
    """int32[A]: a permutation of the actions in which all pairs may correspond; None without one.

    Where several may, as among actions that never were legal, that of `_image_of` is preferred.
    """
    from scipy.optimize import linear_sum_assignment

    cost = np.where(may, 1.0, len(may) * 10.0)
    numbers = np.arange(len(may))
    cost[numbers, numbers] -= 0.25 * may[numbers, numbers]
    moved = numbers[: len(inverse)]
    moved = moved[inverse[moved] < len(may)]
    cost[moved, inverse[moved]] -= 0.5 * may[moved, inverse[moved]]
    _, chosen = linear_sum_assignment(cost)
    return chosen.astype(np.int32) if may[numbers, chosen].all() else None
