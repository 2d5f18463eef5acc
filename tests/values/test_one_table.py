"""One table for all players: V(s | p) is that of the image, for every way to look it up."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import ChineseCheckers, EinStein, Hex, LinesOfAction, Maedn, Pig, Sim, TicTacToe
from jaxgbg.games.sampling import sample_games
from jaxgbg.learners import TD, Learner
from jaxgbg.values import NTupleSpec
from jaxgbg.values.one_table import OneTable, OneTableOfStones
from tests.games.batches import each
from tests.learners.replay import (
    Choices,
    made,
    named,
    played,
    stack_hyperparameters,
    transcripts,
)
from tests.reference import knockout_rules, rules
from tests.reference import one_table_td as reference
from tests.reference.td_farl import Parameters

WALKS = {"walks": (5, 3)}
FAST = [TicTacToe(), jaxgbg.make("nim3p")]
GAMES = [
    *FAST,
    Sim(nodes=5, players=3),
    Hex(size=3),
    Pig(players=3, target=10, horizon=60),
    Maedn(4, quarter=2, pieces=2, max_plies=60),
    EinStein(4, 4),
    ChineseCheckers(rows=1, players=4, turns=20),
    LinesOfAction(size=4, max_plies=40),
]
EACH = [
    pytest.param(game, marks=() if game in FAST else pytest.mark.slow, id=repr(game))
    for game in GAMES
]


def build(game, of_actions=False, **settings):
    """A value function of one table with random weights, and its parameters."""
    value = NTupleSpec(one_table=True, **settings).build(game, of_actions, batch=2)
    weights = jax.random.normal(jax.random.key(0), (value.num_weights,)) / 10
    return value, value.init()._replace(weights=weights)


def image_of(rotations, board, player):
    seen = [int(board[cell]) for cell in rotations.cells[player]]
    return [int(rotations.digits[player, at, digit]) for at, digit in enumerate(seen)]


@pytest.mark.parametrize("game", EACH)
def test_a_value_is_that_of_the_image_for_its_owner(game):
    value, params = build(game, layout=tuple((n, n + 1) for n in range(game.num_cells - 1)))
    rotations, seats = game.seat_rotations, np.arange(game.num_players)
    boards = sample_games(game).cells.reshape(-1, game.num_cells)[::301]
    evaluate = jax.jit(lambda c, p: value.value(params, value.features(params, c), p))
    found = evaluate(boards[:, None].repeat(len(seats), 1), np.tile(seats, (len(boards), 1)))
    tables = value.tables
    assert tables.num_players == len(rotations.owners)
    for board, values in zip(boards, np.asarray(found), strict=True):
        images = np.array([image_of(rotations, board, player) for player in seats], np.int8)
        owners = np.searchsorted(rotations.owners, rotations.owner)
        expected = tables.value(params, tables.features(params, images), owners)
        np.testing.assert_allclose(values, expected, atol=1e-6)
        # The owner of an image sees the same.
        again = evaluate(images, rotations.owner)
        np.testing.assert_allclose(values, again, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("game", [Sim(nodes=5, players=3), Hex(size=3)], ids=repr)
def test_all_moves_of_a_board_have_the_values_of_their_afterstates(game):
    value, params = build(game, layout=((0, 1, 3), (2, 3, 4)))
    assert isinstance(value, OneTableOfStones)
    states = jax.tree.map(
        lambda leaf: leaf[:4].reshape(-1, *leaf.shape[2:]), sample_games(game).states
    )

    def compare(states):
        features = value.features(params, each(game.cells, states))
        together = value.values_with_stone(params, features, states.player)
        actions = jnp.arange(game.num_actions)
        after = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))(states, actions)
        boards = value.features(params, jax.vmap(jax.vmap(game.cells))(after))
        player = jnp.broadcast_to(states.player[:, None], boards.shape[:2])
        return together, value.value(params, boards, player), each(game.legal_actions, states)

    together, apart, legal = map(np.asarray, jax.jit(compare)(states))
    assert legal.sum() > 200
    np.testing.assert_allclose(together[legal], apart[legal], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", [ChineseCheckers(rows=1, players=3, turns=20), LinesOfAction(size=4)], ids=repr
)
def test_what_a_move_alters_leads_to_the_value_of_its_afterstate(game):
    value, params = build(game, layout=((0, 1, 3), (2, 3, 4), (5, 7, 9)))
    found = sample_games(game)
    states = jax.tree.map(lambda leaf: leaf[:16].reshape(-1, *leaf.shape[2:]), found.states)
    actions = found.actions[:16, : found.states.player.shape[1]].reshape(-1)

    def compare(state, action):
        features = value.features(params, game.cells(state))
        start = value.accumulator(params, features, state.player)
        altered, after = game.altered(state, action), game.cells(game.afterstate(state, action))
        fast = value.value_incremental(params, start, state.player, altered, after)
        return fast, value.value(params, value.features(params, after), state.player)

    fast, slow = jax.jit(jax.vmap(compare))(states, jnp.asarray(actions))
    going = ~np.asarray(states.terminal)
    np.testing.assert_allclose(np.asarray(fast)[going], np.asarray(slow)[going], atol=1e-6)


@pytest.mark.slow
def test_a_value_of_an_action_is_that_of_its_image():
    game = Hex(size=3)
    value, params = build(game, of_actions=True, layout=((0, 1, 3), (2, 3, 4)))
    rotations, tables = game.seat_rotations, value.tables
    boards = sample_games(game).cells[:6].reshape(-1, game.num_cells)[::31]
    second = jnp.ones(len(boards), jnp.int8)
    features = value.features(params, boards)
    found = np.asarray(value.action_values(params, features, second))
    images = np.array([image_of(rotations, board, 1) for board in boards], np.int8)
    for action in range(game.num_actions):
        name = jnp.int32(rotations.actions[1, action])
        pairs = tables.of_action(tables.features(params, images), name)
        expected = tables.value(params, pairs, 0 * second)
        np.testing.assert_allclose(found[:, action], expected, atol=1e-6)
        pairs = value.of_action(features, jnp.full(len(boards), action))
        np.testing.assert_allclose(value.value(params, pairs, second), expected, atol=1e-6)


# Game, its plain rules, what every player sees, layout, step size.
TRAINED = {
    "tictactoe": (
        *(TicTacToe(), rules.TicTacToe(), reference.tictactoe),
        *(((0, 1, 2, 4), (4, 0)), 0.5),
    ),
    "nim3p": (
        *(jaxgbg.make("nim3p"), rules.Nim3P(), reference.heaps),
        *(((0, 1, 2), (0, 1)), 0.2),
    ),
    "sim": (
        *(Sim(nodes=5, players=3, images="none"), knockout_rules.Sim(5, 3)),
        *(reference.stones_of_three, ((0, 1, 3), (2, 3, 4)), 0.5),
    ),
}


@pytest.mark.parametrize(
    ("name", "tcl", "horizon"),
    [
        ("tictactoe", "exp", 4),
        ("nim3p", "id", 1),
        pytest.param("nim3p", "exp", 4, marks=pytest.mark.slow),
        pytest.param("sim", "id", 1, marks=pytest.mark.slow),
    ],
)
def test_a_training_is_that_of_a_slow_learner_that_turns_the_board(name, tcl, horizon):
    game, plain, turn, layout, alpha = TRAINED[name]
    value = NTupleSpec(layout=layout, tcl=tcl, combine="sum", one_table=True).build(game, False, 2)
    learner = Learner(game, value, TD, batch=1, horizon=horizon, opening_plies=1)
    episodes, decay = 60, 0.0 if horizon == 1 else 0.5
    hyper = stack_hyperparameters(SWITCHES, alpha, decay, episodes)
    _, lane, record = played(learner, hyper, len(SWITCHES), episodes)
    for i, switches in enumerate(SWITCHES):
        parameters = Parameters(
            alpha_start=alpha,
            alpha_end=alpha / 2,
            episodes=episodes,
            lambda_=decay,
            horizon=horizon,
            tcl=tcl,
            final_others=switches["final_others"],
            final_zero=switches["final_zero"],
        )
        slow, choices = reference.OneTableTD(plain, layout, parameters, turn), Choices()
        for opening, moves in transcripts(record, i):
            slow.episode(opening, made(moves), choices)
        sizes = [game.num_cell_values ** len(cells) for cells in layout]
        learned = np.concatenate([slow.weights[0, n, :size] for n, size in enumerate(sizes)])
        assert np.abs(learned).max() > 0.01
        assert not slow.weights[1:].any()
        np.testing.assert_allclose(lane.params.weights[i], learned, atol=1e-4, rtol=1e-4)
        sums = np.concatenate([slow.counters_a[0, n, :size] for n, size in enumerate(sizes)])
        counters = np.asarray(lane.params.counters[i]).reshape(len(learned), -1)
        np.testing.assert_allclose(counters[:, 1], sums, atol=1e-4, rtol=1e-4)
        choices.assert_best(1e-4)


SWITCHES = [named(True, True, True, False), named(True, False, True, False)]


def test_players_whose_boards_never_coincide_learn_the_same_in_one_table_as_in_two():
    """The number of stones says who has moved, and one n-tuple holds the whole board."""
    run = jaxgbg.preset("tictactoe")
    values = []
    for one_table in (False, True):
        value = dataclasses.replace(run.value, one_table=one_table).build(run.game, False, 8)
        learner = Learner(run.game, value, TD, batch=8)
        hyper = stack_hyperparameters(SWITCHES[:1], 0.5, 0.0, 100)
        _, lane, _ = played(learner, hyper, 1, 100)
        params = jax.tree.map(lambda leaf: leaf[0], lane.params)
        boards = sample_games(run.game).cells[:9].reshape(-1, 9)
        # Of the player who has moved, X where the numbers of stones differ.
        player = (boards.astype(int).sum(1) == 9).astype(int)
        values.append(np.asarray(value.value(params, value.features(params, boards), player)))
        weights = int(np.count_nonzero(params.weights))
    assert weights > 100
    np.testing.assert_array_equal(*values)


def test_a_game_without_rotations_has_no_shared_table():
    with pytest.raises(ValueError, match=r"2048: one_table needs a game whose board can be seen"):
        NTupleSpec(one_table=True).build(jaxgbg.make("2048"), False, 1)


def test_images_that_are_the_same_are_looked_up_once():
    value = NTupleSpec(one_table=True).build(jaxgbg.make("nim3p"), False, 1)
    assert isinstance(value, OneTable)
    assert value.num_features == value.tables.num_features
    assert value.num_weights == 6**3
