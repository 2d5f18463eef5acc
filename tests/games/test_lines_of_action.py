"""Lines of Action: counts, positions, draws, symmetries and features that are known."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import LinesOfAction, bitboards, make
from jaxgbg.games.perft import perft
from jaxgbg.xla import fast_compile_options
from tests.games.lines_of_action import (
    BLOCKED,
    GAME,
    M1,
    M2,
    M3,
    action_of,
    cells_of,
    compiled,
    outcome,
    paths,
    play,
    position,
    start,
)
from tests.games.lockstep import View, assert_same_games
from tests.reference import lines_of_action as plain

# Winands (2000), appendix E, game 7; Black wins.
FAMOUS_GAME = (
    "b1-b3 h3-e3 b8-b6 h7-f7 b3xe3 h6xe3 c1xe3 h4-f2 e1-e4 h2-e2 f1-g2 h5xe8 f8-d6 f7-d7 g1-g4 "
    "e8xe4 g2xe4 d7-b5 d1-d4 e2-b2 d4xb2 f2-c2 b2xb5 a7-a1 d8xa5 a1-b2 g8-e6 c2-c4 d6-b4 a3-c1 "
    "c8-f5 c1-c3 b6-d4 c3-c5 a5-c3 "
)


@pytest.mark.parametrize(
    ("board", "player", "expected"),
    [
        pytest.param(None, "X", [36, 1244, 44952], marks=pytest.mark.slow),
        pytest.param(M1, "X", [34, 993, 34569], marks=pytest.mark.slow),
        pytest.param(M2, "X", [43, 1088, 41723], marks=pytest.mark.slow),
        (M3, "O", [35, 988, 34102]),
    ],
    ids=["start", "M1", "M2", "M3"],
)
def test_move_sequences_are_as_many_as_known(board, player, expected):
    assert paths(position(board, player), 3) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "player", "expected"),
    [
        (None, "X", [1_563_208, 55_963_132]),
        (M1, "X", [1_031_089, 35_666_160]),
        (M2, "X", [1_087_368, 40_668_625]),
        (M3, "O", [997_712, 34_475_061]),
    ],
    ids=["start", "M1", "M2", "M3"],
)
def test_move_sequences_further_on_are_as_many_as_known(board, player, expected):
    assert paths(position(board, player), 5)[3:] == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(3, [4, 16, 40, 108], marks=pytest.mark.slow),
        pytest.param(4, [12, 120, 1012, 7460, 54700], marks=pytest.mark.slow),
        pytest.param(5, [18, 280, 4164, 56108, 743264], marks=pytest.mark.slow),
        pytest.param(6, [24, 524, 11440, 234560, 4853792], marks=pytest.mark.slow),
    ],
)
def test_move_sequences_on_smaller_boards_are_as_many_as_known(size, expected):
    game = LinesOfAction(size=size)
    assert paths(start(game), len(expected), game) == expected


@pytest.mark.slow
def test_perft_counts_the_distinct_boards():
    rows = perft(LinesOfAction(repetition="none"), 3)
    assert [row.positions for row in rows] == [36, 1244, 32976]


# (board, who moves, his move, what black gets, and what he gets where the mover wins a tie).
ENDS = [
    ("..O..O..O......O...XX...O..X...OO...X..OO...X..OO....O...XXXXX..", "X", "e6-e2", 1, 1),
    ("..OO......O....O....X..O..O.O..O.XOO...O.X.....O.X.......XXXXX..", "O", "h3xe6", 1, 1),
    (".XXXXXX.O...X...O..O....O...X...O....X..OOOXX...O...............", "X", "d3xd6", 0, 1),
    ("X..............X..X..X..O.........O.....X..X...........XXX.X.X..", "X", "f1xc4", -1, -1),
    ("...XX.......X......X.O........X......................O..........", "X", "d6xf6", 0, 1),
]


def test_who_connects_wins_and_both_together_draw():
    for board, player, move, draw, _ in ENDS:
        assert outcome(play(position(board, player), move)) == (True, [draw, -draw])


@pytest.mark.slow
def test_the_mover_wins_where_both_connect_if_the_rule_says_so():
    game = LinesOfAction(both="mover")
    for board, player, move, _, mover in ENDS:
        after = play(position(board, player, game), move, game=game)
        assert outcome(after) == (True, [mover, -mover])


def test_who_cannot_move_passes_or_loses():
    legal, step, *_ = compiled(GAME)
    stuck = position(BLOCKED, "O")
    assert np.flatnonzero(legal(stuck)[0]).tolist() == [512]
    passed = play(stuck, "pass")
    assert outcome(passed) == (False, [0, 0])
    assert int(passed.player[0]) == 0
    assert int(legal(passed)[0].sum()) == 22
    assert not legal(passed)[0, 512]
    assert outcome(step(passed, np.array([512]))) == (False, [0, 0])
    # Where the other has just passed too, it is a draw.
    assert outcome(play(stuck._replace(passed=np.array([True])), "pass")) == (True, [0, 0])


@pytest.mark.slow
def test_who_is_left_without_a_move_has_lost_where_the_rule_says_so():
    """Black moves into the blocked position of 4x4 from wherever a stone can have come."""
    after, rules = cells_of(".....XO..X.X.XO."), plain.LinesOfAction(size=4)
    game = LinesOfAction(size=4, stuck="loss")
    ways = 0
    for end in np.flatnonzero(after == 0):
        for origin in np.flatnonzero(after == 2):
            before = after.copy()
            before[[end, origin]] = 2, 0
            for action, move in rules.moves(tuple(before.tolist()), 0).items():
                if move == (origin, end):
                    board = "".join("XO."[digit] for digit in before)
                    states = position(board, "X", game)
                    states = compiled(game)[1](states, np.array([action], np.int32))
                    assert outcome(states) == (True, [1, -1])
                    ways += 1
    assert ways > 0


@pytest.mark.slow
def test_a_position_of_4x4_that_can_be_reached_has_no_move():
    game = LinesOfAction(size=4)
    legal = compiled(game)[0](position(".....XO..X.X.XO.", "O", game))
    assert np.flatnonzero(legal[0]).tolist() == [128]


@pytest.mark.parametrize(
    ("board", "connected"),
    [
        ("XXXXXXX........X......X........X......X........XO.........O.....", True),
        ("..........XXX.....X.X.....XXX...O......O......X.O......O........", False),
        ("..........XXX.....X.X.....XXX...O......O........O......O........", True),
        ("...............XX.......O......O................................", False),
        ("...................XX.......XX.....X............O......O........", True),
        ("X........X........X........X........X........X..O.....X...O....X", True),
    ],
)
def test_groups_are_told_apart(board, connected):
    low, high = bitboards.words(cells_of(board).reshape(8, 8) == 0)
    assert bool(bitboards.connected((jnp.asarray(low), jnp.asarray(high)), 11)) == connected


def euler_number(stones: np.ndarray) -> int:
    """Groups less holes, by the patterns of 2x2 squares (Gray 1971)."""
    padded = np.pad(stones.astype(int), 1)
    quads = np.stack([padded[:-1, :-1], padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]])
    total = quads.sum(0)
    diagonal = (total == 2) & (quads[0] == quads[3])
    return int(((total == 1).sum() - (total == 3).sum() - 2 * diagonal.sum()) // 4)


def test_growth_finds_groups_and_an_euler_number_of_two_needs_two_of_them():
    rng, boards = np.random.default_rng(4), np.zeros((200, 64), bool)
    for board in boards:
        near = rng.integers(64) + np.array([0, 1, 8, 9, 16, 17, 18, 2, 10, 24, 25, 26])
        cells = np.where(rng.random(12) < 0.7, near % 64, rng.integers(64, size=12))
        board[cells[: rng.integers(1, 13)]] = True
    words = bitboards.words(boards.reshape(-1, 8, 8))

    @functools.partial(jax.jit, compiler_options=fast_compile_options())
    def seen(low: jax.Array, high: jax.Array) -> Any:
        return bitboards.connected((low, high), 11), bitboards.largest_group((low, high))

    connected, largest = (np.asarray(part) for part in seen(*words.T))
    numbers = np.array([euler_number(board.reshape(8, 8)) for board in boards])
    for board, one, most in zip(boards, connected, largest, strict=True):
        groups = plain.LinesOfAction().groups(tuple(np.where(board, 0, 2).tolist()), 0)
        assert one == (len(groups) == 1)
        assert most == max(map(len, groups))
    assert (numbers[connected] <= 1).all()
    assert 10 < connected.sum() < 190
    assert (numbers[~connected] >= 2).any()


SHUFFLE = ["b1-h1", "a2-a8", "h1-b1", "a8-a2"]


@pytest.mark.parametrize(
    ("repetition", "plies"),
    [
        ("shuffle", 8),
        pytest.param("threefold", 8, marks=pytest.mark.slow),
        pytest.param("board", 4, marks=pytest.mark.slow),
        pytest.param("none", None, marks=pytest.mark.slow),
    ],
)
def test_going_to_and_fro_is_a_draw_sooner_or_later(repetition, plies):
    game = LinesOfAction(repetition=repetition)
    states = start(game)
    for ply, move in enumerate(3 * SHUFFLE, 1):
        states = play(states, move, game=game)
        assert outcome(states) == (ply == plies, [0, 0])
        if ply == plies:
            return
    assert plies is None


@pytest.mark.slow
@pytest.mark.parametrize("repetition", ["threefold", "board"])
def test_a_board_repeats_a_position_only_with_the_same_player_to_move(repetition):
    game = LinesOfAction(repetition=repetition)
    first = start(game)
    states = play(first, *SHUFFLE[:3], game=game)
    # As if the board before the first move had been there before each of these plies.
    for before, alike in (((0, 2), True), ((1, 3), repetition == "board")):
        history = states.history.at[:, :4].set(states.stones[:, None])
        for ply in before:
            history = history.at[:, ply].set(first.stones)
        ended = play(states._replace(history=history), SHUFFLE[3], game=game)
        assert outcome(ended) == (alike, [0, 0])


@pytest.mark.slow
def test_a_game_of_max_plies_is_a_draw():
    game = LinesOfAction(repetition="none", max_plies=5)
    states = play(start(game), *SHUFFLE, game=game)
    assert outcome(states) == (False, [0, 0])
    assert outcome(play(states, "b1-h1", game=game)) == (True, [0, 0])


def test_a_published_game_can_be_played_and_black_wins():
    states, reference = start(), plain.LinesOfAction()
    expected = reference.initial()
    for ply, move in enumerate(FAMOUS_GAME.split(), 1):
        before = np.bitwise_count(np.asarray(states.stones)).sum()
        states = play(states, move)
        expected = reference.play(expected, action_of(move))
        taken = before - np.bitwise_count(np.asarray(states.stones)).sum()
        assert (taken == 1) == ("x" in move)
        cells = np.asarray(GAME.cells(jax.tree.map(lambda leaf: leaf[0], states)))
        assert cells.tolist() == list(expected.cells)
        for board, at in ((M1, 12), (M2, 20)):
            assert (cells == cells_of(board)).all() == (ply == at)
    assert outcome(states) == (True, [1, -1])


class Reference:
    def __init__(self, **parameters: Any) -> None:
        self.game = plain.LinesOfAction(**parameters)
        self.initial, self.play = self.game.initial, self.game.play

    def view(self, state: plain.Position) -> View:
        return View(
            self.game.legal(state), state.player, state.terminal, state.rewards, state.cells
        )


@pytest.mark.parametrize(
    ("parameters", "batch"),
    [
        pytest.param({"size": 4}, 100, marks=pytest.mark.slow),
        pytest.param({"size": 3, "both": "mover"}, 100, marks=pytest.mark.slow),
        pytest.param({"size": 4, "stuck": "loss"}, 200, marks=pytest.mark.slow),
        pytest.param({"size": 4, "repetition": "board"}, 200, marks=pytest.mark.slow),
        pytest.param({"size": 3, "repetition": "threefold"}, 400, marks=pytest.mark.slow),
        pytest.param({"size": 5, "max_plies": 20}, 100, marks=pytest.mark.slow),
        pytest.param({"size": 7}, 20, marks=pytest.mark.slow),
        pytest.param({}, 20, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_random_games_agree_with_the_plain_rules(parameters, batch):
    assert_same_games(LinesOfAction(**parameters), Reference(**parameters), batch, seed=12)


@pytest.mark.slow
def test_stones_know_their_moves():
    """By square and by action alike: the page's counts of captures, too."""
    legal, _, moves, _ = compiled(GAME)
    for board, player, captures in ((M1, "X", 3), (M2, "X", 5), (M3, "O", 9)):
        state, cells = position(board, player), cells_of(board)
        free, target = (np.asarray(part[0]) for part in moves(state))
        expected = plain.LinesOfAction().moves(tuple(cells.tolist()), "XO".index(player))
        direction, origin = np.nonzero(free)
        found = dict(
            zip(
                (64 * direction + target[free]).tolist(),
                zip(origin.tolist(), target[free].tolist(), strict=True),
                strict=True,
            )
        )
        assert found == expected
        assert sorted(expected) == np.flatnonzero(legal(state)[0]).tolist()
        assert sum(cells[end] != 2 for _, end in expected.values()) == captures


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "player", "expected"),
    [
        (None, "X", [[0, 36, 0.3, 6], [0, 36, 0.3, 6]]),
        (M1, "X", [[0, 34, 0.3460, 2], [0, 30, 0.4065, 6]]),
        (M2, "X", [[0, 43, 0.4576, 3], [0, 26, 0.5, 8]]),
        (M3, "O", [[0, 29, 0.4378, 3], [0, 35, 0.3609, 3]]),
        (BLOCKED, "O", [[0, 22, 0.3, 3], [2, 0, 0.25, 1]]),
    ],
)
def test_features_of_both_sides_are_those_counted_by_hand(board, player, expected):
    found = np.asarray(compiled(GAME)[3](position(board, player))[0])
    np.testing.assert_allclose(found, np.array(expected) * [1, 1, 10_000, 1], atol=1e-6)


def test_features_have_names_and_scales():
    assert GAME.extra_names == ("immobility", "freedom", "concentration", "cluster")
    assert GAME.extra_scales == (12, 96, 10_000, 12)
    assert make("othello").extra_names == ()
    assert make("othello").extras(None).shape == (2, 0)


def test_the_second_player_sees_the_board_as_the_first_sees_his():
    cells = np.asarray(GAME.cells(GAME.init(jax.random.key(0))))
    first, second = GAME.player_views
    assert first.tolist() == list(range(64))
    swapped = np.array([1, 0, 2])[cells[second]]
    np.testing.assert_array_equal(swapped, cells[first])
    assert second.tolist() in GAME.symmetries.tolist()


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"size": 9}, r"size must lie in \[3, 8\], not 9"),
        ({"repetition": "often"}, "repetition must be one of shuffle, .*, not 'often'"),
        ({"both": "loss"}, "both must be one of draw, mover, not 'loss'"),
        ({"stuck": "draw"}, "stuck must be one of pass, loss, not 'draw'"),
        ({"max_plies": 0}, r"max_plies must lie in \[1, 10,000\], not 0"),
        ({"shuffle_limit": 0}, r"shuffle_limit must lie in \[1, 100\], not 0"),
    ],
)
def test_other_parameters_end_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=f"^lines_of_action: {complaint}$"):
        make("lines_of_action", **parameters)
