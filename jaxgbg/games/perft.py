"""Counts of move sequences and positions by ply, to hold against published counts."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import jax
import numpy as np

from jaxgbg.games.check import check_own
from jaxgbg.games.core import Game
from jaxgbg.games.identity import state_keys
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import select_states
from jaxgbg.specs import Limits, checked
from jaxgbg.system import free_memory
from jaxgbg.types import PyTree, State

Depth = Annotated[int, Limits(low=1, high=1000)]

# States of one compiled call; a call is padded to one of these, so two programs a function.
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
def perft(
    game: Game, depth: Depth, on_row: Callable[[PerftRow], None] = lambda row: None
) -> list[PerftRow]:
    """Count the move sequences of 1..`depth` plies from the start position, one row a ply.

    `on_row` receives each row when its ply is counted.

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
        except ValueError as error:
            raise ValueError(f"{game.name}: ply {ply}: {error}") from error
        rows.append(PerftRow(ply, _total(paths), paths.size, _ended(states, paths)))
        on_row(rows[-1])
    return rows


class _Expansion:
    """Legal actions of states, and the states after them, in batches that fit into _CALL_BYTES.

    Only legal actions are followed: of the 4672 of chess some 30 are legal.
    """

    def __init__(self, game: Game) -> None:
        state = jax.eval_shape(game.init, jax.random.key(0))
        action = jax.ShapeDtypeStruct((), np.int32)
        self.legal_actions = _Batched(game.legal_actions, state)
        self.afterstate = _Batched(game.afterstate, state, action)


class _Batched:
    """A function of states, over a leading axis of any length."""

    def __init__(self, function: Callable[..., PyTree], *arguments: PyTree) -> None:
        self._function = jax.jit(jax.vmap(function))
        self._arguments = arguments
        self._programs: dict[int, jax.stages.Compiled] = {}
        # What the compiler lays out between the steps can take far more than the states.
        memory = self._program(_BATCHES[0]).memory_analysis()
        assert memory is not None
        needed = memory.output_size_in_bytes + memory.temp_size_in_bytes
        most = _power_below(_CALL_BYTES * _BATCHES[0] / max(1, needed))
        self.sizes = tuple(sorted({min(size, most) for size in _BATCHES}))

    def _program(self, size: int) -> jax.stages.Compiled:
        if size not in self._programs:
            batch = jax.tree.map(
                lambda x: jax.ShapeDtypeStruct((size, *x.shape), x.dtype), self._arguments
            )
            self._programs[size] = self._function.lower(*batch).compile()
        return self._programs[size]

    def __call__(self, *arguments: PyTree) -> PyTree:
        """Arguments [n, ...], n at most the largest size -> results [n, ...]."""
        count = len(jax.tree.leaves(arguments)[0])
        size = next(size for size in self.sizes if count <= size)
        # The padding repeats what is there.
        padded = select_states(arguments, np.arange(size) % count)
        return select_states(jax.device_get(self._program(size)(*padded)), slice(count))


def _power_below(number: float) -> int:
    """The largest power of two up to a number, at least 1."""
    return int(2 ** max(0, int(number).bit_length() - 1))


def _next_ply(expand: _Expansion, states: State, paths: np.ndarray) -> tuple[State, np.ndarray]:
    """Live states [n, ...] with paths int64[n] -> distinct successors and the paths to each."""
    merged: list[tuple[State, np.ndarray]] = []
    taken = 0
    for first in range(0, paths.size, expand.legal_actions.sizes[-1]):
        chunk = slice(first, first + expand.legal_actions.sizes[-1])
        legal = expand.legal_actions(select_states(states, chunk))
        if not legal.any(1).all():
            raise ValueError("a position that is not terminal has no legal action")
        parents, actions = np.nonzero(legal)
        for start in range(0, parents.size, expand.afterstate.sizes[-1]):
            pairs = slice(start, start + expand.afterstate.sizes[-1])
            parent = first + parents[pairs]
            children = expand.afterstate(
                select_states(states, parent), actions[pairs].astype(np.int32)
            )
            merged.append(_merge(children, paths[parent]))
            taken += sum(leaf.nbytes for leaf in jax.tree.leaves(merged[-1]))
            # All are joined, compared as bytes, and the distinct ones taken.
            if 3 * taken > free_memory():
                raise MemoryError
    return _merge(*jax.tree.map(lambda *parts: np.concatenate(parts), *merged))


def _merge(states: State, paths: np.ndarray) -> tuple[State, np.ndarray]:
    """States [n, ...] with paths int64[n] -> the distinct ones and their sums."""
    _, first, inverse = np.unique(state_keys(states), return_index=True, return_inverse=True)
    total = np.zeros(first.size, np.int64)
    np.add.at(total, inverse, paths)
    return select_states(states, first), total


def _ended(states: State, paths: np.ndarray) -> dict[tuple[float, ...], int]:
    rewards, kind = np.unique(states.rewards[states.terminal] + 0, axis=0, return_inverse=True)
    over = paths[states.terminal]
    return {tuple(r.tolist()): _total(over[kind == k]) for k, r in enumerate(rewards)}


def _total(paths: np.ndarray) -> int:
    return int(paths.sum())
