"""check_game on games of chance: who is paid by chance, and whether listed outcomes are drawn."""

import dataclasses
import re

import jax.numpy as jnp
import pytest

from jaxgbg.games import check_game
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


FAULTS = {
    "listed-shape": (WrongShape(), r"spawn_probabilities: the array must be float32\[2\]"),
    "pays": (PaidByRolls(), "spawn pays a player"),
    "half": (HalfListed(), "spawn_probabilities add up to 0.5, not to 1"),
    "loaded": (Loaded(), "spawn draws an outcome more or less often than"),
    "unlisted": (OtherPoints(), "spawn draws a state that is not listed"),
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
