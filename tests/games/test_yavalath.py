"""Yavalath against counts of an independent program, plain rules, Ludax and named positions."""

import functools

import jax
import numpy as np
import pytest

from jaxgbg.games import Yavalath, make
from tests.games import known_counts
from tests.games.lockstep import View, assert_same_games
from tests.games.playouts import playouts
from tests.games.test_plain_rules import PlainRules
from tests.reference import knockout_rules

STANDARD_ERRORS = 4


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("yavalath-3-swap", 4),
        pytest.param("yavalath-3", 5, marks=pytest.mark.slow),
        pytest.param("yavalath-3-3", 5, marks=pytest.mark.slow),
        pytest.param("yavalath-5-swap", 3, marks=pytest.mark.slow),
    ],
)
def test_paths_and_ends_are_as_many_as_they_should_be(name, plies):
    known_counts.assert_known(name, plies)


@pytest.mark.parametrize(
    ("game", "plain", "batch"),
    [
        pytest.param(
            Yavalath(size=4, players=3, block="must_or_win", reward="ranks"),
            knockout_rules.Yavalath(4, 3, "must_or_win", ranks=True),
            20,
            id="must-or-win",
        ),
        pytest.param(
            Yavalath(size=3, swap=True), knockout_rules.Yavalath(3, 2, swap=True), 60,
            marks=pytest.mark.slow, id="swap",
        ),
        pytest.param(
            Yavalath(players=4), knockout_rules.Yavalath(5, 4), 6, marks=pytest.mark.slow, id="four"
        ),
    ],
)  # fmt: skip
def test_random_games_agree_with_the_plain_rules(game, plain, batch):
    assert_same_games(game, PlainRules(plain), batch=batch, seed=3)


class Ludax:
    """`ludax:yavalath`, whose cells and actions are ours."""

    def __init__(self) -> None:
        self._game = make("ludax:yavalath")
        self._step, self._legal = jax.jit(self._game.afterstate), jax.jit(self._game.legal_actions)

    def initial(self):
        return self._game.init(jax.random.key(0))

    def view(self, state) -> View:
        over, rewards = bool(state.terminal), state.rewards.tolist()
        player = None if over else int(state.player)
        return View(np.flatnonzero(self._legal(state)), player, over, rewards, None)

    def play(self, state, action):
        return self._step(state, action)


@pytest.mark.slow
def test_random_games_agree_with_ludax():
    pytest.importorskip("ludax")
    assert_same_games(Yavalath(), Ludax(), batch=2, seed=5)


def test_random_play_of_three_ends_as_it_should():
    """Of 100 000 games: rewards -0.435, -0.281, -0.168, and 17.3 plies."""
    states = playouts(Yavalath(size=3, players=3), 4096, 21).states
    samples = [(~states.terminal).sum(0), *states.rewards[-1].T]
    for sample, mean, rounding in zip(
        samples, (17.3, -0.435, -0.281, -0.168), (0.05, 0.003, 0.003, 0.003), strict=True
    ):
        error = sample.std() / np.sqrt(len(sample))
        assert abs(sample.mean() - mean) <= STANDARD_ERRORS * error + rounding


@functools.cache
def compiled(game):
    return jax.jit(game.afterstate), jax.jit(game.legal_actions)


def after(game, *cells):
    """The position after these moves, and its legal moves."""
    step, look = compiled(game)
    state = game.init(jax.random.key(0))
    for cell in cells:
        assert look(state)[cell]
        state = step(state, cell)
    return state, np.flatnonzero(look(state)).tolist()


def test_four_and_three_at_once_win():
    state, _ = after(Yavalath(), 26, 0, 20, 4, 27, 17, 36, 56, 29, 60, 28)
    assert state.terminal
    assert state.rewards.tolist() == [1, -1]


@pytest.mark.slow
def test_only_the_next_players_win_must_be_blocked():
    game = Yavalath(players=3)
    state, legal = after(game, 26, 0, 4, 27, 2, 60, 29)
    assert (int(state.player), len(legal)) == (1, 54)
    assert after(game, 26, 0, 4, 27, 2, 60, 29, 56)[1] == [28]


@pytest.mark.slow
@pytest.mark.parametrize(("block", "moves"), [("must", [28]), ("must_or_win", [28, 39])])
def test_who_could_win_must_block_too_unless_the_rule_lets_it_win(block, moves):
    game = Yavalath(players=3, block=block)
    opening = (26, 0, 35, 10, 2, 37, 27, 56, 40, 53, 17, 38, 29)
    _, legal = after(game, *opening)
    assert legal == [36, 39]
    assert after(game, *opening, 36)[1] == moves


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_the_board_has_as_many_lines_and_images_as_it_should(size):
    game = Yavalath(size=size)
    assert len(game.lines) == {3: 12, 4: 48, 5: 102, 6: 174}[size]
    assert game.symmetries.shape == (12, 3 * size * (size - 1) + 1)
    assert game.adjacency.sum() == 2 * (9 * size**2 - 15 * size + 6)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"size": 7}, r"size must lie in \[3, 6\], not 7"),
        ({"players": 4, "size": 4}, "yavalath: players=4 needs size 5 or 6, not 4"),
        ({"players": 3, "swap": True}, "yavalath: swap is for players=2, not 3"),
        ({"block": "free"}, "block is for players=3 and 4; leave it out with players=2"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        make("yavalath", **parameters)
