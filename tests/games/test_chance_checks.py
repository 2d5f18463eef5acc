"""check_game on games of chance: who is paid by chance, and whether listed outcomes are drawn."""

import dataclasses
import re

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Game2048, check_game
from jaxgbg.games.chance_images import chance_image_faults
from jaxgbg.games.core import keep_if
from tests.games.pig import Pig, UnlistedPig


@dataclasses.dataclass(frozen=True)
class PaidByRolls(Pig):
    def spawn_from(self, state, words):
        rolled = super().spawn_from(state, words)
        paid = jnp.where(state.rolling & (rolled.turn > 1), 0.5, 0.0) * jnp.array([1.0, -1.0])
        return rolled._replace(rewards=rolled.rewards + paid.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class HalfListed(Pig):
    def spawn_probabilities(self, state):
        return super().spawn_probabilities(state) / 2


@dataclasses.dataclass(frozen=True)
class Loaded(Pig):
    def spawn_probabilities(self, state):
        loaded = jnp.array([0.2, 0.8], jnp.float32)
        return jnp.where(state.rolling, loaded, super().spawn_probabilities(state))


@dataclasses.dataclass(frozen=True)
class OtherPoints(Pig):
    def spawn_from(self, state, words):
        rolled = super().spawn_from(state, words)
        more = state.rolling & (rolled.turn > 0)
        return rolled._replace(turn=rolled.turn - more.astype(jnp.int8))


@dataclasses.dataclass(frozen=True)
class WrongShape(Pig):
    def spawn_probabilities(self, state):
        return super().spawn_probabilities(state)[:1]


@dataclasses.dataclass(frozen=True)
class MovesBeforeChance(Pig):
    """Whether a roll is due is not asked where a move is chosen."""

    def legal_actions(self, state):
        return super().legal_actions(state._replace(rolling=jnp.bool_(False)))

    def afterstate(self, state, action):
        return keep_if(state.rolling, state, super().afterstate(state, action))


@dataclasses.dataclass(frozen=True)
class SmallBoard(Game2048):
    """Of 2 x 3 cells; two of them are exchanged by what is no symmetry."""

    rows: int = 2
    columns: int = 3
    exchanged: tuple[int, int] = (0, 4)

    @property
    def symmetries(self):
        images = np.tile(np.arange(self.num_cells, dtype=np.int32), (2, 1))
        images[1, self.exchanged] = images[1, self.exchanged[::-1]]
        return images

    @property
    def action_symmetries(self):
        return np.tile(np.arange(4, dtype=np.int32), (2, 1))


FAULTS = {
    "listed-shape": (WrongShape(), r"spawn_probabilities: the array must be float32\[2\]"),
    "pays": (PaidByRolls(), "spawn pays a player"),
    "half": (HalfListed(), "spawn_probabilities add up to 0.5, not to 1"),
    "loaded": (Loaded(), "spawn draws an outcome more or less often than"),
    "unlisted": (OtherPoints(), "spawn draws a state that is not listed"),
    "moves": (MovesBeforeChance(), "legal actions in an afterstate where chance is due"),
    "symmetries": (SmallBoard(), "symmetries: .* of the image of a game are not"),
}
CASES = [
    pytest.param(*case, id=name, marks=pytest.mark.slow if number else ())
    for number, (name, case) in enumerate(FAULTS.items())
]


@pytest.mark.parametrize(("game", "fault"), CASES)
def test_a_fault_of_chance_is_named_in_a_line(game, fault):
    (line,) = check_game(game)
    assert re.search(fault, line), line


@pytest.mark.slow
@pytest.mark.parametrize("game", [Pig(), UnlistedPig(), Pig(faces=6)], ids=repr)
def test_dice_games_keep_the_contract(game):
    assert check_game(game) == []


class LeaningChance(Game2048):
    """A new tile on the first cell is always a 4, which no slide shows."""

    def spawn_probabilities(self, state):
        shares = super().spawn_probabilities(state)
        moved = jnp.where(jnp.arange(len(shares)) == 0, shares, 0)
        return shares - moved + jnp.roll(moved, self.num_cells)


class Unlisted(Game2048):
    num_spawns = 0


class PaidForLeft(Game2048):
    """A slide to the left is paid, but not at the start."""

    def afterstate(self, state, action):
        moved = super().afterstate(state, action)
        return moved._replace(rewards=moved.rewards + (action == 0) * (state.score > 8))


@pytest.mark.parametrize(
    ("game", "fault"),
    [
        (SmallBoard(), "symmetries: (legal actions|cells) of the image of a game"),
        (LeaningChance(rows=2, columns=3), "symmetries: chance on the image of a board"),
        (PaidForLeft(rows=2, columns=3), "symmetries: rewards of the image of a game"),
    ],
    ids=["cells", "chance", "rewards"],
)
def test_what_is_no_symmetry_of_a_game_of_chance_is_named(game, fault):
    (line,) = chance_image_faults(game)
    assert re.match(fault, line), line


@pytest.mark.parametrize(
    "game", [Game2048(), Game2048(rows=2, columns=3), Unlisted(rows=2, columns=2)], ids=repr
)
def test_symmetries_of_games_of_chance_are_found_right(game):
    assert chance_image_faults(game) == []
