"""Matches: all games of an evaluation at once, one ply a round."""

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.specs import Spec, setting
from jaxgbg.players import History, Player, choose_uniformly


@dataclasses.dataclass(frozen=True)
class Protocol(Spec):
    """Which games an evaluation plays.

    `starts`: "default", the start position, drawn anew for every game in a game of chance;
    "one_ply", it and every position one ply later; "one_ply_triangle", the same for the
    actions (row, column) of a square board with column <= row; "four_ply", the ends of all
    sequences of four plies; "four_ply_positions", each position among them once; "choose_01",
    `count` draws, each with probability 1/2 the start position, else a uniformly random position
    one ply later; "random_plies", `count` draws of `plies` uniformly random plies, of those games
    that go on after them. Every start is played `repeats` times from each of `seats` (all of them
    if empty) by the agent; the opponent sits everywhere else.
    """

    starts: str = "default"
    count: int = 1
    repeats: int = 1
    seats: tuple[int, ...] = ()
    plies: int = 0


def start_states(game: Game, protocol: Protocol, key: jax.Array) -> tuple[Any, History]:
    """The start positions of an evaluation, states[S], and the plies that led there."""
    if protocol.starts == "default":
        return jax.vmap(game.init)(jax.random.split(key, protocol.count)), no_history(
            protocol.count
        )
    if protocol.starts == "random_plies":
        return _random_openings(game, protocol.count, protocol.plies, key)
    start = game.init(key)
    legal = np.flatnonzero(game.legal_actions(start))
    if protocol.starts == "four_ply":
        return _all_sequences(game, start, 4)
    if protocol.starts == "four_ply_positions":
        return _distinct(game, *_all_sequences(game, start, 4))
    if protocol.starts == "choose_01":
        coin, draw = jax.random.split(key)
        drawn = jax.random.choice(draw, legal, (protocol.count,))
        actions = jnp.where(jax.random.bernoulli(coin, 0.5, (protocol.count,)), drawn, -1)
        return _open(game, start, np.asarray(actions))
    if protocol.starts == "one_ply_triangle":
        row, column = np.divmod(legal, math.isqrt(game.num_actions))
        legal = legal[column <= row]
    elif protocol.starts != "one_ply":
        known = (
            "default, one_ply, one_ply_triangle, four_ply, four_ply_positions, choose_01 or"
            " random_plies"
        )
        raise ValueError(f"starts must be {known}, not {protocol.starts!r}")
    return _open(game, start, np.append(-1, legal))


def no_history(games: int) -> History:
    """The history of games that stand at the start."""
    return History(np.zeros((games, 0), np.int32), np.zeros((games, 0), np.int8))


def _open(game: Game, start: Any, actions: np.ndarray) -> tuple[Any, History]:
    """The states after one ply each, or at the start where the action is -1."""

    @jax.jit
    def one(action: jax.Array) -> Any:
        played = game.afterstate(start, jnp.maximum(action, 0))
        return jax.tree.map(lambda new, old: jnp.where(action >= 0, new, old), played, start)

    players = np.full((len(actions), 1), start.player, np.int8)
    return jax.vmap(one)(actions), History(actions[:, None].astype(np.int32), players)


def _all_sequences(game: Game, start: Any, plies: int) -> tuple[Any, History]:
    """The states that all legal sequences of `plies` plies lead to, as often as they do."""
    expand = jax.jit(jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None)))
    states, history = jax.tree.map(lambda leaf: leaf[None], start), no_history(1)
    for _ in range(plies):
        legal = np.asarray(jax.vmap(game.legal_actions)(states))
        row, action = np.nonzero(legal)
        history = _extended(History(*(part[row] for part in history)), action, states.player[row])
        children = expand(states, jnp.arange(game.num_actions))
        states = jax.tree.map(lambda leaf, at=(row, action): leaf[at], children)
    return states, history


def _distinct(game: Game, states: Any, history: History) -> tuple[Any, History]:
    """Each position once, with the first of the histories that led there."""
    boards = np.asarray(jax.vmap(game.cells)(states))
    boards = np.concatenate([boards, np.asarray(states.player)[:, None]], 1)
    first = np.sort(np.unique(boards, axis=0, return_index=True)[1])
    states = jax.tree.map(lambda leaf: leaf[first], states)
    return states, History(*(part[first] for part in history))


def _random_openings(game: Game, count: int, plies: int, key: jax.Array) -> tuple[Any, History]:
    """`count` states after `plies` random plies each; draws that end the game are made again.

    Raises ValueError where a hundred draws for each leave too few games that go on.
    """
    if plies < 0:
        raise ValueError(f"opening plies must be 0 or more, not {plies}")
    kept: list[tuple[Any, History]] = []
    missing = count
    for attempt in jax.random.split(key, 100 if plies < game.max_plies else 0):
        first, *draws = jax.random.split(attempt, 1 + 2 * plies)
        states, history = jax.vmap(game.init)(jax.random.split(first, count)), no_history(count)
        for choose, spawn in zip(draws[::2], draws[1::2], strict=True):
            actions = choose_uniformly(jax.vmap(game.legal_actions)(states), choose)
            history = _extended(history, np.asarray(actions), np.asarray(states.player))
            states = _step(game, states, actions, spawn)
        going = np.flatnonzero(~np.asarray(states.terminal))[:missing]
        kept.append(jax.tree.map(lambda leaf, at=going: leaf[at], (states, history)))
        missing -= len(going)
        if not missing:
            return jax.tree.map(lambda *parts: np.concatenate(parts), *kept)
    raise ValueError(
        f"hardly a game of {game.name} goes on after {plies} random plies: open with fewer"
    )


def _extended(history: History, actions: np.ndarray, players: np.ndarray) -> History:
    """The history with one more ply of every game."""
    return History(
        np.concatenate([history.actions, np.asarray(actions, np.int32)[:, None]], 1),
        np.concatenate([history.players, np.asarray(players, np.int8)[:, None]], 1),
    )


@partial(jax.jit, static_argnums=0)
def _step(game: Game, states: Any, actions: jax.Array, key: jax.Array) -> Any:
    keys = jax.random.split(key, actions.shape[0])
    return jax.vmap(lambda state, action, key: game.spawn(game.afterstate(state, action), key))(
        states, actions, keys
    )


def play(
    game: Game,
    seats: np.ndarray,
    players: list[Player],
    states: Any,
    history: History,
    key: jax.Array,
) -> Any:
    """Play games to their ends; returns the final rewards, float32[G, num_players].

    `seats` int[G, num_players] says which of `players` sits in each seat of each game; `history`
    how the games came to `states`. A player with a method `act_with_history` is told the history.
    Where all players are traceable the games are one compiled program.
    """
    if all(getattr(player, "traceable", False) for player in players):
        return np.asarray(_play_compiled(game, tuple(players), jnp.asarray(seats), states, key))
    told = any(hasattr(player, "act_with_history") for player in players)
    for _ in range(game.max_plies):
        if bool(np.all(states.terminal)):
            break
        actions, key = _choose(players, jnp.asarray(seats), states, history, key)
        if told:
            made = np.where(states.terminal, -1, actions)
            history = _extended(history, made, states.player)
        key, draw = jax.random.split(key)
        states = _step(game, states, actions, draw)
    return np.asarray(states.rewards)


def _choose(
    players: Sequence[Player],
    seats: jax.Array,
    states: Any,
    history: History | None,
    key: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """The action int32[G] of whoever is to move in each game, and the key of what follows."""
    to_move = jnp.take_along_axis(seats, states.player[:, None].astype(jnp.int32), 1)[:, 0]
    actions = jnp.zeros(len(to_move), jnp.int32)
    for number, player in enumerate(players):
        key, draw = jax.random.split(key)
        mine = to_move == number
        # Other players' positions are shown as finished, so that no engine works on them.
        shown = states._replace(terminal=states.terminal | ~mine)
        if hasattr(player, "act_with_history"):
            chosen = player.act_with_history(shown, history, draw)
        else:
            chosen = player.act(shown, draw)
        actions = jnp.where(mine, chosen, actions)
    return actions, key


@partial(jax.jit, static_argnums=0)
def _play_compiled(
    game: Game, players: tuple[Player, ...], seats: jax.Array, states: Any, key: jax.Array
) -> jax.Array:
    """What `play` does, draw for draw, without a word to the host between two plies."""

    def ply(carry: tuple[Any, jax.Array, jax.Array]) -> tuple[Any, jax.Array, jax.Array]:
        states, key, number = carry
        actions, key = _choose(players, seats, states, None, key)
        key, draw = jax.random.split(key)
        return _step(game, states, actions, draw), key, number + 1

    def running(carry: tuple[Any, jax.Array, jax.Array]) -> jax.Array:
        return ~carry[0].terminal.all() & (carry[2] < game.max_plies)

    return jax.lax.while_loop(running, ply, (states, key, jnp.int32(0)))[0].rewards


def compete(
    game: Game,
    agent: Player,
    opponent: Player | None,
    protocol: Protocol,
    key: jax.Array,
) -> np.ndarray:
    """The agent's final reward in every game, float32[copies, seats, starts * repeats].

    A game of one player has no opponent. An agent with `copies` plays the whole protocol with each
    of them.
    """
    copies = getattr(agent, "copies", 1)
    opening, moves = jax.random.split(key)
    if game.stochastic:
        protocol = dataclasses.replace(protocol, count=protocol.count * protocol.repeats, repeats=1)
    starts, history = start_states(game, protocol, opening)
    agent_seats = np.array(protocol.seats or range(game.num_players))
    games_a_seat = len(starts.terminal) * protocol.repeats
    seat = np.tile(np.repeat(agent_seats, games_a_seat), copies)
    times = copies * len(agent_seats) * protocol.repeats
    states = jax.tree.map(lambda leaf: jnp.tile(leaf, (times, *[1] * (leaf.ndim - 1))), starts)
    history = History(*(np.tile(part, (times, 1)) for part in history))
    seats = (np.arange(game.num_players) != seat[:, None]).astype(int)
    players = [agent, opponent] if opponent else [agent]
    rewards = play(game, seats, players, states, history, moves)
    return rewards[np.arange(len(seat)), seat].reshape(copies, len(agent_seats), games_a_seat)
