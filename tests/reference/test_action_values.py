"""The serial SARSA, Q-learning and network references are checked by hand and by each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from .board_rules import Game2048, Hex, Othello, TileState
from .mlp_td import Network, NetworkParameters, SerialNetworkLearner, inputs
from .rules import ConnectFour, Game, Nim, Nim3P, State, TicTacToe, symmetries
from .sarsa_farl import (
    ActionMove,
    ActionValueLearner,
    ActionValueParameters,
    SerialActionValues,
    action_symmetries,
)
from .td_farl import Parameters, SerialTDFarl

FULL_BOARD = [tuple(range(9))]
WHOLE_NIM = [(0, 1, 2)]
CONNECT_FOUR_TUPLES = [(0, 1, 2, 6, 7, 8), (18, 19, 24, 25)]
CONSTANT_ALPHA = {"alpha_start": 0.5, "alpha_end": 0.5, "episodes": 100}


def tables(game: Game, tuples: Sequence[Sequence[int]], **settings: Any) -> SerialActionValues:
    given = {"rule": "sarsa"} | CONSTANT_ALPHA | settings
    return SerialActionValues(game, tuples, ActionValueParameters(**given))


def random_network(sizes: Sequence[int], seed: int = 0, **settings: Any) -> Network:
    rng = np.random.default_rng(seed)
    weights = [rng.uniform(-0.5, 0.5, shape) for shape in itertools.pairwise(sizes)]
    biases = [rng.uniform(-0.5, 0.5, size) for size in sizes[1:]]
    return Network(sizes, weights=weights, biases=biases, **settings)


def network_learner(
    game: Game, hidden: Sequence[int] = (), output: str = "tanh", **settings: Any
) -> SerialNetworkLearner:
    given = {"rule": "sarsa"} | CONSTANT_ALPHA | settings
    num_inputs = len(inputs(game, game.initial().cells, 0))
    num_outputs = 1 if given["rule"] == "td" else game.num_actions
    network = random_network([num_inputs, *hidden, num_outputs], output=output)
    return SerialNetworkLearner(game, network, NetworkParameters(**given))


def random_moves(game: Game, rng: np.random.Generator) -> list[ActionMove]:
    """A random episode in which the foreseen action is often not the executed one."""
    state = game.initial()
    moves: list[ActionMove] = []
    while not state.terminal:
        foreseen, executed = rng.choice(game.legal(state), 2).tolist()
        moves.append((foreseen, executed, bool(rng.random() < 0.3)))
        state = game.play(state, executed)
    return moves


def greedy(*actions: int) -> list[ActionMove]:
    return [(action, action, False) for action in actions]


def random_states(game: Game, rng: np.random.Generator) -> list[State]:
    states = [game.initial()]
    for _, action, _ in random_moves(game, rng):
        states.append(game.play(states[-1], action))
    return states


# Symmetries


@pytest.mark.parametrize("game", [TicTacToe(), ConnectFour(), Nim(), Nim3P(), Hex(4), Othello(4)])
def test_an_image_of_an_action_on_the_image_of_a_board_gives_the_image_of_the_next_board(game):
    cell_images, action_images = symmetries(game), action_symmetries(game)
    assert action_images.shape == (len(cell_images), game.num_actions)
    for state in random_states(game, np.random.default_rng(2))[:-1]:
        # Hex is symmetric in the cells alone; who has won is not asked here.
        for cell_image, action_image in zip(cell_images, action_images, strict=True):
            image = state._replace(cells=tuple(np.array(state.cells)[cell_image].tolist()))
            for action in game.legal(state):
                expected = np.array(game.play(state, action).cells)[cell_image]
                after = game.play(image, int(action_image[action]))
                assert after.cells == tuple(expected.tolist())


@pytest.mark.parametrize(
    ("game", "tuples"),
    [
        (TicTacToe(), [(0, 1, 4), (3, 4)]),
        (ConnectFour(), CONNECT_FOUR_TUPLES),
        (Othello(4), [(0, 1)]),
    ],
)
def test_all_images_of_a_board_have_the_same_values_whatever_the_weights(game, tuples):
    rng = np.random.default_rng(2)
    agent = tables(game, tuples)
    agent.weights[:] = rng.normal(size=agent.weights.shape) / 10
    for state, player in itertools.product(random_states(game, rng), range(2)):
        q = agent.q_values(state.cells, player)
        for images, actions in zip(symmetries(game), action_symmetries(game), strict=True):
            image_q = agent.q_values(tuple(np.array(state.cells)[images].tolist()), player)
            np.testing.assert_allclose(image_q[actions], q, rtol=0, atol=1e-12)


def test_images_share_a_weight_only_if_board_and_action_agree_and_each_hit_is_counted():
    empty, index = (1,) * 9, sum(3**i for i in range(9))
    agent = tables(TicTacToe(), FULL_BOARD, tcl="id", sigmoid=False)
    # A corner has four images, each hit by two symmetries; the centre is hit by all eight.
    for action, images, hits in ((0, [0, 2, 6, 8], 2), (4, [4], 8)):
        agent.update(empty, action, 1, 1.0)
        moved = np.zeros(9)
        moved[images] = 0.5 / 8
        q = agent.q_values(empty, 1)
        assert agent.weights[1, images, 0, index].tolist() == moved[images].tolist()
        np.testing.assert_allclose(agent.counters_n[1, images, 0, index], hits + 1e-4)
        np.testing.assert_allclose(q[images], 0.5)
    assert np.count_nonzero(agent.weights) == 5


def test_a_slide_on_an_image_of_a_board_gives_the_image_of_the_slid_board():
    game, rng = Game2048(), np.random.default_rng(3)
    cell_images, action_images = symmetries(game), action_symmetries(game)
    assert sorted(set(map(tuple, action_images.tolist()))) != [(0, 1, 2, 3)]
    for _ in range(20):
        state = TileState(tuple(rng.integers(0, 4, 16).tolist()), 0, False)
        for cell_image, action_image in zip(cell_images, action_images, strict=True):
            image = state._replace(tiles=tuple(np.array(state.tiles)[cell_image].tolist()))
            for action in game.legal(state):
                slid = np.array(game.afterstate(state, action).tiles)[cell_image]
                assert game.afterstate(image, int(action_image[action])).tiles == tuple(slid)


# The update of one pair


def test_tcl_uses_the_factor_left_by_the_update_before():
    agent = tables(TicTacToe(), FULL_BOARD, tcl="exp", sigmoid=False)
    place = 0, 2, 0, sum(3**i for i in range(9))
    seen = []
    for target in (1.0, -1.5, 0.5):  # delta 1, -2 and 1; each corner is hit twice
        agent.update((1,) * 9, 0, 0, target)
        seen.append(agent.weights[place])
    assert seen[:2] == [0.5 / 8, -0.5 / 8]  # N / A was 1 for both
    factor = math.exp(2.7 * (1.9999 / 6.0001 - 1))  # N = 2 - 4, A = 2 + 4
    assert seen[2] == pytest.approx(-0.5 / 8 + 0.5 / 8 * factor, rel=1e-12)
    assert agent.counters_n[place] == pytest.approx(0.0001, rel=1e-9)
    assert agent.counters_a[place] == pytest.approx(8.0001, rel=1e-12)


def test_with_tanh_the_list_keeps_the_slope_and_the_action_of_the_time_of_joining():
    agent = tables(Nim(1, 2), [(0,)], lambda_=0.5, horizon=2)
    agent.weights[0, 1, 0, 2] = 0.3
    agent.update((2,), 1, 0, 1.0)
    agent.update((2,), 0, 0, -1.0)
    value = math.tanh(0.3)
    slope = 1 - value**2
    first = 0.3 + 0.5 * (1 - value) * slope
    assert agent.weights[0, 1, 0, 2] == pytest.approx(first - 0.5 * 0.5 * slope, rel=1e-12)
    assert agent.weights[0, 0, 0, 2] == -0.5
    assert np.count_nonzero(agent.weights) == 2


def test_lists_outlive_the_episode_and_hold_at_most_horizon_pairs():
    agent = tables(Nim(2, 1), [(0, 1)], lambda_=0.5, horizon=2, sigmoid=False)
    agent.episode([], greedy(0, 1))
    agent.episode([], greedy(1, 0))
    start = 3
    # The second loss of player 0 also reaches the pair of the first, with half its weight.
    assert agent.weights[0, :, 0, start].tolist() == [-0.5 - 0.25, -0.5]
    agent.episode([], greedy(1, 0))  # delta -0.5 for the pairs of episodes 3 and 2
    assert agent.weights[0, :, 0, start].tolist() == [-0.75, -0.5 - 0.25 - 0.125]


# Episodes


@pytest.mark.parametrize(
    ("game", "tuples"),
    [
        (TicTacToe(), FULL_BOARD),
        (ConnectFour(), CONNECT_FOUR_TUPLES),
        (Nim(), WHOLE_NIM),
        (Nim3P(), WHOLE_NIM),
        (Othello(4), [(0, 1)]),
    ],
)
def test_every_pair_is_learned_once_with_farl_and_all_but_the_last_of_the_others_without(
    game, tuples
):
    moves = random_moves(game, np.random.default_rng(3))
    for farl, expected in ((True, len(moves)), (False, len(moves) - game.num_players + 1)):
        agent = tables(game, tuples, final_others=farl)
        agent.episode([], moves)
        assert agent.updates_done == expected


def test_the_loser_always_learns_and_the_winner_through_farl_alone():
    for farl, won in ((True, 0.5), (False, 0.0)):
        agent = tables(Nim(2, 1), [(0, 1)], final_others=farl, learn_from_random=False)
        agent.episode([], [(0, 0, True), (1, 1, True)])
        lost_in, won_in = agent.indices((1, 1)).item(), agent.indices((0, 1)).item()
        expected = np.zeros_like(agent.weights)
        expected[0, 0, 0, lost_in] = -0.5
        expected[1, 1, 0, won_in] = won
        np.testing.assert_array_equal(agent.weights, expected)


@pytest.mark.parametrize("rule", ["sarsa", "q"])
def test_without_farl_nobody_ever_hears_of_a_win(rule):
    for farl in (True, False):
        agent = tables(TicTacToe(), FULL_BOARD, rule=rule, final_others=farl)
        agent.self_play(60, np.random.default_rng(0), 0.5, 0.5, False)
        assert agent.weights.min() < 0
        assert (agent.weights.max() > 0) == farl


def test_three_players_learn_their_own_rewards():
    agent = tables(Nim3P(3, 1), WHOLE_NIM, sigmoid=False)
    agent.episode([], greedy(0, 1, 2))  # rewards 1, 0.2 and 0
    assert [agent.weights[p].sum() for p in range(3)] == pytest.approx([0.5, 0.1, 0.0])
    agent = tables(Nim3P(3, 1), WHOLE_NIM, sigmoid=False, final_others=False)
    agent.episode([], greedy(0, 1, 2))
    assert [agent.weights[p].sum() for p in range(3)] == [0.5, 0, 0]


@pytest.mark.parametrize(
    ("rule", "foreseen", "next_value"),
    [("sarsa", 0, 0.2), ("sarsa", 1, 0.6), ("q", 0, 0.6), ("q", 1, 0.6)],
)
def test_sarsa_looks_at_the_foreseen_action_and_q_at_the_best_legal_one(rule, foreseen, next_value):
    agent = tables(Nim(1, 5, max_take=2), [(0,)], rule=rule, sigmoid=False, gamma=0.5)
    agent.weights[0, :, 0, 3] = [0.2, 0.6]
    agent.weights[1, :, 0, 1] = [-0.4, 8.0]  # with one item left two cannot be taken
    # 5 - 1 - 1 leaves 3 to player 0, who executes action 1; player 1 takes the last item.
    agent.episode([], [*greedy(0, 0), (foreseen, 1, False), *greedy(0)])
    assert agent.weights[0, 0, 0, 5] == 0.5 * 0.5 * next_value
    assert agent.weights[0, :, 0, 3].tolist() == [0.2, pytest.approx(0.6 + 0.5 * -1.6)]
    assert agent.weights[1, 0, 0, 4] == 0.5 * 0.5 * -0.4
    assert agent.weights[1, 0, 0, 1] == pytest.approx(-0.4 + 0.5 * 1.4)


class Points(Nim):
    """One heap, one item a ply; every ply is worth a point to its mover, win or lose."""

    def play(self, state: State, action: int) -> State:
        rewards = list(state.rewards)
        rewards[state.player] += 1.0
        return super().play(state, action)._replace(rewards=tuple(rewards))


def test_targets_hold_the_reward_since_the_last_move_of_the_same_player():
    agent = tables(
        Points(1, 4, max_take=1), [(0,)], alpha_start=1.0, alpha_end=1.0, sigmoid=False, gamma=0.0
    )
    agent.episode([], greedy(0, 0, 0, 0))
    assert agent.weights[0, 0, 0].tolist() == [0, 0, 1, 0, 1]
    assert agent.weights[1, 0, 0].tolist() == [0, 1, 0, 1, 0]


def two_heap_moves(random_ply: int | None) -> list[ActionMove]:
    """Heaps (2, 2) emptied one by one in four plies; player 1 takes the last item."""
    return [(a, a, ply == random_ply) for ply, a in enumerate([0, 0, 2, 2])]


def test_only_the_remembered_action_decides_whether_a_random_move_is_learned():
    learned = []
    for random_ply in range(4):
        agent = tables(Nim(2, 2), [(0, 1)], learn_from_random=False, horizon=9)
        agent.episode([], two_heap_moves(random_ply))
        learned.append([len(pairs) for pairs in agent.eligibility])
    # The second pairs of both players end the game, and are learned even if random.
    assert learned == [[1, 2], [2, 1], [2, 2], [2, 2]]


def test_reset_clears_the_lists_of_all_players_after_an_unlearned_random_move():
    for mode, lengths in (("et", [3, 4]), ("reset", [1, 2])):
        agent = tables(Nim(2, 2), [(0, 1)], learn_from_random=False, horizon=9, trace_mode=mode)
        agent.episode([], two_heap_moves(None))
        agent.episode([], two_heap_moves(0))
        assert [len(pairs) for pairs in agent.eligibility] == lengths


@pytest.mark.parametrize("agent", [tables(Nim(2, 1), [(0, 1)]), network_learner(Nim(2, 1))])
def test_a_record_that_is_no_whole_game_raises_and_teaches_nothing(agent):
    before = agent.q_values((1, 1), 0)
    stops_short, illegal, goes_on = greedy(0), greedy(0, 0), greedy(0, 1, 1)
    illegal_foreseen = [(0, 0, False), (0, 1, False)]
    for moves in (stops_short, illegal, goes_on, illegal_foreseen):
        with pytest.raises(ValueError, match=r"not legal|not terminal"):
            agent.episode([], moves)
    with pytest.raises(ValueError, match="not legal"):
        agent.episode([2], greedy(0, 1))
    assert agent.updates_done == agent.episodes_done == 0
    np.testing.assert_array_equal(agent.q_values((1, 1), 0), before)


@pytest.mark.parametrize("rule", ["sarsa", "q"])
@pytest.mark.parametrize("replan", [False, True])
def test_replaying_self_play_gives_the_same_tables(rule, replan):
    settings = {"rule": rule, "tcl": "id", "lambda_": 0.5, "horizon": 4, "alpha_end": 0.1}
    settings |= {"learn_from_random": False, "trace_mode": "reset"}
    for game, tuples in ((TicTacToe(), FULL_BOARD), (Nim3P(), WHOLE_NIM * 2)):
        player, follower = (tables(game, tuples, **settings) for _ in range(2))
        transcripts = player.self_play(15, np.random.default_rng(5), 0.3, 0.0, True, replan)
        assert {len(opening) for opening, _ in transcripts} == {0, 1}
        changed = [first != second for _, moves in transcripts for first, second, _ in moves]
        assert any(changed) == replan
        for opening, moves in transcripts:
            follower.episode(opening, moves)
        np.testing.assert_array_equal(player.weights, follower.weights)
        np.testing.assert_array_equal(player.counters_n, follower.counters_n)
        np.testing.assert_array_equal(player.counters_a, follower.counters_a)


def share_of_won_positions_played_right(agent: ActionValueLearner, game: Nim) -> float:
    """Share of the positions with unequal heaps where the greedy move makes the two equal."""
    right = []
    for cells in itertools.permutations(range(game.heap_size + 1), 2):
        for player in range(2):
            # One item short of the start is reached by one ply, and so by one player only.
            if sum(cells) <= 2 * game.heap_size - 2:
                state = State(cells, player, False, (0.0, 0.0))
                q = agent.action_values(state)
                after = game.play(state, max(q, key=lambda action: q[action]))
                right.append(after.cells[0] == after.cells[1])
    return float(np.mean(right))


@pytest.mark.parametrize("rule", ["sarsa", "q"])
def test_tables_learn_nim_perfectly_by_self_play(rule):
    agent = tables(Nim(2, 3), [(0, 1)], rule=rule, episodes=600)
    agent.self_play(600, np.random.default_rng(0), 0.5, 0.0, True)
    assert share_of_won_positions_played_right(agent, agent.game) == 1.0


# Networks


@pytest.mark.parametrize("hidden", ["sigmoid", "tanh", "relu"])
@pytest.mark.parametrize("output", ["tanh", "sigmoid", "identity"])
def test_gradients_agree_with_finite_differences(hidden, output):
    network = random_network([5, 4, 3, 2], hidden=hidden, output=output, reward_range=(0.2, 1.0))
    seen, small = np.random.default_rng(1).normal(size=5), 1e-6
    for index in range(2):
        gradient = network.gradient(seen, index)
        for parameter, derivative in zip(network.parameters, gradient, strict=True):
            for place in np.ndindex(parameter.shape):
                kept = parameter[place]
                around = []
                for step in (small, -small):
                    parameter[place] = kept + step
                    around.append(network.values(seen)[index])
                parameter[place] = kept
                slope = (around[0] - around[1]) / (2 * small)
                assert derivative[place] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_a_small_network_gives_the_values_computed_by_hand():
    arrays = {"weights": [[[1.0], [-2.0]], [[3.0]]], "biases": [[0.5], [-1.0]]}
    arrays = {name: [np.array(a) for a in parts] for name, parts in arrays.items()}
    seen = np.array([1.0, 0.25])  # the hidden sum is 1
    assert Network([2, 1, 1], "relu", "identity", **arrays).values(seen).tolist() == [2.0]
    for low, high in ((-1.0, 1.0), (0.0, 1.0), (0.2, 1.0)):
        stretched = Network([2, 1, 1], "relu", "sigmoid", **arrays, reward_range=(low, high))
        expected = low + (high - low) / (1 + math.exp(-2))
        assert stretched.values(np.stack([seen, seen])).tolist() == [[pytest.approx(expected)]] * 2
    with pytest.raises(ValueError, match="do not fit"):
        Network([2, 2, 1], **arrays)


def test_the_inputs_show_boards_from_the_side_of_the_player_and_heaps_one_hot():
    cells = (2, 1, 1, 1, 0, 1, 1, 1, 1)
    assert inputs(TicTacToe(), cells, 0).tolist() == [1, 0, 0, 0, -1, 0, 0, 0, 0]
    assert inputs(TicTacToe(), cells, 1).tolist() == [-1, 0, 0, 0, 1, 0, 0, 0, 0]
    game = ConnectFour()
    state = game.play(game.play(game.initial(), 0), 0)
    assert inputs(game, state.cells, 1).tolist() == [-1, 1] + [0] * 40
    start = inputs(Othello(4), Othello(4).initial().cells, 0)
    assert start.tolist() == [0] * 5 + [-1, 1] + [0] * 2 + [1, -1] + [0] * 5
    assert inputs(Nim3P(2, 2), (2, 0), 1).tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 0]


def copies(learner: SerialNetworkLearner) -> list[np.ndarray]:
    return [parameter.copy() for parameter in learner.network.parameters]


def largest_difference(first: list[np.ndarray], second: list[np.ndarray]) -> float:
    return max(float(abs(a - b).max()) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("traces", ["horizon", "parameters"])
def test_the_horizon_takes_old_gradients_anew_and_the_trace_keeps_them(traces):
    game = Nim(1, 3)
    settings = {"gamma": 0.9, "lambda_": 0.5, "horizon": 2, "traces": traces}
    learner = network_learner(game, hidden=[4], **settings)
    network, (first, second) = learner.network, [inputs(game, (n,), 0) for n in (3, 2)]
    expected = copies(learner)
    old = network.gradient(first, 2)
    for array, part in zip(expected, old, strict=True):
        array += 0.5 * (1.0 - network.values(first)[2]) * part
    learner.update((3,), 2, 0, 1.0)
    assert largest_difference(expected, copies(learner)) < 1e-15
    delta = -1.0 - network.values(second)[1]
    if traces == "horizon":
        old = network.gradient(first, 2)
    for array, part, old_part in zip(expected, network.gradient(second, 1), old, strict=True):
        array += 0.5 * delta * (part + 0.9 * 0.5 * old_part)
    learner.update((2,), 1, 0, -1.0)
    assert largest_difference(expected, copies(learner)) < 1e-15


def test_traces_belong_to_one_player():
    for traces in ("horizon", "parameters"):
        settings = {"lambda_": 0.5, "horizon": 2, "traces": traces}
        learner = network_learner(Nim(1, 3), hidden=[4], **settings)
        learner.update((3,), 2, 0, 1.0)
        other = SerialNetworkLearner(
            learner.game,
            random_network([6, 4, 3]),
            NetworkParameters(rule="sarsa", **CONSTANT_ALPHA),
        )
        other.update((3,), 2, 0, 1.0)
        for either in (learner, other):
            either.update((2,), 1, 1, 1.0)
        assert largest_difference(copies(learner), copies(other)) == 0


@pytest.mark.parametrize("rule", ["td", "sarsa"])
def test_lists_outlive_the_episode_and_traces_over_the_parameters_do_not(rule):
    rng = np.random.default_rng(4)
    first, second = random_moves(Nim(), rng), random_moves(Nim(), rng)
    if rule == "td":
        first, second = [[move[1:] for move in moves] for moves in (first, second)]
    for traces, outlive in (("horizon", True), ("parameters", False)):
        settings = {"rule": rule, "lambda_": 0.5, "horizon": 4, "traces": traces}
        learner, fresh = (network_learner(Nim(), [5], **settings) for _ in range(2))
        learner.episode([], first)
        for array, learned in zip(fresh.network.parameters, copies(learner), strict=True):
            array[:] = learned
        for either in (learner, fresh):
            either.episode([], second)
        assert (largest_difference(copies(learner), copies(fresh)) > 1e-6) == outlive


def test_final_updates_of_a_shared_network_come_in_the_order_of_the_algorithms():
    game = Nim3P(2, 2)  # emptied one by one in four plies, the last by player 0
    by_episode, by_hand, other_order = (network_learner(game, [3]) for _ in range(3))
    by_episode.episode([], greedy(0, 0, 2, 2))
    to_move, first, second = (
        ((1, 2), 0, 1, 1.0),
        ((0, 1), 2, 0, 0.0),
        ((0, 2), 2, 2, 0.2),
    )
    for learner, updates in (
        (by_hand, (to_move, first, second)),
        (other_order, (to_move, second, first)),
    ):
        learner.update((2, 2), 0, 0, learner.q_values((0, 1), 0)[2])
        for update in updates:
            learner.update(*update)
    assert largest_difference(copies(by_episode), copies(by_hand)) == 0
    assert largest_difference(copies(by_episode), copies(other_order)) > 1e-6


def test_a_shared_network_learns_afterstates_in_the_order_of_the_algorithm():
    # The start state was the last afterstate of the last player, who learns a terminal value of 0.
    two = [((1, 1), 0, 1, 1.0), ((0, 1), 0, 0, -1.0), ((0, 0), 0, 1, 0.0)]
    three = [((1, 1, 1), 0, 2, 0.0), ((0, 1, 1), 0, 0, 1.0), ((0, 0, 1), 0, 1, 0.2)]
    three += [((0, 0, 0), 0, 2, 0.0)]
    for game, updates in ((Nim(2, 1), two), (Nim3P(3, 1), three)):
        by_episode, by_hand = (network_learner(game, [3], rule="td") for _ in range(2))
        by_episode.episode([], [(heap, False) for heap in range(game.heaps)])
        for update in updates:
            by_hand.update(*update)
        assert largest_difference(copies(by_episode), copies(by_hand)) == 0


def test_td_takes_rewards_since_the_last_move_and_no_value_of_a_terminal_afterstate():
    game = Points(1, 4, max_take=1)
    by_episode, by_hand = (network_learner(game, [3], rule="td", gamma=0.5) for _ in range(2))
    by_episode.episode([], [(0, False)] * 4)
    # The start counts as an afterstate of player 1; then each gains a point from move to move.
    for heap, player, reward, after in ((4, 1, 1, 2), (3, 0, 1, 1), (2, 1, 1, None)):
        value = 0.0 if after is None else by_hand.q_values((after,), player)[0]
        by_hand.update((heap,), 0, player, reward + 0.5 * value)
    by_hand.update((1,), 0, 0, 0.0)
    by_hand.update((0,), 0, 1, 0.0)
    assert largest_difference(copies(by_episode), copies(by_hand)) < 1e-15
    one_left, two_left = (State((n,), 1, False, (2.0, 7.0)) for n in (1, 2))
    assert by_hand.action_values(one_left) == {0: 1.0}
    value = by_hand.q_values((1,), 1)[0]
    assert by_hand.action_values(two_left) == {0: pytest.approx(1 + 0.5 * value)}


def test_reset_zeroes_the_traces_over_the_parameters_of_all_players():
    for mode, forgotten in (("et", False), ("reset", True)):
        settings = {"traces": "parameters", "trace_mode": mode, "learn_from_random": False}
        learner = network_learner(Nim(2, 2), [3], rule="td", lambda_=0.5, **settings)
        # Player 1 learns at ply 1; player 0, who has not learned yet, moves at random at ply 2.
        learner.episode([], [(0, False), (0, False), (2, True), (2, False)])
        other = network_learner(Nim(2, 2), [3], rule="td", lambda_=0.5, **settings)
        other.update((2, 2), 0, 1, other.q_values((0, 2), 1)[0])
        for trace in itertools.chain(*other.traces):
            trace *= not forgotten
        other.update((0, 2), 0, 1, 1.0)
        other.update((0, 1), 0, 0, -1.0)
        other.update((0, 0), 0, 1, 0.0)
        assert largest_difference(copies(learner), copies(other)) == 0


class TwoHeaps(Nim):
    """The last of three heaps is empty: a cell whose digit never changes."""

    def initial(self) -> State:
        return super().initial()._replace(cells=(self.heap_size, self.heap_size, 0))


def unflag_others(game: Game, moves: list[Any], seat: int) -> list[Any]:
    """The same moves, of which only those of `seat` count as random."""
    state, result = game.initial(), []
    for move in moves:
        result.append((*move[:-1], move[-1] and state.player == seat))
        state = game.play(state, move[-2])
    return result


@pytest.mark.parametrize("game", [TwoHeaps(3, 3), TwoHeaps(3, 3, num_players=3)])
@pytest.mark.parametrize("rule", ["td", "sarsa", "q"])
@pytest.mark.parametrize("farl", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {"gamma": 0.9},
        {"lambda_": 0.5, "horizon": 3, "learn_from_random": False},
        {"lambda_": 0.5, "horizon": 3, "learn_from_random": False, "trace_mode": "reset"},
    ],
)
def test_without_hidden_layer_a_seat_learns_what_its_tables_learn(game, rule, farl, settings):
    # The empty heap, the bias and the input for the seat are three constants; and five tuples
    # divide the step of tables by 5. With a list a network takes new slopes, tables keep them, so
    # that they agree only if the value is linear.
    tuples = [(0,), (1,), (2,), (2,), (2,)]
    linear = "lambda_" in settings
    rng = np.random.default_rng(7)
    for seat in range(game.num_players):
        table_settings = CONSTANT_ALPHA | settings | {"sigmoid": not linear, "final_others": farl}
        steps = settings | {"alpha_start": 0.1, "alpha_end": 0.1, "final_others": farl}
        if rule == "td":
            parameters = Parameters(**table_settings, final_zero=farl)
            reference: Any = SerialTDFarl(game, tuples, parameters)
            steps = steps | {"final_zero": farl}
        else:
            reference = tables(game, tuples, rule=rule, **table_settings)
        output = "identity" if linear else "tanh"
        learner = network_learner(game, output=output, rule=rule, **steps)
        (weights,), (biases,) = learner.network.weights, learner.network.biases
        table = reference.weights[seat].reshape(-1, len(tuples), 4)  # [outputs, tuples, digits]
        table[:, 0], table[:, 1] = weights[:4].T, weights[4:8].T
        table[:, 2:, 0] = np.stack([weights[8], biases, weights[12 + seat]], axis=1)
        before = table.copy()
        for _ in range(12):
            moves: Any = unflag_others(game, random_moves(game, rng), seat)
            if rule == "td":
                moves = [move[1:] for move in moves]
            reference.episode([], moves)
            learner.episode([], moves, seat=seat)
        assert abs(table - before).max() > 0.01
        np.testing.assert_allclose(weights[:4].T, table[:, 0], atol=1e-12)
        np.testing.assert_allclose(weights[4:8].T, table[:, 1], atol=1e-12)
        constants = np.stack([weights[8], biases, weights[12 + seat]], axis=1)
        np.testing.assert_allclose(constants, table[:, 2:, 0], atol=1e-12)


@pytest.mark.parametrize("rule", ["td", "sarsa", "q"])
def test_a_partner_teaches_only_when_asked_to(rule):
    moves: Any = random_moves(Nim(), np.random.default_rng(1))
    if rule == "td":
        moves = [move[1:] for move in moves]
    settings = {"rule": rule, "lambda_": 0.5, "traces": "parameters"}
    both, asked, alone = (network_learner(Nim(), [3], **settings) for _ in range(3))
    both.episode([], moves)
    asked.episode([], moves, seat=1, learn_from_partner=True)
    alone.episode([], moves, seat=1)
    assert largest_difference(copies(both), copies(asked)) == 0
    assert largest_difference(copies(both), copies(alone)) > 1e-6
    assert not any(trace.any() for trace in alone.traces[0])
    for seat in (-1, 2):
        with pytest.raises(ValueError, match="no seat"):
            alone.episode([], moves, seat=seat)


@pytest.mark.parametrize("rule", ["td", "sarsa", "q"])
@pytest.mark.parametrize("traces", ["horizon", "parameters"])
def test_replaying_self_play_gives_the_same_network(rule, traces):
    settings = {"rule": rule, "lambda_": 0.5, "horizon": 3, "traces": traces, "alpha_end": 0.1}
    settings |= {"learn_from_random": False, "trace_mode": "reset"}
    for game in (TicTacToe(), Nim3P()):
        player, follower = (network_learner(game, [6], **settings) for _ in range(2))
        before = copies(player)
        transcripts = player.self_play(10, np.random.default_rng(5), 0.3, 0.0, True)
        for opening, moves in transcripts:
            follower.episode(opening, moves)
        assert largest_difference(copies(player), copies(follower)) == 0
        assert largest_difference(copies(player), before) > 1e-3


@pytest.mark.parametrize("rule", ["td", "sarsa", "q"])
def test_networks_learn_nim_perfectly_by_self_play(rule):
    settings = {"rule": rule, "alpha_start": 0.2, "alpha_end": 0.02, "episodes": 600}
    learner = network_learner(Nim(2, 2), [20], **settings)
    learner.network.hidden = "relu"
    learner.self_play(600, np.random.default_rng(0), 0.5, 0.2, True)
    assert share_of_won_positions_played_right(learner, learner.game) == 1.0
