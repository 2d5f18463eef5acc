"""check_game names every kind of fault, tried on games that have just that one."""

import dataclasses
import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Game, Game2048, Hex, Nim, TicTacToe, check_game, check_playable
from jaxgbg.games.rotations import rotations
from jaxgbg.jaxprs import is_traced


def changed(base: type[Game] = Nim, **methods) -> Game:
    """A small game of class `base` with some of its methods replaced.

    A function gets the original's answer in front of its arguments; anything else is a constant.
    """

    def wrapped(name, function):
        def method(self, *arguments):
            return function(getattr(base, name)(self, *arguments), self, *arguments)

        return method

    body = {
        name: wrapped(name, value) if callable(value) else value for name, value in methods.items()
    }
    nim = issubclass(base, Nim)
    parameters = {"heaps": 2, "size": 3} if nim else {"size": 3} if base is Hex else {}
    return type("Changed", (base,), body)(**parameters)


class Told(Nim):
    """Nim that tells which heap a move alters."""

    most_altered = 1

    def altered(self, state, action):
        before, after = self.cells(state), self.cells(self.afterstate(state, action))
        heap = (before != after).argmax()
        digits = jnp.stack([before[heap], after[heap]])
        return heap[None], digits[None].astype(jnp.int32)


def constant(function):
    """A property made of `function(self)`."""
    return property(function)


def start(**fields):
    return {"init": lambda state, *_: state._replace(**fields)}


class PlayedOn(NamedTuple):
    heaps: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array
    plies: jax.Array


class Endless(Nim):
    """A pass that is always legal, so that it outlasts whatever it promises."""

    num_actions = property(lambda self: 7)
    outcomes = Game.outcomes

    def init(self, key):
        return PlayedOn(*super().init(key), plies=jnp.int32(0))

    def legal_actions(self, state):
        return jnp.ones(7, bool)

    def afterstate(self, state, action):
        in_range = (action >= 0) & (action < 7)
        return state._replace(plies=state.plies + in_range)


class WithoutEnd(TicTacToe):
    """Its rules forget the full board: no action is left, yet the game is not over."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        return after._replace(terminal=after.terminal & after.rewards.any())


class Impure(Nim):
    """Python that plays otherwise when it is not compiled, as one with a memory would."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        compiled = is_traced(after.player)
        return after if compiled else after._replace(player=state.player)


class Branching(Nim):
    def afterstate(self, state, action):
        if state.heaps[0] > 0:
            return super().afterstate(state, action)
        return state


class ByNumpy(Nim):
    def legal_actions(self, state):
        return np.asarray(state.heaps) > 0


class Listed(Nim):
    def init(self, key):
        return list(super().init(key))


class Undeclared(Nim):
    bonus: int = 0


class Dice(Nim):
    """Chance takes an item of the first heap now and then, but keeps the game going."""

    spawn_words = 2

    def spawn(self, state, key):
        taken = jax.random.bernoulli(key) & (state.heaps[0] > 1) & ~state.terminal
        heaps = jnp.where(jnp.arange(self.heaps) == 0, state.heaps - taken, state.heaps)
        return state._replace(heaps=heaps.astype(jnp.int8))


class FoursByKey(Game2048):
    def spawn(self, state, key):
        return self.spawn_from(state, jax.random.bits(key, (1,)) | np.uint32(0xFFFF))


class NeverSpawned(Nim):
    def spawn(self, state, key):
        return state


class SecondStarts(Nim):
    def init(self, key):
        state = super().init(key)
        return state._replace(heaps=jax.random.randint(key, (self.heaps,), 1, 4).astype(jnp.int8))


class Biased(Hex):
    def playout(self, state, words):
        return jnp.where(state.terminal, state.rewards, jnp.array([1.0, -1.0], jnp.float32))


class NoCells(Game):
    name = "none"
    num_players = num_actions = num_cell_values = max_plies = 2


@dataclasses.dataclass(frozen=True)
class WithList(TicTacToe):
    tuples: list = dataclasses.field(default_factory=list)


def first_heap_alone():
    cells, differences = Nim(2, 3).change_patterns
    return 0 * cells, differences


def rotated(rows):
    return constant(lambda self: np.array(rows, np.int32))


def turned(**fields):
    """Seat rotations that leave everything as it is, but for some fields."""
    return constant(lambda self: rotations(self)._replace(**fields))


FAULTS = {
    "no-game": (7, "is no Game"),
    "no-cells": (NoCells(), "num_cells is missing"),
    "no-dataclass": (Undeclared(2, 3), "declares bonus: put @dataclass"),
    "unhashable": (WithList(), "not hashable"),
    "half-a-player": (changed(num_players=2.0), "num_players must be a whole number"),
    "digits-beyond-int8": (changed(num_cell_values=200), "at most 128"),
    "python-if": (
        Branching(2, 3),
        r"Python decides .*\(test_check.py, line \d+, in \w+\): choose with",
    ),
    "numpy-on-traced": (ByNumpy(2, 3), r"Python decides .*\(test_check.py, line \d+, in \w+\)"),
    "no-namedtuple": (Listed(2, 3), "typing.NamedTuple of arrays, not a list"),
    "no-rewards": (
        changed(init=lambda state, *_: NamedTuple("S", [("player", int)])(state.player)),
        "must have a field terminal",
    ),
    "player-type": (changed(**start(player=jnp.int32(0))), r"player .*int8\[\], not int32\[\]"),
    "rewards-shape": (changed(**start(rewards=jnp.zeros(3))), r"rewards .*\[2\], not .*\[3\]"),
    "python-number": (changed(**start(heaps=1)), "Python number"),
    "legal-type": (
        changed(legal_actions=lambda legal, *_: legal.astype(jnp.int8)),
        r"legal_actions: .*bool\[6\], not int8\[6\]",
    ),
    "cells-shape": (changed(cells=lambda cells, *_: cells[:1]), r"cells: .*int8\[2\], not"),
    "state-changes-type": (
        changed(afterstate=lambda after, *_: after._replace(heaps=after.heaps * 1.0)),
        r"afterstate: .heaps must be int8\[2\], not float",
    ),
    "afterstate-of-other-kind": (
        changed(afterstate=lambda after, *_: tuple(after)),
        "afterstate must return .*NimState",
    ),
    "drawn-type": (
        changed(display_cells=lambda cells, *_: cells.astype(jnp.int32)),
        r"display_cells: .*int8\[2\], not int32\[2\]",
    ),
    "drawn-square": (
        changed(display_cells=lambda cells, *_: cells[None]),
        r"display_cells must return one array int8\[D\]",
    ),
    "tuple-outside": (changed(own_tuples=((0, 1), (2,))), "own_tuples: tuple 1 must name cells 0"),
    "tuple-twice": (changed(own_tuples=((1, 1),)), "own_tuples: tuple 0 names a cell twice"),
    "reward-range": (changed(reward_range=(1.0, -1.0)), "reward_range must be"),
    "title": (changed(title=" "), "title must be the game's name in words, not ' '"),
    "sides": (changed(sides=("one",)), "sides must have one entry for each of 2"),
    "teams-length": (changed(teams=(0,)), "teams must have one entry for each of 2"),
    "adjacency-shape": (changed(adjacency=np.zeros((3, 3), bool)), "adjacency must be bool"),
    "lines-type": (changed(lines=np.zeros((2, 2))), r"lines must be int\[Q, k\], not float64"),
    "lines-range": (changed(lines=np.array([[0, 2]])), r"lines must name cells 0..1 alone"),
    "lines-twice": (changed(lines=np.array([[1, 1]])), r"lines: one names a cell twice"),
    "own-neighbour": (changed(adjacency=np.ones((2, 2), bool)), "no cell its own neighbour"),
    "symmetry-shape": (changed(symmetries=rotated([[0, 1, 2]])), r"symmetries must be int32\[1, 2"),
    "no-permutation": (changed(symmetries=rotated([[0, 0]])), "no permutation of 0..1"),
    "no-identity": (changed(symmetries=rotated([[1, 0]])), "row 0 is not the identity"),
    "row-twice": (
        changed(
            symmetries=rotated([[0, 1]] * 2), action_symmetries=rotated([[0, 1, 2, 3, 4, 5]] * 2)
        ),
        "two rows are the same",
    ),
    "no-group": (
        changed(
            TicTacToe,
            symmetries=rotated([range(9), [1, 2, 0, *range(3, 9)]]),
            action_symmetries=rotated([range(9)] * 2),
        ),
        "one after the other are no row",
    ),
    "actions-turn-otherwise": (
        changed(TicTacToe, action_symmetries=constant(lambda self: TicTacToe().symmetries)),
        "do not follow those of the cells",
    ),
    "views-shape": (changed(player_views=rotated([[0, 1]])), r"player_views must be int32\[2, 2\]"),
    "views-no-image": (
        changed(player_views=rotated([[0, 1], [1, 0]])),
        "player_views: a row is none of symmetries",
    ),
    "rotations-shape": (
        changed(seat_rotations=turned(cells=np.zeros((2, 3), np.int32))),
        r"seat_rotations: cells must be int32\[2, 2\], not int32\[2, 3\]",
    ),
    "rotations-permutation": (
        changed(seat_rotations=turned(actions=np.zeros((2, 6), np.int32))),
        "seat_rotations: a row of actions is no permutation of 0..5",
    ),
    "rotations-owner": (
        changed(seat_rotations=turned(owner=np.array([1, 0], np.int32))),
        "owner of a player must be a player who owns itself",
    ),
    "rotations-owner-range": (
        changed(seat_rotations=turned(owner=np.array([0, 2], np.int32))),
        "owner of a player must be a player who owns itself",
    ),
    "rotations-of-owner": (
        changed(seat_rotations=turned(cells=np.array([[1, 0], [0, 1]], np.int32))),
        "cells change on the image of a player who owns itself",
    ),
    "rotations-play": (
        changed(TicTacToe, seat_rotations=turned()),
        r"seat_rotations: cells of a game are not so on the image for player 1 \(ply 1\)",
    ),
    "extras-shape": (
        changed(extras=lambda *_: jnp.zeros((2, 1), jnp.int32)),
        r"extras: the array must be int32\[2, 0\], not int32\[2, 1\]",
    ),
    "extra-scales": (changed(extra_scales=(1.0,)), "extra_scales must have one entry for each"),
    "patterns-cells": (
        changed(change_patterns=(np.full((7, 1), 2), np.arange(7)[:, None])),
        "names cell 2: there are 2",
    ),
    "pattern-0": (
        changed(change_patterns=(np.zeros((7, 1), int), np.ones((7, 1), int))),
        "pattern 0 .* alone must alter nothing",
    ),
    "second-player-starts": (changed(**start(player=jnp.int8(1))), "start with player 0"),
    "paid-at-start": (changed(**start(rewards=jnp.ones(2))), "all rewards 0"),
    "digit-range": (changed(num_cell_values=3), r"outside 0..2 .*seen at ply 0 of"),
    "player-range": (
        changed(afterstate=lambda after, *_: after._replace(player=after.player * 2)),
        "player is outside 0..1",
    ),
    "stuck": (WithoutEnd(), "no legal action before the end"),
    "legal-after-the-end": (
        changed(legal_actions=lambda legal, *_: legal | True),
        "legal actions in a terminal state",
    ),
    "rewards-range": (
        changed(afterstate=lambda after, *_: after._replace(rewards=after.rewards * 2)),
        "rewards are outside reward_range -1 to 1",
    ),
    "teams": (changed(teams=(0, 0)), r"players of one team \(teams\) have different rewards"),
    "endless": (Endless(2, 3), "not over after max_plies = 6 plies"),
    "too-short": (changed(max_plies=3), "not over after max_plies = 3 plies"),
    "illegal-moves": (
        changed(
            afterstate=lambda after, self, state, action: after._replace(
                heaps=jnp.where(action == 6, state.heaps % 2, after.heaps)
            )
        ),
        "an action that is not legal changes the state: action 6",
    ),
    "not-absorbing": (
        changed(
            afterstate=lambda after, self, state, action: after._replace(
                rewards=jnp.where(state.terminal, -state.rewards, after.rewards)
            )
        ),
        "a terminal state does not stay",
    ),
    "afterstate-digits": (
        changed(
            Game2048,
            cells=lambda cells, self, state: jnp.where(state.slid, jnp.int8(15), cells),
        ),
        "cells of an afterstate: a digit is outside 0..14",
    ),
    "outcomes-reward": (
        changed(outcomes=lambda both, *_: (both[0] + 0.5, both[1])),
        "outcomes: the mover's reward",
    ),
    "outcomes-end": (changed(outcomes=lambda both, *_: (both[0], ~both[1])), "outcomes: the end"),
    "stones": (changed(Hex, stone_digits=constant(lambda self: (2, 1))), "stone_digits: a move"),
    "change-0": (
        changed(change=lambda change, *_: jnp.maximum(change, 1)),
        "change: 0 must stand for",
    ),
    "change-number": (changed(change=lambda change, *_: change + 1), "change: the number is none"),
    "patterns": (
        changed(change_patterns=constant(lambda self: first_heap_alone())),
        "change_patterns: a move alters",
    ),
    "altered-cells": (
        changed(Told, altered=lambda told, *_: (told[0], told[1].at[:, 1].add(1))),
        "altered: a move alters the cells otherwise",
    ),
    "altered-before": (
        changed(Told, altered=lambda told, *_: (told[0], told[1].at[:, 0].add(1))),
        "altered: something else was there before",
    ),
    "altered-twice": (
        changed(
            Told,
            most_altered=constant(lambda self: 2),
            altered=lambda told, *_: tuple(jnp.repeat(part, 2, 0) for part in told),
        ),
        "altered names a cell twice",
    ),
    "altered-range": (
        changed(Told, altered=lambda told, *_: (told[0] + 2, told[1])),
        "altered names cell",
    ),
    "altered-number": (
        changed(Told, most_altered=constant(lambda self: 2)),
        "altered: there must be most_altered cells",
    ),
    "impure": (Impure(2, 3), "one by one is not the move made in a compiled batch"),
    "symmetric-boards": (
        changed(
            TicTacToe,
            afterstate=lambda after, self, state, action: after._replace(
                rewards=after.rewards * (state.stones & 1).any()
            ),
        ),
        "symmetries: rewards of image 2",
    ),
    "never-spawns": (NeverSpawned(2, 3), "spawn draws, but spawn_words is 0"),
    "one-word": (
        type("OneWord", (NeverSpawned,), {"spawn_words": 1})(2, 3),
        "spawn_words is 1, but a key is made of 2 words: set it to 2, or write spawn_from",
    ),
    "spawns-without": (changed(spawn_words=2, spawn_from=lambda s, *_: s), "there is no spawn"),
    "start-by-key": (SecondStarts(2, 3), "init draws, but init_words is 0"),
    "spawned-twice": (Dice(2, 3), "spawn changes a position where a move is to be made"),
    "spawn-from": (FoursByKey(), "spawn and spawn_from draw otherwise"),
    "playout": (Biased(3), "playout ends otherwise"),
    "error-inside": (
        changed(cells=lambda cells, *_: cells.reshape(5)),
        r"TypeError: .*\(test_check.py, line",
    ),
}


# Each compiles a game of its own: a quarter of them in the fast half.
CASES = [
    pytest.param(*case, id=name, marks=pytest.mark.slow if number % 4 else ())
    for number, (name, case) in enumerate(FAULTS.items())
]


@pytest.mark.parametrize(("game", "fault"), CASES)
def test_a_fault_is_named_in_a_line(game, fault):
    lines = check_game(game)
    assert any(re.search(fault, line) for line in lines), lines
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("fault", ["digit-range", "endless", "too-short", "stuck", "unhashable"])
def test_what_would_spoil_a_training_is_refused(fault):
    game, line = FAULTS[fault]
    with pytest.raises(ValueError, match=rf"(?s){game.name}: .*{line}"):
        check_playable(game)


def test_a_game_may_tell_what_moves_alter():
    assert check_game(Told(2, 3)) == []


@pytest.mark.slow
def test_a_game_that_needs_its_words_may_draw_by_keys_alone():
    class Loaded(Game2048):
        """2048 with chance given by keys, as a newcomer would write it."""

        init_words = spawn_words = 2
        init_from, spawn_from = Game.init_from, Game.spawn_from

        def init(self, key):
            return Game2048().init(key)

        def spawn(self, state, key):
            return Game2048().spawn(state, key)

    assert check_game(Loaded()) == []
