"""Mensch aergere dich nicht (Ludo): pieces race around a track and send others back."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import keep_if
from jaxgbg.games.dice import face_probabilities, rolled
from jaxgbg.games.rotations import SeatRotations, exchanged, rotations
from jaxgbg.games.seats import EliminationGame, after_turn
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

FACES = 6
PASS, ENTER, MOVE = 0, 1, 2
"""Actions; MOVE + field is to move the piece on that field."""
_START = np.array([1, 0], np.uint32)


class MaednState(NamedTuple):
    """`fields` uint32[N, 2]: bit f of a player's 64 bits says that it has a piece on its field f.

    `die` int8[]: the face that the player to move has rolled, 0 in an afterstate. `again` bool[]:
    whether the last player to move rolls again. `plies` int16[]: the actions so far. `out` bool[N]:
    who has a rank.
    """

    fields: jax.Array
    die: jax.Array
    again: jax.Array
    plies: jax.Array
    out: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


class _Moves(NamedTuple):
    """What a player may do: move the pieces on `fields` uint32[2], or enter, or pass."""

    fields: jax.Array
    enters: jax.Array
    passes: jax.Array


@dataclasses.dataclass(frozen=True)
class Maedn(EliminationGame[MaednState]):
    """Bring all pieces once around the track into the goal.

    Action 0 passes, 1 enters a piece, 2 + field moves the piece on that field. Each player counts
    fields from its own start: 0 to 4 * quarter - 1 on the track, then its goal. Starts lie a
    quarter apart; those of two players are `opposite`, or a quarter apart too.

    A player rolls, then makes one move. A piece moves as far as was rolled, not beyond the goal and
    not onto an own piece. It jumps over all others, and sends another player's piece on its target
    back. While some pieces wait, a piece on the start must move on if it can. Otherwise a 6 must
    enter a waiting piece if the start has no own piece. Who can do nothing passes. After a 6, also
    a passed one, the same player rolls again. All pieces in the goal win.

    The winner gets 1, each of the others -1 / (N - 1). With `ranks` the others play on, without the
    winner, for rank r of N, which pays 1 - 2 (r - 1) / (N - 1). The game is a draw after
    `max_plies`; then those still in share the mean of the ranks left.

    Cells: the track from the start of player 0, the goals, the number of pieces that wait of every
    player, and 1 if the last player to move rolls again. A piece has the digit 1 + player.

    Source: the rules of OpenSpiel, which has 10 fields in a quarter and 4 pieces.
    """

    players: int = setting(2, low=2, high=4)
    quarter: int = setting(10, low=2, high=10)
    pieces: int = setting(4, low=1, high=4)
    opposite: bool = True
    max_plies: int = setting(2000, low=1, high=10_000)
    ranks: bool = False

    name = "maedn"
    title = "Mensch ärgere dich nicht"
    spawn_words = 1
    init_words = 2
    num_spawns = FACES

    @property
    def track(self) -> int:
        """The number of fields of the track."""
        return 4 * self.quarter

    @property
    def num_actions(self) -> int:
        # The piece on the last field of the goal never moves.
        return MOVE + self.track + self.pieces - 1

    @property
    def num_cells(self) -> int:
        return self.track + self.players * (self.pieces + 1) + 1

    @property
    def num_cell_values(self) -> int:
        return 1 + max(self.players, self.pieces)

    @property
    def reward_range(self) -> tuple[float, float]:
        return (-1.0 if self.ranks else -1.0 / (self.players - 1), 1.0)

    @property
    def eliminates(self) -> bool:
        return self.ranks

    @property
    def adjacency(self) -> np.ndarray:
        cells = np.arange(self.num_cells)
        on_track = cells < self.track
        steps = (cells[:, None] - cells) % self.track
        neighbors = (steps == 1) | (steps == self.track - 1) | ~on_track[:, None] | ~on_track
        # What is not a field of the track is a neighbor of every cell.
        return neighbors & ~np.eye(self.num_cells, dtype=bool)

    @property
    def own_tuples(self) -> tuple[tuple[int, ...], ...]:
        """Six fields in a row, from every field of the track, and what each player has elsewhere.

        That is its goal, its pieces that wait, and whether the last player to move rolls again.
        """
        track, pieces, last = self.track, self.pieces, self.num_cells - 1
        windows = [tuple((at + step) % track for step in range(6)) for at in range(track)]
        goals = [range(track + pieces * p, track + pieces * (p + 1)) for p in range(self.players)]
        waiting = last - self.players
        return (*windows, *((*goal, waiting + p, last) for p, goal in enumerate(goals)))

    @cached_property
    def starts(self) -> np.ndarray:
        """int32[N]: where on the track each player starts."""
        apart = 2 if self.players == 2 and self.opposite else 1
        return apart * self.quarter * np.arange(self.players, dtype=np.int32)

    @property
    def seat_rotations(self) -> SeatRotations | None:
        if self.players * self.starts[1] != self.track:
            # The last start is not as far from the first one as others from the next.
            return None
        players, pieces, track = self.players, self.pieces, self.track
        seats = np.arange(players)[:, None]
        parts = [(np.arange(track) + self.starts[:, None]) % track]
        at = track
        for each in (pieces, 1):
            # Goals and waiting pieces, player by player.
            count = players * each
            parts.append(at + (np.arange(count) + each * seats) % count)
            at += count
        parts.append(np.full((players, 1), at))
        digits = np.tile(np.arange(self.num_cell_values), (players, self.num_cells, 1))
        fields = exchanged(np.arange(1, 1 + players), self.num_cell_values)
        digits[:, : track + players * pieces] = fields[:, None]
        return rotations(self, cells=np.concatenate(parts, 1), digits=digits)

    @cached_property
    def _goal(self) -> np.ndarray:
        """uint32[2]: the bits of the goal's fields."""
        return _words(((1 << self.pieces) - 1) << self.track)

    @cached_property
    def _within_reach(self) -> np.ndarray:
        """uint32[7, 2]: the fields from which each roll does not lead beyond the goal."""
        end = self.track + self.pieces
        return np.stack([_words((1 << end - die) - 1) for die in range(FACES + 1)])

    def init(self, key: jax.Array) -> MaednState:
        return self.init_from(jax.random.bits(key, (self.init_words,), jnp.uint32))

    def init_from(self, words: jax.Array) -> MaednState:
        return MaednState(
            jnp.zeros((self.players, 2), jnp.uint32),
            (1 + rolled(words[0], FACES)).astype(jnp.int8),
            jnp.bool_(False),
            jnp.int16(0),
            *self.first_standing(),
        )

    def _moves(self, state: MaednState) -> _Moves:
        due = (state.die > 0) & ~state.terminal
        own, die = state.fields[state.player], state.die.astype(jnp.uint32)
        # Bit f: an own piece is where the roll leads from field f.
        taken = (own >> die) | jnp.stack([own[1] << (32 - die), jnp.uint32(0)])
        fields = own & ~taken & jnp.where(due, jnp.asarray(self._within_reach)[state.die], 0)
        waiting = jax.lax.population_count(own).sum() < self.pieces
        leaves = waiting & (fields & _START != 0).any()
        enters = due & waiting & ~leaves & (state.die == 6) & (own & _START == 0).all()
        fields = jnp.where(enters, 0, jnp.where(leaves, fields & _START, fields))
        return _Moves(fields, enters, due & ~enters & (fields == 0).all())

    def legal_actions(self, state: MaednState) -> jax.Array:
        moves = self._moves(state)
        fields = _bits(moves.fields)[: self.num_actions - MOVE] == 1
        return jnp.concatenate([jnp.stack([moves.passes, moves.enters]), fields])

    def afterstate(self, state: MaednState, action: jax.Array) -> MaednState:
        moves, own = self._moves(state), state.fields[state.player]
        enters = (action == ENTER) & moves.enters
        passes = (action == PASS) & moves.passes
        origin = _bit(action - MOVE)
        steps = (origin & moves.fields != 0).any()
        target = jnp.where(enters, 0, action - MOVE + state.die)
        arrives = steps | enters
        mine = jnp.where(arrives, own & ~origin | _bit(target), own)
        # The target as every player counts it.
        counted = (target + jnp.asarray(self.starts)[state.player] - self.starts) % self.track
        hit = arrives & (target < self.track)
        mover = (np.arange(self.players) == state.player)[:, None]
        fields = jnp.where(mover, mine, state.fields & ~jnp.where(hit, _bit(counted), 0))
        done = (mine & self._goal == self._goal).all()
        plies = state.plies + jnp.int16(1)
        standing = after_turn(state, done, plies >= self.max_plies, self.ranks)
        again = (state.die == 6) & ~done & ~standing.terminal
        moved = MaednState(
            fields,
            jnp.int8(0),
            again,
            plies,
            *standing._replace(player=jnp.where(again, state.player, standing.player)),
        )
        return keep_if(arrives | passes, moved, state)

    def spawn(self, state: MaednState, key: jax.Array) -> MaednState:
        return self.spawn_from(state, jax.random.bits(key, (self.spawn_words,), jnp.uint32))

    def spawn_from(self, state: MaednState, words: jax.Array) -> MaednState:
        return self.spawn_outcome(state, rolled(words[0], FACES))

    def spawn_probabilities(self, state: MaednState) -> jax.Array:
        return face_probabilities(_due(state), FACES)

    def spawn_outcome(self, state: MaednState, number: jax.Array) -> MaednState:
        die = jnp.where(_due(state), number + 1, state.die)
        return state._replace(die=die.astype(jnp.int8))

    def cells(self, state: MaednState) -> jax.Array:
        bits = _bits(state.fields) * np.arange(1, 1 + self.players, dtype=np.uint32)[:, None]
        track = sum(
            jnp.roll(bits[player, : self.track], start) for player, start in enumerate(self.starts)
        )
        goals = bits[:, self.track : self.track + self.pieces].reshape(-1)
        waiting = self.pieces - jax.lax.population_count(state.fields).sum(1)
        return jnp.concatenate([track, goals, waiting, state.again[None]]).astype(jnp.int8)

    def display_cells(self, state: MaednState) -> jax.Array:
        """int8[C + 2]: the cells, the die and the player to move."""
        return jnp.append(self.cells(state), jnp.stack([state.die, state.player]))


def _due(state: MaednState) -> jax.Array:
    return (state.die == 0) & ~state.terminal


def _bit(field: jax.Array) -> jax.Array:
    """uint32[..., 2]: the bit of each `field` int[...]; none below 0 or from 64 on."""
    field = field[..., None]
    bit = jnp.uint32(1) << (field % 32).astype(jnp.uint32)
    return jnp.where(field // 32 == np.arange(2), bit, 0)


def _bits(words: jax.Array) -> jax.Array:
    """uint32[..., 64] of 0 and 1: the bits of words uint32[..., 2]."""
    bits = (words[..., None] >> np.arange(32, dtype=np.uint32)) & 1
    return bits.reshape(*words.shape[:-1], 64)


def _words(bits: int) -> np.ndarray:
    return np.array([bits & 0xFFFFFFFF, bits >> 32], np.uint32)
