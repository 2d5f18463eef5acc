"""Accuracy of auxiliary outputs, which predict the extras of the next boards of a game."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.rollout import record
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.selection import choose_action, uniform
from jaxgbg.players import GreedyAgent
from jaxgbg.types import PyTree, State
from jaxgbg.values import AuxiliaryMLP
from jaxgbg.values.core import features_of
from jaxgbg.xla import fast_compile_options

GAMES = 100
"""How many are played."""
PLIES = 200
"""Of each game, at most."""
RANDOM_MOVES = 0.1
"""Their share: greedy moves alone would repeat one game."""


@dataclasses.dataclass(frozen=True)
class AuxiliaryError:
    """The accuracy of one output, in the units of its extra, over `boards` next boards.

    `seat` 0 stands for the player who asks, 1 for the next one and so on. `mean` and `spread` (the
    standard deviation) are those of the truth, `error` is the root of the mean squared error, and
    `explained` the share 1 - (error / spread)^2 of the variance, None where there is none.
    """

    extra: str
    seat: int
    boards: int
    mean: float
    spread: float
    error: float
    explained: float | None


def auxiliary_errors(agent: GreedyAgent, seed: int = 0) -> list[AuxiliaryError]:
    """Each output of an agent against what came, [] where its value function predicts nothing.

    The agent plays itself, one move in ten at random, to the end or for 200 plies. What it tells on
    a board that it has moved to counts against the next such board, or the final one where the
    other player moved last, as in training.
    Source: Sasso & van Lohuizen 2018 (what the outputs are to tell).
    """
    game, value = agent.game, agent.value
    if not isinstance(value, AuxiliaryMLP):
        return []
    random, plies = np.random.default_rng(seed), min(game.max_plies, PLIES)

    def words(*shape: int) -> np.ndarray:
        return random.integers(2**32, size=shape, dtype=np.uint32)

    states = jax.jit(jax.vmap(game.init_from))(words(GAMES, game.init_words))
    draws, chance = words(plies, GAMES, 2), words(plies, GAMES, game.spawn_words)
    seen = jax.tree.map(np.asarray, _compiled()(game, agent, states, draws, chance))
    by_game = [leaf.swapaxes(0, 1) for leaf in seen]
    told, truth = map(np.concatenate, zip(*map(_pairs, *by_game), strict=True))
    scales = np.tile([game.extra_scales[at] for at in value.extras.indices], game.num_players)
    named = [(name, seat) for seat in range(game.num_players) for name in value.extras.names]
    columns = zip(named, (told * scales).T, (truth * scales).T, strict=True)
    return [_judged(*each, *column) for each, *column in columns]


def _judged(extra: str, seat: int, told: np.ndarray, truth: np.ndarray) -> AuxiliaryError:
    spread, error = float(truth.std()), float(np.sqrt(((told - truth) ** 2).mean()))
    explained = 1 - (error / spread) ** 2 if spread > 0 else None
    return AuxiliaryError(extra, seat, len(truth), float(truth.mean()), spread, error, explained)


def _pairs(
    playing: np.ndarray, ends: np.ndarray, player: np.ndarray, told: np.ndarray, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(predicted, true) [P, K] of one game.

    `playing` bool[T], whether a move was made; `ends` whether it ended the game; `player` int[T]
    made it; `told` [T, K] are its outputs after it, `truth` [T, N, K] the true extras of that board
    for each player.
    """
    plies = np.flatnonzero(playing)
    found: list[tuple[int, int]] = []
    for ply in plies:
        own = plies[(plies > ply) & (player[plies] == player[ply])]
        if len(own):
            found.append((int(ply), int(own[0])))
        elif ends[plies[-1]] and ply < plies[-1]:
            found.append((int(ply), int(plies[-1])))
    before, after = np.array(found, int).reshape(-1, 2).T
    return told[before], truth[after, player[before]]


def _play(
    game: Game, agent: GreedyAgent, states: State, draws: jax.Array, chance: jax.Array
) -> tuple[jax.Array, ...]:
    """(playing, ends, player, told, truth) of every ply [T, G, ...], see `_pairs`."""
    value = agent.value
    assert isinstance(value, AuxiliaryMLP)
    params, _ = agent.first

    def choose(states: State, words: jax.Array) -> tuple[jax.Array, PyTree]:
        q = agent.action_values(states)
        legal = jax.vmap(game.legal_actions)(states)
        # Of equal numbers any legal one is as good as another.
        q = jnp.where(uniform(words[:, :1]) < RANDOM_MOVES, 0, q)
        actions = jax.vmap(choose_action)(q, legal, uniform(words[:, 1]))
        after = jax.vmap(game.afterstate)(states, actions)
        features = features_of(game, value, params, after)
        seats = jnp.arange(game.num_players, dtype=states.player.dtype)
        truth = jax.vmap(value.known_extras, (None, 0), 1)(
            features, jnp.broadcast_to(seats[:, None], (len(seats), GAMES))
        )
        told = value.predictions(params, features, states.player)
        return actions, (~states.terminal, after.terminal, states.player, told, truth)

    seen: tuple[jax.Array, ...] = record(game, states, choose, draws, chance)[1]
    return seen


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., tuple[jax.Array, ...]]:
    return jax.jit(_play, static_argnums=0, compiler_options=fast_compile_options())
