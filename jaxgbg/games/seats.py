"""Games in which players leave before the end: who is next, and who is paid what."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.dice import winner_takes
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import State

_COLOURS = ("red", "blue", "green", "purple", "yellow", "grey")


class Standing(NamedTuple):
    """The players after a move.

    `out` bool[N]: who has left before the end. `player` int8[], `terminal` bool[] and `rewards`
    float32[N] as in every state.
    """

    out: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


class SeatsState(State, Protocol):
    """A state with a field `out` bool[N]: who has left the game."""

    @property
    def out(self) -> jax.Array: ...


_StateT = TypeVar("_StateT", bound=SeatsState)


class EliminationGame(Game[_StateT]):
    """A game for `players` players, named by colors, who may leave before its end."""

    players: int

    @property
    def sides(self) -> tuple[str, ...]:
        return _COLOURS[: self.players]

    @property
    def num_players(self) -> int:
        return self.players

    def active(self, state: _StateT) -> jax.Array:
        return ~state.out & ~state.terminal

    def first_standing(self) -> Standing:
        """The standing at the start: nobody is out, and player 0 is to move."""
        return Standing(
            out=jnp.zeros(self.players, bool),
            player=jnp.int8(0),
            terminal=jnp.bool_(False),
            rewards=jnp.zeros(self.players, jnp.float32),
        )


def next_seat(player: jax.Array, out: jax.Array) -> jax.Array:
    """int8[]: the next player who is not `out` bool[N]; `player` if there is no other."""
    players = out.shape[0]
    seat = player
    for step in range(players - 1, 0, -1):
        candidate = (player + step) % players
        seat = jnp.where(out[candidate], seat, candidate)
    return seat.astype(jnp.int8)


def after_move(
    before: SeatsState, wins: jax.Array, loses: jax.Array, full: jax.Array, ranks: bool
) -> Standing:
    """The standing after a move of `before.player` that `wins`, `loses` or leaves no move (`full`).

    Who loses is out, and the others play on; the last player left wins. Elimination is judged
    before `full`, which is a draw among those still in.

    Without `ranks` the winner gets 1, who is out or was beaten -1, and a draw is 0. With `ranks`
    rank r of N pays 1 - 2 (r - 1) / (N - 1): the first player out has rank N, and players who are
    in at the end without having won share the mean of the ranks left.
    """
    players = before.out.shape[0]
    still_in = np.arange(players + 1)
    if ranks:
        # What rank m pays, and the means of ranks 1 to m and 2 to m.
        worst = 1 - 2 * (still_in - 1) / (players - 1)
        drawn, beaten = (1 + worst) / 2, (worst[2] + worst) / 2
    else:
        drawn = np.zeros(players + 1)
        worst = beaten = drawn - 1
    mover = np.arange(players) == before.player
    inside = (~before.out).sum(dtype=jnp.int32)
    out = before.out | (mover & loses)
    left = inside - loses
    last = left == 1
    # Where the game goes on nobody but the player who leaves is paid.
    share = jnp.where(last, 1, jnp.where(full, _entry(drawn, left), 0))
    stays = jnp.where(wins, jnp.where(mover, 1, _entry(beaten, inside)), share)
    paid = jnp.where(out, _entry(worst, inside), stays)
    return Standing(
        out=out,
        player=next_seat(before.player, out),
        terminal=wins | last | full,
        rewards=jnp.where(before.out, before.rewards, paid),
    )


def after_turn(before: SeatsState, wins: jax.Array, late: jax.Array, ranks: bool) -> Standing:
    """The standing after a turn of `before.player` that `wins`, or is too `late` to play on.

    Without `ranks` the winner gets 1, each of the others -1 / (N - 1), and a draw is 0. With
    `ranks` the others play on, without the winner, until one is left. Rank r of N pays
    1 - 2 (r - 1) / (N - 1); players who are still in at a draw share the mean of the ranks left.
    """
    players = before.out.shape[0]
    mover = np.arange(players) == before.player
    if not ranks:
        rewards = jnp.where(wins, winner_takes(before.player, players), np.float32(0))
        return Standing(before.out, next_seat(before.player, before.out), wins | late, rewards)
    out = before.out | (mover & wins)
    number = out.sum(dtype=jnp.int32)
    # What rank r + 1 pays, for r = 0..N - 1, and the mean of ranks r + 1 to N.
    pay = 1 - 2 * np.arange(players) / (players - 1)
    last = number == players - 1
    rank = _entry(pay, jnp.maximum(number - 1, 0))
    rest = jnp.where(last | late, _entry((pay - 1) / 2, jnp.minimum(number, players - 1)), 0)
    paid = jnp.where(mover & wins, rank, rest)
    rewards = jnp.where(before.out, before.rewards, paid)
    return Standing(out, next_seat(before.player, out), last | late, rewards)


def _entry(table: np.ndarray, number: jax.Array) -> jax.Array:
    return jnp.asarray(table, jnp.float32)[number]
