"""All positions of a small game, and what players win in them, by value iteration in float64.

Works for any game that lists its outcomes of chance. Positions are distinguished by 64 bits of
their state: of n positions two are confused with a chance below n^2 / 2^64, 1 in 100,000 for the
largest game here.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg import Game, GreedyAgent

_CHUNK = 2**12
# What does not decide how a game goes on: results, and counts up to a limit that is never reached.
_NOT_COMPARED = {"terminal", "rewards", "plies"}
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_CLOSE, _MOST_SWEEPS = 1e-8, 20_000


class Positions(NamedTuple):
    """D decisions, F afterstates, E moves and R endings; afterstate 0 is the start.

    Move e leads from decision `source` int32[E], ascending, to `target` int32[E]: an afterstate or,
    from F on, an ending, whose rewards are `endings` float64[R, N]. `mover` int8[D] decides, and
    the first of its moves is `first` int[D].
    Outcome k of chance leads from an afterstate to decision `following` int32[F, K] with
    probability `chance` float64[F, K]. `afterstates` are the states[F].
    """

    source: np.ndarray
    first: np.ndarray
    target: np.ndarray
    mover: np.ndarray
    following: np.ndarray
    chance: np.ndarray
    endings: np.ndarray
    afterstates: Any


class _Numbers:
    """Numbers positions in the order in which they are found."""

    def __init__(self) -> None:
        self._keys, self._numbers = np.empty(0, np.uint64), np.empty(0, np.int32)

    def add(self, states: Any) -> tuple[np.ndarray, np.ndarray]:
        """(number int32[n] of each state, rows of the new ones in the order of their numbers)."""
        keys = _keys(states)
        unique, row, inverse = np.unique(keys, return_index=True, return_inverse=True)
        at = np.searchsorted(self._keys, unique)
        new = np.ones(len(unique), bool)
        inside = at < len(self._keys)
        new[inside] = self._keys[at[inside]] != unique[inside]
        numbers = np.empty(len(unique), np.int32)
        numbers[~new] = self._numbers[at[~new]]
        numbers[new] = len(self._keys) + np.arange(new.sum())
        self._keys = np.insert(self._keys, at[new], unique[new])
        self._numbers = np.insert(self._numbers, at[new], numbers[new])
        return numbers[inverse], row[new]


def _keys(states: Any) -> np.ndarray:
    keys = np.zeros(len(states.player), np.uint64)
    for name, leaf in states._asdict().items():
        if name not in _NOT_COMPARED:
            for column in leaf.reshape(len(keys), int(np.prod(leaf.shape[1:]))).astype(np.uint64).T:
                keys = (keys ^ (keys >> np.uint64(29))) * _FACTOR + column + np.uint64(1)
    return keys


def _take(states: Any, rows: np.ndarray) -> Any:
    return jax.tree.map(lambda leaf: leaf[rows], states)


def _chunks(function: Callable[[Any], Any], states: Any) -> Iterator[tuple[int, Any]]:
    """(first row, results) of a compiled function on all states, a chunk at a time."""
    count = len(states.player)
    for first in range(0, count, _CHUNK):
        rows = np.minimum(np.arange(first, first + _CHUNK), count - 1)
        found = jax.device_get(function(_take(states, rows)))
        yield first, _take(found, np.arange(min(_CHUNK, count - first)))


def _joined(parts: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


@partial(jax.jit, static_argnums=0)
def _drawn(game: Game, states: Any) -> tuple[Any, jax.Array]:
    """(the states [B, K] after each outcome of chance, their probabilities)."""
    if not game.num_spawns:
        return jax.tree.map(lambda leaf: leaf[:, None], states), jnp.ones((len(states.player), 1))
    follow = jax.vmap(jax.vmap(game.spawn_outcome, (None, 0)), (0, None))
    return follow(states, jnp.arange(game.num_spawns)), jax.vmap(game.spawn_probabilities)(states)


@partial(jax.jit, static_argnums=0)
def _moved(game: Game, agent: GreedyAgent | None, seat: int, states: Any) -> tuple[jax.Array, Any]:
    """(which actions of states [B] are made, the states [B, A] after them)."""
    legal = jax.vmap(game.legal_actions)(states)
    after = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))(
        states, jnp.arange(game.num_actions)
    )
    if agent is not None:
        values = jnp.where(legal, agent.action_values(states), -jnp.inf)
        best = values == values.max(1, keepdims=True)
        legal &= best | (states.player != seat)[:, None]
    return legal, after


def positions_of(game: Game, agent: GreedyAgent | None = None, seat: int = 0) -> Positions:
    """All positions that can be reached, a ply at a time.

    With an `agent` only those that can be reached if it plays in `seat`, against anybody.
    """
    draw, move = partial(_drawn, game), partial(_moved, game, agent, seat)
    decisions, afterstates = _Numbers(), _Numbers()
    endings: dict[tuple[float, ...], int] = {}
    sources, targets, movers, followings, chances, found = [], [], [], [], [], []
    fresh = jax.tree.map(lambda leaf: np.asarray(leaf)[None], _start(game))
    afterstates.add(fresh)
    known = 0
    while len(fresh.player):
        found.append(fresh)
        drawn, chance = _joined([part for _, part in _chunks(draw, fresh)])
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), drawn)
        # An outcome without a chance counts as the first one that has some.
        rows = np.arange(chance.size).reshape(chance.shape)
        sure = np.take_along_axis(rows, (chance > 0).argmax(1)[:, None], 1)
        numbers, new = decisions.add(_take(flat, np.where(chance > 0, rows, sure).ravel()))
        followings.append(numbers.reshape(chance.shape))
        # float32 thirds become float64 thirds.
        chances.append(chance / chance.sum(1, keepdims=True, dtype=np.float64))
        asked = _take(_take(flat, np.where(chance > 0, rows, sure).ravel()), new)
        movers.append(asked.player)
        after = []
        for first, (legal, states) in _chunks(move, asked):
            row, action = np.nonzero(legal)
            sources.append((known + first + row).astype(np.int32))
            after.append(jax.tree.map(lambda leaf, at=(row, action): leaf[at], states))
        known += len(new)
        if not after:
            break
        states = _joined(after)
        rewards = states.rewards[states.terminal].astype(np.float64)
        kinds, kind = np.unique(rewards, axis=0, return_inverse=True)
        ends = [endings.setdefault(tuple(each), len(endings)) for each in kinds.tolist()]
        target = np.empty(len(states.terminal), np.int32)
        target[states.terminal] = -1 - np.array(ends, np.int32)[kind.ravel()]
        on = _take(states, ~states.terminal)
        target[~states.terminal], new = afterstates.add(on)
        targets.append(target)
        fresh = _take(on, new)
    source, target, mover = (np.concatenate(parts) for parts in (sources, targets, movers))
    every = _joined(found)
    return Positions(
        source,
        _first(source, len(mover)),
        np.where(target < 0, len(every.player) - 1 - target, target),
        mover,
        np.concatenate(followings),
        np.concatenate(chances),
        np.array(list(endings)),
        every,
    )


def _first(source: np.ndarray, decisions: int) -> np.ndarray:
    """int[D]: the first move of each decision."""
    return np.searchsorted(source, np.arange(decisions, dtype=source.dtype))


def _start(game: Game) -> Any:
    """The start before the first roll, if there is one."""
    start = game.init(jax.random.key(0))
    return start._replace(die=jnp.int8(0)) if hasattr(start, "die") else start


def reached(positions: Positions, kept: np.ndarray) -> Positions:
    """What is reached from the start by the moves `kept` bool[E] alone."""
    first = np.append(positions.first, len(positions.source))
    after = np.zeros(len(positions.following), bool)
    decision = np.zeros(len(positions.mover), bool)
    fresh = np.array([0])
    while len(fresh):
        after[fresh] = True
        asked = np.unique(positions.following[fresh])
        asked = asked[~decision[asked]]
        decision[asked] = True
        begin, count = first[asked], first[asked + 1] - first[asked]
        moves = np.repeat(begin - np.append(0, np.cumsum(count))[:-1], count)
        moves += np.arange(len(moves))
        fresh = np.unique(positions.target[moves[kept[moves]]])
        fresh = fresh[fresh < len(after)]
        fresh = fresh[~after[fresh]]
    moves = kept & decision[positions.source]
    ends = np.ones(len(positions.endings), bool)
    new_target = np.cumsum(np.append(after, ends)) - 1
    new_decision = np.cumsum(decision) - 1
    source = new_decision[positions.source[moves]]
    return Positions(
        source,
        _first(source, decision.sum()),
        new_target[positions.target[moves]],
        positions.mover[decision],
        new_decision[positions.following[after]],
        positions.chance[after],
        positions.endings,
        None,
    )


class _Span(NamedTuple):
    """Decisions one after the other, their moves, and the first move of each within these."""

    decisions: slice
    moves: slice
    first: np.ndarray


def _span(positions: Positions, begin: int, end: int) -> _Span:
    first = np.append(positions.first, len(positions.source))
    moves = slice(first[begin], first[end])
    return _Span(slice(begin, end), moves, first[begin:end] - first[begin])


def _layers(positions: Positions) -> Iterator[tuple[slice, _Span]]:
    """(afterstates, the decisions that only these and later ones lead to), from the start on.

    Positions are numbered in the order in which they are found, ply by ply.
    """
    count = len(positions.following)
    begin, end, decided = 0, 1, 0
    while begin < count:
        known = max(decided, int(positions.following[begin:end].max()) + 1)
        span = _span(positions, decided, known)
        yield slice(begin, end), span
        targets = positions.target[span.moves]
        targets = targets[targets < count]
        begin, decided = end, known
        end = max(end, int(targets.max(initial=-1)) + 1)


def best_play(positions: Positions) -> tuple[np.ndarray, np.ndarray]:
    """(rewards float64[N] if everybody plays best, the best moves bool[E], one a decision).

    Everybody maximizes its own reward; of equal moves it takes the first.
    """
    rows = np.arange(len(positions.source))
    mover = positions.mover[positions.source]

    def choose(values: np.ndarray, span: _Span) -> np.ndarray:
        own = values[positions.target[span.moves], mover[span.moves]]
        best = np.maximum.reduceat(own, span.first)
        best = np.repeat(best, np.diff(np.append(span.first, len(own))))
        moves = np.where(own == best, rows[span.moves], len(rows))
        return np.minimum.reduceat(moves, span.first)

    def follow(values: np.ndarray, span: _Span) -> np.ndarray:
        return values[positions.target[choose(values, span)]]

    values = _iterate(positions, follow, positions.endings)
    best = np.zeros(len(rows), bool)
    best[choose(values, _span(positions, 0, len(positions.mover)))] = True
    return values[0], best


def reward(positions: Positions, seat: int, worst: bool = False) -> float:
    """The mean reward of `seat` if players draw evenly among their moves.

    With `worst` the others choose what is worst for it.
    """

    def follow(values: np.ndarray, span: _Span) -> np.ndarray:
        at = values[positions.target[span.moves], 0]
        mean = np.add.reduceat(at, span.first) / np.diff(np.append(span.first, len(at)))
        if worst:
            own = positions.mover[span.decisions] == seat
            mean = np.where(own, mean, np.minimum.reduceat(at, span.first))
        return mean[:, None]

    return float(_iterate(positions, follow, positions.endings[:, [seat]])[0, 0])


def _iterate(
    positions: Positions, follow: Callable[[np.ndarray, _Span], np.ndarray], endings: np.ndarray
) -> np.ndarray:
    """float64[F + R, K]: values of afterstates and endings; `follow` gives those of decisions.

    From 0 on, so that play without an end is worth 0; in each sweep from the last positions to the
    first, as most values depend on later ones.
    """
    values = np.concatenate([np.zeros((len(positions.following), endings.shape[1])), endings])
    decided = np.zeros((len(positions.mover), endings.shape[1]))
    layers = [*_layers(positions)][::-1]
    for _ in range(_MOST_SWEEPS):
        change = 0.0
        for after, span in layers:
            if len(span.first):
                decided[span.decisions] = follow(values, span)
            new = sum(
                chance[:, None] * decided[following]
                for chance, following in zip(
                    positions.chance[after].T, positions.following[after].T, strict=True
                )
            )
            change = max(change, float(np.abs(new - values[after]).max()))
            values[after] = new
        if change < _CLOSE:
            return values
    raise AssertionError("the values do not settle")


_values = jax.jit(GreedyAgent.values)


def choices(positions: Positions, agent: GreedyAgent) -> np.ndarray:
    """bool[E]: the moves that an agent makes, in every seat; those of equal value all."""
    mover = positions.mover[positions.source]
    learned = [part for _, part in _chunks(partial(_values, agent), positions.afterstates)]
    values = np.concatenate([*learned, positions.endings.astype(np.float32)])
    own = values[positions.target, mover]
    return own == np.maximum.reduceat(own, positions.first)[positions.source]
