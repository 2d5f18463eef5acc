"""Networks see the board as each player does: sides that mirror each other are one."""

import jax
import numpy as np
import pytest

from jaxgbg.games import LinesOfAction, game_names, make
from jaxgbg.values import MLPSpec

GAME = LinesOfAction(size=4)


def mirrored(cells: np.ndarray) -> np.ndarray:
    """The board transposed, its colours exchanged."""
    return np.array([1, 0, 2], np.int8)[cells[..., GAME.player_views[1]]]


@pytest.fixture
def cells() -> np.ndarray:
    return np.random.default_rng(0).integers(3, size=(6, 16)).astype(np.int8)


def test_a_network_values_a_side_as_it_values_the_other_on_the_mirrored_board(cells):
    value = MLPSpec(hidden=(5,)).build(GAME, of_actions=False, batch=1)
    params = value.init(key=jax.random.key(1))
    seats = np.array([0, 1, 0, 1, 0, 1], np.int8)
    one = value.value(params, value.features(params, cells), seats)
    other = value.value(params, value.features(params, mirrored(cells)), 1 - seats)
    np.testing.assert_array_equal(one, other)
    same_side = value.value(params, value.features(params, cells), 1 - seats)
    assert not np.allclose(one, same_side)


@pytest.mark.slow
def test_a_network_of_actions_names_them_as_the_player_sees_them(cells):
    value = MLPSpec(hidden=(5,)).build(GAME, of_actions=True, batch=1)
    params = value.init(key=jax.random.key(1))
    transposed = GAME.symmetries.tolist().index(GAME.player_views[1].tolist())
    images = GAME.action_symmetries[transposed]
    first, second = np.zeros(6, np.int8), np.ones(6, np.int8)
    one = value.action_values(params, value.features(params, cells), first)
    other = value.action_values(params, value.features(params, mirrored(cells)), second)
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other)[:, images])
    taken = value.of_action(value.features(params, mirrored(cells)), images[7])
    np.testing.assert_array_equal(value.value(params, taken, second), one[:, 7])


@pytest.mark.parametrize("name", [name for name in game_names() if name != "lines_of_action"])
def test_where_all_players_see_the_same_nothing_is_turned(name):
    game = make(name)
    assert (game.player_views == np.arange(game.num_cells)).all()
    assert MLPSpec().build(game, of_actions=True, batch=1).views == ()
