"""Seat rotations: every player sees what another sees on its image, and faults are found."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import (
    ChineseCheckers,
    ConnectFour,
    EinStein,
    Hex,
    LinesOfAction,
    Maedn,
    Nim,
    Othello,
    Pig,
    Sim,
    TicTacToe,
    Yavalath,
)
from jaxgbg.games.move_checks import rotation_differences
from jaxgbg.games.sampling import sample_games

FAST = [TicTacToe(), Nim(heaps=2, size=4, players=3), Sim(nodes=5, players=3)]
GAMES = [
    *FAST,
    ConnectFour(),
    Hex(size=3),
    Othello(size=4),
    LinesOfAction(size=4, max_plies=40),
    Sim(nodes=5, players=2),
    Yavalath(size=3),
    Yavalath(size=3, players=3, block="must_or_win", reward="ranks"),
    Pig(players=3, target=10, horizon=60),
    *(EinStein(3, coding=coding) for coding in ("colour", "groups", "stones", "squares")),
    EinStein(4, 4, start="random"),
    EinStein(4, 4, coding="squares"),
    Maedn(2, quarter=2, pieces=2, max_plies=60),
    Maedn(4, quarter=2, pieces=2, max_plies=60, ranks=True),
    *(ChineseCheckers(rows=1, players=players, turns=20) for players in (2, 3, 4, 6)),
    ChineseCheckers(rows=1, players=3, backward=True, goal="own", turns=20, ranks=True),
]
NONE = [
    EinStein(6, 3),
    Sim(nodes=5, players=3, coalition=True),
    Yavalath(size=3, swap=True),
    Maedn(2, opposite=False),
    Maedn(3),
    jaxgbg.make("2048"),
]
EACH = [
    pytest.param(game, marks=() if game in FAST else pytest.mark.slow, id=repr(game))
    for game in GAMES
]


@pytest.mark.parametrize("game", EACH)
def test_a_game_goes_on_alike_on_the_image_of_every_player_and_a_wrong_entry_is_found(game):
    rotations, boards = game.seat_rotations, sample_games(game).cells.reshape(-1, game.num_cells)
    assert rotation_differences(game, rotations) == []
    guest = int(np.flatnonzero(rotations.shift)[0])

    def swapped(name, *places):
        """The rotations with two entries of a table of the guest exchanged."""
        table = getattr(rotations, name).copy()
        one, other = [(guest, *np.atleast_1d(place)) for place in places]
        table[one], table[other] = table[other], table[one]
        return rotations._replace(**{name: table})

    # Two digits of one place, two places, and two actions that are often not the same.
    seen = boards[:, rotations.cells[guest]]
    place = max(range(game.num_cells), key=lambda i: len(np.unique(seen[:, i])))
    digits = np.bincount(seen[:, place]).argsort()[-2:]
    unlike = (seen[:, :, None] != seen[:, None]).mean(0)
    cells = np.unravel_index(unlike.argmax(), unlike.shape)
    sample = sample_games(game)
    often = np.bincount(sample.actions[~sample.terminal], minlength=game.num_actions)
    faults = {
        "digits": swapped("digits", (place, digits[0]), (place, digits[1])),
        "cells": swapped("cells", *cells),
        "actions": swapped("actions", *often.argsort()[-2:]),
    }
    for name, wrong in faults.items():
        (line,) = rotation_differences(game, wrong)
        assert line.startswith("seat_rotations: "), (name, line)


def test_games_that_no_other_player_sees_alike_have_none():
    assert [game.seat_rotations for game in NONE] == [None] * len(NONE)


def test_an_image_shows_the_stones_of_the_player_as_those_of_its_owner():
    """Three in a row: the same board but for its colours, and the other player has won."""
    game = TicTacToe()
    state, image = game.init(jax.random.key(0)), game.rotated_start(game.init(None), 1)
    assert int(image.player) == 1
    for action in (0, 3, 1, 4, 2):
        state, image = (game.afterstate(each, jnp.int32(action)) for each in (state, image))
    assert game.cells(state).tolist() == [2, 2, 2, 0, 0, 1, 1, 1, 1]
    assert game.cells(image).tolist() == [0, 0, 0, 2, 2, 1, 1, 1, 1]
    assert (state.rewards.tolist(), image.rewards.tolist()) == ([1, -1], [-1, 1])


def test_four_players_of_two_teams_are_seen_as_partners():
    assert EinStein(4, 4).seat_rotations.owner.tolist() == [0, 1, 0, 1]
    assert ChineseCheckers(players=4).seat_rotations.owners == [0, 1]
    assert Maedn(4).seat_rotations.shift.tolist() == [0, 3, 2, 1]
