"""What players remember in games that they can leave before the end."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.learners.state import Games, Move, NextBoards
from jaxgbg.learners.td import remember_states
from tests.games.knockout import Knockout

GAME = Knockout(3, 3)


@pytest.fixture(scope="module")
def after():
    """The state after some plies, each of them (heap, items)."""
    step = jax.jit(GAME.afterstate)

    def played(*plies):
        state = GAME.init(jax.random.key(0))
        for heap, items in plies:
            state = step(state, jnp.int32(GAME.size * heap + items - 1))
        return state

    return played


def remembered(before, moved, leaves, restart=False):
    """`Games` [B] after a move of player 0 whose leaves are remembered, or a new episode."""
    batch = len(leaves.player)
    games = Games(
        state=before,
        features=None,
        stage=jnp.zeros(batch, jnp.int8),
        mover=jnp.zeros(batch, jnp.int8),
        last=jnp.zeros((batch, GAME.num_players, 1), jnp.int32),
        has_last=jnp.zeros((batch, GAME.num_players), bool),
        last_reward=jnp.zeros((batch, GAME.num_players)),
        rule=(),
        seat=None,
        traces=None,
    )
    boards = NextBoards(jnp.zeros((batch, 1), jnp.int32), leaves, jnp.full(batch, restart))
    learner = types.SimpleNamespace(game=GAME, start_is_known=True)
    call = jax.jit(lambda *given: remember_states(learner, *given))
    return call(games, Move(None, moved, moved), leaves, jnp.ones((batch, 1), jnp.int32), boards)


def stacked(*states):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


def test_a_leaf_in_which_its_player_has_yet_to_leave_is_not_learned(after):
    """As with the end of the game: the move that sees it coming learns all of its reward."""
    begun, one, all_ = after(), after((0, 1)), after((0, 3))
    cases = [
        ("leaves in the leaf", one, after((0, 1), (1, 1), (1, 1), (0, 2)), False),
        ("another one leaves in it", one, after((0, 1), (0, 2)), True),
        ("the game ends in it", one, after((0, 1), (0, 2), (1, 3)), False),
        ("has left by the move itself", all_, after((0, 3), (1, 1)), True),
    ]
    _, moved, leaves, expected = zip(*cases, strict=True)
    found = remembered(stacked(*[begun] * len(cases)), stacked(*moved), stacked(*leaves))
    assert found.has_last[:, 0].tolist() == list(expected)
    assert not found.has_last[:, 1:].any()
    np.testing.assert_array_equal(found.last_reward[:, 0], [-1, 0, 1, -1])


def test_who_has_left_in_the_opening_has_had_its_reward(after):
    begun, start = stacked(after()), stacked(after((0, 3)))
    found = remembered(begun, begun, start, restart=True)
    assert found.has_last.tolist() == [[True, False, False]]
    assert found.last_reward.tolist() == [[-1, 0, 0]]
