"""Which games an evaluation plays, and the positions that they start from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from jaxgbg.arguments import MOST_GAMES
from jaxgbg.games import Game
from jaxgbg.games.rollout import after_each, record, select_states
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players.core import History
from jaxgbg.specs import Spec, setting, shown
from jaxgbg.types import AnyArray, State

_ATTEMPTS = 100

Starts = tuple[State, History]
"""The states[S] in which games start, and how they came there."""

Position = tuple[State, History | None]
"""One position states[1], and the plies that led there from the start, None if not known."""


@dataclasses.dataclass(frozen=True)
class Protocol(Spec):
    """Which games an evaluation plays.

    Values of `starts`:

    - "default": the start position;
    - "one_ply": the start position, and every position one ply later;
    - "one_ply_triangle": the same for the actions (row, column) of a square board, column <= row;
    - "four_ply": the positions after all sequences of four plies;
    - "four_ply_positions": the same, each position once;
    - "choose_01": `count` draws, each with probability 1/2 the start position, otherwise a
      uniformly random position one ply later;
    - "random_plies": `count` draws of `plies` uniformly random plies.

    Every ply includes chance, and a random start position is drawn again for every start. "one_ply"
    and "one_ply_triangle" need a game that always begins alike, "four_ply" and "four_ply_positions"
    one without chance. A start that ends the game is drawn again or, in a list, left out. The agent
    plays every start `repeats` times from each of `seats` (all of them if empty); the opponent has
    the other seats.

    Raises ValueError for unknown `starts`.
    """

    starts: str = "default"
    count: int = setting(1, low=1, high=MOST_GAMES)
    repeats: int = setting(1, low=1, high=MOST_GAMES)
    seats: tuple[int, ...] = setting((), low=0, high=126)
    plies: int = setting(0, low=0, high=10_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.starts not in _STARTS:
            known = ", ".join(_STARTS)
            raise ValueError(f"starts must be one of {known}, not {shown(self.starts)}")
        if self.count * self.repeats > MOST_GAMES:
            raise ValueError(
                f"count times repeats must be at most {MOST_GAMES:,} games, not"
                f" {self.count * self.repeats:,}"
            )

    @property
    def drawn(self) -> bool:
        """Whether every key has starts of its own."""
        return self.starts in _DRAWN

    def for_game(self, game: Game) -> Protocol:
        """This protocol with a start for every repetition where chance makes all of them differ."""
        if not (game.stochastic and self.drawn):
            return self
        return dataclasses.replace(self, count=self.count * self.repeats, repeats=1)


def start_states(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    """The start positions of an evaluation, states[S], and the plies that led there.

    None of them is terminal. Raises ValueError where the game has too few such positions, or has
    chance and `protocol` goes through sequences of plies.
    """
    if protocol.drawn:
        return drawn_starts(game, protocol, key[None])
    return _LISTED[protocol.starts](game, protocol, key)


def drawn_starts(game: Game, protocol: Protocol, keys: jax.Array) -> Starts:
    """`protocol.count` starts drawn by each of `keys` [K], states[K * count], none terminal.

    Raises ValueError where nearly all games end within so many plies.
    """
    draw, plies = _DRAWN[protocol.starts](protocol)
    groups, parts = [], []
    missing = np.full(len(keys), protocol.count)
    for attempt in range(_ATTEMPTS if plies < game.max_plies else 0):
        drawn = _draw(draw, game, protocol, jax.vmap(jax.random.fold_in, (0, None))(keys, attempt))
        states, history = jax.tree.map(lambda leaf: np.concatenate(np.asarray(leaf)), drawn)
        goes_on = ~states.terminal.reshape(len(keys), -1)
        taken = goes_on & (goes_on.cumsum(1) <= missing[:, None])
        groups.append(np.nonzero(taken)[0])
        parts.append(select_states((states, history), taken.ravel()))
        missing -= taken.sum(1)
        if not missing.any():
            together = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
            return select_states(together, np.concatenate(groups).argsort(kind="stable"))
    raise ValueError(
        f"nearly all games of {game.name} end within {plies} random plies: choose fewer"
    )


def no_history(games: int) -> History:
    """The history of games that stand at the start."""
    return History(np.zeros((games, 0), np.int32), np.zeros((games, 0), np.int8))


def extended(history: History, actions: np.ndarray, players: np.ndarray) -> History:
    """The history with one more ply of every game."""
    return History(
        np.concatenate([history.actions, np.asarray(actions, np.int32)[:, None]], 1),
        np.concatenate([history.players, np.asarray(players, np.int8)[:, None]], 1),
    )


Draw: TypeAlias = "Callable[[Game, Protocol, jax.Array], Starts]"


@partial(jit, static_argnums=(0, 1, 2))
def _draw(draw: Draw, game: Game, protocol: Protocol, keys: jax.Array) -> Starts:
    """`protocol.count` starts for each key, states[K, count]; some may be terminal."""
    return jax.vmap(partial(draw, game, protocol))(keys)


def _default(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    states = jax.vmap(game.init)(jax.random.split(key, protocol.count))
    return states, no_history(protocol.count)


def _choose_01(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    coin, choice, begin, chance = jax.random.split(key, 4)
    starts = jax.vmap(game.init)(jax.random.split(begin, protocol.count))
    legal = jax.vmap(game.legal_actions)(starts)
    played = jax.random.bernoulli(coin, jnp.float32(0.5), (protocol.count,))
    actions = jnp.where(played, choose_uniformly(legal, choice), -1)
    return _after_one_ply(game, starts, actions, chance)


def _random_plies(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    begin, choices, chance = jax.random.split(key, 3)
    states = jax.vmap(game.init)(jax.random.split(begin, protocol.count))

    def choose(states: State, key: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        actions = choose_uniformly(jax.vmap(game.legal_actions)(states), key)
        return actions, (actions.astype(jnp.int32), states.player.astype(jnp.int8))

    keys = jax.random.split(choices, protocol.plies), jax.random.split(chance, protocol.plies)
    states, (actions, players) = record(game, states, choose, *keys)
    return states, History(actions.T, players.T)


def _one_ply(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    if game.init_words:
        raise ValueError(f"starts {protocol.starts!r} need one start position, not {game.name}")
    begin, chance = jax.random.split(key)
    start = _start(game, begin)
    actions = np.flatnonzero(after_each(game, start)[0])
    if protocol.starts == "one_ply_triangle":
        row, column = np.divmod(actions, math.isqrt(game.num_actions))
        actions = actions[column <= row]
    actions = np.append(-1, actions)
    starts = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(actions), 0), start)
    return _going_on(_after_one_ply(game, starts, actions, chance))


def _four_ply(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    """The states that all legal sequences of four plies lead to, as often as they do."""
    if game.stochastic:
        raise ValueError(f"starts {protocol.starts!r} need a game without chance, not {game.name}")
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[None], _start(game, key))
    history = no_history(1)
    for _ in range(4):
        parents = (select_states(states, row) for row in range(len(history.actions)))
        expanded = [jax.device_get(after_each(game, parent)) for parent in parents]
        legal, children = jax.tree.map(lambda *rows: np.stack(rows), *expanded)
        row, action = np.nonzero(legal)
        history = extended(select_states(history, row), action, states.player[row])
        states = select_states(children, (row, action))
    starts = _going_on((states, history))
    if not len(starts[1].actions):
        raise ValueError(f"no game of {game.name} goes on after four plies")
    return starts


def _four_ply_positions(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    """Each position once, with the first of the histories that led there."""
    states, history = _four_ply(game, protocol, key)
    boards = np.asarray(jax.vmap(game.cells)(states))
    boards = np.concatenate([boards, np.asarray(states.player)[:, None]], 1)
    first = np.sort(np.unique(boards, axis=0, return_index=True)[1])
    return select_states((states, history), first)


_LISTED: dict[str, Callable[[Game, Protocol, jax.Array], Starts]] = {
    "one_ply": _one_ply,
    "one_ply_triangle": _one_ply,
    "four_ply": _four_ply,
    "four_ply_positions": _four_ply_positions,
}
# With the random plies that each draw makes.
_DRAWN: dict[str, Callable[[Protocol], tuple[Draw, int]]] = {
    "default": lambda protocol: (_default, 0),
    "choose_01": lambda protocol: (_choose_01, 1),
    "random_plies": lambda protocol: (_random_plies, protocol.plies),
}
_STARTS = (*_DRAWN, *_LISTED)


@partial(jit, static_argnums=0)
def _start(game: Game, key: jax.Array) -> State:
    """The start state as one program, where each step of `init` would be compiled by itself."""
    return game.init(key)


@partial(jit, static_argnums=0)
def _after_one_ply(game: Game, starts: State, actions: jax.Array, chance: jax.Array) -> Starts:
    """`Starts` after one ply from each of `starts`, chance included; -1 for none."""

    def one(start: State, action: jax.Array, key: jax.Array) -> State:
        moved = game.spawn(game.afterstate(start, jnp.maximum(action, 0)), key)
        return jax.tree.map(lambda new, old: jnp.where(action >= 0, new, old), moved, start)

    states = jax.vmap(one)(starts, actions, jax.random.split(chance, len(actions)))
    played: AnyArray = actions[:, None].astype(jnp.int32)
    players: AnyArray = starts.player[:, None].astype(jnp.int8)
    return states, History(played, players)


def _going_on(starts: Starts) -> Starts:
    """The starts that are not terminal."""
    # Picked here: each pick from a device's array would be a program to compile.
    states, history = jax.device_get(starts)
    return select_states((states, history), np.flatnonzero(~states.terminal))
