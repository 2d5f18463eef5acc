"""Games of a match with all their moves, and the text of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.game_replay import NO_WORD, words_of_chance
from jaxgbg.games.lines import Line
from jaxgbg.games.notations import write_position
from jaxgbg.games.rollout import play_ply, select_states
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.players import History
from jaxgbg.types import State


class PlayedGames(NamedTuple):
    """G games of a match, each of at most T plies.

    Attributes:
      seats: int[G, N] the number of the player in each seat.
      starts: states[G] before the first move of a player.
      history: The plies that led there from the start of the game; None if that is not known.
      actions: int32[G, T] the moves of the players, -1 after the end.
      chance: uint32[G, T, W] the outcome of chance after each, see `game_replay.ply`.
      rewards: float32[G, N] the final rewards.
    """

    seats: np.ndarray
    starts: State
    history: History | None
    actions: np.ndarray
    chance: np.ndarray
    rewards: np.ndarray


OnGames = Callable[[PlayedGames], None]
"""A callback that receives the games of a match."""


class GameMoves(NamedTuple):
    """The moves of one game as `Line.text`; the first `opening` of them were not chosen."""

    opening: int
    moves: str


class MoveLog:
    """Notes the moves of games from states[G]; `ply` plays them, with chance."""

    def __init__(self, game: Game, states: State) -> None:
        self._game, self._starts = game, states
        self._actions: list[np.ndarray] = []
        self._chance: list[np.ndarray] = []

    def ply(self, states: State, actions: jax.Array, key: jax.Array) -> State:
        """As `play_ply`, with the same draws unless the game draws from words of its own."""
        game, chance = self._game, key
        if game.stochastic and not game.num_spawns:
            chance = _words(game, key, len(actions))
        after = play_ply(game, states, actions, chance)
        self._actions.append(np.where(states.terminal, -1, actions))
        if not game.stochastic:
            self._chance.append(np.zeros((len(actions), 0), np.uint32))
        elif game.num_spawns:
            self._chance.append(np.asarray(_numbers(game, states, actions, after)))
        else:
            self._chance.append(np.asarray(chance))
        return after

    def games(self, seats: np.ndarray, history: History | None, rewards: np.ndarray) -> PlayedGames:
        """Return the games with their moves so far."""
        count = len(seats)
        none = np.zeros((count, 0), np.int32), np.zeros((count, 0, words_of_chance(self._game)))
        return PlayedGames(
            np.asarray(seats),
            self._starts,
            history,
            np.stack(self._actions, 1) if self._actions else none[0],
            np.stack(self._chance, 1) if self._chance else none[1],
            np.asarray(rewards),
        )


def _words(game: Game, key: jax.Array, count: int) -> jax.Array:
    """uint32[G, spawn_words]: words that draw what `play_ply` draws by a key, if they can."""
    if type(game).spawn_from is Game.spawn_from:
        return jax.random.key_data(jax.random.split(key, count))
    return jax.random.bits(key, (count, game.spawn_words), jnp.uint32)


@partial(jit, static_argnums=0)
def _numbers(game: Game, states: State, actions: jax.Array, after: State) -> jax.Array:
    """uint32[G, 1]: the outcomes of chance that lead from states[G] to `after`."""

    def one(state: State, action: jax.Array, after: State) -> jax.Array:
        moved = game.afterstate(state, action)

        def leads(number: jax.Array) -> jax.Array:
            outcome = game.spawn_outcome(moved, number)
            same = jax.tree.map(lambda one, other: (one == other).all(), outcome, after)
            return jnp.stack(jax.tree.leaves(same)).all()

        shares = game.spawn_probabilities(moved)
        found = jax.vmap(leads)(jnp.arange(game.num_spawns)) & (shares > 0)
        number = jnp.where(found.any(), found.argmax().astype(jnp.uint32), jnp.uint32(NO_WORD))
        # A finished game stands still.
        return jnp.where(state.terminal, jnp.uint32(NO_WORD), number)[None]

    return jax.vmap(one)(states, actions, after)


def moves_of(game: Game, played: PlayedGames) -> list[GameMoves]:
    """The moves of each game, from its start; from the first position if chance led there."""
    chance = game.stochastic or game.init_words
    texts = []
    for number, actions in enumerate(played.actions):
        plies = [
            (int(action), *_outcome(words))
            for action, words in zip(actions.tolist(), played.chance[number], strict=True)
            if action >= 0
        ]
        opening: Sequence[tuple[int, ...]] = ()
        start: tuple[int, ...] | str = ()
        if played.history is not None and not chance:
            before = np.asarray(played.history.actions)[number].tolist()
            opening = [(action,) for action in before if action >= 0]
        else:
            start = write_position(game, select_states(played.starts, number))
        texts.append(GameMoves(len(opening), Line(start, (*opening, *plies)).text))
    return texts


def _outcome(words: np.ndarray) -> tuple[int, ...]:
    return () if (words == NO_WORD).all() else tuple(words.astype(np.int64).tolist())
