"""What a player thinks of positions: its value of every legal move, and the move it prefers."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import chunked
from jaxgbg.players.core import Player
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.players.lookahead import LookAheadAgent
from jaxgbg.players.maxn import MaxN
from jaxgbg.players.search import SearchAgent
from jaxgbg.search.puct import most_visited
from jaxgbg.types import PyTree, State

# So many positions at once: a search needs a tree for each.
_CHUNK = 64


class Analysis(NamedTuple):
    """A player's view of positions states[B].

    Attributes:
      legal: bool[B, A] the legal actions.
      values: float32[B, A] the mover's further reward after each action; NaN where the player has
        none.
      visits: int32[B, A] how often a tree search has tried each action, or None.
      best: int32[B] the action that it would play, -1 in a terminal state.
    """

    legal: np.ndarray
    values: np.ndarray
    visits: np.ndarray | None
    best: np.ndarray


@in_32_bits
def analyze(game: Game, player: Player, states: State, seed: int = 0) -> Analysis:
    """A player's values and moves in states[B]; draws of a search by `seed`."""
    count, parts = len(states.terminal), []
    if player.needs_history:
        raise ValueError(f"{player.name} needs the moves from the start, and positions have none")
    size = min(count, _CHUNK)
    for number, (chunk, _) in enumerate(chunked(states, count, size)):
        key = jax.random.fold_in(jax.random.key(seed), number)
        parts.append(_analyzed(game, player, chunk, key))
    legal, values, best, *visits = (
        np.concatenate(part)[:count] for part in zip(*parts, strict=True)
    )
    best = np.where(np.asarray(states.terminal), -1, best)
    return Analysis(legal, np.where(legal, values, np.nan), visits[0] if visits else None, best)


def _analyzed(game: Game, player: Player, states: State, key: jax.Array) -> tuple[PyTree, ...]:
    """(legal, values, best) of states[B], and visits if there are any."""
    legal = np.asarray(legal_actions(game, states))
    if isinstance(player, SearchAgent):
        search, choice = jax.random.split(key)
        statistics = jax.device_get(player.statistics(states, search))
        visits = statistics.visits
        values = np.where(visits > 0, statistics.values, np.nan)
        return legal, values, np.asarray(most_visited(statistics, choice)), visits
    best = np.asarray(player.act(states, key))
    if isinstance(player, GreedyAgent | LookAheadAgent):
        values = np.asarray(player.action_values(states))
        values = np.where(np.isneginf(values), np.nan, values)
    elif isinstance(player, MaxN):
        mover = np.arange(len(best)), np.asarray(states.player)
        values = np.asarray(final_rewards(game, player, states))
        values = values - np.asarray(states.rewards)[mover][:, None]
    else:
        values = np.full(legal.shape, np.nan, np.float32)
    return legal, values, best


@partial(jax.jit, static_argnums=0)
def legal_actions(game: Game, states: State) -> jax.Array:
    """bool[B, A] of states[B]."""
    return jax.vmap(game.legal_actions)(states)


@partial(jax.jit, static_argnums=0)
def final_rewards(game: Game, player: MaxN, states: State) -> jax.Array:
    """float32[B, A]: the mover's final reward after each action in perfect play.

    In games of chance its expectation.
    """
    actions, numbers = jnp.arange(game.num_actions), jnp.arange(game.num_spawns)

    def one(state: State) -> jax.Array:
        after = jax.vmap(game.afterstate, (None, 0))(state, actions)
        if not game.stochastic:
            return player.values(after)[:, state.player]
        # Positions before chance are not in the tables.
        shares = jax.vmap(game.spawn_probabilities)(after)
        outcomes = jax.vmap(jax.vmap(game.spawn_outcome, (None, 0)), (0, None))(after, numbers)
        values = jax.vmap(player.values)(outcomes)[..., state.player]
        mean = jnp.where(shares > 0, shares * values, 0).sum(1)
        return jnp.where(after.terminal, after.rewards[:, state.player], mean)

    return jax.vmap(one)(states)
