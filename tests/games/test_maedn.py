"""Mensch aergere dich nicht: counts, exact values, named positions, plain rules and OpenSpiel."""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Maedn, make
from tests.games import known_counts
from tests.games.batches import each
from tests.games.dice import assert_same_dice_games
from tests.games.test_dice_games import OpenSpiel, PlainRules
from tests.reference import maedn

ROLLS = np.arange(1, 7, dtype=np.int8)


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("maedn-2-q4-1", 6),
        pytest.param("maedn-2-q4-2", 6, marks=pytest.mark.slow),
        pytest.param("maedn-2", 7, marks=pytest.mark.slow),
        pytest.param("maedn-3", 7, marks=pytest.mark.slow),
        pytest.param("maedn-4", 7, marks=pytest.mark.slow),
    ],
)
def test_rolls_and_moves_are_as_many_as_counted_elsewhere(name, plies):
    known_counts.assert_known(name, plies)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param((3, 2, 3, False, 60, True), id="ranks"),
        pytest.param((4, 3, 2, True, 400, True), id="4-players", marks=pytest.mark.slow),
    ],
)
def test_random_games_agree_with_the_plain_rules(parameters):
    plain = PlainRules(maedn.Maedn(*parameters))
    assert_same_dice_games(Maedn(*parameters), plain, batch=40, seed=7)


class OpenSpielMaedn(OpenSpiel):
    """It pays N - 1 times as much."""

    def view(self, state):
        seen = super().view(state)
        return seen._replace(
            rewards=[reward / (state.num_players() - 1) for reward in seen.rewards]
        )


@pytest.mark.slow
def test_random_games_agree_with_openspiel():
    """Three players: those start a quarter apart, which exact values of two do not show."""
    assert_same_dice_games(Maedn(3), OpenSpielMaedn("maedn(players=3)"), batch=10, seed=4)


def placed(game, *players, die=0):
    """The first position with pieces of each player on these fields."""
    fields = np.zeros((game.players, 2), np.uint32)
    for player, on in enumerate(players):
        for field in on:
            fields[player, field // 32] |= np.uint32(1) << np.uint32(field % 32)
    state = game.init(jax.random.key(0))
    return state._replace(fields=jnp.asarray(fields), die=jnp.int8(die))


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ([0, 5], [[2], [2], [2], [2], [7], [2]]),
        ([0, 6], [[2], [2], [2], [2], [2], [8]]),
        ([38, 41], [[40, 43], [40, 43], [0], [40], [40], [1]]),
        ([39, 40, 41, 42], [[44], [43], [42], [41], [0], [0]]),
    ],
)
def test_named_positions_allow_what_the_die_says(own, expected):
    game = Maedn()
    start = placed(game, own)
    rolled = jax.vmap(lambda die: start._replace(die=die))(ROLLS)
    assert [np.flatnonzero(row).tolist() for row in each(game.legal_actions, rolled)] == expected


def test_pieces_are_sent_back_on_the_track_alone():
    """Player 0 moves from 19 to 22, where player 1 stands on its field 2, and from 38 to 41."""
    game = Maedn()
    step = jax.jit(game.afterstate)
    hit = step(placed(game, [19, 38], [2, 41], die=3), np.int32(2 + 19))
    np.testing.assert_array_equal(hit.fields, placed(game, [22, 38], [41]).fields)
    assert game.cells(hit)[-3:].tolist() == [2, 3, 0]
    home = step(placed(game, [19, 38], [2, 41], die=3), np.int32(2 + 38))
    np.testing.assert_array_equal(home.fields, placed(game, [19, 41], [2, 41]).fields)


@pytest.mark.parametrize(("field", "action"), [(30, 2 + 30), (39, 0)], ids=["move", "pass"])
@pytest.mark.parametrize("die", [5, 6])
def test_a_player_goes_on_after_a_six_also_after_a_pass(die, field, action):
    game = Maedn(pieces=1)
    after = jax.jit(game.afterstate)(placed(game, [field], die=die), np.int32(action))
    assert int(after.player) == (die != 6)
    assert int(game.cells(after)[-1]) == (die == 6)


def test_ranks_are_paid_as_players_finish():
    game = Maedn(3, quarter=2, pieces=1, ranks=True)
    step = jax.jit(game.afterstate)
    state = placed(game, [7], [7], [0], die=1)
    first = step(state, np.int32(2 + 7))
    assert first.rewards.tolist() == [1, 0, 0]
    assert game.active(first).tolist() == [False, True, True]
    assert int(first.player) == 1
    second = step(first._replace(die=jnp.int8(1)), np.int32(2 + 7))
    assert second.rewards.tolist() == [1, 0, -1]
    assert bool(second.terminal)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"players": 5}, r"players must lie in \[2, 4\], not 5"),
        ({"quarter": 1}, r"quarter must lie in \[2, 10\], not 1"),
        ({"pieces": 0}, r"pieces must lie in \[1, 4\], not 0"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=f"^maedn: {complaint}$"):
        make("maedn", **parameters)


class Graph(NamedTuple):
    """All positions of two players who start opposite each other, before a roll.

    A position is (fields of the player to move, those of the other). `following` int[S, 6, K]: the
    position after each roll and move, as its mover sees it; `legal`, `wins` and `again` bool[S, 6,
    K]: whether there is such a move, it wins, and its player rolls again. `start` is the first one.
    """

    following: np.ndarray
    legal: np.ndarray
    wins: np.ndarray
    again: np.ndarray
    start: int


def graph_of(game):
    end = game.track + game.pieces
    sets = [
        fields
        for number in range(game.pieces + 1)
        for fields in itertools.combinations(range(end), number)
    ]
    words = np.array([sum(1 << field for field in fields) for fields in sets])
    number = {word: at for at, word in enumerate(words.tolist())}
    pairs = np.indices((len(sets), len(sets))).reshape(2, -1)
    fields = np.zeros((pairs.shape[1], 2, 2), np.uint32)
    fields[..., 0] = words[pairs.T]
    one = game.init(jax.random.key(0))
    most = game.pieces

    @jax.jit
    @jax.vmap
    def follow(fields):
        def roll(die):
            state = one._replace(fields=fields, die=die)
            legal = game.legal_actions(state)
            actions = jnp.nonzero(legal, size=most, fill_value=-1)[0]
            after = jax.vmap(game.afterstate, (None, 0))(state, actions)
            wins = after.terminal & (after.rewards[:, 0] > 0)
            return actions >= 0, wins, after.player == 0, after.fields[..., 0]

        return jax.vmap(roll)(ROLLS)

    legal, wins, again, after = jax.device_get(follow(fields))
    # A position in which two players stand on one field cannot occur, and is not met again.
    known = np.vectorize(lambda word: number.get(int(word), 0))(after)
    mine, other = known[..., 0], known[..., 1]
    following = np.where(again, mine * len(sets) + other, other * len(sets) + mine)
    return Graph(following, legal, wins, again, 0)


def chances(graph, first, second):
    """P(win) of A at the start, where it moves first and where it moves second.

    `first` and `second` say how A and its opponent choose: "best" or "random".
    """
    count, number = graph.legal.sum(2), len(graph.legal)
    values = np.zeros(2 * number)
    # Values where A is to move come first, then those where its opponent is.
    places = [graph.following + number * (graph.again == mover) for mover in (0, 1)]
    for _ in range(2000):
        before = values.copy()
        for mover, (policy, paid) in enumerate(((first, 1.0), (second, 0.0))):
            q = np.where(graph.wins, paid, values[places[mover]])
            if policy == "random":
                chosen = np.where(graph.legal, q, 0).sum(2) / count
            elif mover == 0:
                chosen = np.where(graph.legal, q, -1).max(2)
            else:
                chosen = np.where(graph.legal, q, 2).min(2)
            values[number * mover : number * (mover + 1)] = chosen.mean(1)
        if np.abs(values - before).max() < 1e-9:
            return values[graph.start], values[number + graph.start]
    raise AssertionError("no values")


def test_one_piece_is_pure_chance_with_the_known_value():
    graph = graph_of(Maedn(2, 4, 1))
    win, second = chances(graph, "random", "random")
    assert win == pytest.approx(0.520159489, abs=1e-7)
    assert win + second == pytest.approx(1)


@pytest.mark.slow
def test_two_pieces_have_the_known_values():
    graph = graph_of(Maedn(2, 4, 2))
    assert chances(graph, "best", "best")[0] == pytest.approx(0.513382614, abs=1e-7)
    known = (0.548302, 0.521224)
    assert chances(graph, "best", "random") == pytest.approx(known, abs=1e-6)
