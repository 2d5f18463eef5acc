"""The player of backgammon by the pip count."""

import jax
import numpy as np
import pytest

from jaxgbg.evaluation import Protocol, compete
from jaxgbg.games import Backgammon, make
from jaxgbg.players import PipCount, RandomPlayer, make_player
from tests.games.test_backgammon import placed

GAME = Backgammon(3)


def chosen(state, draws=64):
    """The (place, die) of its choices in a position."""
    many = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], draws, 0), state)
    actions = np.asarray(PipCount(GAME).act(many, jax.random.key(0)))
    dice = np.asarray(state.dice).tolist()
    return {(int(action) // 2 + 1, dice[action % 2]) for action in actions}


@pytest.mark.parametrize("player", [0, 1])
def test_it_hits_where_it_can_and_then_leaves_few_checkers_alone(player):
    # The other's point 7 is our 18.
    assert chosen(placed(GAME, [24, 13, 6], [7, 5, 5], (6, 2), player)) == {(24, 6)}
    # 8/5 and 10/5 make a point with the checker on 5.
    assert chosen(placed(GAME, [8, 5, 20], [1, 1, 1], (3, 1), player)) == {(8, 3)}
    # All the same: each choice is drawn at times.
    assert len(chosen(placed(GAME, [24, 18, 12], [1, 1, 1], (3, 1), player))) == 6


@pytest.mark.slow
def test_it_beats_random_play():
    protocol = Protocol("default", repeats=250)
    player = make_player("pip-count", GAME)
    scores = compete(GAME, player, RandomPlayer(GAME), protocol, jax.random.key(0))
    assert (scores > 0).mean() > 0.6


def test_it_plays_no_other_game():
    with pytest.raises(ValueError, match="pip-count plays backgammon only, not hex"):
        make_player("pip-count", make("hex"))
