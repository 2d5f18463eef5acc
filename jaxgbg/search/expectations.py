"""Exact play in small games of chance: all positions, and value iteration over them."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.identity import hash_pair, state_keys
from jaxgbg.games.rollout import chunked, select_states
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.types import PyTree, State
from jaxgbg.values.indices import look_up

MOST_POSITIONS = 100_000
# Of positions times actions times outcomes: 12 bytes each.
_MOST_OUTCOMES = 20_000_000
_CHUNK = 256
# Draws of the start position, where it is drawn.
_STARTS = 256
_MOST_SWEEPS = 10_000
# Values closer than this, in parts of the reward range, are equal.
_SETTLED, _EQUAL = 1e-12, 1e-7


class Tables(NamedTuple):
    """P positions in the order of their hash values (first, second) uint32[P].

    `values` float32[P, N] are the rewards that every player can still expect, `best` bool[P, A]
    the best actions of the mover.
    """

    first: jax.Array
    second: jax.Array
    values: jax.Array
    best: jax.Array


class _Expansion(NamedTuple):
    """The outcomes of the actions of P positions.

    `player` int[P], `legal` bool[P, A], `gain` float64[P, A, N] the immediate rewards of all
    players, `shares` float64[P, A, W] the probabilities of the outcomes of chance, and `children`
    int32[P, A, W] the next positions, -1 if the game is over or the probability is 0.
    """

    player: np.ndarray
    legal: np.ndarray
    gain: np.ndarray
    shares: np.ndarray
    children: np.ndarray


def solve(game: Game) -> Tables:
    """The expected rewards and best actions in every position that play can reach.

    Values are those of Max-N (Luckhardt & Irani 1986) with expectations at chance nodes, by value
    iteration (Bellman 1957) in float64: positions may repeat, as in Pig. Positions are states
    with all their fields. In a game with a random start they are those that 256 drawn starts lead
    to. Raises ValueError for a game that does not list its outcomes, for one with too many
    positions, and if the values do not converge.
    """
    if not game.num_spawns:
        raise ValueError(
            f"maxn needs the outcomes of chance: {game.name} does not list them (num_spawns,"
            " spawn_probabilities, spawn_outcome)"
        )
    states, expansion = _enumerate(game)
    values, best = _iterate(game, expansion)
    first, second = (np.asarray(part) for part in jax.jit(hash_pair)(states))
    order = np.lexsort((second, first))
    sorted_ = (first[order], second[order], values[order].astype(np.float32), best[order])
    return Tables(*map(jnp.asarray, sorted_))


def find(tables: Tables, states: State) -> tuple[jax.Array, jax.Array]:
    """(row int32[B] of states[B] in the tables, whether they are in the tables bool[B])."""
    first, second = hash_pair(states)
    count = len(tables.first)
    below = jnp.zeros(len(first), jnp.int32)
    # The number of positions up to the state: binary search, bit by bit.
    for bit in reversed(range(count.bit_length())):
        further = below + (1 << bit)
        at = jnp.minimum(further, count) - 1
        one, other = look_up(tables.first, at), look_up(tables.second, at)
        passed = (one < first) | (one == first) & (other <= second)
        below = jnp.where((further <= count) & passed, further, below)
    row = jnp.maximum(below - 1, 0)
    found = (look_up(tables.first, row) == first) & (look_up(tables.second, row) == second)
    return row, found


@partial(jit, static_argnums=0)
def _expand(game: Game, states: State) -> tuple[PyTree, ...]:
    """For states[B]: legal bool[B, A], gain [B, A, N], shares [B, A, W], outcomes [B * A * W].

    Shares are 0 where the game is over.
    """
    actions, numbers = jnp.arange(game.num_actions), jnp.arange(game.num_spawns)

    def move(state: State, action: jax.Array) -> tuple[PyTree, ...]:
        after = game.afterstate(state, action)
        outcomes = jax.vmap(game.spawn_outcome, (None, 0))(after, numbers)
        shares = jnp.where(after.terminal, 0, game.spawn_probabilities(after))
        return after.rewards - state.rewards, shares, outcomes

    gain, shares, outcomes = jax.vmap(jax.vmap(move, (None, 0)), (0, None))(states, actions)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[3:]), outcomes)
    return jax.vmap(game.legal_actions)(states), gain, shares, flat


def _enumerate(game: Game) -> tuple[State, _Expansion]:
    """All positions with a player to move, breadth first: (states[P], expansion)."""
    starts = _STARTS if game.init_words else 1
    draws = jax.random.split(jax.random.key(0), starts)
    level = jax.device_get(jax.jit(jax.vmap(game.init))(draws))
    level = select_states(level, np.unique(state_keys(level), return_index=True)[1])
    row = {key.tobytes(): number for number, key in enumerate(state_keys(level))}
    shape = (game.num_actions, game.num_spawns)
    most = min(MOST_POSITIONS, _MOST_OUTCOMES // (shape[0] * shape[1]))
    levels, parts = [level], []
    while len(level.player):
        new = []
        for states, real in chunked(level, len(level.player), _CHUNK):
            legal, gain, shares, outcomes = jax.device_get(_expand(game, states))
            shares = np.where(legal[..., None], shares, 0)[:real]
            there = np.flatnonzero((shares > 0).ravel() & ~outcomes.terminal[: shares.size])
            found = select_states(outcomes, there)
            keys, first, inverse = np.unique(
                state_keys(found), return_index=True, return_inverse=True
            )
            known = len(row)
            number = np.array([row.setdefault(key.tobytes(), len(row)) for key in keys], int)
            fresh = np.flatnonzero(number >= known)
            new.append(select_states(found, first[fresh]))
            if len(row) > most:
                raise ValueError(
                    f"maxn looks at every position: {game.name} has too many (more than {most:,})"
                )
            children = np.full(shares.shape, -1, np.int32)
            np.put(children, there, number[inverse.ravel()])
            parts.append(
                _Expansion(states.player[:real], legal[:real], gain[:real], shares, children)
            )
        level = jax.tree.map(lambda *leaves: np.concatenate(leaves), *new)
        levels.append(level)
    states = jax.tree.map(lambda *leaves: np.concatenate(leaves), *levels)
    joined = _Expansion(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    return states, joined


def _iterate(game: Game, positions: _Expansion) -> tuple[np.ndarray, np.ndarray]:
    """(values float64[P, N], best bool[P, A]) by value iteration from 0."""
    low, high = game.reward_range
    shares = positions.shares.astype(np.float64)
    # float32 probabilities sum to about 1.
    shares /= np.maximum(shares.sum(2, keepdims=True), 1e-30)
    children = positions.children
    count, players = len(children), game.num_players
    # Row -1 is the end of the game.
    values = np.zeros((count + 1, players))
    own = positions.player.astype(int)[:, None, None]
    for _ in range(_MOST_SWEEPS):
        gains = positions.gain + np.einsum("paw,pawn->pan", shares, values[children])
        q = np.where(positions.legal, np.take_along_axis(gains, own, 2)[..., 0], -np.inf)
        best = q >= q.max(1, keepdims=True) - _EQUAL * (high - low)
        # Inside the tree the first of the best actions counts.
        new = np.take_along_axis(gains, best.argmax(1)[:, None, None], 1)[:, 0]
        change = np.abs(new - values[:-1]).max(initial=0)
        values[:-1] = new
        if change <= _SETTLED * (high - low):
            return values[:-1], best
    raise ValueError(f"maxn: the values of {game.name} do not converge in {_MOST_SWEEPS:,} sweeps")
