"""Sim against counts of an independent program, plain rules and exact values."""

import jax
import numpy as np
import pytest

from jaxgbg.games import Sim, make
from tests.games import known_counts
from tests.games.lockstep import assert_same_games
from tests.games.playouts import playouts
from tests.games.test_plain_rules import PlainRules
from tests.reference import knockout_rules

STANDARD_ERRORS = 4


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("sim-K5", 172_800),
        pytest.param("sim-K5-3", 2_047_680, marks=pytest.mark.slow),
    ],
)
def test_paths_ends_and_draws_are_as_many_as_they_should_be(name, drawn):
    last = known_counts.assert_known(name)[-1]
    assert last.ended[(0.0,) * known_counts.KNOWN[name][0].num_players] == drawn


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plies"), [("sim-K6", 6), ("sim-K6-3", 5), ("sim-K5-3-out", 7)])
def test_paths_and_players_who_are_out_are_as_many_as_they_should_be(name, plies):
    known_counts.assert_known(name, plies)


@pytest.mark.parametrize(
    "parameters",
    [
        (5, 3),
        pytest.param((4, 4), marks=pytest.mark.slow),
        pytest.param((6, 3, True), marks=pytest.mark.slow),
    ],
)
def test_random_games_agree_with_the_plain_rules(parameters):
    game, plain = Sim(*parameters), knockout_rules.Sim(*parameters)
    assert_same_games(game, PlainRules(plain), batch=100, seed=3)


def test_random_play_of_three_ends_as_it_should():
    """Exact rewards of K5; each player's reward is -1, 0 or 1."""
    states = playouts(Sim(nodes=5, players=3), 4096, 21).states
    rewards, plies = states.rewards[-1], (~states.terminal).sum(0)
    for name, sample, mean in (
        ("plies", plies, 9.971429),
        *(("reward", rewards[:, seat], mean) for seat, mean in enumerate(
            (-0.326190476, -0.076190476, -0.033333333)
        )),
    ):  # fmt: skip
        error = sample.std() / np.sqrt(len(sample))
        assert abs(sample.mean() - mean) <= STANDARD_ERRORS * error, name


def orbits(images: np.ndarray, sets: np.ndarray) -> int:
    """In how many classes the images divide these sets of cells."""
    left, number = {tuple(sorted(each)) for each in sets.tolist()}, 0
    while left:
        one = np.array(min(left))
        left -= {tuple(sorted(image)) for image in images[:, one].tolist()}
        number += 1
    return number


@pytest.mark.parametrize(
    ("nodes", "images", "triangles"), [(4, 24, 1), (5, 20, 1), (6, 120, 1), (7, 42, 2), (8, 336, 1)]
)
def test_few_images_take_every_edge_to_every_other(nodes, images, triangles):
    game = Sim(nodes=nodes)
    symmetries = game.symmetries
    assert len(symmetries) == images
    assert orbits(symmetries, np.arange(game.num_cells)[:, None]) == 1
    assert len(Sim(nodes=nodes, images="none").symmetries) == 1
    assert len(game.lines) == nodes * (nodes - 1) * (nodes - 2) // 6
    assert orbits(symmetries, game.lines) == triangles
    assert orbits(Sim(nodes=min(nodes, 6), images="all").symmetries, Sim(min(nodes, 6)).lines) == 1


def test_who_makes_a_triangle_is_out_and_the_others_play_on():
    """0 makes the triangle 1-2-3; then 1 and 2 play on, and 2 wins as 1 makes 4-5-6."""
    game = Sim(nodes=6, players=3)
    number = {tuple(ends): edge for edge, ends in enumerate((game.ends + 1).tolist())}
    step, active = jax.jit(game.afterstate), jax.jit(game.active)
    state = game.init(jax.random.key(0))
    players, actives = [], []
    for edge in (
        (1, 2), (4, 5), (1, 4), (1, 3), (4, 6), (1, 5), (2, 3), (2, 4), (2, 5),
        (1, 6), (2, 6), (5, 6),
    ):  # fmt: skip
        if edge == (1, 3):
            # Player 0 has 1-2 and takes 1-3 in its second ply.
            assert state.player == 0
        state = step(state, number[edge])
        players.append(int(state.player))
        actives.append(active(state).tolist())
    assert players[:7] == [1, 2, 0, 1, 2, 0, 1]
    assert players[7:-1] == [2, 1, 2, 1]
    assert actives[6:11] == [[False, True, True]] * 5
    assert state.terminal
    assert state.rewards.tolist() == [-1, -1, 1]
    assert actives[-1] == [False] * 3


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"nodes": 3}, r"nodes must lie in \[4, 8\], not 3"),
        ({"players": 5}, r"players must lie in \[2, 4\], not 5"),
        ({"coalition": True}, "sim: coalition is for players=3, not 2"),
        ({"nodes": 7, "images": "all"}, "images=all is for up to 6 nodes, not 7; use few"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        make("sim", **parameters)
