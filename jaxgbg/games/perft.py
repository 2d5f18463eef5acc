"""Counts of move sequences and positions by ply, to hold against published counts."""

from functools import partial
from typing import Annotated, Any, NamedTuple

import jax
import numpy as np

from jaxgbg.games.check import check_own
from jaxgbg.games.core import Game
from jaxgbg.games.identity import state_keys
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import after_each, select_states
from jaxgbg.specs import Limits, checked

Depth = Annotated[int, Limits(low=1, high=1000)]

# States expanded by one compiled call; a call is padded to one of these, so two programs a game.
_BATCHES = (256, 16384)
_CALL_BYTES = 2**30
"""What a compiled call may need for its states and all that it computes on the way."""


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
    check_own(game)
    if game.stochastic:
        raise ValueError(f"{game.name}: perft counts games without chance only")
    expand = _Expansion(game)
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
        try:
            live_states = select_states(states, live)
            states, paths = _next_ply(expand, live_states, paths[live])
        except MemoryError as error:
            raise ValueError(
                f"{game.name}: the positions of ply {ply} need more memory than there is: take a"
                " smaller depth"
            ) from error
        rows.append(PerftRow(ply, _total(paths), paths.size, _ended(states, paths)))
    return rows


class _Expansion:
    """The states after all actions of a batch, in batches whose programs fit into _CALL_BYTES."""

    def __init__(self, game: Game) -> None:
        self._expand = jax.jit(jax.vmap(partial(after_each, game)))
        self._state = jax.eval_shape(game.init, jax.random.key(0))
        self._programs: dict[int, Any] = {}
        bytes_of_state = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(self._state))
        small = min(
            _BATCHES[0], _power_below(_CALL_BYTES / max(1, game.num_actions * bytes_of_state))
        )
        # What the compiler lays out between the steps can take far more than the states.
        memory = self._program(small).memory_analysis()
        needed = (memory.temp_size_in_bytes + memory.output_size_in_bytes) / small
        most = _power_below(_CALL_BYTES / max(1.0, needed))
        self.sizes = tuple(sorted({min(size, most) for size in _BATCHES}))

    def _program(self, size: int) -> Any:
        if size not in self._programs:
            batch = jax.tree.map(
                lambda x: jax.ShapeDtypeStruct((size, *x.shape), x.dtype), self._state
            )
            self._programs[size] = self._expand.lower(batch).compile()
        return self._programs[size]

    def __call__(self, states: Any) -> tuple[np.ndarray, Any]:
        """States [n, ...], n at most the largest size -> legal bool[n, A], children [n, A]."""
        count = len(states.terminal)
        size = next(size for size in self.sizes if count <= size)
        # The padding repeats states.
        padded = select_states(states, np.arange(size) % count)
        legal, children = jax.device_get(self._program(size)(padded))
        return legal[:count], children


def _power_below(number: float) -> int:
    """The largest power of two up to a number, at least 1."""
    return int(2 ** max(0, int(number).bit_length() - 1))


def _next_ply(expand: _Expansion, states: Any, paths: np.ndarray) -> tuple[Any, np.ndarray]:
    """Live states [n, ...] with paths int64[n] -> distinct successors and the paths to each."""
    merged: list[tuple[Any, np.ndarray]] = []
    most = expand.sizes[-1]
    for first in range(0, paths.size, most):
        chunk = slice(first, first + most)
        legal, children = expand(select_states(states, chunk))
        parent, action = np.nonzero(legal)
        merged.append(_merge(select_states(children, (parent, action)), paths[chunk][parent]))
    return _merge(*jax.tree.map(lambda *parts: np.concatenate(parts), *merged))


def _merge(states: Any, paths: np.ndarray) -> tuple[Any, np.ndarray]:
    """States [n, ...] with paths int64[n] -> the distinct ones and their sums."""
    _, first, inverse = np.unique(state_keys(states), return_index=True, return_inverse=True)
    total = np.zeros(first.size, np.int64)
    np.add.at(total, inverse, paths)
    return select_states(states, first), total


def _ended(states: Any, paths: np.ndarray) -> dict[tuple[float, ...], int]:
    rewards, kind = np.unique(states.rewards[states.terminal] + 0, axis=0, return_inverse=True)
    over = paths[states.terminal]
    return {tuple(r.tolist()): _total(over[kind == k]) for k, r in enumerate(rewards)}


def _total(paths: np.ndarray) -> int:
    return int(paths.sum())
