"""Positions of small games, solved: values of an independent program, and the moves of an agent."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from experiments.exact_n_players import positions as solver
from experiments.exact_n_players.run import found, met
from experiments.n_players import equal_time
from jaxgbg import GreedyAgent, make
from jaxgbg.values import NTupleSpec


def share(game, reward):
    low, high = game.reward_range
    return (np.array(reward) - low) / (high - low)


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("pig", {"target": 10}, [0.709424, 0.290576]),
        ("pig", {"players": 3, "target": 5}, [0.757882, 0.192979, 0.049138]),
        # Player 0 wins in nine turns.
        pytest.param(
            *("chinese_checkers", {"rows": 1, "backward": True, "turns": 9}, [1, 0]),
            marks=pytest.mark.slow,
        ),
    ],
    ids=str,
)
def test_best_play_wins_as_often_as_known(name, parameters, expected):
    game = make(name, **parameters)
    positions = solver.positions_of(game)
    rewards, best = solver.best_play(positions)
    np.testing.assert_allclose(share(game, rewards), expected, atol=1e-6)
    assert np.bincount(positions.source[best]).tolist() == [1] * len(positions.mover)
    played = solver.reached(positions, best)
    alone = [solver.reward(played, seat) for seat in range(game.num_players)]
    np.testing.assert_allclose(alone, rewards, atol=1e-6)


@pytest.fixture(scope="module")
def einstein():
    game = make("ewn", size=3)
    return game, solver.positions_of(game)


def test_einstein_has_the_known_positions_and_win_rates_of_best_and_random_play(einstein):
    game, positions = einstein
    assert len(positions.following) == 17_538
    rewards, best = solver.best_play(positions)
    assert share(game, rewards[0]) == pytest.approx(0.699588477, abs=1e-9)
    every = np.ones_like(best)
    assert share(game, solver.reward(positions, 0)) == pytest.approx(0.584549151, abs=1e-9)
    # Nobody takes anything from best play; the best that random play can meet wins so often.
    assert found(positions, best, best)["at_worst"] == pytest.approx(rewards.tolist())
    expected = [0.120563250, 1 - 0.961974377]
    assert share(game, found(positions, best, every)["at_worst"]) == pytest.approx(expected)


def test_choices_are_the_moves_that_an_agent_makes(einstein):
    game, positions = einstein
    value = NTupleSpec().build(game, False, 1)
    params = value.init(jax.random.key(0))
    params = jax.tree.map(
        lambda leaf: leaf + jax.random.normal(jax.random.key(1), leaf.shape).astype(leaf.dtype),
        params,
    )
    agent = GreedyAgent(game, value, params)
    own = solver.choices(positions, agent)
    # Of the positions alone that this agent can meet, the same.
    everywhere, alone = found(positions, own, own), met(game, agent)
    for name, rewards in alone.items():
        np.testing.assert_allclose(rewards, everywhere[name], atol=1e-6)
    assert (np.bincount(positions.source, own) >= 1).all()
    # By the agent itself, in what a roll after each of some afterstates brings.
    rows = np.random.default_rng(0).choice(len(positions.following), 200, replace=False)
    for face in range(game.num_spawns):
        states = jax.vmap(game.spawn_outcome, (0, None))(
            jax.tree.map(lambda leaf: leaf[rows], positions.afterstates), face
        )
        values = np.asarray(agent.action_values(states))
        legal = np.isfinite(values)
        expected = (values == values.max(1, keepdims=True))[legal]
        decisions = positions.following[rows, face]
        moves = [np.flatnonzero(positions.source == each) for each in decisions]
        np.testing.assert_array_equal(own[np.concatenate(moves)], expected)


def test_rewards_of_matches_are_sorted_by_seat_and_agent(monkeypatch):
    """Each game pays ten times its number, and each seat its own number more."""

    def numbered(game, seats, players, states, history, key):
        return 10.0 * np.arange(len(seats))[:, None] + np.arange(game.num_players)

    monkeypatch.setattr(equal_time, "play", numbered)
    monkeypatch.setattr(equal_time, "opened", lambda *_: None)
    game, agents = make("nim", players=3), SimpleNamespace(copies=2)
    found = equal_time.rewards(game, agents, agents, 4)
    # Two games of an agent in each seat, all games of the first agent before those of the second.
    games = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    assert found.tolist() == [[10 * g + seat for g in games[seat]] for seat in range(3)]
    alone = equal_time.rewards(game, agents, None, 4)
    assert alone.tolist() == [[10 * g + seat for g in range(4)] for seat in range(3)]
