"""check_game on games in which players leave before the end."""

import dataclasses
import re

import jax.numpy as jnp
import pytest

from jaxgbg.games import check_game
from tests.games.knockout import Knockout


@dataclasses.dataclass(frozen=True)
class PaidLater(Knockout):
    """The end of the game costs the second to leave more."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        more = jnp.where(after.terminal & (after.rewards == -0.5), -0.25, 0.0)
        late = after.terminal & ~state.terminal
        return after._replace(rewards=after.rewards + jnp.where(late, more, 0).astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class MoverIsOut(Knockout):
    def active(self, state):
        return super().active(state) & (jnp.arange(self.players) != state.player)


@pytest.mark.slow
@pytest.mark.parametrize("shoves", [False, True])
def test_knockout_keeps_the_contract(shoves):
    assert check_game(Knockout(2, 4, shoves)) == []


@pytest.mark.parametrize(
    ("game", "fault"),
    [
        (MoverIsOut(2), "active: the player to move is not active"),
        pytest.param(PaidLater(2, 4), "is paid after it was out", marks=pytest.mark.slow),
    ],
    ids=["mover", "paid"],
)
def test_a_fault_of_elimination_is_named_in_a_line(game, fault):
    assert any(re.search(fault, line) for line in check_game(game))
