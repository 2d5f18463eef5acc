"""Hex, Othello and 2048 of the serial reference, against the literature and hand computation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from .board_rules import Game2048, Hex, Othello, TileState
from .rules import Cells, Game, State, symmetries
from .td_farl import Move, Parameters, SerialTDFarl

LEFT, UP, RIGHT, DOWN = range(4)


def frontier(game: Game, depth: int) -> list[State]:
    """The state at the end of every sequence of `depth` plies."""
    states = [game.initial()]
    for _ in range(depth):
        states = [game.play(state, action) for state in states for action in game.legal(state)]
    return states


def play_all(game: Game, actions: Sequence[int]) -> State:
    state = game.initial()
    for action in actions:
        state = game.play(state, action)
    return state


class Recorder(SerialTDFarl):
    """A learner that keeps the cells and the player of every update."""

    def __init__(self, game: Game | Game2048, tuples: list[Cells], **settings: Any) -> None:
        defaults: dict[str, Any] = {"alpha_start": 1.0, "alpha_end": 1.0, "episodes": 100}
        super().__init__(game, tuples, Parameters(**(defaults | settings)))
        self.updated: list[tuple[Cells, int]] = []

    def update(self, cells: Cells, player: int, target: float) -> None:
        self.updated.append((cells, player))
        super().update(cells, player, target)


@pytest.mark.parametrize(
    ("game", "counts"),
    [
        (Hex(3), [9, 72, 504, 3024, 15120, 54720]),
        (Hex(6), [36, 1260, 42840]),
        (Othello(), [4, 12, 56, 244, 1396, 8200]),
    ],
)
def test_perft_counts_the_known_numbers_of_sequences(game, counts):
    last = frontier(game, len(counts) - 1)
    assert sum(len(game.legal(state)) for state in last) == counts[-1]
    assert [len(frontier(game, d)) for d in range(1, len(counts) - 1)] == counts[:-2]
    assert len(last) == counts[-2]


def test_symmetries_are_groups_that_start_with_the_identity():
    for game, size in ((Hex(), 2), (Othello(), 8), (Game2048(), 8)):
        images = symmetries(game)
        members = {tuple(image) for image in images}
        assert len(members) == len(images) == size
        assert images[0].tolist() == list(range(game.num_cells))
        assert {tuple(a[b]) for a in images for b in images} == members
    assert symmetries(Hex())[1].tolist() == list(range(35, -1, -1))
    assert set(symmetries(Othello())[:, 0]) == {0, 7, 56, 63}


@pytest.mark.parametrize("game", [Hex(3), Othello(4)])
def test_symmetric_moves_lead_to_symmetric_states(game):
    for cells in symmetries(game):
        # Othello's start is the same only for images that keep the colours in place.
        initial = game.initial()
        if tuple(np.array(initial.cells)[cells]) != initial.cells:
            continue
        rng = np.random.default_rng(0)
        for _ in range(10):
            state = mirrored = initial
            while not state.terminal:
                action = int(rng.choice(game.legal(state)))
                state = game.play(state, action)
                mirrored = game.play(mirrored, cells.tolist().index(action))
                image = tuple(np.array(state.cells)[cells].tolist())
                assert mirrored == state._replace(cells=image)


def test_the_players_of_hex_connect_different_sides():
    column = [0, 1, 6, 7, 12, 13, 18, 19, 24, 25, 30]
    assert not play_all(Hex(), column[:-1]).terminal
    end = play_all(Hex(), column)
    assert (end.terminal, end.rewards, end.player) == (True, (1.0, -1.0), 1)
    row = [6, 0, 7, 1, 8, 2, 9, 3, 10, 4, 30, 5]
    assert not play_all(Hex(), row[:-1]).terminal
    end = play_all(Hex(), row)
    assert (end.terminal, end.rewards, end.player) == (True, (-1.0, 1.0), 0)
    assert Hex().legal(end) == []


def test_hexagons_touch_along_one_diagonal_only():
    assert play_all(Hex(2), [1, 0, 2]).rewards == (1.0, -1.0)
    assert not play_all(Hex(2), [0, 1, 3]).terminal
    assert play_all(Hex(2), [0, 1, 3, 2]).rewards == (-1.0, 1.0)


def test_every_hex_game_has_one_winner():
    rng = np.random.default_rng(0)
    for _ in range(100):
        state = Hex(4).initial()
        while not state.terminal:
            state = Hex(4).play(state, int(rng.choice(Hex(4).legal(state))))
        assert sorted(state.rewards) == [-1.0, 1.0]


def test_the_244_sequences_of_four_othello_plies_reach_236_positions():
    states = frontier(Othello(), 4)
    assert len(states) == 244
    assert len(set(states)) == 236
    assert {state.player for state in states} == {0}


def othello_cell(name: str) -> int:
    """The cell of a square such as e6: columns a to h, rows 1 to 8 from the top."""
    return 8 * (int(name[1]) - 1) + "abcdefgh".index(name[0])


def test_the_othello_start_shows_four_discs_and_the_four_moves_of_black():
    cells = Othello().initial().cells
    discs = {name: cells[othello_cell(name)] for name in ("d4", "e5", "d5", "e4")}
    assert discs == {"d4": 1, "e5": 1, "d5": 0, "e4": 0}
    assert [cell for cell in range(64) if cells[cell] == 3] == [
        othello_cell(name) for name in ("d3", "c4", "f5", "e6")
    ]


def test_the_shortest_othello_game_leaves_13_black_discs():
    names = ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"]
    end = play_all(Othello(), [othello_cell(name) for name in names])
    assert (end.terminal, end.rewards, end.player) == (True, (1.0, -1.0), 1)
    assert [end.cells.count(digit) for digit in range(4)] == [13, 0, 51, 0]


def test_the_second_player_of_4x4_othello_wins_by_eight_discs():
    game = Othello(4)

    @cache
    def lead(state: State) -> int:
        """Discs of black minus discs of white at the end, both playing for it."""
        if state.terminal:
            return state.cells.count(0) - state.cells.count(1)
        best = max if state.player == 0 else min
        return best(lead(game.play(state, action)) for action in game.legal(state))

    # All four first moves are images of each other.
    assert lead(play_all(game, game.legal(game.initial())[:1])) == -8


def random_othello_game_with_a_pass(game: Othello, rng: np.random.Generator) -> list[State]:
    """The states of a game in which some mover stays on turn before the game is over."""
    while True:
        states = [game.initial()]
        while not states[-1].terminal:
            states.append(game.play(states[-1], int(rng.choice(game.legal(states[-1])))))
        players = [state.player for state in states[:-1]]
        if any(a == b for a, b in itertools.pairwise(players)):
            return states


def played(before: State, after: State) -> int:
    """The cell that was empty before and holds a disc after."""
    return next(c for c in range(len(before.cells)) if before.cells[c] > 1 >= after.cells[c])


@pytest.mark.parametrize("opening_plies", [0, 3, 4])
def test_othello_players_learn_their_own_last_afterstate_across_openings_and_passes(opening_plies):
    game, rng = Othello(4), np.random.default_rng(1)
    for _ in range(5):
        states = random_othello_game_with_a_pass(game, rng)
        actions = [played(a, b) for a, b in itertools.pairwise(states)]
        agent = Recorder(game, [(0, 1, 2, 3)])
        agent.episode(actions[:opening_plies], [(a, False) for a in actions[opening_plies:]])
        start = states[opening_plies]
        last = {1 - start.player: start.cells}
        expected = []
        mover = start.player
        for before, after in itertools.pairwise(states[opening_plies:]):
            mover = before.player
            if mover in last:
                expected.append((last[mover], mover))
            last[mover] = after.cells
        expected.append((last[1 - mover], 1 - mover))
        expected.append((states[-1].cells, mover))
        assert agent.updated == expected


def test_a_player_whose_opponent_cannot_move_stays_on_turn_and_sees_his_own_moves():
    middle = (2,) * 8
    state = State((0, 1, 3, 2, *middle, 2, 3, 1, 0), 0, False, (0.0, 0.0))
    passed = Othello(4).play(state, 2)
    assert passed == State((0, 0, 0, 2, *middle, 2, 3, 1, 0), 0, False, (0.0, 0.0))
    end = Othello(4).play(passed, 13)
    assert end == State((0, 0, 0, 2, *middle, 2, 0, 0, 0), 1, True, (1.0, -1.0))


def tile_row(*tiles: int) -> TileState:
    """Tiles, by value, in the second row of an otherwise empty board."""
    exponents = [tile.bit_length() - 1 if tile else 0 for tile in tiles]
    return TileState((0,) * 4 + tuple(exponents) + (0,) * 8, 0, False)


@pytest.mark.parametrize(
    ("before", "action", "after", "gain"),
    [
        ((2, 2, 2, 2), LEFT, (4, 4, 0, 0), 8),
        ((2, 2, 2, 2), RIGHT, (0, 0, 4, 4), 8),
        ((2, 2, 4, 0), LEFT, (4, 4, 0, 0), 4),
        ((4, 4, 8, 0), LEFT, (8, 8, 0, 0), 8),
        ((8, 4, 4, 0), RIGHT, (0, 0, 8, 8), 8),
        ((2, 2, 2, 0), LEFT, (4, 2, 0, 0), 4),
        ((2, 2, 2, 0), RIGHT, (0, 0, 2, 4), 4),
        ((4, 0, 0, 4), RIGHT, (0, 0, 0, 8), 8),
        ((2, 0, 4, 2), RIGHT, (0, 2, 4, 2), 0),
    ],
)
def test_tiles_slide_and_merge_once_in_the_direction_of_the_move(before, action, after, gain):
    game = Game2048()
    state = tile_row(*before)
    assert game.afterstate(state, action) == tile_row(*after)._replace(score=gain)
    turned = TileState(tuple(np.reshape(state.tiles, (4, 4)).T.ravel().tolist()), 0, False)
    slid = game.afterstate(turned, {LEFT: UP, RIGHT: DOWN}[action])
    assert np.reshape(slid.tiles, (4, 4)).T.ravel().tolist() == list(tile_row(*after).tiles)
    assert slid.score == gain


def test_a_slide_that_changes_nothing_is_illegal():
    game = Game2048()
    state = tile_row(2, 4, 2, 4)
    assert game.legal(state) == [UP, DOWN]
    with pytest.raises(ValueError, match="not legal"):
        game.afterstate(state, LEFT)


def test_new_tiles_are_2_or_4_on_empty_cells():
    game = Game2048()
    for cell, exponent in ((4, 1), (0, 3), (0, 0), (-1, 1), (16, 1)):
        with pytest.raises(ValueError, match="can appear"):
            game.place(tile_row(2, 0, 0, 0), cell, exponent)
    rng = np.random.default_rng(0)
    draws = [game.draw_spawn(tile_row(2, 4, 0, 4), rng) for _ in range(2000)]
    assert {cell for cell, _ in draws} == set(range(16)) - {4, 5, 7}
    assert np.mean([exponent == 2 for _, exponent in draws]) == pytest.approx(0.1, abs=0.02)


def test_2048_is_over_when_the_new_tile_leaves_no_move():
    game = Game2048()
    checkerboard = [1, 2, 1, 2, 2, 1, 2, 1] * 2
    full_but_one = TileState((0, *checkerboard[1:]), 100, False)
    assert game.place(full_but_one, 0, 1).terminal
    alive = game.place(full_but_one, 0, 2)
    assert not alive.terminal
    assert game.legal(alive) == [LEFT, UP, RIGHT, DOWN]
    assert alive.rewards == (100 / 3_932_156,)


def test_tiles_above_16384_look_like_it_but_play_on_as_they_are():
    game = Game2048()
    state = TileState((14, 15) + (0,) * 14, 0, False)
    assert state.cells == (14, 14) + (0,) * 14
    assert game.legal(state) == [RIGHT, DOWN]
    merged = game.afterstate(TileState((15, 15) + (0,) * 14, 0, False), LEFT)
    assert merged.tiles[0] == 16
    assert merged.cells[0] == 14
    assert merged.score == 65536


def highest_score(cells: int) -> int:
    """Highest score on a board: it ends full of the tiles 2**2 to 2**(cells + 1).

    A tile 2**e made of 2s alone scores (e - 1) 2**e on the way. But each of these tiles takes all
    the cells that are still free, so its smallest part is a spawned 4, which saves 4 points.
    """
    return sum((exponent - 1) * 2**exponent - 4 for exponent in range(2, cells + 2))


def test_the_best_2048_games_on_2x2_cells_reach_the_score_known_from_theory():
    assert highest_score(16) == 3_932_100 < Game2048.score_bound
    game = Game2048(2)
    waiting, seen = [game.initial()], set()
    spawns = [(cell, exponent) for cell in range(4) for exponent in (1, 2)]
    for _ in range(2):
        waiting = [game.place(s, *x) for s in waiting for x in spawns if s.tiles[x[0]] == 0]
    while waiting:
        state = waiting.pop()
        if state not in seen:
            seen.add(state)
            slid = [game.afterstate(state, action) for action in game.legal(state)]
            waiting += [game.place(s, *x) for s in slid for x in spawns if s.tiles[x[0]] == 0]
    assert max(state.score for state in seen) == highest_score(4) == 180
    assert max(max(state.tiles) for state in seen) == 5
    assert all(state.terminal == (game.legal(state) == []) for state in seen)


# A game on 2x2 cells; the afterstates of its moves are 20/00, 21/00, 21/01, 00/32 and 01/32.
MINI_OPENING = [(0, 1), (1, 1)]
MINI_MOVES: list[Move] = [
    (LEFT, False, (3, 1)),
    (UP, False, (2, 1)),
    (RIGHT, False, (2, 2)),
    (DOWN, False, (0, 1)),
    (RIGHT, False, (0, 2)),
]


def mini_learner(**settings: Any) -> Recorder:
    """One one-cell tuple, so V = 2 * (sum of the weights of the four digits); step size 1 / 8."""
    return Recorder(Game2048(2), [(0,)], sigmoid=False, **settings)


def mini_tables(**settings: Any) -> np.ndarray:
    """The weights of digits 0 to 3 after the mini game, in points."""
    agent = mini_learner(**settings)
    agent.episode(MINI_OPENING, MINI_MOVES)
    return agent.weights[0, 0, :4] * Game2048.score_bound


def test_2048_learns_the_points_that_follow_an_afterstate():
    agent = mini_learner()
    agent.episode(MINI_OPENING, MINI_MOVES)
    afterstates = [(2, 0, 0, 0), (2, 1, 0, 0), (2, 1, 0, 1), (0, 0, 3, 2), (0, 1, 3, 2)]
    assert agent.updated == [(cells, 0) for cells in afterstates]
    # The 4 points of the first move have no afterstate before them. Move 4 scores 12 on 21/01:
    # w += 12 / 8 for digits 0, 1, 2. Move 5 scores nothing and is the last, so V(00/32) = 9
    # learns 0: w -= 9 / 8 for digits 0, 2, 3. Then V(01/32) = 2.25 learns 0, w -= 2.25 / 8.
    expected = [0.375 - 0.28125, 1.5 - 0.28125, 0.375 - 0.28125, -1.125 - 0.28125]
    np.testing.assert_allclose(mini_tables(), expected, rtol=1e-12)
    np.testing.assert_allclose(
        mini_tables(final_zero=False), [0.375, 1.5, 0.375, -1.125], rtol=1e-12
    )


def test_only_part_2_of_farl_exists_for_one_player():
    without, with_part_1 = (
        mini_tables(final_others=others, final_zero=False) for others in (False, True)
    )
    assert without.tolist() == with_part_1.tolist()


def test_2048_with_eligibility_teaches_the_afterstates_before_too():
    # Move 4: 12 / 8 for 21/01 and half of it for 21/00, which have digits 0, 1, 2: w = 2.25 each.
    # Move 5: V(00/32) = 13.5, so -1.6875 for digits 0, 2, 3 and half of it for 21/01.
    # End: V(01/32) = -1.6875, so +0.2109375 for all digits and half of it for 00/32.
    expected = [0.03515625, 1.6171875, 0.03515625, -1.37109375]
    np.testing.assert_allclose(mini_tables(lambda_=0.5, horizon=2), expected, rtol=1e-12)


def test_2048_with_tcl_counts_every_image_that_hits_a_weight():
    # With TC-Init = 1 point. A digit on n cells is hit 2 n times. Move 4: N = A = 25, 49, 25, 1.
    # Move 5, delta -9, on 00/32: N = -11, 49, 7, -17 and A = 61, 49, 43, 19; the weights move
    # with the factors from before, all 1. The final delta -2.25 meets the new factors.
    agent = mini_learner(tcl="id", tc_init=1 / Game2048.score_bound)
    agent.episode(MINI_OPENING, MINI_MOVES)
    points = agent.weights[0, 0, :4] * Game2048.score_bound
    expected = np.array([0.375, 1.5, 0.375, -1.125])
    expected -= 0.28125 * np.array([11 / 61, 1, 7 / 43, 17 / 19])
    np.testing.assert_allclose(points, expected, rtol=1e-9)
    counters = agent.counters_n[0, 0, :4], agent.counters_a[0, 0, :4]
    expected_counters = np.array([[-11, 49, 7, -17], [61, 49, 43, 19]]) + [[-4.5], [4.5]]
    np.testing.assert_allclose(
        np.array(counters) * Game2048.score_bound, expected_counters, rtol=1e-9
    )


def test_2048_values_an_action_by_its_points_and_its_afterstate():
    agent = mini_learner()
    agent.weights[0, 0, :3] = [0.0, 1.0, 10.0]
    state = agent.game.place(agent.game.place(agent.game.initial(), 0, 1), 1, 1)
    points = 4 / Game2048.score_bound
    assert agent.action_values(state) == {0: 20 + points, 2: 20 + points, 3: 4}


def test_a_2048_record_that_is_no_whole_game_raises_and_teaches_nothing():
    agent = mini_learner()
    wrong: list[tuple[Any, Any]] = [
        (MINI_OPENING, MINI_MOVES[:-1]),
        (MINI_OPENING[:1], MINI_MOVES),
        ([], MINI_MOVES),
        (MINI_OPENING, [*MINI_MOVES, MINI_MOVES[0]]),
        (MINI_OPENING, [(LEFT, False), *MINI_MOVES[1:]]),
        (MINI_OPENING, [(LEFT, False, (0, 1)), *MINI_MOVES[1:]]),
    ]
    for opening, moves in wrong:
        with pytest.raises(ValueError, match=r"not legal|not terminal|can appear|unpack"):
            agent.episode(opening, moves)
    assert agent.updates_done == agent.episodes_done == 0
    assert not agent.weights.any()


@pytest.mark.parametrize(
    ("game", "layout"),
    [
        (Hex(3), [(0, 1, 3, 4), (4, 5, 7, 8)]),
        (Othello(4), [(0, 1, 2, 3), (5, 6, 9, 10)]),
        (Game2048(), [(0, 1, 2), (0, 1, 4, 5)]),
    ],
)
def test_replaying_self_play_gives_the_same_tables(game, layout):
    settings: dict[str, Any] = {"tcl": "exp", "lambda_": 0.5, "horizon": 4, "alpha_end": 0.1}
    settings |= {"learn_from_random": False, "sigmoid": not isinstance(game, Game2048)}
    player, follower = (Recorder(game, layout, **settings) for _ in range(2))
    transcripts = player.self_play(4, np.random.default_rng(5), 0.3, 0.0, True)
    for opening, moves in transcripts:
        follower.episode(opening, moves)
    assert np.count_nonzero(player.weights) > 10
    np.testing.assert_array_equal(player.weights, follower.weights)
    np.testing.assert_array_equal(player.counters_n, follower.counters_n)


def test_a_2048_episode_of_n_moves_makes_n_updates_with_farl_and_n_minus_1_without():
    player = Recorder(Game2048(), [(0, 1)], sigmoid=False)
    ((opening, moves),) = player.self_play(1, np.random.default_rng(0), 1.0, 1.0, False)
    assert player.updates_done == len(moves)
    without = Recorder(Game2048(), [(0, 1)], sigmoid=False, final_zero=False)
    without.episode(opening, moves)
    assert without.updates_done == len(moves) - 1
