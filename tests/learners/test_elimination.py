"""What players remember in games that they can leave before the end."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.learners.state import Games, Move, NextBoards
from jaxgbg.learners.td import remember_states
from tests.games.knockout import Knockout
from tests.reference import rules
from tests.reference.td_farl import Parameters, SerialTDFarl

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


# Two heaps of 3. The same moves (heap, items) in both games; the updates are worked out by hand:
# (board, player, what the player was paid since its last move, the board whose value is added).
MOVES = ((0, 1), (1, 1), (0, 1), (0, 1), (1, 1), (1, 1))
OWN_MOVE = [
    ((2, 3), 0, -1.0, None),  # Player 0 takes the last item of a heap, leaves, and two play on.
    ((2, 2), 1, 0.0, (0, 1)),
    ((1, 2), 2, -0.5, None),  # Player 2 leaves, which ends the game.
    ((0, 2), 0, 0.0, None),  # Part 1: nothing is paid to player 0 after it has left.
    ((0, 1), 1, 1.0, None),
    ((0, 0), 2, 0.0, None),  # Part 2.
]
SHOVED = [
    ((2, 3), 0, 0.0, (0, 2)),  # Player 0 puts out player 1, and stays.
    ((1, 2), 2, 0.0, (0, 1)),
    ((0, 2), 0, 1.0, None),
    ((2, 2), 1, -1.0, None),  # Part 1: player 1 was paid after its only move.
    ((0, 1), 2, -0.5, None),
    ((0, 0), 0, 0.0, None),
]


@pytest.mark.parametrize(("shoves", "expected"), [(False, OWN_MOVE), (True, SHOVED)])
@pytest.mark.parametrize(
    ("final_others", "final_zero"), [(True, True), (True, False), (False,) * 2]
)
def test_who_leaves_is_updated_as_worked_out_by_hand(shoves, expected, final_others, final_zero):
    """In the serial reference, which the tables of the learner agree with (`test_replay`)."""
    game = rules.Knockout(3, 3, shoves)
    settings = Parameters(
        alpha_start=1, alpha_end=1, episodes=1, gamma=0.5, sigmoid=False, learn_start=False,
        final_others=final_others, final_zero=final_zero,
    )  # fmt: skip
    learner = SerialTDFarl(game, [(0, 1)], settings)
    learner.weights[:] = np.random.default_rng(0).normal(size=learner.weights.shape)
    moves = iter([(3 * heap + items - 1, False) for heap, items in MOVES])
    stages = learner._stages(game.initial(), lambda state: next(moves))
    updates = [stage.update for stage in stages if stage.update is not None]
    kept = expected[: 6 if final_zero else 5 if final_others else 3]
    assert [(tuple(each.cells), each.player) for each in updates] == [each[:2] for each in kept]
    for update, (_, player, paid, board) in zip(updates, kept, strict=True):
        value = 0.0 if board is None else float(learner.values(board, player))
        assert update.target == pytest.approx(paid + 0.5 * value)
