"""Moves are chosen by the features of the position itself, whatever chance did to the board."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import game_names
from jaxgbg.games.nim import Nim
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.presets import preset

TICKS = 40


@dataclasses.dataclass(frozen=True)
class DrawnNim(Nim):
    """Nim whose heaps are drawn."""

    name = "drawn-nim"
    init_words = 2

    def init(self, key):
        heaps = jax.random.randint(key, (self.heaps,), 1, self.size + 1, jnp.int8)
        return super().init(key)._replace(heaps=heaps)


def every_position(game, **changes):
    """The positions of some ticks where a player is to move: (kept features, fresh ones)."""
    run = preset(game, seeds=[0], variants=["farl"], batch=16, **changes)
    (lanes,), (hypers,), _ = begin([run])
    learner = run.make_learner()
    lane, hyper = jax.tree.map(lambda leaf: leaf[0], (lanes, hypers))
    advance = jax.jit(partial(learner.advance, ticks=1))

    @jax.jit
    def both(lane):
        fresh = learner.value.features(lane.params, learner.observe(lane.games.state))
        return learner.features_to_move(lane), fresh

    for _ in range(TICKS):
        lane, _ = advance(lane, hyper, np.uint32(10**6))
        kept, fresh = both(lane)
        playing = np.asarray(lane.games.stage) == 0
        yield np.asarray(kept)[playing], np.asarray(fresh)[playing]


BY_CHANCE = [name for name in game_names() if jaxgbg.make(name).stochastic]


@pytest.mark.parametrize(
    ("game", "learner", "value"),
    [
        ("backgammon", "td", "ntuple"),
        ("nim", "td", "ntuple"),
        (DrawnNim(), "td", "ntuple"),
        *(
            pytest.param(name, learner, value, marks=pytest.mark.slow)
            for name in BY_CHANCE
            for learner in ("td", "sarsa")
            for value in ("ntuple", "mlp")
            if (name, learner, value) != ("backgammon", "td", "ntuple")
            # Too many actions for values of actions.
            and not (learner == "sarsa" and jaxgbg.make(name).num_actions > 100)
        ),
    ],
    ids=str,
)
def test_features_are_those_of_the_position(game, learner, value):
    opponent = "score" if game == "2048" else "random"
    settings = {"learner": learner, "value": value, "opponents": (opponent,)}
    seen = 0
    for kept, fresh in every_position(game, **settings):
        np.testing.assert_array_equal(kept, fresh)
        seen += len(kept)
    assert seen > 8 * TICKS
