"""The statistics of uniformly random play against known ones."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game, Hex, LinesOfAction, Nim, Othello, TicTacToe
from jaxgbg.learners.selection import choose_uniformly
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
        pytest.param(ConnectFour(), 21.4, 0.05, id="connectfour", marks=pytest.mark.slow),
        pytest.param(Hex(), 30.7, 0.05, id="hex", marks=pytest.mark.slow),
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


@pytest.mark.slow
def test_random_othello_passes_and_ends_early_as_often_as_it_should() -> None:
    """Known: 60.4 plies with 0.45 passes counted; 1.2 % of the games end with empty squares."""
    states = playouts(Othello(), BATCH, 21).states
    plies = (~states.terminal).sum(0)
    stays = (states.player[1:] == states.player[:-1]) & ~states.terminal[1:]
    passes = stays.sum(0)
    assert abs((plies + passes).mean() - 60.4) <= 0.1
    assert abs(passes.mean() - 0.45) <= 0.03
    discs = np.bitwise_count(states.discs[-1]).sum((1, 2))
    early = (discs < 64).mean()
    assert abs(early - 0.012) <= STANDARD_ERRORS * np.sqrt(0.012 / BATCH) + 0.0005


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1000, 4000])
def test_hex_playouts_end_as_random_play_does(draws: int) -> None:
    game = Hex()

    def play_on(state, key):
        def step(ply, state):
            draw = jax.random.gumbel(jax.random.fold_in(key, ply), (game.num_actions,))
            action = jnp.where(game.legal_actions(state), draw, -jnp.inf).argmax()
            return game.afterstate(state, action)

        return jax.lax.fori_loop(0, game.max_plies, step, state).rewards[0]

    states = playouts(game, 64, 21).states
    plies = [0, 3, 10, 17, 20, 22, 24, 36]
    chosen = jax.tree.map(lambda x: x[plies, np.arange(8)], states)
    keys = jax.random.split(jax.random.key(0), draws)
    ends = jax.jit(jax.vmap(jax.vmap(play_on, (None, 0)), (0, None)))(chosen, keys)
    words = np.random.default_rng(3).integers(0, 2**32, (draws, 2), np.uint32)
    filled = jax.jit(jax.vmap(jax.vmap(game.playout, (None, 0)), (0, None)))(chosen, words)[..., 0]
    error = np.sqrt((ends.var(1) + filled.var(1)) / draws)
    assert (np.abs(ends.mean(1) - filled.mean(1)) <= STANDARD_ERRORS * error).all()
    # The positions differ, and the finished one is as it is.
    assert np.ptp(ends.mean(1)) > 0.3
    assert chosen.terminal[-1]
    np.testing.assert_array_equal(filled[-1], np.full(draws, chosen.rewards[-1, 0]))


@pytest.mark.slow
def test_random_lines_of_action_last_as_long_and_leave_as_many_moves_as_they_should():
    """Of 100 000 games in C: 213.2 plies, 26.9 moves on average, black wins 49.3 %."""
    game, games = LinesOfAction(), 2000

    def ply(carry: Any) -> Any:
        states, key, plies, moves, most = carry
        key, draw = jax.random.split(key)
        legal = jax.vmap(game.legal_actions)(states)
        states = jax.vmap(game.afterstate)(states, choose_uniformly(legal, draw))
        number = legal.sum(1)
        return states, key, plies + (number > 0), moves + number, jnp.maximum(most, number)

    @jax.jit
    def play_all(key: jax.Array) -> Any:
        states = jax.vmap(game.init)(jax.random.split(key, games))
        nothing = jnp.zeros(games, jnp.int32)
        start = (states, key, nothing, nothing, nothing)
        return jax.lax.while_loop(lambda carry: ~carry[0].terminal.all(), ply, start)

    states, _, plies, moves, most = jax.device_get(play_all(jax.random.key(5)))
    assert abs(plies.mean() - 213.2) < STANDARD_ERRORS * plies.std() / np.sqrt(games) + 0.2
    spread = (moves - 26.9 * plies).std() / plies.mean() / np.sqrt(games)
    assert abs(moves.sum() / plies.sum() - 26.9) < STANDARD_ERRORS * spread + 0.05
    assert most.max() >= 58
    assert abs((states.rewards[:, 0] > 0).mean() - 0.493) < STANDARD_ERRORS * 0.5 / np.sqrt(games)
    assert (states.rewards[:, 0] == 0).mean() < 0.012
