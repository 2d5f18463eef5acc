"""Start positions of episodes: the game's own, or some random or listed plies later."""

from __future__ import annotations

import functools

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.rollout import after_each, select
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.selection import choose_action
from jaxgbg.learners.state import Words
from jaxgbg.types import PyTree, State
from jaxgbg.xla import materialize

Lines = tuple[tuple[int, ...], ...]
"""Sequences of actions from the start position, equally long."""
_MOST_POSITIONS = 10_000


@functools.lru_cache(maxsize=16)
def opening_lines(game: Game, plies: int) -> Lines:
    """The first line, by its actions, to each position `plies` after the start that is not over.

    Positions are states: a game whose state includes its history has several for one board.
    Raises ValueError for a game of chance, and where there are no or too many positions.
    """
    if game.stochastic or game.init_words:
        raise ValueError(f"opening_cycle needs a game without chance, not {game.name}")
    found: dict[bytes, tuple[tuple[int, ...], State]] = {b"": ((), game.init(jax.random.key(0)))}
    for ply in range(plies):
        before, found = found, {}
        for line, state in before.values():
            legal, after = jax.device_get(after_each(game, state))
            for action in np.flatnonzero(legal & ~after.terminal):
                # A copy: a view would hold all children of its parent.
                one = jax.tree.map(lambda leaf, action=action: leaf[action].copy(), after)
                place = b"".join(leaf.tobytes() for leaf in jax.tree.leaves(one))
                found.setdefault(place, ((*line, int(action)), one))
            if len(found) > _MOST_POSITIONS:
                break
        if not 0 < len(found) <= _MOST_POSITIONS:
            many = f"more than {_MOST_POSITIONS:,}" if found else "no"
            raise ValueError(
                f"opening_cycle: {ply + 1} plies of {game.name} lead to {many} positions that are"
                " not over; choose other opening_plies"
            )
    return tuple(line for line, _ in found.values())


def start_positions(
    game: Game,
    plies: int,
    share: float,
    lines: Lines,
    words: Words,
    restart: jax.Array,
    number: jax.Array,
) -> tuple[State, jax.Array]:
    """A start position for each of B games, none of them terminal, and the plies that led there.

    The `share` of the games that `restart` bool[B] gets up to `plies` uniformly random plies, each
    with what chance adds to it; one that would end the game is not made. With `lines` these are
    played instead, as many in a row by each line as there are players, by the `number` uint32[B]
    of the episode. Returns (states[B], actions int32[B, plies], -1 where none was made).
    """
    batch = restart.shape[0]
    start = jax.vmap(game.init_from)(words.start)
    if not plies:
        return start, jnp.full((batch, 0), -1)
    # The move of this tick has used the upper 24 bits of its words.
    spare = ((words.select[:, 0] & 0xFF) << 8) | (words.select[:, 1] & 0xFF)
    draw = spare.astype(jnp.float32) / (2**16 * share)
    opened, draws = (draw < 1) & restart, [draw]
    for ply in range(1, plies):
        half = words.opening[:, (ply - 1) // 2] >> (16 * (ply % 2))
        draws.append((half & 0xFFFF).astype(jnp.float32) / 2**16)
    chance = words.opening_spawn.reshape(batch, plies, game.spawn_words).swapaxes(0, 1)
    listed = None
    if lines:
        turn = (number - 1) // game.num_players % len(lines)
        listed = jnp.asarray(lines, jnp.int32)[turn].T

    def one_ply(states: State, drawn: tuple[PyTree, ...]) -> tuple[State, jax.Array]:
        draw, spawn, action = drawn
        if action is None:
            legal = jax.vmap(game.legal_actions)(states)
            (action,) = materialize(jax.vmap(choose_action)(jnp.zeros(legal.shape), legal, draw))
        after = jax.vmap(game.afterstate)(states, action)
        if game.stochastic:
            after = jax.vmap(game.spawn_from)(after, spawn)
        made = ~after.terminal
        return select(made, after, states), jnp.where(opened & made, action, -1)

    # One ply is compiled in line: a loop would cost more than it does.
    drawn = jnp.stack(draws), chance, listed
    if plies == 1:
        states, action = one_ply(start, jax.tree.map(lambda each: each[0], drawn))
        return select(opened, states, start), action[:, None]
    states, actions = jax.lax.scan(one_ply, start, drawn)
    return select(opened, states, start), actions.T
