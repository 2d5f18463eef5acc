"""Positions of Lines of Action, and playing on from them. States are batches of one."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import LinesOfAction, bitboards
from jaxgbg.xla import fast_compile_options
from tests.reference import lines_of_action as plain

GAME = LinesOfAction()
M1 = "..XXOXX.O....O..OX......O.......O...X...O...X...O...OOX....X..X."
M2 = "..XX..X.O.......OX.X....OO......O..XX.X.O...X...OO...O.........."
M3 = "..O...OOO........XXX.X.....O....OO...O.OO...XX.O...X....OX.....X"
BLOCKED = "......XO......XX................................XX......OX......"


@functools.cache
def compiled(game: LinesOfAction) -> Any:
    """(legal actions, moves by square, step of a move, features) of states, compiled quickly."""
    options = {"compiler_options": fast_compile_options()}
    return tuple(
        jax.jit(jax.vmap(function), **options)
        for function in (game.legal_actions, game.afterstate, game.moves, game.extras)
    )


def cells_of(board: str) -> np.ndarray:
    return np.array(["XO.".index(stone) for stone in board])


def position(board: str | None, player: str, game: LinesOfAction = GAME) -> Any:
    """States [1] of a board as a string from a8 to h1; the start without one."""
    if board is None:
        return start(game)
    stones = cells_of(board).reshape(game.size, game.size)
    words = bitboards.words(np.stack([stones == 0, stones == 1]))
    state = game.init(jax.random.key(0))._replace(
        stones=jnp.asarray(words), player=jnp.int8("XO".index(player))
    )
    return jax.tree.map(lambda leaf: leaf[None], state)


def start(game: LinesOfAction = GAME) -> Any:
    return jax.tree.map(lambda leaf: leaf[None], game.init(jax.random.key(0)))


def square(name: str) -> int:
    """a8 is square 0, h1 square 63."""
    return 8 * (8 - int(name[1])) + "abcdefgh".index(name[0])


def action_of(move: str) -> int:
    """The action of b1-b3 or h6xe3."""
    first, last = (np.array(divmod(square(name), 8)) for name in (move[:2], move[-2:]))
    direction = plain.DIRECTIONS.index(tuple(np.sign(last - first).tolist()))
    return 64 * direction + square(move[-2:])


def play(states: Any, *moves: str, game: LinesOfAction = GAME) -> Any:
    legal, step, *_ = compiled(game)
    for move in moves:
        action = game.num_actions - 1 if move == "pass" else action_of(move)
        assert legal(states)[0, action], move
        states = step(states, np.array([action], np.int32))
    return states


def outcome(states: Any) -> tuple[bool, list[float]]:
    return bool(states.terminal[0]), states.rewards[0].tolist()


def paths(states: Any, depth: int, game: LinesOfAction = GAME) -> list[int]:
    """Leaf paths after 1..depth plies: positions that meet are carried as one, and only counted
    at the last ply.
    """
    legal, step, *_ = compiled(game)
    boards, often = jax.tree.map(np.asarray, states), np.ones(1, np.int64)
    counts = []
    for ply in range(1, depth + 1):
        going = np.flatnonzero(~boards.terminal)
        boards, often = (jax.tree.map(lambda leaf: leaf[going], part) for part in (boards, often))  # noqa: B023
        batch = 4096
        masks = np.concatenate(
            [
                np.asarray(legal(in_batch(boards, first, batch)))[: len(often) - first]
                for first in range(0, len(often), batch)
            ]
        )
        counts.append(int(often @ masks.sum(1)))
        if ply == depth:
            break
        parents, actions = np.nonzero(masks)
        often, parts = often[parents], []
        for first in range(0, len(parents), batch):
            chosen = np.resize(np.arange(first, min(first + batch, len(parents))), batch)
            some = jax.tree.map(lambda leaf: leaf[parents[chosen]], boards)  # noqa: B023
            after = jax.device_get(step(some, actions[chosen].astype(np.int32)))
            parts.append(jax.tree.map(lambda leaf: leaf[: len(parents) - first], after))  # noqa: B023
        boards = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
        rows = boards.stones.reshape(len(parents), -1)
        _, first_of, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        often = np.bincount(inverse.ravel(), often).astype(np.int64)
        boards = jax.tree.map(lambda leaf: leaf[first_of], boards)  # noqa: B023
    return counts


def in_batch(states: Any, first: int, batch: int) -> Any:
    return jax.tree.map(
        lambda leaf: np.resize(leaf[first : first + batch], (batch, *leaf.shape[1:])), states
    )
