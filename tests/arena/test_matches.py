"""Matches as one compiled program are the matches that the host plays ply by ply."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.evaluation import Protocol, compete, matches
from jaxgbg.evaluation.protocol import no_history
from jaxgbg.players import GreedyAgent, MaxN, PlayerBase, Positional, RandomPlayer
from jaxgbg.runs.presets import preset
from tests.games.batches import each


class Untraceable(PlayerBase):
    """The same player, of whom the arena does not know that it could compile his matches."""

    def __init__(self, player):
        self.player = player
        self.name = player.name

    @property
    def copies(self):
        return self.player.copies

    def act(self, states, key, history=None):
        assert history is None
        return self.player.act(states, key)


def agents(name, **changes):
    """Two untrained agents with random tables."""
    learner = preset(name, episodes=10, **changes).make_learner()
    params = jax.tree.map(lambda leaf: jax.numpy.stack([leaf, leaf]), learner.value.init())
    weights = jax.random.normal(jax.random.key(0), params.weights.shape)
    params = params._replace(weights=weights)
    return GreedyAgent(learner.game, learner.value, params, several=True)


@pytest.mark.parametrize(
    ("name", "opponent", "protocol"),
    [
        pytest.param(
            "nim3p",
            RandomPlayer,
            Protocol("choose_01", count=3, repeats=2),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "othello",
            lambda game: Positional(game, "bench"),
            Protocol("default", repeats=2),
            marks=pytest.mark.slow,
        ),
        pytest.param("2048", None, Protocol("default", repeats=3), marks=pytest.mark.slow),
    ],
)
def test_compiled_matches_are_the_matches_of_the_host(name, opponent, protocol):
    game, key = jaxgbg.make(name), jax.random.key(7)
    layouts = {"2048": ((0, 1), (4, 5)), "othello": ((0, 1, 9), (27, 28))}
    agent = agents(name, **({"layout": layouts[name]} if name in layouts else {}))
    player = opponent(game) if opponent else None
    compiled = compete(game, agent, player, protocol, key)
    by_host = compete(game, Untraceable(agent), player, protocol, key)
    assert compiled.shape[0] == 2
    assert np.unique(compiled).size > 1
    np.testing.assert_array_equal(compiled, by_host)


@pytest.mark.slow
def test_one_player_of_the_host_is_enough_to_play_there():
    game = jaxgbg.make("tictactoe")
    scores = compete(
        game, RandomPlayer(game), Untraceable(MaxN(game)), Protocol("one_ply"), jax.random.key(1)
    )
    assert scores.shape == (1, 2, 10)
    assert scores.max() <= 0


@jax.tree_util.register_pytree_node_class
class Nth(PlayerBase):
    """Plays the `number`-th legal action, counted round; the second copy the one after it."""

    name, traceable = "nth", True

    def __init__(self, game, number, copies=1):
        self.game, self.number, self._copies = game, number, copies

    def tree_flatten(self):
        return (), (self.game, self.number, self._copies)

    @classmethod
    def tree_unflatten(cls, fixed, leaves):
        return cls(*fixed)

    @property
    def copies(self):
        return self._copies

    def act(self, states, key, history=None):
        legal = jax.vmap(self.game.legal_actions)(states)
        copy = np.repeat(np.arange(self.copies), len(legal) // self.copies)
        number = (self.number + copy) % jnp.maximum(legal.sum(1), 1)
        return (legal.cumsum(1) > number[:, None]).argmax(1).astype(jnp.int32)


def test_games_that_wait_for_a_place_are_played_like_all_others(monkeypatch):
    game = jaxgbg.make("tictactoe")
    for places in (1, 3, 8):
        for copies in (1, 2, 3):
            players = Nth(game, 1, copies), Nth(game, 3)
            protocol = Protocol("random_plies", count=11, plies=3)
            expected = compete(game, *players, protocol, jax.random.key(5))
            with monkeypatch.context() as few:
                few.setattr(matches, "_LONG", 0)
                few.setattr(matches, "_PLACES", places)
                matches._play_in_line.clear_cache()
                few.setattr(matches, "_play_compiled", None)
                in_line = compete(game, *players, protocol, jax.random.key(5))
            np.testing.assert_array_equal(in_line, expected)
            assert np.unique(expected).size > 1
    matches._play_in_line.clear_cache()


def test_a_start_that_is_over_takes_no_place(monkeypatch):
    game = jaxgbg.make("tictactoe")
    starts = each(game.init, jax.random.split(jax.random.key(0), 5))
    over = starts._replace(terminal=np.array([True, False, True, True, False]))
    seats = np.tile(np.arange(2), (5, 1))
    monkeypatch.setattr(matches, "_LONG", 0)
    monkeypatch.setattr(matches, "_PLACES", 2)
    players = Nth(game, 0), Nth(game, 0)
    matches._play_in_line.clear_cache()
    rewards = matches.play(game, seats, players, over, no_history(5), jax.random.key(0))
    matches._play_in_line.clear_cache()
    np.testing.assert_array_equal(rewards, [[0, 0], [1, -1], [0, 0], [0, 0], [1, -1]])


def test_those_who_keep_something_of_their_games_wait_for_nobody():
    game = jaxgbg.make("tictactoe")
    agent = agents("tictactoe", layout=((0, 1, 2),))
    states = each(game.init, jax.random.split(jax.random.key(0), 2))
    for reuse in (False, True):
        search = jaxgbg.search(agent, 2, megabytes=1, reuse=reuse)
        assert matches._remember([search, RandomPlayer(game)], states) == reuse


def test_many_long_games_are_worth_a_line():
    long = jaxgbg.make("lines_of_action", size=4, max_plies=101)
    assert matches._worth_a_line(long, 1025)
    assert not matches._worth_a_line(long, 1024)
    assert not matches._worth_a_line(jaxgbg.make("tictactoe"), 100_000)
