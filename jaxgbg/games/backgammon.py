"""Backgammon without the doubling cube, and hypergammon, its version with three checkers."""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if, zero_sum
from jaxgbg.games.dice import rolled
from jaxgbg.games.scale import WIN_RATE, Scale
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting

POINTS, BAR = 24, 25
"""The points of a board, and the place of checkers on the bar; 0 is that of those borne off."""
PASS = 2 * BAR
"""The last action; 2 * (place - 1) moves a checker by the larger die, + 1 by the smaller."""
ROLLS = (*itertools.combinations(range(1, 7), 2), *((die, die) for die in range(1, 7)))
"""The outcomes of a roll; the first 15 are no doubles."""

_DICE = np.array([(high, low % high) for low, high in ROLLS], np.int8)
_REPEAT = np.array([3 * (low == high) for low, high in ROLLS], np.int8)
_WAYS = np.array([1 + (low < high) for low, high in ROLLS])
# The roll of each of 36 equally likely pairs of dice.
_ROLL_OF = np.repeat(np.arange(len(ROLLS)), _WAYS)
_START = {15: {24: 2, 13: 5, 8: 3, 6: 5}, 3: {24: 1, 23: 1, 22: 1}}
_PLACES = np.arange(BAR + 1)
_BITS = np.where(_PLACES > 0, 1 << _PLACES, 0).astype(np.uint32)
# Cells after those of the points.
_BARS, _OFF, _DIE, _REPEATS = POINTS, POINTS + 2, POINTS + 6, POINTS + 8
_MOST_ROWS = 2**17


class BackgammonState(NamedTuple):
    """`checkers` int8[2, 26]: on each place, as each player counts: 0 those borne off, 1 to 24 the
    points by their distance from there, 25 the bar. `dice` int8[2]: the dice left to play, the
    larger first, 0 for none; all 0 in an afterstate that ends a turn. `repeat` int8[]: how often a
    double is played again after the next move. `plies` int16[]: the actions so far.
    """

    checkers: jax.Array
    dice: jax.Array
    repeat: jax.Array
    plies: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


class _Step(NamedTuple):
    """What an action does: a checker goes from `source` to `target` int32[], places of the mover.

    `moves`, `hits` and `on` bool[]: whether one does, hits a checker, and the turn goes on.
    `checkers`, `dice` and `repeat` are those after it.
    """

    source: jax.Array
    target: jax.Array
    moves: jax.Array
    hits: jax.Array
    on: jax.Array
    checkers: jax.Array
    dice: jax.Array
    repeat: jax.Array


@dataclasses.dataclass(frozen=True)
class Backgammon(Game[BackgammonState]):
    """Bring all checkers home and bear them off first.

    An action moves one checker by one die; the same player moves until the roll is played, a double
    four times. Action 2 * (place - 1) moves from a place, a point 1 to 24 or the bar 25, by the
    larger die that is left, one more by the smaller; the last action passes. Every player counts
    places by the distance to the tray. A roll must be played in full if possible, and the larger
    die if only one can be played. Who can move nothing passes. Player 0 begins, with two different
    dice.

    With 15 checkers the start is the usual one; 3 is hypergammon: one on each of 24, 23 and 22.
    The winner gets 1, the loser -1. With `reward` "gammons" a plain win pays 1/3, one before the
    other has borne off a checker 2/3, and 1 if the other still has one on the bar or in the
    winner's home. The game is a draw after `max_plies` actions.

    Cells: the points as player 0 counts; the bar of each player; the checkers borne off of each, in
    two digits; the larger and the smaller die left to play, and how often a double is repeated.
    Digits of points: 0 empty, then 1 to `height` checkers of player 0, then of player 1. More
    checkers on a point look like `height`.

    Source: the rules of OpenSpiel.
    """

    checkers: int = setting(15, choices=(3, 15))
    reward: str = setting("win", choices=("win", "gammons"))
    height: int = setting(3, low=3, high=7)
    max_plies: int = setting(2000, low=1, high=10_000)

    name = "backgammon"
    num_players = 2
    num_actions = PASS + 1
    num_cells = POINTS + 9
    num_spawns = len(ROLLS)
    sides = ("white", "black")
    spawn_words = 1
    init_words = 2
    most_altered = 6
    extra_names = ("pips", "blots", "home", "bar", "off")

    @property
    def num_cell_values(self) -> int:
        return 2 * self.height + 1

    @property
    def scale(self) -> Scale:
        return WIN_RATE if self.reward == "win" else Scale("reward", low=-1.0, high=1.0)

    @property
    def extra_scales(self) -> tuple[float, ...]:
        return (100.0, 5.0, 6.0, 2.0, float(self.checkers))

    @property
    def adjacency(self) -> np.ndarray:
        place = np.full(self.num_cells, -1)
        place[self._line] = np.arange(len(self._line))
        steps = np.abs(place[:, None] - place)
        # Cells that are no places on the board are neighbors of every cell.
        outside = (place < 0)[:, None] | (place < 0)
        return ((steps == 1) | outside) & ~np.eye(self.num_cells, dtype=bool)

    @property
    def _line(self) -> list[int]:
        """The bar of player 1, the points, the bar of player 0: where checkers walk along."""
        return [_BARS + 1, *range(POINTS), _BARS]

    @property
    def own_tuples(self) -> tuple[tuple[int, ...], ...]:
        """Points in a row, the bars at their ends, each window with the die left to play.

        And one n-tuple of the bars, the die and its repeats, one for each player of its checkers
        borne off and the die.
        """
        length = next(n for n in range(6, 0, -1) if self.num_cell_values**n <= _MOST_ROWS)
        line, steps = self._line, range(len(self._line) - length + 2)
        windows = [(*line[start : start + length - 1], _DIE) for start in steps]
        borne_off = [(_OFF + 2 * player, _OFF + 2 * player + 1, _DIE) for player in range(2)]
        return (*windows, (_BARS, _BARS + 1, _DIE, _REPEATS), *borne_off)

    def init(self, key: jax.Array) -> BackgammonState:
        return self.init_from(jax.random.bits(key, (self.init_words,), jnp.uint32))

    def init_from(self, words: jax.Array) -> BackgammonState:
        start = np.zeros((2, BAR + 1), np.int8)
        for place, count in _START[self.checkers].items():
            start[:, place] = count
        roll = rolled(words[0], int((_REPEAT == 0).sum()))
        return BackgammonState(
            checkers=jnp.asarray(start),
            dice=jnp.asarray(_DICE)[roll],
            repeat=jnp.int8(0),
            plies=jnp.int16(0),
            player=jnp.int8(0),
            terminal=jnp.bool_(False),
            rewards=jnp.zeros(2, jnp.float32),
        )

    def _movable(self, state: BackgammonState) -> jax.Array:
        """bool[25, 2]: from which places a checker may move, by the larger and the smaller die."""
        own, blocked = _sides(state)
        dice, bits = state.dice.astype(jnp.uint32), _BITS[1:, None]
        single = _sources(own, blocked, dice) & bits != 0
        # Whether the other die can be played afterwards; a checker that leaves has no bit.
        alone = (state.checkers[state.player, 1:] == 1)[:, None]
        moved = own & ~jnp.where(alone, bits, 0) | (bits >> dice) & ~np.uint32(1)
        both = single & (_sources(moved, blocked, dice[::-1]) != 0)
        two = dice[1] > 0
        # A double is played as often in any order.
        larger = single & (np.array([True, False]) | ~single[:, 0].any())
        return jnp.where(two, jnp.where(both.any(), both, larger), single)

    def legal_actions(self, state: BackgammonState) -> jax.Array:
        moves = self._movable(state).reshape(-1)
        return jnp.append(moves, ~moves.any() & (state.dice[0] > 0) & ~state.terminal)

    def _step(self, state: BackgammonState, action: jax.Array) -> _Step:
        in_range = (action >= 0) & (action < PASS)
        number = jnp.where(in_range, action, 0).astype(jnp.int32)
        moves = in_range & self._movable(state).reshape(-1)[number]
        source = number // 2 + 1
        smaller = number % 2
        target = jnp.maximum(source - state.dice[smaller], 0)
        mover = np.arange(2)[:, None] == state.player
        change = (target == _PLACES).astype(jnp.int8) - (source == _PLACES)
        # The other player counts from the other end.
        there = (BAR - target == _PLACES) & (target > 0)
        hits = moves & (there & (state.checkers[1 - state.player] > 0)).any()
        taken = (_PLACES == BAR).astype(jnp.int8) - there
        checkers = state.checkers + jnp.where(mover, moves * change, hits * taken)
        repeated = (state.repeat > 0) & moves
        left = jnp.where(repeated | (smaller == 1), state.dice[0], state.dice[1])
        dice = jnp.stack([left, jnp.int8(0)])
        own, blocked = _sides(state._replace(checkers=checkers.astype(jnp.int8)))
        on = moves & (_sources(own, blocked, dice[0].astype(jnp.uint32)) != 0)
        return _Step(
            source,
            target,
            moves,
            hits,
            on,
            checkers,
            jnp.where(on, dice, 0),
            jnp.where(on & repeated, state.repeat - 1, 0),
        )

    def afterstate(self, state: BackgammonState, action: jax.Array) -> BackgammonState:
        step = self._step(state, action)
        won = step.checkers[state.player, 0] == self.checkers
        plies = state.plies + jnp.int16(1)
        over = won | (plies >= self.max_plies)
        gain = self._gain(step.checkers[1 - state.player])
        moved = BackgammonState(
            checkers=step.checkers,
            dice=jnp.where(over, 0, step.dice),
            repeat=jnp.where(over, 0, step.repeat),
            plies=plies,
            player=jnp.where(step.on, state.player, 1 - state.player),
            terminal=over,
            rewards=jnp.where(won, zero_sum(state.player, gain), jnp.float32(0)),
        )
        passes = (action == PASS) & ~self._movable(state).any()
        passes &= (state.dice[0] > 0) & ~state.terminal
        return keep_if(step.moves | passes, moved, state)

    def _gain(self, loser: jax.Array) -> jax.Array:
        """float32[]: what a win over `loser` int8[26] pays."""
        if self.reward == "win":
            return jnp.float32(1)
        # The winner's home is the last quarter of the loser's way.
        behind = loser[BAR - 6 :].any()
        return jnp.where(loser[0] > 0, 1, jnp.where(behind, 3, 2)).astype(jnp.float32) / 3

    def spawn(self, state: BackgammonState, key: jax.Array) -> BackgammonState:
        return self.spawn_from(state, jax.random.bits(key, (self.spawn_words,), jnp.uint32))

    def spawn_from(self, state: BackgammonState, words: jax.Array) -> BackgammonState:
        return self.spawn_outcome(state, jnp.asarray(_ROLL_OF)[rolled(words[0], len(_ROLL_OF))])

    def spawn_probabilities(self, state: BackgammonState) -> jax.Array:
        certain = np.arange(len(ROLLS)) == 0
        return jnp.where(_due(state), _WAYS / len(_ROLL_OF), certain).astype(jnp.float32)

    def spawn_outcome(self, state: BackgammonState, number: jax.Array) -> BackgammonState:
        dice, repeat = jnp.asarray(_DICE)[number], jnp.asarray(_REPEAT)[number]
        return keep_if(_due(state), state._replace(dice=dice, repeat=repeat), state)

    def cells(self, state: BackgammonState) -> jax.Array:
        first, second = state.checkers[:, 1 : POINTS + 1]
        most = self.height
        points = jnp.minimum(first, most) + (second > 0)[::-1] * (
            most + jnp.minimum(second[::-1], most)
        )
        digits = self.num_cell_values
        bars = jnp.minimum(state.checkers[:, BAR], digits - 1)
        off = jnp.stack([state.checkers[:, 0] // digits, state.checkers[:, 0] % digits], 1)
        rest = [bars, off.reshape(-1), state.dice, state.repeat[None]]
        return jnp.concatenate([points, *rest]).astype(jnp.int8)

    def display_cells(self, state: BackgammonState) -> jax.Array:
        """int8[56]: the checkers of both players, the dice, the repeats and the player to move."""
        last = jnp.stack([state.repeat, state.player])
        return jnp.concatenate([state.checkers.reshape(-1), state.dice, last])

    def altered(self, state: BackgammonState, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        step, player = self._step(state, action), state.player.astype(jnp.int32)
        after = self.afterstate(state, action)

        def cell(place: jax.Array) -> jax.Array:
            point = jnp.where(player == 0, place - 1, POINTS - place)
            off = _OFF + 2 * player + 1
            return jnp.where(place == BAR, _BARS + player, jnp.where(place == 0, off, point))

        tens = jnp.where(step.target == 0, _OFF + 2 * player, -1)
        third = jnp.where(step.hits, _BARS + 1 - player, tens)
        board = jnp.where(step.moves, jnp.stack([cell(step.source), cell(step.target), third]), -1)
        changed = jnp.append(board, np.arange(_DIE, _REPEATS + 1)).astype(jnp.int32)
        both = jnp.stack([self.cells(state), self.cells(after)], 1)
        return changed, both[changed].astype(jnp.int32)

    def extras(self, state: BackgammonState) -> jax.Array:
        """Pips to go, points with one checker, home points with more, and those on bar and off."""
        checkers = state.checkers.astype(jnp.int32)
        points = checkers[:, 1 : POINTS + 1]
        pips = (checkers * _PLACES).sum(1)
        blots, home = (points == 1).sum(1), (points[:, :6] > 1).sum(1)
        return jnp.stack([pips, blots, home, checkers[:, BAR], checkers[:, 0]], 1).astype(jnp.int32)


def _due(state: BackgammonState) -> jax.Array:
    return (state.dice[0] == 0) & ~state.terminal


def _sides(state: BackgammonState) -> tuple[jax.Array, jax.Array]:
    """uint32[] twice: bits of the places where the mover has checkers, and where it may not land.

    Both as the mover counts.
    """
    own, other = state.checkers[state.player], state.checkers[1 - state.player]
    blocked = (other[::-1] > 1) & (_PLACES < BAR)
    held, taken = (jnp.where(each, _BITS, 0).sum(dtype=jnp.uint32) for each in (own > 0, blocked))
    return held, taken


def _sources(own: jax.Array, blocked: jax.Array, die: jax.Array) -> jax.Array:
    """uint32[...]: from which places a checker may move by `die` uint32[...], 0 for none.

    `own` and `blocked` uint32[...] as of `_sides`.
    """
    bar = np.uint32(1 << BAR)
    sources = jnp.where(own & bar != 0, bar, own) & ~(blocked << die)
    steps = sources & ~((jnp.uint32(2) << die) - 1)
    # All are home: a checker leaves by its exact number, the last one also by a larger one.
    highest = own & (jnp.uint32(1) << (31 - jax.lax.clz(own)))
    leaves = jnp.where(own >> die == 0, highest, own & (jnp.uint32(1) << die))
    return jnp.where(die > 0, steps | jnp.where(own >> 7 == 0, leaves, 0), 0)
