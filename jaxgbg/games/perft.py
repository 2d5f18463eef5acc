"""Counts of move sequences and positions by ply, to hold against published counts."""

from functools import partial
from typing import Annotated, Any, NamedTuple

import jax
import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import after_each, select_states
from jaxgbg.specs import Limits, checked

Depth = Annotated[int, Limits(low=1, high=1000)]

# States expanded by one compiled call; a call is padded to one of these, so two programs a game.
_BATCHES = (256, 16384)


class PerftRow(NamedTuple):
    """What one ply holds.

    `paths`: move sequences of this length. `positions`: distinct states they lead to. `ended`: how
    many of the paths end the game here, by the final reward of every player.
    """

    depth: int
    paths: int
    positions: int
    ended: dict[tuple[float, ...], int]


@in_32_bits
@checked
def perft(game: Game, depth: Depth) -> list[PerftRow]:
    """Count the move sequences of 1..`depth` plies from the start position, one row a ply.

    Sequences that meet in the same state are carried as one state and a count, hence the cost
    grows with the positions, not with the paths. Rows stop early where no game lasts longer.
    Raises ValueError for a game with chance, or beyond 2**63 paths.
    """
    if game.stochastic:
        raise ValueError(f"{game.name}: perft counts games without chance only")
    expand = jax.jit(jax.vmap(partial(after_each, game)))
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[None], game.init(jax.random.key(0)))
    paths = np.ones(1, np.int64)
    rows: list[PerftRow] = []
    for ply in range(1, depth + 1):
        live = ~states.terminal
        if not live.any():
            break
        if _total(paths[live]) * game.num_actions >= 2**63:
            raise ValueError(
                f"{game.name}: too many paths to count at ply {ply}: take a smaller depth"
            )
        states, paths = _next_ply(expand, select_states(states, live), paths[live])
        rows.append(PerftRow(ply, _total(paths), paths.size, _ended(states, paths)))
    return rows


def _next_ply(expand: Any, states: Any, paths: np.ndarray) -> tuple[Any, np.ndarray]:
    """Live states [n, ...] with paths int64[n] -> distinct successors and the paths to each."""
    merged: list[tuple[Any, np.ndarray]] = []
    for first in range(0, paths.size, _BATCHES[-1]):
        chunk = slice(first, first + _BATCHES[-1])
        count = paths[chunk]
        size = next(batch for batch in _BATCHES if count.size <= batch)
        # The padding repeats states; `legal` cuts their children off again.
        padded = select_states(states, first + np.arange(size) % count.size)
        legal, children = jax.device_get(expand(padded))
        parent, action = np.nonzero(legal[: count.size])
        merged.append(_merge(select_states(children, (parent, action)), count[parent]))
    return _merge(*jax.tree.map(lambda *parts: np.concatenate(parts), *merged))


def _merge(states: Any, paths: np.ndarray) -> tuple[Any, np.ndarray]:
    """States [n, ...] with paths int64[n] -> the distinct ones and their sums."""
    # Equal bytes exactly for equal states: adding zero turns -0.0 into 0.0.
    leaves = [x + 0 if x.dtype.kind == "f" else x for x in jax.tree.leaves(states)]
    flat = [np.ascontiguousarray(x).reshape(len(x), -1).view(np.uint8) for x in leaves]
    packed = np.concatenate(flat, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(first.size, np.int64)
    np.add.at(total, inverse, paths)
    return select_states(states, first), total


def _ended(states: Any, paths: np.ndarray) -> dict[tuple[float, ...], int]:
    rewards, kind = np.unique(states.rewards[states.terminal] + 0, axis=0, return_inverse=True)
    over = paths[states.terminal]
    return {tuple(r.tolist()): _total(over[kind == k]) for k, r in enumerate(rewards)}


def _total(paths: np.ndarray) -> int:
    return int(paths.sum())
