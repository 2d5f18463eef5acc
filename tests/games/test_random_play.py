"""The statistics of uniformly random play against known ones."""

import functools

import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game, Nim, TicTacToe
from tests.games.playouts import playouts

BATCH = 8192
STANDARD_ERRORS = 4


def expected_nim_plies(heaps: int, size: int) -> float:
    """Mean plies of random Nim, by recursion over the heaps."""

    @functools.cache
    def plies(left: tuple[int, ...]) -> float:
        later = [
            plies(tuple(sorted((*left[:heap], rest, *left[heap + 1 :]))))
            for heap in range(heaps)
            for rest in range(left[heap])
        ]
        return 1 + sum(later) / len(later) if later else 0.0

    return plies((size,) * heaps)


@pytest.mark.parametrize(
    ("game", "mean", "rounding"),
    [
        pytest.param(TicTacToe(), 7.63, 0.005, id="tictactoe"),
        pytest.param(ConnectFour(), 21.4, 0.05, id="connectfour"),
        pytest.param(Nim(), expected_nim_plies(3, 5), 0.0, id="nim"),
        pytest.param(Nim(heaps=2, size=7), expected_nim_plies(2, 7), 0.0, id="nim-2x7"),
    ],
)
def test_random_games_last_as_long_as_they_should(game: Game, mean: float, rounding: float) -> None:
    plies = (~playouts(game, BATCH, 21).states.terminal).sum(0)
    standard_error = plies.std() / np.sqrt(BATCH)
    assert abs(plies.mean() - mean) <= STANDARD_ERRORS * standard_error + rounding


def test_random_tictactoe_is_won_lost_and_drawn_as_often_as_it_should() -> None:
    """Exact chances over all games: 737/1260 for the first player, 121/420, and 8/63 drawn."""
    outcome = playouts(TicTacToe(), BATCH, 21).states.rewards[-1, :, 0]
    for reward, chance in ((1, 737 / 1260), (-1, 121 / 420), (0, 8 / 63)):
        standard_error = np.sqrt(chance * (1 - chance) / BATCH)
        assert abs((outcome == reward).mean() - chance) <= STANDARD_ERRORS * standard_error
