"""The serial reference is checked against hand computation and known counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from .rules import ConnectFour, Game, Nim, Nim3P, State, TicTacToe, symmetries
from .td_farl import Move, Parameters, SerialTDFarl, horizon_from_cut

FULL_BOARD = [tuple(range(9))]
WHOLE_NIM = [(0, 1, 2)]
CONNECT_FOUR_TUPLES = [(0, 1, 2, 6, 7, 8), (18, 19, 24, 25)]


def perft(game: Game, state: State, depth: int) -> int:
    """Number of move sequences of length `depth`."""
    if depth == 0:
        return 1
    return sum(perft(game, game.play(state, a), depth - 1) for a in game.legal(state))


def play_all(game: Game, actions: list[int]) -> State:
    state = game.initial()
    for action in actions:
        state = game.play(state, action)
    return state


def random_episode(game: Game, rng: np.random.Generator) -> list[Move]:
    state = game.initial()
    moves: list[Move] = []
    while not state.terminal:
        moves.append((int(rng.choice(game.legal(state))), bool(rng.random() < 0.3)))
        state = game.play(state, moves[-1][0])
    return moves


def learner(game: Game, tuples: Sequence[Sequence[int]], **settings: Any) -> SerialTDFarl:
    defaults: dict[str, Any] = {"alpha_start": 0.5, "alpha_end": 0.5, "episodes": 100}
    return SerialTDFarl(game, tuples, Parameters(**(defaults | settings)))


@pytest.mark.parametrize(
    ("game", "counts"),
    [
        (TicTacToe(), [9, 72, 504, 3024, 15120]),
        (ConnectFour(), [7, 49, 343, 2401, 16807]),
        (Nim(), [15, 180, 1680, 12015]),
        (Nim3P(), [15, 180, 1680, 12015]),
    ],
)
def test_perft_counts_the_known_numbers_of_sequences(game, counts):
    assert [perft(game, game.initial(), d + 1) for d in range(len(counts))] == counts


def test_tictactoe_has_255168_games_and_the_known_outcomes():
    game = TicTacToe()
    outcomes = {1.0: 0, -1.0: 0, 0.0: 0}
    frontier = {game.initial(): 1}
    while frontier:
        following: dict[State, int] = {}
        for state, ways in frontier.items():
            if state.terminal:
                outcomes[state.rewards[0]] += ways
            for action in game.legal(state):
                after = game.play(state, action)
                following[after] = following.get(after, 0) + ways
        frontier = following
    assert outcomes == {1.0: 131184, -1.0: 77904, 0.0: 46080}


@pytest.mark.parametrize(
    "actions", [[0, 1] * 3 + [0], [0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 3, 2, 2, 3, 4, 3, 3]]
)
def test_connect_four_is_won_by_four_in_every_direction_for_the_first_player(actions):
    for images in (actions, [6 - a for a in actions]):
        before, after = play_all(ConnectFour(), images[:-1]), play_all(ConnectFour(), images)
        assert not before.terminal
        assert after.terminal
        assert after.rewards == (1.0, -1.0)
        assert after.player == 1


def test_connect_four_marks_the_lowest_empty_cell_of_each_column():
    cells = play_all(ConnectFour(), [3, 3, 0, 3, 3, 3, 3]).cells
    assert cells[:6] == (1, 3, 0, 0, 0, 0)
    assert cells[18:24] == (1, 2, 2, 1, 2, 1)
    assert cells[36:] == (3, 0, 0, 0, 0, 0)


def test_last_item_of_nim_wins_for_two_and_pays_the_next_player_for_three():
    take_whole_heaps = [4, 9, 14]
    assert play_all(Nim(), take_whole_heaps).rewards == (1.0, -1.0)
    state = play_all(Nim3P(), take_whole_heaps)
    assert state.player == 0
    assert state.rewards == (1.0, 0.2, 0.0)


def test_no_more_than_max_take_items_leave_a_heap_at_once():
    game = Nim(heaps=2, heap_size=5, max_take=3)
    assert game.num_actions == 6
    assert game.legal(game.initial()) == [0, 1, 2, 3, 4, 5]
    after = game.play(game.initial(), 5)
    assert after.cells == (5, 2)
    assert game.legal(after) == [0, 1, 2, 3, 4]


def test_symmetries_are_groups_that_start_with_the_identity():
    for game, size in ((TicTacToe(), 8), (ConnectFour(), 2), (Nim(), 1), (Nim3P(), 1)):
        images = symmetries(game)
        members = {tuple(image) for image in images}
        assert len(members) == len(images) == size
        assert images[0].tolist() == list(range(game.num_cells))
        assert {tuple(a[b]) for a in images for b in images} == members
    corner, centre_edge = symmetries(TicTacToe())[:, [0, 1]].T
    assert set(corner) == {0, 2, 6, 8}
    assert set(centre_edge) == {1, 3, 5, 7}
    assert symmetries(ConnectFour())[1][:7].tolist() == [36, 37, 38, 39, 40, 41, 30]


@pytest.mark.parametrize(
    ("game", "tuples"),
    [
        (TicTacToe(), FULL_BOARD),
        (ConnectFour(), CONNECT_FOUR_TUPLES),
        (Nim(), WHOLE_NIM),
    ],
)
def test_an_episode_of_n_moves_makes_n_plus_1_updates_with_farl_and_n_minus_1_without(game, tuples):
    moves = random_episode(game, np.random.default_rng(3))
    for others, zero in ((True, True), (True, False), (False, True), (False, False)):
        agent = learner(game, tuples, final_others=others, final_zero=zero)
        agent.episode([], moves)
        assert agent.updates_done == len(moves) - 1 + others + zero


def test_three_players_make_n_plus_1_updates_with_farl_and_n_minus_2_without():
    moves = random_episode(Nim3P(), np.random.default_rng(3))
    for farl, expected in ((True, len(moves) + 1), (False, len(moves) - 2)):
        agent = learner(Nim3P(), WHOLE_NIM, final_others=farl, final_zero=farl)
        agent.episode([], moves)
        assert agent.updates_done == expected


def test_unlearned_random_moves_make_no_update_but_farl_still_does():
    moves = [(action, True) for action, _ in random_episode(Nim(), np.random.default_rng(1))]
    agent = learner(Nim(), WHOLE_NIM, learn_from_random=False)
    agent.episode([], moves)
    assert agent.updates_done == 2


def test_a_random_first_ply_makes_player_0_learn_the_start_state():
    agent = learner(Nim(2, 1), [(0, 1)], final_others=False, final_zero=False)
    agent.episode([0], [(1, False)])
    assert agent.updates_done == 0  # player 1 has no earlier afterstate, player 0 does not move
    agent = learner(Nim(2, 1), [(0, 1)], sigmoid=False)
    agent.episode([0], [(1, False)])
    after_first_ply = agent.indices((0, 1)).item()
    assert agent.weights[0, 0].nonzero()[0].tolist() == [after_first_ply]
    assert agent.weights[0, 0, after_first_ply] == -0.5
    assert agent.updates_done == 2


def test_one_weight_of_a_fully_symmetric_board_moves_once_and_is_counted_eight_times():
    agent = learner(TicTacToe(), FULL_BOARD, tcl="id")
    agent.update((1,) * 9, 0, 1.0)
    index = sum(3**i for i in range(9))
    assert agent.weights[0, 0, index] == 0.5 / 8
    assert agent.counters_n[0, 0, index] == pytest.approx(8.0001, abs=1e-12)
    assert agent.values((1,) * 9, 0) == pytest.approx(math.tanh(0.5))
    assert np.count_nonzero(agent.weights) == 1


def test_symmetric_boards_have_one_value_and_players_share_nothing():
    agent = learner(ConnectFour(), CONNECT_FOUR_TUPLES)
    left, right = play_all(ConnectFour(), [0, 0, 1]), play_all(ConnectFour(), [6, 6, 5])
    agent.update(left.cells, 0, 1.0)
    assert agent.values(right.cells, 0) == agent.values(left.cells, 0) > 0
    assert agent.values(right.cells, 1) == 0
    both = agent.values(np.array([left.cells, right.cells]), 0)
    assert both.tolist() == [agent.values(left.cells, 0)] * 2


def test_exponential_tcl_uses_the_factor_left_by_the_update_before():
    agent = learner(Nim(1, 1), [(0,)], alpha_start=1.5, alpha_end=1.5, tcl="exp", sigmoid=False)
    agent.update((1,), 0, 1.0)
    assert agent.weights[0, 0, 1] == 1.5  # delta 1, factor 1
    agent.update((1,), 0, 1.0)
    assert agent.weights[0, 0, 1] == 0.75  # delta -0.5 and still factor 1: N/A was 1
    agent.update((1,), 0, 1.0)
    factor = math.exp(2.7 * (0.5001 / 1.5001 - 1))  # N = 1 - 0.5, A = 1 + 0.5
    assert agent.weights[0, 0, 1] == pytest.approx(0.75 + 1.5 * 0.25 * factor, rel=1e-12)
    assert agent.counters_n[0, 0, 1] == pytest.approx(0.7501, rel=1e-12)
    assert agent.counters_a[0, 0, 1] == pytest.approx(1.7501, rel=1e-12)


def test_tcl_with_tanh_counts_delta_times_slope_without_step_size():
    agent = learner(Nim(1, 1), [(0,)], tcl="id")
    agent.update((1,), 0, 1.0)
    agent.update((1,), 0, -1.0)
    value = math.tanh(0.5)
    change = (-1 - value) * (1 - value**2)
    assert agent.weights[0, 0, 1] == pytest.approx(0.5 + 0.5 * change, rel=1e-12)
    assert agent.counters_n[0, 0, 1] == pytest.approx(1.0001 + change, rel=1e-12)
    assert agent.tc_factor(0, 0, 1) == pytest.approx(
        abs(1.0001 + change) / (1.0001 - change), rel=1e-12
    )


def test_a_state_twice_in_the_list_meets_the_factor_that_its_newer_copy_just_left():
    agent = learner(Nim(1, 1), [(0,)], tcl="id", sigmoid=False, lambda_=0.5, horizon=2)
    agent.update((1,), 0, 1.0)  # w = 0.5, N = A = 1.0001
    agent.update((1,), 0, -0.5)  # delta -1: w = 0.5 - 0.5, then N = 0.0001, A = 2.0001
    expected = 0.0 - 0.5 * 0.5 * (0.0001 / 2.0001)
    assert agent.weights[0, 0, 1] == pytest.approx(expected, rel=1e-9)


def test_the_list_keeps_the_slope_of_the_time_of_joining():
    agent = learner(Nim(1, 2), [(0,)], lambda_=0.5, horizon=2)
    agent.weights[0, 0, 2] = 0.3
    agent.update((1,), 0, 1.0)
    agent.update((2,), 0, 1.0)
    value = math.tanh(0.3)
    delta = 1 - value
    assert agent.weights[0, 0, 1] == pytest.approx(0.5 + 0.5 * 0.5 * delta * 1, rel=1e-12)
    assert agent.weights[0, 0, 2] == pytest.approx(0.3 + 0.5 * delta * (1 - value**2), rel=1e-12)


def test_the_list_holds_at_most_horizon_states():
    agent = learner(Nim(1, 3), [(0,)], lambda_=0.5, horizon=2)
    for heap in (1, 2, 3):
        agent.update((heap,), 0, 1.0)
    assert agent.weights[0, 0].tolist() == [0, 0.5 + 0.25, 0.5 + 0.25, 0.5]


class PointEachPly(Nim):
    """One heap, one item a ply; the mover gains a point for each until the heap is gone."""

    def play(self, state: State, action: int) -> State:
        after = super().play(state, action)
        rewards = list(state.rewards)
        rewards[state.player] += 1.0
        return after._replace(rewards=tuple(rewards))


def test_targets_hold_the_reward_since_the_last_move_of_the_same_player():
    game = PointEachPly(1, 4, max_take=1)
    agent = learner(game, [(0,)], alpha_start=1.0, alpha_end=1.0, sigmoid=False)
    agent.episode([], [(0, False)] * 4)
    assert agent.weights[1, 0].tolist() == [0, 0, 1, 0, 1]  # one point from each of its states
    assert agent.weights[0, 0].tolist() == [0, 0, 0, 1, 0]  # V(1|0): nothing more came


def two_heap_moves(first_random: bool) -> list[Move]:
    """Heaps (2, 2) emptied one by one in four plies; player 1 takes the last item."""
    return [(0, False), (0, first_random), (2, False), (2, False)]


def test_reset_forgets_earlier_states_after_an_unlearned_random_move_and_et_does_not():
    settings = {"lambda_": 0.5, "horizon": 4, "learn_from_random": False, "sigmoid": False}
    tables = {}
    for mode in ("et", "reset"):
        agent = learner(Nim(2, 2), [(0, 1)], trace_mode=mode, **settings)
        agent.episode([], two_heap_moves(False))
        agent.episode([], two_heap_moves(True))
        tables[mode] = agent.weights.copy()
        assert agent.updates_done == 5 + 4
    # Player 1, first episode: V(start) gains 0, then V(middle) 0.5 and V(start) half of that; the
    # terminal value is 0 already.
    start, middle, end = 2 + 2 * 3, 2 * 3, 0
    # RESET, second episode: V(middle) moves by 0.5 * delta 0.5, alone.
    assert tables["reset"][1, 0, [middle, start, end]].tolist() == [0.75, 0.25, 0]
    # ET: delta 0.5 meets [middle, end, middle, start], then the final update with delta -0.125
    # meets [end, middle, end, middle], as the list is four long.
    assert tables["et"][1, 0, middle] == 0.5 + 0.25 + 0.0625 - 0.03125 - 0.0078125
    assert tables["et"][1, 0, start] == 0.25 + 0.03125
    assert tables["et"][1, 0, end] == 0.125 - 0.0625 - 0.015625


def test_without_reset_the_lists_outlive_the_episode():
    agent = learner(Nim(2, 1), [(0, 1)], lambda_=0.5, horizon=2, sigmoid=False)
    moves = [(0, False), (1, False)]
    agent.episode([], moves)
    assert agent.weights[1, 0].tolist() == [0, 0, 0, 0.5]
    agent.episode([], moves)
    # V(start|1) by delta 0.5; the terminal state of the first episode by half of it, and then
    # the final update pulls that (0.125 to 0) and, with half weight, the start state.
    assert agent.weights[1, 0].tolist() == [0.125 - 0.0625, 0, 0, 0.75 - 0.03125]


def test_final_updates_teach_the_loser_and_hold_the_terminal_value_at_zero():
    agent = learner(Nim(2, 1), [(0, 1)], sigmoid=False)
    agent.weights[1, 0, 0] = 0.8
    agent.episode([], [(0, False), (1, False)])
    assert agent.weights[0, 0].tolist() == [0, 0, -0.5, 0]
    assert agent.weights[1, 0].tolist() == [0.4, 0, 0, 0.5]  # the target ignored the 0.8


def test_terminal_afterstates_count_in_move_selection_only_when_asked_to():
    state = play_all(Nim(2, 1), [0])
    for terminal_value_zero, expected in ((True, 1.0), (False, 1.8)):
        agent = learner(Nim(2, 1), [(0, 1)], sigmoid=False, terminal_value_zero=terminal_value_zero)
        agent.weights[1, 0, 0] = 0.8
        assert agent.action_values(state) == {1: expected}


def test_alpha_falls_geometrically_once_an_episode():
    agent = learner(Nim(2, 1), [(0, 1)], alpha_start=1.0, alpha_end=0.25, episodes=2)
    seen = [agent.alpha]
    for _ in range(2):
        agent.episode([], [(0, False), (1, False)])
        seen.append(agent.alpha)
    assert seen == [1.0, 0.5, 0.25]


def test_horizon_follows_from_the_cut():
    assert [horizon_from_cut(0.5, 0.1), horizon_from_cut(0.5, 0.01)] == [4, 7]
    assert horizon_from_cut(0.0, 0.1) == 1


def test_a_record_that_is_no_whole_game_raises_and_teaches_nothing():
    agent = learner(Nim(2, 1), [(0, 1)])
    for moves in ([(0, False)], [(0, False), (0, False)], [(0, False), (1, False), (1, False)]):
        with pytest.raises(ValueError, match=r"not legal|not terminal"):
            agent.episode([], moves)
    assert agent.updates_done == agent.episodes_done == 0
    assert not agent.weights.any()


def test_replaying_self_play_gives_the_same_tables():
    settings = {"tcl": "exp", "lambda_": 0.5, "horizon": 4, "trace_mode": "reset"}
    settings |= {"learn_from_random": False, "alpha_end": 0.1}
    for game, tuples in ((TicTacToe(), FULL_BOARD), (Nim3P(), WHOLE_NIM * 2)):
        player, follower = (learner(game, tuples, **settings) for _ in range(2))
        transcripts = player.self_play(20, np.random.default_rng(5), 0.3, 0.0, True)
        assert {len(start) for start, _ in transcripts} == {0, 1}
        for start_actions, moves in transcripts:
            follower.episode(start_actions, moves)
        np.testing.assert_array_equal(player.weights, follower.weights)
        np.testing.assert_array_equal(player.counters_n, follower.counters_n)


def share_of_won_positions_played_right(agent: SerialTDFarl, game: Nim) -> float:
    """Share of the positions with nim-sum other than 0 where the greedy move makes it 0."""
    right = []
    for cells in itertools.product(range(game.heap_size + 1), repeat=game.heaps):
        for player in (0, 1):
            if np.bitwise_xor.reduce(cells) != 0:
                state = State(cells, player, False, (0.0, 0.0))
                q = agent.action_values(state)
                after = game.play(state, max(q, key=lambda action: q[action]))
                right.append(np.bitwise_xor.reduce(after.cells) == 0)
    return float(np.mean(right))


@pytest.mark.slow
def test_self_play_learns_nim_perfectly_with_farl_and_not_without():
    game, shares = Nim(3, 3), []
    for farl in (True, False):
        switches = {"final_others": farl, "final_zero": farl, "terminal_value_zero": farl}
        learning = {"episodes": 1500, "tcl": "id", "lambda_": 0.5, "horizon": 4}
        agent = learner(game, WHOLE_NIM, **switches, **learning)
        agent.self_play(1500, np.random.default_rng(0), 0.3, 0.0, True)
        shares.append(share_of_won_positions_played_right(agent, game))
    assert shares[0] == 1.0
    assert shares[1] < 0.95
