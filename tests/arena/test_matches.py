"""Matches as one compiled program are the matches that the host plays ply by ply."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.arena import Protocol, compete
from jaxgbg.papers import preset
from jaxgbg.players import GreedyAgent, MaxN, PlayerBase, Positional, RandomPlayer


class Untraceable(PlayerBase):
    """The same player, of whom the arena does not know that it could compile his matches."""

    def __init__(self, player):
        self.player = player
        self.name = player.name

    @property
    def copies(self):
        return self.player.copies

    def act(self, states, key, history=None):
        assert history is None
        return self.player.act(states, key)


def agents(name, **changes):
    """Two untrained agents with random tables."""
    learner = preset(name, episodes=10, **changes).make_learner()
    params = jax.tree.map(lambda leaf: jax.numpy.stack([leaf, leaf]), learner.value.init())
    weights = jax.random.normal(jax.random.key(0), params.weights.shape)
    params = params._replace(weights=weights)
    return GreedyAgent(learner.game, learner.value, params, several=True)


@pytest.mark.parametrize(
    ("name", "opponent", "protocol"),
    [
        pytest.param(
            "nim3p",
            RandomPlayer,
            Protocol("choose_01", count=3, repeats=2),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "othello",
            lambda game: Positional(game, "bench"),
            Protocol("default", repeats=2),
            marks=pytest.mark.slow,
        ),
        pytest.param("2048", None, Protocol("default", repeats=3), marks=pytest.mark.slow),
    ],
)
def test_compiled_matches_are_the_matches_of_the_host(name, opponent, protocol):
    game, key = jaxgbg.make(name), jax.random.key(7)
    layouts = {"2048": ((0, 1), (4, 5)), "othello": ((0, 1, 9), (27, 28))}
    agent = agents(name, **({"layout": layouts[name]} if name in layouts else {}))
    player = opponent(game) if opponent else None
    compiled = compete(game, agent, player, protocol, key)
    by_host = compete(game, Untraceable(agent), player, protocol, key)
    assert compiled.shape[0] == 2
    assert np.unique(compiled).size > 1
    np.testing.assert_array_equal(compiled, by_host)


@pytest.mark.slow
def test_one_player_of_the_host_is_enough_to_play_there():
    game = jaxgbg.make("tictactoe")
    scores = compete(
        game, RandomPlayer(game), Untraceable(MaxN(game)), Protocol("one_ply"), jax.random.key(1)
    )
    assert scores.shape == (1, 2, 10)
    assert scores.max() <= 0
