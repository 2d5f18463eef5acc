"""Counts of move sequences and positions by ply, to hold against published counts."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.arguments import Depth
from jaxgbg.games.check import check_own
from jaxgbg.games.core import Game
from jaxgbg.games.identity import state_keys
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import select_states
from jaxgbg.specs import checked
from jaxgbg.system import free_memory
from jaxgbg.types import PyTree, State
from jaxgbg.xla import fast_compile_options

# States of one compiled call; a call is padded to one of these, so two programs a function.
_BATCHES = (256, 16384)
_CALL_BYTES = 2**30
"""What a compiled call may need for its states and all that it computes on the way."""
# Draws of the start position, where it is drawn.
_STARTS = 8192


class PerftRow(NamedTuple):
    """The counts of one ply.

    `paths`: move sequences of this length. `positions`: distinct states they lead to, before chance
    has its turn. `ended`: how many of the paths end the game here, by the final reward of every
    player.
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
    In a game of chance a sequence also says what chance brought, from the start position to the
    last move: each listed outcome of probability above 0, and each start position, counts once.
    Raises ValueError for a game of chance that lists no outcomes or has too many start positions,
    and beyond 2**63 paths.
    """
    check_own(game)
    if game.stochastic and not game.num_spawns:
        raise ValueError(
            f"{game.name}: perft needs the outcomes of chance, and the game does not list them"
            " (num_spawns, spawn_probabilities, spawn_outcome)"
        )
    expand = _Expansion(game)
    states = _starts(game)
    paths = np.ones(len(states.terminal), np.int64)
    rows: list[PerftRow] = []
    for ply in range(1, depth + 1):
        if states.terminal.all():
            break
        live = ~states.terminal
        most = game.num_actions * max(1, game.num_spawns if ply > 1 else 1)
        if _total(paths[live]) * most >= 2**63:
            raise ValueError(
                f"{game.name}: too many paths to count at ply {ply}: take a smaller depth"
            )
        try:
            states, paths = select_states(states, live), paths[live]
            if game.stochastic and ply > 1:
                states, paths = _after_chance(expand, states, paths)
                live = ~states.terminal
                if not live.any():
                    break
                states, paths = select_states(states, live), paths[live]
            states, paths = _next_ply(expand, states, paths)
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
        if game.num_spawns:
            self.probabilities = _Batched(game.spawn_probabilities, state)
            self.outcome = _Batched(game.spawn_outcome, state, action)


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


def _starts(game: Game) -> State:
    """The start positions [n], each once."""
    begin = jax.jit(jax.vmap(game.init_from), compiler_options=fast_compile_options())
    count = _STARTS if game.init_words else 1
    words = np.random.default_rng(0).integers(2**32, size=(count, game.init_words), dtype=np.uint32)
    drawn = jax.device_get(begin(words))
    _, first = np.unique(state_keys(drawn), return_index=True)
    # As good as certain: a start that is left out is as rare as those that only come late.
    if first.max() > _STARTS // 2:
        raise ValueError(f"{game.name}: perft cannot list its start positions: they are too many")
    return select_states(drawn, np.sort(first))


def _after_chance(expand: _Expansion, states: State, paths: np.ndarray) -> tuple[State, np.ndarray]:
    """Afterstates [n, ...] with paths int64[n] -> the states after chance and the paths to each."""
    none = "no outcome of chance is possible after a move"
    return _expanded(expand.probabilities, none, expand.outcome, states, paths)


def _next_ply(expand: _Expansion, states: State, paths: np.ndarray) -> tuple[State, np.ndarray]:
    """Live states [n, ...] with paths int64[n] -> distinct successors and the paths to each."""
    none = "a position that is not terminal has no legal action"
    return _expanded(expand.legal_actions, none, expand.afterstate, states, paths)


def _expanded(
    choices: _Batched,
    none: str,
    follow: _Batched,
    states: State,
    paths: np.ndarray,
) -> tuple[State, np.ndarray]:
    """The results of `follow` for states [n, ...] and each of their `choices` [n, X] above 0.

    Returns the distinct results and the paths to each. Raises ValueError, which says `none`, for a
    state without a choice.
    """
    merged: list[tuple[State, np.ndarray]] = []
    taken, most = 0, choices.sizes[-1]
    for first in range(0, paths.size, most):
        chosen: np.ndarray = choices(select_states(states, slice(first, first + most))) > 0
        if not chosen.any(1).all():
            raise ValueError(none)
        parents, numbers = np.nonzero(chosen)
        for start in range(0, parents.size, follow.sizes[-1]):
            pairs = slice(start, start + follow.sizes[-1])
            parent = first + parents[pairs]
            children = follow(select_states(states, parent), numbers[pairs].astype(np.int32))
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
