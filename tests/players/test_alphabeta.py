import importlib.util
import sys
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour
from jaxgbg.players import AlphaBeta, MissingExtra, RandomPlayer, make_player
from jaxgbg.players.alphabeta import ILLEGAL, GBGAlphaBeta, scores_of_gbg

GAME = ConnectFour()
_move = jax.jit(GAME.afterstate)
needs_bitbully = pytest.mark.skipif(
    importlib.util.find_spec("bitbully") is None, reason="needs bitbully"
)


def _after(moves):
    """A batch of one: the state after columns such as "334455"."""
    state = GAME.init(jax.random.key(0))
    for column in moves:
        assert GAME.legal_actions(state)[int(column)]
        state = _move(state, jnp.int32(int(column)))
    return jax.tree.map(lambda leaf: leaf[None], state)


def _stack(batches):
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *batches)


def _repeat(states, count):
    return jax.tree.map(lambda leaf: jnp.repeat(leaf, count, axis=0), states)


def _random_positions(count, plies, seed):
    """Up to `count` positions after `plies` random moves, those already over left out."""
    states = jax.vmap(GAME.init)(jax.random.split(jax.random.key(0), count))
    step = jax.jit(jax.vmap(GAME.afterstate))
    for ply in range(plies):
        key = jax.random.fold_in(jax.random.key(seed), ply)
        states = step(states, RandomPlayer(GAME).act(states, key))
    return jax.tree.map(lambda leaf: leaf[~states.terminal], states)


def _four(stones):
    """Whether 49-bit stones, seven bits a column, hold four in a line."""
    return any(stones & stones >> d & stones >> 2 * d & stones >> 3 * d for d in (1, 6, 7, 8))


@cache
def _negamax(own, other):
    """Exact score for the side with stones `own` to move, and the list of its columns' scores."""
    scores = [ILLEGAL] * 7
    for column in range(7):
        stone = ((own | other) + (1 << 7 * column)) & (0b111111 << 7 * column)
        if not stone:
            continue
        if _four(own | stone):
            scores[column] = 21 - own.bit_count()
        elif (own | other | stone).bit_count() == 42:
            scores[column] = 0
        else:
            scores[column] = -_negamax(other, own | stone)[0]
    return max(scores), tuple(scores)


def _bitboards(states):
    cells = np.asarray(jax.vmap(GAME.cells)(states)).reshape(-1, 7, 6)
    for board, player in zip(cells, np.asarray(states.player), strict=True):
        yield tuple(
            sum(1 << 7 * c + r for c in range(7) for r in range(6) if board[c, r] == side)
            for side in (1 + player, 2 - player)
        )


@pytest.mark.slow
@needs_bitbully
def test_only_the_centre_wins_from_the_empty_board():
    for distant in (False, True):
        player = AlphaBeta(distant)
        assert player.scores(_after("")).tolist() == [[-2, -1, 0, 1, 0, -1, -2]]
        actions = player.act(_repeat(_after(""), 100), jax.random.key(0))
        assert set(actions.tolist()) == {3}


@pytest.mark.slow
@needs_bitbully
@pytest.mark.parametrize(
    ("plies", "count"),
    [(28, 60), (32, 60), (37, 150)],
)
def test_scores_agree_with_exact_negamax_late_in_the_game(plies, count):
    states = _random_positions(count * 6, plies, seed=plies)
    states = jax.tree.map(lambda leaf: leaf[:count], states)
    assert len(states.player) > 10
    expected = np.array([_negamax(*stones)[1] for stones in _bitboards(states)])
    np.testing.assert_array_equal(AlphaBeta().scores(states), expected)

    outcome = np.where(expected == ILLEGAL, -9, np.sign(expected))
    best = {
        False: outcome == outcome.max(axis=1, keepdims=True),
        True: expected == expected.max(axis=1, keepdims=True),
    }
    for distant, allowed in best.items():
        player = AlphaBeta(distant)
        np.testing.assert_array_equal(player.best_actions(states), allowed)
        actions = np.asarray(player.act(states, jax.random.key(1)))
        assert allowed[np.arange(len(actions)), actions].all()


@needs_bitbully
def test_a_mirrored_position_has_mirrored_scores():
    states = _stack([_after("0120"), _after("6546"), _after("01"), _after("65")])
    scores = AlphaBeta().scores(states)
    np.testing.assert_array_equal(scores[0], scores[1][::-1])
    np.testing.assert_array_equal(scores[2], scores[3][::-1])
    assert (scores[0] != scores[0][::-1]).any()


@needs_bitbully
def test_an_immediate_win_is_the_only_move_with_distance_and_one_win_of_several_without():
    # The mover has three stones on the floor with both ends open, and can also stack.
    states = _after("223344")
    assert np.flatnonzero(AlphaBeta(True).best_actions(states)[0]).tolist() == [1, 5]
    scores = AlphaBeta().scores(states)[0]
    assert scores[1] == scores[5] == 18
    winning = set(np.flatnonzero(scores > 0).tolist())
    assert len(winning) > 2
    actions = AlphaBeta().act(_repeat(states, 300), jax.random.key(0)).tolist()
    assert set(actions) == winning
    both = set(AlphaBeta(True).act(_repeat(states, 300), jax.random.key(0)).tolist())
    assert both == {1, 5}


@needs_bitbully
def test_a_lost_ab_plays_any_legal_move_while_ab_dl_holds_out_longest():
    # After a first stone in the centre every reply loses, some sooner than others.
    states = _after("3")
    scores = AlphaBeta().scores(states)[0]
    assert (scores < 0).all()
    assert len(set(scores.tolist())) > 1
    actions = np.asarray(AlphaBeta().act(_repeat(states, 7000), jax.random.key(0)))
    # Standard deviation of each count: sqrt(7000 * 1/7 * 6/7) = 29.
    assert (abs(np.bincount(actions, minlength=7) - 1000) < 150).all()
    longest = set(np.flatnonzero(scores == scores.max()).tolist())
    actions = AlphaBeta(True).act(_repeat(states, 300), jax.random.key(0)).tolist()
    assert set(actions) == longest
    assert longest != set(range(7))


@pytest.mark.parametrize(
    ("placed", "score", "expected"),
    [
        (6, 18, 1001),  # the mover's fourth stone ends it
        (20, -11, -1001),  # the next stone does, the other's eleventh
        (0, 1, 992),  # before the book of 8 stones it sees wins alone that come as early
        (1, -2, -992),
        (7, -16, -992),
        (5, -17, -1018),  # the first player has won with its fifth stone, the ninth on the board
        (6, -17, -992),  # the second player's fifth is the tenth
        (9, -15, -1018),
        (9, -14, -98),  # from the book of 12 stones: the fifteenth stone ends it
        (11, -5, -80),
        (11, 5, 79),
        (13, -13, -1018),  # in 3 plies
        (13, -12, -1018),  # in 5, which is seen when it can no longer be met
        (13, -11, -1016),
        (13, -7, -1008),  # in 15 plies, the last that is told from later ones
        (13, -6, -999),
        (13, -2, -999),
        (13, -1, -998),  # the first player's last stone, with 40 on the board
        (13, 7, 1007),  # a win in 16
        (13, 6, 999),
        (14, -1, -1000),  # the very last cell
        (14, -2, -999),
        (14, 0, 0),
        (14, 12, 1019),  # soon, and more than at once
    ],
)
def test_what_gbg_s_ab_dl_gives_for_an_exact_score(placed, score, expected):
    found = scores_of_gbg(np.array([[score, -3]]), np.array([[placed]]))
    assert found[0, 0] == expected


@needs_bitbully
@pytest.mark.parametrize(
    ("moves", "exact", "gbg"),
    [
        # Lost, and near the beginning every loss is the same.
        ("3", None, range(7)),
        # The other wins at once unless column 6 is met, and two plies later if it is.
        ("13446035265065636", [6], [0, 1, 2, 3, 4, 5]),
        # Met or not: lost in 5 plies or in 3, which are one to it.
        ("335453624543341466", [3, 5, 6], range(7)),
        # Lost in 23, 21 or 13 plies: of late losses it tells no distance.
        ("154236522010111", [0, 4, 6], [0, 2, 3, 4, 6]),
        # With 10 or 12 stones on the board it knows the distance, here 29 and 25 plies.
        ("22141003365", [3], [3]),
        ("154221465", [5], [5]),
        # It wins two plies later rather than at once, by column 1 or 5.
        ("223344", [1, 5], [0, 2, 3, 4, 6]),
        # One column draws, the others lose; and one wins.
        ("", [3], [3]),
    ],
)
def test_gbg_s_ab_dl_delays_its_losses_less_exactly_than_ab_dl(moves, exact, gbg):
    states = _after(moves)
    if exact is not None:
        assert np.flatnonzero(AlphaBeta(True).best_actions(states)[0]).tolist() == exact
    player = GBGAlphaBeta()
    assert np.flatnonzero(player.best_actions(states)[0]).tolist() == list(gbg)
    actions = player.act(_repeat(states, 300), jax.random.key(0)).tolist()
    assert set(actions) == set(gbg)


@needs_bitbully
def test_gbg_s_ab_dl_plays_for_the_best_outcome_as_ab_does():
    states = _random_positions(150, 14, seed=3)
    best = GBGAlphaBeta().best_actions(states)
    exact = AlphaBeta(True).best_actions(states)
    assert best.any(axis=1).all()
    assert (AlphaBeta().best_actions(states) | ~best).all()
    drawn = AlphaBeta().scores(states).max(axis=1) == 0
    np.testing.assert_array_equal(best[drawn], exact[drawn])
    assert (best != exact).any()
    assert make_player("ab-dl-gbg", GAME).name == "ab-dl-gbg"


@needs_bitbully
def test_full_columns_and_terminal_states_have_no_score():
    player = AlphaBeta()
    states = _stack([_after("000000"), _after("0101010"), _after("")])
    scores = player.scores(states)
    assert (scores == ILLEGAL).tolist() == [[True] + [False] * 6, [True] * 7, [False] * 7]
    for seed in range(20):
        assert player.act(states, jax.random.key(seed))[0] != 0
    assert not player.best_actions(states)[1].any()
    assert not GBGAlphaBeta().best_actions(states)[[0, 1], [0, 3]].any()


@needs_bitbully
def test_moves_depend_on_the_key_alone():
    states = _repeat(_after("22334"), 50)
    first, again, other = (
        AlphaBeta().act(states, jax.random.key(seed)).tolist() for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


@pytest.mark.slow
@needs_bitbully
def test_ab_moving_first_beats_a_random_player_in_every_game():
    states = jax.vmap(GAME.init)(jax.random.split(jax.random.key(0), 20))
    seats, step = [AlphaBeta(True), RandomPlayer(GAME)], jax.jit(jax.vmap(GAME.afterstate))
    for ply in range(42):
        key = jax.random.fold_in(jax.random.key(6), ply)
        states = step(states, seats[ply % 2].act(states, key))
    assert (states.rewards[:, 0] == 1).all()


def test_a_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bitbully", None)
    with pytest.raises(MissingExtra, match=r"pip install 'jaxgbg\[connectfour\]'"):
        AlphaBeta()
