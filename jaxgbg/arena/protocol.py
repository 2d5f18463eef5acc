"""Which games an evaluation plays, and the positions that they start from."""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.rollout import play_ply, select_states
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players import History
from jaxgbg.specs import Spec, setting, shown

_ATTEMPTS, MOST_GAMES = 100, 100_000

Starts = tuple[Any, History]
"""The states[S] in which games start, and how they came there."""


@dataclasses.dataclass(frozen=True)
class Protocol(Spec):
    """Which games an evaluation plays.

    `starts`: "default", the start position, drawn anew for every game in a game of chance;
    "one_ply", it and every position one ply later; "one_ply_triangle", the same for the
    actions (row, column) of a square board with column <= row; "four_ply", the ends of all
    sequences of four plies; "four_ply_positions", each position among them once; "choose_01",
    `count` draws, each with probability 1/2 the start position, else a uniformly random position
    one ply later; "random_plies", `count` draws of `plies` uniformly random plies. Every ply
    includes chance, which "four_ply" and "four_ply_positions" do not know. A start that ends the
    game is drawn anew or, in a list, left out. Every start is played `repeats` times from each of
    `seats` (all of them if empty) by the agent; the opponent sits everywhere else.

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

    def for_game(self, game: Game) -> "Protocol":
        """This protocol with a start for every repetition where chance makes all of them differ."""
        if not game.stochastic or self.starts not in _DRAWN:
            return self
        return dataclasses.replace(self, count=self.count * self.repeats, repeats=1)


def start_states(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    """The start positions of an evaluation, states[S], and the plies that led there.

    None of them is terminal. Raises ValueError where the game has too few such positions, or has
    chance and `protocol` goes through sequences of plies.
    """
    return _STARTS[protocol.starts](game, protocol, key)


def no_history(games: int) -> History:
    """The history of games that stand at the start."""
    return History(np.zeros((games, 0), np.int32), np.zeros((games, 0), np.int8))


def extended(history: History, actions: np.ndarray, players: np.ndarray) -> History:
    """The history with one more ply of every game."""
    return History(
        np.concatenate([history.actions, np.asarray(actions, np.int32)[:, None]], 1),
        np.concatenate([history.players, np.asarray(players, np.int8)[:, None]], 1),
    )


def _default(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    states = jax.vmap(game.init)(jax.random.split(key, protocol.count))
    return states, no_history(protocol.count)


def _one_ply(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    begin, chance = jax.random.split(key)
    start = game.init(begin)
    actions = np.flatnonzero(game.legal_actions(start))
    if protocol.starts == "one_ply_triangle":
        row, column = np.divmod(actions, math.isqrt(game.num_actions))
        actions = actions[column <= row]
    return _going_on(_after_one_ply(game, start, np.append(-1, actions), chance))


def _choose_01(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    def draw(key: jax.Array) -> Starts:
        coin, choice, begin, chance = jax.random.split(key, 4)
        start = game.init(begin)
        drawn = jax.random.choice(
            choice, np.flatnonzero(game.legal_actions(start)), (protocol.count,)
        )
        played = jax.random.bernoulli(coin, 0.5, (protocol.count,))
        return _after_one_ply(game, start, np.asarray(jnp.where(played, drawn, -1)), chance)

    # The last of five is a key of its own beside the four of the first attempt.
    keys = [key, *jax.random.split(jax.random.split(key, 5)[4], _ATTEMPTS - 1)]
    return _drawn(game, protocol.count, 1, draw, keys)


def _random_plies(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    count, plies = protocol.count, protocol.plies

    def draw(key: jax.Array) -> Starts:
        begin, *keys = jax.random.split(key, 1 + 2 * plies)
        states, history = jax.vmap(game.init)(jax.random.split(begin, count)), no_history(count)
        for choice, chance in zip(keys[::2], keys[1::2], strict=True):
            actions = choose_uniformly(jax.vmap(game.legal_actions)(states), choice)
            history = extended(history, np.asarray(actions), np.asarray(states.player))
            states = play_ply(game, states, actions, chance)
        return states, history

    attempts = _ATTEMPTS if plies < game.max_plies else 0
    return _drawn(game, count, plies, draw, jax.random.split(key, attempts))


def _four_ply(game: Game, protocol: Protocol, key: jax.Array) -> Starts:
    """The states that all legal sequences of four plies lead to, as often as they do."""
    if game.stochastic:
        raise ValueError(f"starts {protocol.starts!r} need a game without chance, not {game.name}")
    expand = jax.jit(jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None)))
    states, history = jax.tree.map(lambda leaf: leaf[None], game.init(key)), no_history(1)
    for _ in range(4):
        legal = np.asarray(jax.vmap(game.legal_actions)(states))
        row, action = np.nonzero(legal)
        history = extended(select_states(history, row), action, states.player[row])
        children = expand(states, jnp.arange(game.num_actions))
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


_STARTS: dict[str, Callable[[Game, Protocol, jax.Array], Starts]] = {
    "default": _default,
    "one_ply": _one_ply,
    "one_ply_triangle": _one_ply,
    "four_ply": _four_ply,
    "four_ply_positions": _four_ply_positions,
    "choose_01": _choose_01,
    "random_plies": _random_plies,
}
_DRAWN = ("default", "choose_01", "random_plies")


def _after_one_ply(game: Game, start: Any, actions: np.ndarray, chance: jax.Array) -> Starts:
    """The states after one ply each, chance included, or at the start where the action is -1."""

    @jax.jit
    def one(action: jax.Array, key: jax.Array) -> Any:
        played = game.spawn(game.afterstate(start, jnp.maximum(action, 0)), key)
        return jax.tree.map(lambda new, old: jnp.where(action >= 0, new, old), played, start)

    players = np.full((len(actions), 1), start.player, np.int8)
    states = jax.vmap(one)(actions, jax.random.split(chance, len(actions)))
    return states, History(actions[:, None].astype(np.int32), players)


def _going_on(starts: Starts, most: int | None = None) -> Starts:
    """The first `most` of those starts that are not terminal."""
    return select_states(starts, np.flatnonzero(~np.asarray(starts[0].terminal))[:most])


def _drawn(
    game: Game,
    count: int,
    plies: int,
    draw: Callable[[jax.Array], Starts],
    keys: Iterable[jax.Array],
) -> Starts:
    """`count` starts that go on, from as many of the draws as it takes.

    Raises ValueError where those of all `keys` leave too few.
    """
    kept, missing = [], count
    for key in keys:
        kept.append(_going_on(draw(key), missing))
        missing -= len(kept[-1][1].actions)
        if not missing:
            return jax.tree.map(lambda *parts: np.concatenate(parts), *kept)
    raise ValueError(
        f"hardly a game of {game.name} goes on after {plies} random plies: open with fewer"
    )
