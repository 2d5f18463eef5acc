"""What a search proves, against perfect play and a plain search that computes proofs again."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Nim, TicTacToe
from jaxgbg.players import MaxN, SearchAgent
from jaxgbg.search.puct import PUCTSpec, most_visited
from jaxgbg.search.solver import SolvedStatistics, Solver
from tests.games.batches import each
from tests.reference.puct import PUCT as Reference
from tests.search.agents import (
    CLOSE,
    REFERENCES,
    make_small,
    random_agent,
    random_positions,
    reference_states,
    reference_value,
)


def _searching(agent, iterations, **settings):
    return SearchAgent(agent, PUCTSpec(iterations, solver=True, **settings))


def _perfect(name):
    """What player 0 ends with when both play perfectly, by plain rules: state -> float."""
    game = REFERENCES[name]()

    @functools.cache
    def value(state):
        if state.terminal:
            return state.rewards[0]
        best = max if state.player == 0 else min
        return best(value(game.play(state, action)) for action in game.legal(state))

    return game, value


def _proved(roots, exact):
    """How many values of legal actions are proved; all bounds hold float[B, A], NaN if illegal."""
    low, high = np.asarray(roots.low), np.asarray(roots.high)
    legal = ~np.isnan(exact)
    assert (np.isfinite(low) == legal).all()
    assert (np.isfinite(high) == legal).all()
    assert (low[legal] <= exact[legal]).all()
    assert (exact[legal] <= high[legal]).all()
    return int((low == high)[legal].sum())


def _by_max_n(game, states):
    """float[B, A]: what every legal action comes to for the mover, else NaN."""
    perfect, legal = MaxN(game), np.asarray(each(game.legal_actions, states))
    exact = np.full(legal.shape, np.nan)
    for action in range(game.num_actions):
        after = each(game.afterstate, states, jnp.full(len(legal), action))
        ended = np.asarray(after.terminal)[:, None]
        values = np.where(ended, after.rewards, perfect.values(after))
        mine = np.take_along_axis(values, np.asarray(states.player)[:, None].astype(int), 1)[:, 0]
        exact[:, action] = np.where(legal[:, action], mine, np.nan)
    return exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "plies", "iterations"),
    [(TicTacToe(), (0, 2, 4), 300), (Nim(3, 4), (0, 2, 4), 200)],
    ids=["tictactoe", "nim"],
)
def test_what_is_proved_is_what_max_n_says(game, plies, iterations):
    agent, proved = random_agent(game), 0
    for ply in plies:
        states = random_positions(game, 64, ply, seed=ply)[0]
        roots = _searching(agent, iterations).statistics(states)
        exact = _by_max_n(game, states)
        proved += _proved(roots, exact)
        # A root is searched no more as soon as its value is known.
        best = np.asarray(roots.low).max(1)
        solved = ~(np.asarray(roots.high) > best[:, None]).any(1)
        tries = np.asarray(roots.visits).sum(1)
        assert (tries[~solved] == iterations).all()
        moves = np.asarray(_searching(agent, iterations).act(states, jax.random.key(ply)))
        for row in np.flatnonzero(solved & ~np.asarray(states.terminal)):
            assert exact[row, moves[row]] == np.nanmax(exact[row]) == best[row]
    assert proved > 100


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plies"), [("connectfour", 31), ("othello", 6), ("hex", 9)])
def test_what_is_proved_is_what_plain_search_to_the_end_says(name, plies):
    game, (rules, value) = make_small(name), _perfect(name)
    # Of ConnectFour most random games are over by then.
    states, actions = random_positions(game, 400 if name == "connectfour" else 64, plies)
    roots = _searching(random_agent(game), 250).statistics(states)
    exact = np.full(roots.low.shape, np.nan)
    for row, state in enumerate(reference_states(name, states, actions)):
        for action in () if state.terminal else rules.legal(state):
            exact[row, action] = value(rules.play(state, action)) * (1 - 2 * state.player)
    assert _proved(roots, exact) > 30


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), [("tictactoe", 4), ("connectfour", 21), ("othello", 6)])
def test_visits_and_bounds_are_those_of_a_plain_search_in_float64(name, start):
    game, iterations = make_small(name), 120
    states, actions = random_positions(game, 12, start)
    agent = random_agent(game, few_digits=True)
    roots = _searching(agent, iterations).statistics(states)
    checked = 0
    for row, state in enumerate(reference_states(name, states, actions)):
        reference = Reference(*reference_value(name, agent), iterations, solver=True)
        root = reference.search(state)
        if not state.terminal and reference.closest > CLOSE:
            expected = np.zeros(game.num_actions)
            expected[list(root.visits)] = list(root.visits.values())
            assert roots.visits[row].tolist() == expected.tolist()
            sign = 1 - 2 * state.player
            for action in root.prior:
                child = root.children.get(action)
                bounds = sorted(sign * b for b in child.bounds()) if child else [-1, 1]
                assert [roots.low[row, action], roots.high[row, action]] == bounds
            checked += 1
    assert checked >= 4


def _solved(visits, values, low, high):
    entries = ([visits], [values], [low], [high])
    return SolvedStatistics(*(jnp.array(entry, jnp.float32) for entry in entries))


_NONE = -np.inf


@pytest.mark.parametrize(
    ("roots", "expected"),
    [
        # A proved win, however seldom tried.
        (_solved([90, 1, 9], [0.9, 1, 0], [-1, 1, -1], [1, 1, 1]), {1}),
        # A proved loss is avoided, however often it was tried.
        (_solved([90, 1, 9], [0.9, -0.5, -0.6], [-1, -1, -1], [-1, 1, 1]), {2}),
        # All lost: that which it took longest to see.
        (_solved([9, 30, 0], [0, 0.5, 0], [-1, -1, _NONE], [-1, -1, _NONE]), {1}),
        # A draw that is sure, where nothing else has done better; else what has.
        (_solved([9, 30, 20], [0, -0.1, -0.2], [0, -1, -1], [0, 1, 1]), {0}),
        (_solved([9, 30, 20], [0, 0.1, -0.2], [0, -1, -1], [0, 1, 1]), {1}),
        # All else is lost, and this one was never tried.
        (_solved([9, 0, 0], [0, 0, 0], [-1, -1, _NONE], [-1, 1, _NONE]), {1}),
        (_solved([0, 9, 5], [0, -1, -1], [_NONE, -1, -1], [_NONE, 1, 1]), {1}),
        # The game is over.
        (_solved([0, 0, 0], [0, 0, 0], [_NONE] * 3, [_NONE] * 3), {0}),
    ],
)
def test_the_move_is_the_most_visited_that_is_worth_playing(roots, expected):
    assert {int(most_visited(roots, jax.random.key(key))[0]) for key in range(5)} == expected


@pytest.mark.slow
def test_an_agent_of_random_weights_plays_better_for_what_it_proves():
    game = TicTacToe()
    states = random_positions(game, 64, 3)[0]
    best = np.asarray(MaxN(game).best_actions(states))
    agent, rows = random_agent(game, seed=3), np.arange(64)
    shares = []
    for solver in (False, True):
        player = jaxgbg.search(agent, 150, exploration=4, solver=solver)
        shares.append(best[rows, np.asarray(player.act(states, jax.random.key(0)))].mean())
    assert shares[0] < shares[1]
    assert shares[1] > 0.95


@pytest.mark.parametrize("name", ["nim3p", "2048"])
def test_games_without_proofs_are_refused_in_one_line(name):
    game = make_small(name)
    message = f"solver=1 needs two players, no chance and rewards that sum to 0: {game.name} is not"
    with pytest.raises(ValueError, match=message) as error:
        jaxgbg.search(random_agent(game), 9, solver=True)
    assert "\n" not in str(error.value)


class _Unlike(TicTacToe):
    @property
    def reward_range(self):
        return (0.0, 1.0)


class _AllWin(TicTacToe):
    """A fault: the end of a game pays both."""

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        return after._replace(rewards=jnp.abs(after.rewards))


@pytest.mark.slow
def test_rewards_that_do_not_sum_to_zero_prove_nothing():
    with pytest.raises(ValueError, match="rewards that sum to 0"):
        Solver(_Unlike())
    game = _AllWin()
    state = game.init(jax.random.key(0))
    for action in (0, 3, 1, 4):
        state = game.afterstate(state, jnp.int32(action))
    roots = jaxgbg.search(random_agent(game), 30, solver=True).statistics(state)
    assert roots.low[2] == -1
    assert roots.high[2] == 1
