"""Compiled functions that evaluate the rules and the agents at every position."""

from functools import partial

import jax
import jax.numpy as jnp

from jaxgbg.games import Game
from jaxgbg.games.game_replay import CHUNK, FEW
from jaxgbg.games.rollout import chunked
from jaxgbg.players import GreedyAgent
from jaxgbg.types import PyTree, State


def in_chunks(states: PyTree, count: int) -> list[PyTree]:
    """Split states[T] into chunks of one size, padding the last; a few states one by one."""
    return [chunk for chunk, _ in chunked(states, count, 1 if count <= FEW else CHUNK)]


@partial(jax.jit, static_argnums=0)
def facts(game: Game, states: State) -> tuple[jax.Array, ...]:
    """(boards int8[B, C], legal bool[B, A], player, terminal, rewards, who is still in bool[B, N])
    of states[B].
    """
    boards = jax.vmap(game.display_cells)(states)
    legal = jax.vmap(game.legal_actions)(states)
    active = jax.vmap(game.active)(states)
    return boards, legal, states.player, states.terminal, states.rewards, active


@jax.jit
def values_of_all(agent: GreedyAgent, state: State, actions: jax.Array) -> jax.Array:
    """float32[K, N]: the reward of each of actions[K] plus the next value, for every player."""
    game = agent.game
    after = jax.vmap(game.afterstate, (None, 0))(state, actions)
    # Who is out, as everybody is in the end, is paid no more.
    values = jnp.where(jax.vmap(game.active)(after), agent.values(after), 0)
    return after.rewards - state.rewards + values
