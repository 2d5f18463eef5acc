"""Who makes the last move and who is paid then: what a learner without FARL never learns from.

Without FARL only the player who makes the last move learns from an ending.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.rollout import play_ply
from jaxgbg.players import Player

EPSILON = 0.1
"""Exploration in the play of trained agents, as in most trainings."""

PREDICTORS = ("blindness", "positions_blindness", "rewards_missed", "losses_missed")
"""The prediction and its rivals, all fixed before any gain was measured."""


class Endings(NamedTuple):
    """Of B games: final `rewards` float32[B, N] and who moved `last` int8[B].

    `sample` is one position of each game, all after its first move and before its end equally
    likely; `sampled` int8[B] says who had moved there, -1 where there is no such position.
    """

    rewards: Any
    last: Any
    sample: Any
    sampled: Any


def play_on(game: Game, player: Player, epsilon: float, states: Any, key: jax.Array) -> Endings:
    """Play games states[B] to their ends by `player`, every move random with `epsilon`."""
    return jax.device_get(_play_on(game, player, epsilon, states, key))


@partial(jax.jit, static_argnums=0)
def _play_on(game: Game, player: Player, epsilon: float, states: Any, key: jax.Array) -> Endings:
    batch = states.terminal.shape[0]

    def ply(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        states, last, sample, sampled, count, key = carry
        key, choosing, exploring, drawing, chance, keeping = jax.random.split(key, 6)
        legal = jax.vmap(game.legal_actions)(states)
        drawn = jax.random.categorical(drawing, jnp.where(legal, 0.0, -jnp.inf))
        explored = jax.random.uniform(exploring, (batch,)) < epsilon
        actions = jnp.where(explored, drawn.astype(jnp.int32), player.act(states, choosing))
        live, mover = ~states.terminal, states.player
        states = play_ply(game, states, actions, chance)
        # The n-th position takes the place of the one kept with probability 1 / n.
        going_on = live & ~states.terminal
        count = count + going_on
        kept = going_on & (jax.random.uniform(keeping, (batch,)) * count < 1)
        sample = jax.tree.map(
            lambda new, old: jnp.where(kept.reshape(-1, *[1] * (new.ndim - 1)), new, old),
            states,
            sample,
        )
        last = jnp.where(live, mover, last)
        return states, last, sample, jnp.where(kept, mover, sampled), count, key

    nobody = jnp.full(batch, -1, jnp.int8)
    carry = (states, nobody, states, nobody, jnp.zeros(batch, jnp.int32), key)
    states, last, sample, sampled, _, _ = jax.lax.while_loop(
        lambda carry: ~carry[0].terminal.all(), ply, carry
    )
    return Endings(states.rewards, last, sample, sampled)


def predictors(
    game: Game, player: Player, epsilon: float, positions: int, continuations: int, seed: int
) -> dict[str, Any]:
    """Everything this experiment predicts from, of `positions` games played by `player`.

    "blindness", the prediction: 1 - the correlation, over the endings of whole games, between what
    a player is paid and what he believes of that ending without FARL (see `believed`).

    Its rivals: "positions_blindness", the same over positions, each with as many `continuations`;
    "rewards_missed", the share of all |final rewards| that fall to players who did not move last;
    "losses_missed", the same of what lies below the middle of the game's rewards.
    """
    if game.num_players == 1:
        # Whoever plays alone makes every move.
        return dict.fromkeys(PREDICTORS, 0.0)
    start, first, on = jax.random.split(jax.random.key(seed), 3)
    begun = jax.vmap(game.init)(jax.random.split(start, positions))
    whole = play_on(game, player, epsilon, begun, first)
    # Copies of one position stand together, so that each agent of several keeps its share.
    states = jax.tree.map(lambda leaf: np.repeat(leaf, continuations, 0), whole.sample)
    further = play_on(game, player, epsilon, states, on)
    mover = np.repeat(whole.sampled, continuations)
    paid = further.rewards - np.asarray(states.rewards)
    rewards = paid[np.arange(len(mover)), mover].reshape(-1, continuations)
    moved_last = (further.last == mover).reshape(-1, continuations)
    means, beliefs = rewards.mean(1), believed(rewards, moved_last).mean(1)
    players = range(game.num_players)
    of_positions = [
        blindness(means[whole.sampled == seat], beliefs[whole.sampled == seat]) for seat in players
    ]
    own = [(whole.rewards[:, seat], whole.last == seat) for seat in players]
    return {
        "blindness": float(np.mean([blindness(paid, believed(paid, last)) for paid, last in own])),
        "positions_blindness": float(np.mean(of_positions)),
        **missed(whole.rewards, whole.last, game.reward_range),
        **facts(whole.rewards, whole.last),
    }


def believed(rewards: np.ndarray, moved_last: np.ndarray) -> np.ndarray:
    """float[..., M]: what one player believes without FARL of M endings of one origin.

    An ending in which he `moved_last`, bool[..., M], counts as it is. Of any other he believes the
    mean of those, but not less than the 0 of an empty table: what seems to lie above 0
    is tried again, and what seems to lie below is avoided.
    """
    count = moved_last.sum(-1, keepdims=True)
    mean = np.where(moved_last, rewards, 0).sum(-1, keepdims=True) / np.maximum(count, 1)
    return np.where(moved_last, rewards, np.maximum(mean, 0))


def blindness(rewards: np.ndarray, beliefs: np.ndarray) -> float:
    """1 - correlation of rewards and what is believed of them, float[n] each.

    1 where the same is believed of all; 0 where all rewards are alike, and nothing is to be seen.
    """
    if np.ptp(rewards) == 0:
        return 0.0
    if np.ptp(beliefs) == 0:
        return 1.0
    return 1 - float(np.corrcoef(rewards, beliefs)[0, 1])


def missed(
    rewards: np.ndarray, last: np.ndarray, reward_range: tuple[float, float]
) -> dict[str, float]:
    """The shares of rewards and of losses, float[B, N], of players who did not move last."""
    others = np.arange(rewards.shape[1]) != last[:, None]
    size, loss = np.abs(rewards), np.maximum(np.mean(reward_range) - rewards, 0)
    return {
        "rewards_missed": float((size * others).sum() / size.sum()),
        "losses_missed": float((loss * others).sum() / loss.sum()),
    }


def facts(rewards: np.ndarray, last: np.ndarray) -> dict[str, Any]:
    """How the player who moves last fares, and how often each player does."""
    own = rewards[np.arange(len(last)), last]
    best, worst = rewards.max(1), rewards.min(1)
    return {
        "last_mover_wins": float(((own == best) & (best > worst)).mean()),
        "last_mover_loses": float(((own == worst) & (best > worst)).mean()),
        "no_winner": float((best == worst).mean()),
        "reward_of_last_mover": float(own.mean()),
        "reward_of_others": float((rewards.sum() - own.sum()) / max(1, rewards.size - own.size)),
        "moves_last_by_player": [float((last == seat).mean()) for seat in range(rewards.shape[1])],
    }
