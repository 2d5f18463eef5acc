"""Solved boards of Lines of Action: counts of an independent program, written in C."""

import numpy as np
import pytest

from experiments.lines_of_action.solve import code, decode, rules, solve, summary
from experiments.shared import Section
from tests.experiments.test_scripts import EXPERIMENTS

# Size, both: positions that can be reached, won, lost and drawn for the player to move.
COUNTS = {
    (4, "draw"): (2_491_828, 1_939_748, 492_928, 59_152),
    (4, "mover"): (None, 1_975_876, 514_072, 1_880),
}


@pytest.mark.slow
def test_white_wins_on_three_squares_in_two_plies():
    game = rules(3)
    found = solve(game)
    assert (found.value[0], found.plies[0]) == (-1, 2)
    assert len(found.keeping(0)) == 4
    np.testing.assert_array_equal(code(game, decode(game, found.codes)), found.codes)


def test_a_large_board_is_refused():
    with pytest.raises(ValueError, match="a board of size 5 has too many positions"):
        solve(rules(5))


@pytest.mark.figures
@pytest.mark.slow
def test_the_kept_counts_are_those_of_the_other_program():
    boards = Section(EXPERIMENTS / "lines_of_action", "solved").read()
    kept = {(board["size"], board["both"]): board for board in boards}
    for board, (positions, *outcomes) in COUNTS.items():
        assert [kept[board][name] for name in ("won", "lost", "drawn")] == outcomes
        assert kept[board]["positions"] == sum(outcomes) == (positions or sum(outcomes))
    # Black wins in three plies by b4-b2, c4-c2, b1-b3 and c1-c3 alone.
    start = kept[4, "draw"]
    assert (start["value"], start["plies"], start["longest"]) == (1, 3, 16)
    moves = [(action // 16, divmod(action % 16, 4)) for action in start["keeping"]]
    north, south = 0, 4
    assert sorted(moves) == [(north, (1, 1)), (north, (1, 2)), (south, (2, 1)), (south, (2, 2))]
    assert start["without_a_move"] == 184
    assert kept[3, "draw"] == summary(rules(3))
