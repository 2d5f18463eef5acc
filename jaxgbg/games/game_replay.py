"""Positions from move lists: replayed quickly, and cached for the next request."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from functools import partial

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.lines import Line
from jaxgbg.games.notations import position_line, set_up
from jaxgbg.games.rollout import select_states
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.types import PyTree, State

FEW, CHUNK = 256, 64
"""Up to FEW plies are replayed one by one, by the program that every move needs; more of them in
chunks of CHUNK plies, by a program that must be compiled first.
"""
_KEPT = 4096
_LEGAL_SHOWN = 20
NO_WORD = 2**32 - 1
"""The number of an outcome where no chance is due."""


class GameReplay:
    """The positions of one game. Thread-safe."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._listed = game.stochastic and game.num_spawns > 0
        self._words = words_of_chance(game)
        self._random = np.random.default_rng()
        self._kept: OrderedDict[bytes, State] = OrderedDict()
        self._lock = threading.Lock()

    def start(self) -> Line:
        """A new game, with a random start position."""
        return Line(self._draw(self.game.init_words))

    def end(self, line: Line) -> State:
        """states[1]: the position after all moves. Raises ValueError for an illegal move."""
        return self._states(line, every=False)

    def every(self, line: Line) -> State:
        """states[T + 1]: the positions before the first and after each of T moves."""
        return self._states(line, every=True)

    def played(self, line: Line, action: int) -> Line:
        """The game after one more move, with chance drawn; ValueError for an illegal move."""
        if not self.game.stochastic:
            chance: tuple[int, ...] = ()
        elif not self._listed:
            chance = self._draw(self._words)
        else:
            chances = _spawns(self.game, self.end(line), np.int32(action))
            shares = np.asarray(chances, float)
            total = shares.sum()
            chance = (int(self._random.choice(len(shares), p=shares / total)),) if total else ()
        longer = Line(line.start, (*line.plies, (action, *chance)))
        self.end(longer)
        return longer

    def _draw(self, count: int) -> tuple[int, ...]:
        return tuple(self._random.integers(NO_WORD, size=count).tolist())

    def _states(self, line: Line, every: bool) -> State:
        actions, chance = self._arrays(line)
        if not isinstance(line.start, str) and len(line.start) != self.game.init_words:
            raise ValueError(f"{self.game.name} starts from {self.game.init_words} random words")
        keys = _keys(line, np.concatenate([actions.astype(np.uint32)[:, None], chance], 1))
        at, states = (0, None) if every else self._known(keys)
        if states is None:
            states = self._first(line)
        passed = [states]
        while at < len(actions):
            count = 1 if len(actions) - at <= FEW else CHUNK
            legal, after = self._portion(states, actions[at : at + count], chance[at : at + count])
            if not legal.all():
                wrong = int(np.argmin(legal))
                before = states if not wrong else select_states(after, slice(wrong - 1, wrong))
                action = line.plies[at + wrong][0]
                raise self._illegal(at + wrong + 1, action, select_states(before, 0))
            at = min(at + count, len(actions))
            states = jax.tree.map(lambda leaf: leaf[-1:], after)
            if at in keys:
                self._keep(keys[at], states)
            passed.append(after)
        if not every:
            return states
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *passed)

    def _first(self, line: Line) -> State:
        """states[1] of the position before the first move."""
        if isinstance(line.start, str):
            return jax.tree.map(lambda leaf: leaf[None], set_up(self.game, line.start))
        return jax.device_get(_start(self.game, np.array(line.start, np.uint32)))

    def _known(self, keys: dict[int, bytes]) -> tuple[int, State | None]:
        """The number of plies to the latest cached position, and that position states[1]."""
        for at in sorted(keys, reverse=True):
            with self._lock:
                if keys[at] in self._kept:
                    self._kept.move_to_end(keys[at])
                    return at, self._kept[keys[at]]
        return 0, None

    def _keep(self, name: bytes, states: State) -> None:
        with self._lock:
            self._kept[name] = states
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _illegal(self, number: int, action: int, state: State) -> ValueError:
        """The error for move `number`, an action that is not possible in `state`."""
        game = self.game
        if state.terminal:
            return ValueError(f"{game.name}: the game is over after move {number - 1}")
        legal = np.flatnonzero(jax.device_get(_legal(game, state))).tolist()
        if action in legal:
            return ValueError(
                f"{game.name}: move {number}, {action}, cannot have that outcome of chance"
            )
        more = " ..." if len(legal) > _LEGAL_SHOWN else ""
        return ValueError(
            f"{game.name}: move {number} is not legal there: {action}; legal are"
            f" {', '.join(map(str, legal[:_LEGAL_SHOWN]))}{more}"
        )

    def _portion(
        self, states: State, actions: np.ndarray, chance: np.ndarray
    ) -> tuple[np.ndarray, State]:
        """(legal bool[K], the states[K] after each of K plies from states[1])."""
        count = len(actions)
        room = 1 if count == 1 else CHUNK
        # An action out of range does not change a position.
        padded = np.full(room, -1, np.int32)
        padded[:count] = actions
        words = np.full((room, self._words), NO_WORD, np.uint32)
        words[:count] = chance
        legal, after = jax.device_get(_play(self.game, states, padded, words))
        return legal[:count], jax.tree.map(lambda leaf: leaf[:count], after)

    def _arrays(self, line: Line) -> tuple[np.ndarray, np.ndarray]:
        """(actions int32[T], words of chance uint32[T, W]) of a line."""
        count = len(line.plies)
        actions = np.full(count, -1, np.int32)
        chance = np.full((count, self._words), NO_WORD, np.uint32)
        for number, (action, *words) in enumerate(line.plies):
            if len(words) != self._words and not (self._listed and not words):
                raise ValueError(
                    f"{self.game.name}: a move needs {self._words} numbers of chance after it, and"
                    f" move {number + 1} has {len(words)}"
                )
            if action < self.game.num_actions:
                actions[number] = action
            chance[number, : len(words)] = words
        return actions, chance


def read_position(game: Game, text: str) -> tuple[Line, State]:
    """A position as a game that leads there, and its state; raises ValueError."""
    line = position_line(game, text)
    return line, select_states(GameReplay(game).end(line), 0)


def _keys(line: Line, plies: np.ndarray) -> dict[int, bytes]:
    """The cache keys: at the end of each chunk, and at the last plies."""
    count = len(plies)
    wanted = sorted({*range(0, count, CHUNK), *range(max(count - 2, 0), count + 1)})
    start = Line(line.start).text.encode()
    keys, at, so_far = {}, 0, hashlib.blake2b(start, digest_size=16)
    for plies_played in wanted:
        so_far.update(plies[at:plies_played].tobytes())
        at = plies_played
        keys[at] = so_far.digest()
    return keys


@partial(jit, static_argnums=0)
def _start(game: Game, words: jax.Array) -> State:
    """states[1] of the start position."""
    return jax.tree.map(lambda leaf: leaf[None], game.init_from(words))


@partial(jit, static_argnums=0)
def _legal(game: Game, state: State) -> jax.Array:
    return game.legal_actions(state)


@partial(jit, static_argnums=0)
def _play(
    game: Game, states: State, actions: jax.Array, words: jax.Array
) -> tuple[jax.Array, State]:
    """(legal bool[K], states[K] after each ply) of actions int32[K] from states[1]."""

    def step(state: State, inputs: tuple[jax.Array, jax.Array]) -> tuple[State, PyTree]:
        fine, after = ply(game, state, *inputs)
        return after, (fine, after)

    state = jax.tree.map(lambda leaf: leaf[0], states)
    return jax.lax.scan(step, state, (actions, words))[1]


def ply(game: Game, state: State, action: jax.Array, words: jax.Array) -> tuple[jax.Array, State]:
    """Play an action int32[] with an outcome of chance: (legal bool[], the next state).

    `words` uint32[W] are the number of an outcome, or random words: `words_of_chance`.
    """
    legal = game.legal_actions(state)[jnp.clip(action, 0, game.num_actions - 1)]
    after, fine = _with_chance(game, game.afterstate(state, action), words)
    return legal & game.in_range(action) & fine, after


def words_of_chance(game: Game) -> int:
    """The number of words for the outcome of chance: one if outcomes are listed."""
    return 1 if game.stochastic and game.num_spawns else game.spawn_words * game.stochastic


def _with_chance(game: Game, after: State, words: jax.Array) -> tuple[State, jax.Array]:
    """(the state after chance, whether this outcome is possible)."""
    if not game.stochastic:
        return after, jnp.bool_(True)
    if not game.num_spawns:
        return game.spawn_from(after, words), jnp.bool_(True)
    shares = game.spawn_probabilities(after)
    due, number = (shares > 0).any(), jnp.minimum(words[0], jnp.uint32(game.num_spawns - 1))
    outcome = game.spawn_outcome(after, number.astype(jnp.int32))
    spawned = jax.tree.map(lambda new, old: jnp.where(due, new, old), outcome, after)
    listed = (words[0] < game.num_spawns) & (shares[number] > 0)
    return spawned, jnp.where(due, listed, words[0] == np.uint32(NO_WORD))


@partial(jit, static_argnums=0)
def _spawns(game: Game, states: State, action: jax.Array) -> jax.Array:
    """float32[num_spawns]: the probability of each outcome of a move."""
    state = jax.tree.map(lambda leaf: leaf[0], states)
    return game.spawn_probabilities(game.afterstate(state, action))
