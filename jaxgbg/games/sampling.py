"""Seeded uniformly random games, the same on every device and with every version of JAX.

Whole numbers alone decide, and the random words are those of NumPy's PCG64, whose raw stream is
fixed: JAX's generators and floats are not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import record
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree, State
from jaxgbg.xla import fast_compile_options

_GAMES, _WHOLE, _PLIES, _MOST_PLIES = 256, 32, 256, 4096


class Sample(NamedTuple):
    """B random games, position by position: T plies at most, the last one past the end.

    `actions` int32[T, B], `cells` int8[T, B, C], `player` int8[T, B], `legal` bool[T, B, A],
    `terminal` bool[T, B] and `rewards` float32[T, B, N] before each ply; `states` [T, W] those of
    the first W games. `plies` int[B] are those that each game lasted, which was played on beyond T
    until it ended, outlasted `max_plies` or was given up after 4096 plies.
    """

    states: State
    actions: np.ndarray
    cells: np.ndarray
    player: np.ndarray
    legal: np.ndarray
    terminal: np.ndarray
    rewards: np.ndarray
    plies: np.ndarray


@in_32_bits
@lru_cache(maxsize=4)
def sample_games(game: Game) -> Sample:
    """Play 256 random games; the errors of the game's own functions pass through."""
    generator = np.random.PCG64(0)

    def words(*shape: int) -> np.ndarray:
        count = int(np.prod(shape))
        raw = generator.random_raw(-(-count // 2)).astype("<u8")
        return raw.view("<u4")[:count].reshape(shape).astype(np.uint32)

    # One ply more than a game may last, so that its last position is seen too.
    plies = min(game.max_plies, _PLIES) + 1
    begin = jax.jit(jax.vmap(game.init_from), compiler_options=fast_compile_options())
    states = begin(words(_GAMES, game.init_words))
    parts: list[PyTree] = []
    played = 0
    while played <= min(game.max_plies, _MOST_PLIES):
        draws, chance = words(plies, _GAMES), words(plies, _GAMES, game.spawn_words)
        states, notes = _play_on()(game, states, draws, chance)
        parts.append(jax.device_get(notes if not parts else notes[5]))
        played += plies
        if np.all(states.terminal):
            break
    first = parts[0]
    going = ~np.concatenate([first[5], *parts[1:]])
    return Sample(*(*first, going.sum(0)))


def choose_by_word(legal: jax.Array, words: jax.Array) -> jax.Array:
    """A legal action int32[B] by the upper halves of uint32[B] words; 0 where there is none."""
    count = legal.sum(1, dtype=jnp.uint32)
    rank = ((words >> 16) * count) >> 16
    return jnp.argmax(jnp.cumsum(legal, 1, dtype=jnp.uint32) > rank[:, None], 1).astype(jnp.int32)


@cache
def _play_on() -> Callable[..., tuple[State, PyTree]]:
    def play(
        game: Game, states: State, draws: jax.Array, chance: jax.Array
    ) -> tuple[State, PyTree]:
        def choose(states: State, draw: jax.Array) -> tuple[jax.Array, PyTree]:
            legal = jax.vmap(game.legal_actions)(states)
            actions = choose_by_word(legal, draw)
            whole = jax.tree.map(lambda leaf: leaf[:_WHOLE], states)
            cells = jax.vmap(game.cells)(states)
            seen = (cells, states.player, legal, states.terminal, states.rewards)
            return actions, (whole, actions, *seen)

        return record(game, states, choose, draws, chance)

    return jax.jit(play, static_argnums=0, compiler_options=fast_compile_options())
