"""Matches: all games of an evaluation at once, one ply a round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from jaxgbg.evaluation.played_games import MoveLog, OnGames
from jaxgbg.evaluation.protocol import Position, Protocol, drawn_starts, extended, start_states
from jaxgbg.games import Game, make
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.rollout import play_in_line, play_ply, roll_out, select_states
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.players.core import History, Player, Remembers
from jaxgbg.players.registry import check_plays
from jaxgbg.types import Memory, State

# Games that may last longer end at very different times.
_LONG = 100
# So many games at once, or one of each copy: more gain nothing on a CPU.
_PLACES = 512


@in_32_bits
def play(
    game: Game,
    seats: np.ndarray,
    players: Sequence[Player],
    states: State,
    history: History | None,
    key: jax.Array,
    on_games: OnGames | None = None,
) -> np.ndarray:
    """Play games to their ends; returns the final rewards, float32[G, num_players].

    `seats` int[G, num_players] says which of `players` sits in each seat of each game; `history`
    how the games came to `states`, None if that is not known. If all players are traceable, the
    games are one compiled program, unless several devices choose the moves of one of them.
    `on_games` receives all moves; then the host plays, ply by ply.
    """
    traceable = all(player.traceable for player in players) and on_games is None
    if traceable and not any(player.shares_devices(len(seats)) for player in players):
        in_line = _worth_a_line(game, len(seats)) and not _remember(players, states)
        played = _play_in_line if in_line else _play_compiled
        return np.asarray(played(game, tuple(players), jnp.asarray(seats), states, key))
    needs_history = history is not None and any(player.needs_history for player in players)
    begun, log = history, MoveLog(game, states)
    memories = _first_memories(players, states)
    for _ in range(game.max_plies):
        if bool(np.all(states.terminal)):
            break
        actions, key, memories = _choose(
            players, jnp.asarray(seats), history, states, key, memories
        )
        if history is not None and needs_history:
            made = np.where(states.terminal, -1, actions)
            history = extended(history, made, np.asarray(states.player))
        key, chance = jax.random.split(key)
        if on_games is None:
            states = play_ply(game, states, actions, chance)
        else:
            states = log.ply(states, actions, chance)
    rewards = np.asarray(states.rewards)
    if on_games is not None:
        on_games(log.games(seats, begun, rewards))
    return rewards


def _first_memories(players: Sequence[Player], states: State) -> list[Memory]:
    """Every player's memory before the first move, None for a player without."""
    return [
        player.first_memory(states) if isinstance(player, Remembers) else None for player in players
    ]


def _choose(
    players: Sequence[Player],
    seats: jax.Array,
    history: History | None,
    states: State,
    key: jax.Array,
    memories: Sequence[Memory],
) -> tuple[jax.Array, jax.Array, list[Memory]]:
    """The actions int32[G] of the players to move, and the next key and memories."""
    to_move = jnp.take_along_axis(seats, states.player[:, None].astype(jnp.int32), 1)[:, 0]
    actions, kept = jnp.zeros(len(to_move), jnp.int32), []
    for number, (player, memory) in enumerate(zip(players, memories, strict=True)):
        key, draw = jax.random.split(key)
        mine = to_move == number
        # Other players' positions count as finished, so that no engine works on them.
        positions = states._replace(terminal=states.terminal | ~mine)
        if memory is not None and isinstance(player, Remembers):
            chosen, memory = player.act_on(memory, positions, draw)
        else:
            chosen = player.act(positions, draw, history if player.needs_history else None)
        actions = jnp.where(mine, chosen, actions)
        kept.append(memory)
    return actions, key, kept


@partial(jit, static_argnums=0)
def _play_compiled(
    game: Game, players: tuple[Player, ...], seats: jax.Array, states: State, key: jax.Array
) -> jax.Array:
    """The same as `play`, draw for draw, without host communication between plies."""
    choose = partial(_choose, players, seats, None)
    return roll_out(game, states, choose, key, _first_memories(players, states)).rewards


def _worth_a_line(game: Game, games: int) -> bool:
    """Whether most of the games would stand still until the longest of them is over."""
    return game.max_plies > _LONG and games > 2 * _PLACES


def _remember(players: Sequence[Player], states: State) -> bool:
    """Whether any of them keeps something of every game from move to move."""
    return bool(jax.tree.leaves(jax.eval_shape(partial(_first_memories, players), states)))


@partial(jit, static_argnums=0)
def _play_in_line(
    game: Game, players: tuple[Player, ...], seats: jax.Array, states: State, key: jax.Array
) -> jax.Array:
    """`_play_compiled` with fewer games at once: others follow where one has ended."""
    # Each copy of each player has as many games as any other, at any time.
    groups = math.lcm(*(player.copies for player in players))
    places = min(max(1, _PLACES // groups), len(seats) // groups)

    def choose(states: State, numbers: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        sitting = seats.at[numbers].get(mode="clip")
        actions, key, _ = _choose(players, sitting, None, states, key, [None] * len(players))
        return actions, key

    return play_in_line(game, states, groups, places, choose, key)


@in_32_bits
def compete(
    game: str | Game,
    agent: Player,
    opponent: Player | None,
    protocol: Protocol,
    key: jax.Array,
    seeds: Sequence[int] = (),
    position: Position | None = None,
    on_games: OnGames | None = None,
) -> np.ndarray:
    """The agent's final reward in every game, float32[copies, seats, starts * repeats].

    A game of one player has no opponent. An agent with `copies` plays the whole protocol with each
    of them; `seeds` int[copies] says which of them meet the same drawn starts, all if empty. With a
    `position` all games start there, `protocol.count * protocol.repeats` of each seat. `on_games`
    receives their moves; player 0 of the seats is the agent. Raises ValueError for an unknown
    game, what is no player, and a player of another game.
    """
    game = make(game)
    check_plays(agent, game, "agent")
    if opponent is not None:
        check_plays(opponent, game, "opponent")
    opening, moves = jax.random.split(key)
    protocol = protocol.for_game(game)
    alike = seeds if len(seeds) else (0,) * agent.copies
    history: History | None
    if position is None:
        states, history, own = _starts(game, protocol, opening, alike)
    else:
        states, history = position
        own = np.zeros((agent.copies, protocol.count), int)
    agent_seats = np.array(protocol.seats or range(game.num_players))
    games_a_seat = own.shape[1] * protocol.repeats
    seat = np.tile(np.repeat(agent_seats, games_a_seat), agent.copies)
    repeated = np.tile(own, (1, len(agent_seats) * protocol.repeats)).ravel()
    states, history = select_states((states, history), repeated)
    seats = (np.arange(game.num_players) != seat[:, None]).astype(int)
    players = [agent] if opponent is None else [agent, opponent]
    rewards = play(game, seats, players, states, history, moves, on_games)
    return rewards[np.arange(len(seat)), seat].reshape(agent.copies, len(agent_seats), -1)


def _starts(
    game: Game, protocol: Protocol, key: jax.Array, seeds: Sequence[int]
) -> tuple[State, History, np.ndarray]:
    """All starts, states[S] and their history, and which each copy has, int[copies, starts].

    What a seed draws depends on no other.
    """
    if not protocol.drawn:
        states, history = start_states(game, protocol, key)
        return states, history, np.tile(np.arange(len(history.actions)), (len(seeds), 1))
    numbers, which = np.unique(np.array(seeds, np.uint32), return_inverse=True)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)
    states, history = drawn_starts(game, protocol, keys)
    return states, history, which[:, None] * protocol.count + np.arange(protocol.count)
