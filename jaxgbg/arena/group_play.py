"""Tournaments: all groups of players that fill the seats of a game, from drawn openings."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.evaluation.matches import play
from jaxgbg.evaluation.played_games import GameMoves, PlayedGames, moves_of
from jaxgbg.evaluation.protocol import Protocol, start_states
from jaxgbg.games import Game
from jaxgbg.games.rollout import select_states
from jaxgbg.players import Player

# Of more players all orders would be too many.
_MOST_ORDERED = 4


class GroupGames(NamedTuple):
    """The games of one group of N players.

    `seatings` int[T, N] says which of the group sat in each seat, `rewards` float[S, T, N] what
    each seat ended with from each opening; games of equal `openings` int[S] began alike. `moves`
    are those of all S * T games, if they were kept.
    """

    seatings: np.ndarray
    rewards: np.ndarray
    openings: np.ndarray
    moves: tuple[GameMoves, ...] = ()


def seatings(seats: int) -> np.ndarray:
    """int[T, N]: every order of up to four players, of more the N rotations of one order."""
    if seats <= _MOST_ORDERED:
        return np.array(list(itertools.permutations(range(seats))))
    return np.add.outer(np.arange(seats), np.arange(seats)) % seats


def openings_for(games: int, seats: int) -> int:
    """The number of openings for at least `games` games of a group, each played in all seatings."""
    return math.ceil(games / len(seatings(seats)))


def play_group(
    game: Game,
    group: Sequence[Player],
    protocol: Protocol,
    key: jax.Array,
    record: bool = False,
) -> GroupGames:
    """Play `protocol.count` openings in all seatings of as many players as the game has seats.

    Of starts that are a list (`Protocol`) so many are drawn without return, or the whole list again
    and again. With `record` the moves are kept. Raises ValueError where the game has too few such
    starts.
    """
    opening, choice, moves = jax.random.split(key, 3)
    states, history = start_states(game, protocol, opening)
    order = np.asarray(jax.random.permutation(choice, len(states.terminal)))
    # Drawn starts are as many as asked for, each its own; only a list is drawn from.
    openings = np.resize(order, protocol.count)
    orders = seatings(game.num_players)
    repeated = np.repeat(openings, len(orders))
    states, history = select_states((states, history), repeated)
    seats = np.tile(orders, (protocol.count, 1))
    kept: list[GameMoves] = []

    def on_games(played: PlayedGames) -> None:
        kept.extend(moves_of(game, played))

    rewards = play(game, seats, group, states, history, moves, on_games if record else None)
    results = rewards.reshape(protocol.count, *orders.shape)
    return GroupGames(orders, results, openings, tuple(kept))
