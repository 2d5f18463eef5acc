"""Backgammon: plain rules, OpenSpiel, counts, named positions, and what players see."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Backgammon, make
from jaxgbg.games.backgammon import BAR, PASS, ROLLS
from jaxgbg.games.perft import perft
from tests.games.backgammon import assert_same_rolls
from tests.games.batches import each
from tests.games.dice import assert_same_dice_games
from tests.games.playouts import playouts
from tests.games.test_dice_games import PlainRules
from tests.reference import backgammon as plain

HYPER = Backgammon(3)


@pytest.mark.parametrize(
    ("game", "parameters", "batch"),
    [
        pytest.param(Backgammon(3, "gammons"), (3, True), 60, id="hyper-gammons"),
        pytest.param(
            Backgammon(height=7, max_plies=150), (15, False, 7, 150), 12, marks=pytest.mark.slow
        ),
    ],
)
def test_random_games_agree_with_the_plain_rules(game, parameters, batch):
    oracle = PlainRules(plain.Backgammon(*parameters))
    assert_same_dice_games(game, oracle, batch=batch, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("game", [HYPER, Backgammon(reward="gammons")], ids=["hyper", "standard"])
def test_random_games_agree_with_openspiel(game):
    pytest.importorskip("pyspiel")
    assert_same_rolls(game, games=5, seed=11)


def test_both_sides_begin_with_their_checkers_and_two_different_dice():
    for game, pips in ((Backgammon(), 167), (HYPER, 69)):
        states = each(game.init, jax.random.split(jax.random.key(0), 256))
        assert (np.asarray(states.dice)[:, 0] > np.asarray(states.dice)[:, 1]).all()
        assert len(np.unique(states.dice, axis=0)) == 15
        assert np.asarray(each(game.extras, states))[..., 0].tolist() == [[pips] * 2] * 256


def placed(game, own, other=(), dice=(), player=0):
    """A position: the places of both players' checkers, as each counts them; 0 is borne off."""
    checkers = np.zeros((2, BAR + 1), np.int8)
    for side, places in ((player, own), (1 - player, other)):
        for place in places:
            checkers[side, place] += 1
        checkers[side, 0] += game.checkers - len(places)
    high, low = max(dice), min(dice)
    return game.init(jax.random.key(0))._replace(
        checkers=jnp.asarray(checkers),
        dice=jnp.asarray(np.array([high, 0 if high == low else low], np.int8)),
        repeat=jnp.int8(3 * (high == low)),
        player=jnp.int8(player),
    )


def legal(state, game=HYPER):
    """The (place, die) of every legal action."""
    actions = np.flatnonzero(jax.jit(game.legal_actions)(state)).tolist()
    dice = state.dice.tolist()
    return [a if a == PASS else (a // 2 + 1, dice[a % 2]) for a in actions]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("own", "other", "dice", "expected"),
    [
        # Who is on the bar enters first, and passes in front of a closed point.
        ([BAR, 13, 6], [1, 4, 9], (5, 3), [(BAR, 5), (BAR, 3)]),
        ([BAR, BAR, 6], [3, 3, 4], (5, 3), [(BAR, 5)]),
        ([BAR, 6, 6], [3, 3, 4], (3, 3), [PASS]),
        # Either die can be played alone, and only the larger may.
        ([9], [19, 19, 24], (4, 2), [(9, 4), (9, 2)]),
        ([12], [19, 19, 22], (4, 2), [(12, 4)]),
        # After 14/8 the 1 could not be played: 8/7 and 11/10 are closed.
        ([14, 11], [18, 18, 15, 15], (6, 1), [(14, 1), (11, 6)]),
        # Only from the exact point while there are others behind, and from the last one.
        ([6, 3, 1], [24], (4, 3), [(6, 4), (6, 3), (3, 3)]),
        ([2, 1, 1], [24], (6, 5), [(2, 6), (2, 5)]),
        ([7, 3, 1], [24], (5, 1), [(7, 5), (7, 1), (3, 1)]),
    ],
)
def test_named_positions_allow_what_the_dice_say(player, own, other, dice, expected):
    state = placed(Backgammon(), own, other, dice, player)
    assert sorted(legal(state), key=str) == sorted(expected, key=str)


def test_a_blot_is_hit_and_a_roll_is_one_turn():
    step = jax.jit(HYPER.afterstate)
    state = placed(HYPER, [24, 23, 6], [19, 10, 10], (6, 2))
    # 24/18, then 6/4: nobody rolls between the two.
    between = step(state, np.int32(2 * 23))
    assert (int(between.player), between.dice.tolist()) == (0, [2, 0])
    assert np.argmax(HYPER.spawn_probabilities(between)) == 0
    after = step(between, np.int32(2 * 5))
    assert (int(after.player), after.dice.tolist()) == (1, [0, 0])
    shares = HYPER.spawn_probabilities(after).tolist()
    assert shares == pytest.approx([2 / 36] * 15 + [1 / 36] * 6)
    # 6/4 and 24/18 with a checker of the other on its point 7, which is our 18.
    hit = step(placed(HYPER, [24, 6], [7, 10, 10], (6, 2)), np.int32(2 * 23))
    assert hit.checkers[1, BAR] == 1
    assert hit.checkers[1, 7] == 0


def test_a_double_is_played_four_times():
    state, step = placed(HYPER, [24, 24, 24], [], (2, 2)), jax.jit(HYPER.afterstate)
    for place in (24, 22, 20, 24):
        assert int(state.player) == 0
        state = step(state, np.int32(2 * (place - 1)))
    assert (int(state.player), state.checkers[0, [18, 22, 24]].tolist()) == (1, [1, 1, 1])


@pytest.mark.parametrize(
    ("other", "reward"),
    [([24, 24], 1 / 3), ([12, 12, 12], 2 / 3), ([3, 3, 19], 1), ([3, 3, 25], 1)],
)
def test_a_win_pays_three_thirds_at_most(other, reward):
    for game, pays in ((Backgammon(3, "gammons"), reward), (HYPER, 1)):
        after = jax.jit(game.afterstate)(placed(game, [1], other, (6, 5), 1), np.int32(0))
        assert bool(after.terminal)
        assert after.rewards.tolist() == pytest.approx([-pays, pays])


def test_extras_are_those_counted_by_hand():
    """Pips, blots, home points with two or more, on the bar and borne off, each as it counts."""
    own, other = (BAR, 24, 13, 13, 7, 6, 6, 3, 1, 1, 1), (BAR, BAR, 24, 18, 5)
    expected = [[25 + 24 + 26 + 7 + 12 + 3 + 3, 3, 2, 1, 4], [50 + 24 + 18 + 5, 3, 0, 2, 10]]
    extras = jax.jit(Backgammon().extras)
    for player in (0, 1):
        state = placed(Backgammon(), own, other, (2, 1), player)
        assert extras(state).tolist() == np.roll(expected, player, 0).tolist()


@pytest.mark.slow
def test_rolls_and_moves_are_as_many_as_the_plain_rules_have():
    """Sequences of checkers' moves: every order counts."""
    rules = plain.Backgammon(3)
    states = [rules.initial(roll) for roll in range(15)]
    expected = []
    for _ in range(3):
        moves = [(state, action) for state in states for action in rules.legal(state)]
        expected.append(len(moves))
        states = []
        for state, action in moves:
            first = rules.play(state, action, 0)
            rolls = range(len(ROLLS) if first.player != state.player else 1)
            states += [rules.play(state, action, roll) for roll in rolls]
    assert [row.paths for row in perft(HYPER, 3)] == expected


def test_cells_of_three_checkers_tell_all_positions_apart():
    games = playouts(Backgammon(3, max_plies=200), 16, 5)
    cells = games.cells.reshape(-1, games.cells.shape[-1])
    states = [games.states.checkers, games.states.dice, games.states.repeat]
    whole = np.concatenate([leaf.reshape(len(cells), -1) for leaf in states], 1)
    assert len(np.unique(cells, axis=0)) == len(np.unique(whole, axis=0))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"checkers": 4}, "checkers must be one of 3, 15, not 4"),
        ({"height": 8}, r"height must lie in \[3, 7\], not 8"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=f"^backgammon: {complaint}"):
        make("backgammon", **parameters)
