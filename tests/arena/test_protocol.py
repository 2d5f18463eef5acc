"""Start positions: one can play on from every one of them, and chance has had its turn."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.evaluation import Protocol, compete, start_states
from jaxgbg.evaluation.protocol import drawn_starts
from jaxgbg.players import PlayerBase, RandomPlayer
from jaxgbg.specs import LAST_SEED
from tests.games.batches import each

KEY = jax.random.key(1)


def choices(game, states):
    """How many legal actions each state has."""
    return np.asarray(each(game.legal_actions, states)).sum(1)


@pytest.mark.slow
@pytest.mark.parametrize("starts", ["default", "choose_01"])
def test_every_start_of_2048_is_drawn_by_itself(starts):
    game = jaxgbg.make("2048")
    for key in jax.random.split(KEY, 5):
        states, history = start_states(game, Protocol(starts, count=200), key)
        assert choices(game, states).min() > 0
        played = (history.actions >= 0).sum(1)
        tiles = np.asarray(states.tiles).astype(int)
        counts = (tiles > 0).sum(1)
        totals = np.where(tiles > 0, 2**tiles, 0).sum(1)
        # Two tiles of 2 or 4; a move adds one more.
        assert (counts[played == 0] == 2).all()
        assert np.isin(totals[played == 0], (4, 6, 8)).all()
        assert np.isin(totals[played == 1], (6, 8, 10, 12)).all()
        # Two tiles have 480 arrangements; 80 starts or more with fewer than 40 of them are as good
        # as impossible.
        assert len(np.unique(tiles[played == 0], axis=0)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ewn", "maedn", "backgammon"])
def test_dice_before_the_first_move_are_rolled_for_every_start(name):
    game = jaxgbg.make(name)
    states, history = start_states(game, Protocol("choose_01", count=100), KEY)
    first = np.flatnonzero(history.actions[:, 0] < 0)
    assert 20 < len(first) < 80
    leaves = [np.asarray(leaf)[first].reshape(len(first), -1) for leaf in jax.tree.leaves(states)]
    assert len(np.unique(np.concatenate(leaves, 1), axis=0)) >= 4


def test_a_list_of_starts_needs_one_start_position():
    with pytest.raises(ValueError, match="starts 'one_ply' need one start position, not 2048"):
        start_states(jaxgbg.make("2048"), Protocol("one_ply"), KEY)


@pytest.mark.slow
@pytest.mark.parametrize("starts", ["choose_01", "one_ply", "random_plies"])
def test_no_start_has_ended(starts):
    game = jaxgbg.make("nim", heaps=1, size=4)
    protocol = Protocol(starts, count=100, plies=1)
    states, history = start_states(game, protocol, KEY)
    assert choices(game, states).min() > 0
    # Taking all four ends the game at once.
    played = {0, 1, 2} if starts == "random_plies" else {-1, 0, 1, 2}
    assert set(history.actions.ravel().tolist()) == played
    assert len(history.actions) == (4 if starts == "one_ply" else 100)
    rewards = compete(game, RandomPlayer(game), RandomPlayer(game), protocol, KEY)
    assert rewards.shape == (1, 2, len(history.actions))


@pytest.mark.slow
def test_lists_of_sequences_end_before_the_game_and_refuse_chance():
    states, _ = start_states(jaxgbg.make("nim", heaps=2, size=3), Protocol("four_ply"), KEY)
    assert choices(jaxgbg.make("nim", heaps=2, size=3), states).min() > 0
    for starts in ("four_ply", "four_ply_positions"):
        with pytest.raises(ValueError, match=f"'{starts}' need a game without chance, not 2048"):
            start_states(jaxgbg.make("2048"), Protocol(starts), KEY)
    with pytest.raises(ValueError, match="no game of nim goes on after four plies"):
        start_states(jaxgbg.make("nim", heaps=1, size=4), Protocol("four_ply"), KEY)


def test_a_triangle_of_starts_is_the_empty_board_and_one_stone_up_to_the_diagonal():
    game = jaxgbg.make("hex", size=3)
    states, history = start_states(game, Protocol("one_ply_triangle"), KEY)
    assert history.actions.ravel().tolist() == [-1, 0, 3, 4, 6, 7, 8]
    stones = [np.flatnonzero(cells).tolist() for cells in np.asarray(each(game.cells, states))]
    assert stones == [[], [0], [3], [4], [6], [7], [8]]


def test_half_of_the_choices_of_0_or_1_plies_are_none_and_the_others_even():
    game = jaxgbg.make("tictactoe")
    _, history = start_states(game, Protocol("choose_01", count=3600), KEY)
    counts = np.bincount(1 + history.actions.ravel(), minlength=10)
    # Four standard errors.
    assert abs(counts[0] - 1800) < 120
    assert abs(counts[1:] - 200).max() < 55


@pytest.mark.slow
def test_where_chance_differs_every_repetition_has_a_start_of_its_own():
    game, agent = jaxgbg.make("2048"), RandomPlayer(jaxgbg.make("2048"))
    assert Protocol("default", count=2, repeats=3).for_game(game) == Protocol("default", count=6)
    assert Protocol("one_ply", repeats=3).for_game(game) == Protocol("one_ply", repeats=3)
    assert compete(game, agent, None, Protocol("default", 2, 3), KEY).shape == (1, 1, 6)


def test_unknown_starts_are_refused():
    with pytest.raises(
        ValueError, match="starts must be one of default, choose_01, random_plies, one_ply"
    ):
        Protocol("two_ply")


def test_openings_are_drawn_move_by_move_and_go_on():
    game = jaxgbg.make("tictactoe")
    states, history = start_states(
        game, Protocol("random_plies", count=300, plies=6), jax.random.key(1)
    )
    assert history.actions.shape == (300, 6)
    assert not states.terminal.any()
    np.testing.assert_array_equal(history.players, np.tile([0, 1], (300, 3)))
    # The history leads to the state: six stones, each on a cell of its own.
    assert all(len(set(actions)) == 6 for actions in history.actions)
    start, step = game.init(None), jax.jit(game.afterstate)
    for at in range(3):
        state = start
        for action in history.actions[at]:
            state = step(state, action)
        np.testing.assert_array_equal(game.cells(state), each(game.cells, states)[at])
    assert len(np.unique(history.actions, axis=0)) > 250
    with pytest.raises(ValueError, match="nearly all games of tictactoe end within 9"):
        start_states(game, Protocol("random_plies", count=3, plies=9), jax.random.key(1))


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("choose_01", count=30),
        pytest.param(Protocol("random_plies", count=30, plies=2), marks=pytest.mark.slow),
    ],
)
def test_each_seed_draws_starts_of_its_own(protocol):
    # A third of the draws of one ply end this game: they are drawn again, by the seed's own key.
    game = jaxgbg.make("nim", heaps=2, size=3)

    def boards(*numbers):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(KEY, np.array(numbers))
        states, history = drawn_starts(game, protocol, keys)
        assert not states.terminal.any()
        return np.asarray(history.actions).reshape(len(numbers), -1).tolist()

    five, six, seven = boards(5, 6, 7)
    assert five != six != seven != five
    assert boards(7, 5) == [seven, five]
    assert boards(6) == [six]


class Onlooker(PlayerBase):
    """Four copies of a player who notes the heaps of the first positions that they see."""

    name, copies, seen = "onlooker", 4, None

    def act(self, states, key, history=None):
        if self.seen is None:
            self.seen = np.asarray(states.heaps).reshape(4, -1)
        return np.asarray(states.heaps).argmax(1) * GAME.max_take


GAME = jaxgbg.make("nim3p")


@pytest.mark.slow
def test_copies_of_a_seed_meet_the_same_starts():
    def starts(seeds):
        onlooker = Onlooker()
        protocol = Protocol("choose_01", count=20, repeats=2)
        compete(GAME, onlooker, RandomPlayer(GAME), protocol, KEY, seeds)
        return onlooker.seen.tolist()

    first, second, third, last = starts((3, 8, 3, LAST_SEED))
    assert first == third != second != last != first
    assert starts((8, 3, 8, 8))[:2] == [second, first]
    assert len({str(each) for each in starts(())}) == 1
