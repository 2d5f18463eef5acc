"""Where episodes start: at the start position, or some random plies after it."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.games.core import Game, once
from jaxgbg.games.rollout import select
from jaxgbg.learners.selection import choose_action
from jaxgbg.learners.state import Words


def start_positions(
    game: Game, plies: int, share: float, words: Words, restart: jax.Array
) -> tuple[Any, jax.Array]:
    """A start position for each of B games, none of them terminal, and the plies that led there.

    The `share` of the games that `restart` bool[B] gets up to `plies` uniformly random plies, each
    with what chance adds to it; one that would end the game is not made. Returns (states[B],
    actions int32[B, plies], -1 where none was made).
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

    def random_ply(states: Any, drawn: tuple[jax.Array, jax.Array]) -> tuple[Any, jax.Array]:
        draw, spawn = drawn
        legal = jax.vmap(game.legal_actions)(states)
        (action,) = once(jax.vmap(choose_action)(jnp.zeros(legal.shape), legal, draw))
        after = jax.vmap(game.afterstate)(states, action)
        if game.stochastic:
            after = jax.vmap(game.spawn_from)(after, spawn)
        made = ~after.terminal
        return select(made, after, states), jnp.where(opened & made, action, -1)

    # One ply is compiled in line: a loop would cost more than it does.
    if plies == 1:
        states, action = random_ply(start, (draws[0], chance[0]))
        return select(opened, states, start), action[:, None]
    states, actions = jax.lax.scan(random_ply, start, (jnp.stack(draws), chance))
    return select(opened, states, start), actions.T
