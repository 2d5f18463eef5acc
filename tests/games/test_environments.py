"""Our games as environments of others: their own checks, and the same games as ours."""

import re
import sys
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import game_names, make

# As short as they get, for a check plays whole games, some move by move.
SMALLER = {
    "backgammon": {"checkers": 3},
    "chinese_checkers": {"rows": 1},
    "ewn": {"size": 3},
    "lines_of_action": {"size": 4},
    "maedn": {"quarter": 2, "pieces": 1},
    "othello": {"size": 4},
    "pig": {"target": 10},
    "yavalath": {"size": 3},
}
# What the check mentions of PettingZoo's own board games as well: the mask of actions stands in the
# observation, an empty board is all zeros, nobody can move when the game is over. We draw nothing.
MENTIONED = {
    "Observation is not a NumPy array",
    "Environment has not defined a render() method",
    "Observation space for each agent probably should be gymnasium.spaces.box or"
    " gymnasium.spaces.discrete",
    "Observation numpy array is all zeros.",
    "Action mask numpy array is all zeros (no legal actions).",
}
FEW = ["tictactoe", "nim3p", "ewn"]
EVERY = [
    name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in game_names()
]


def small(name):
    return make(name, **SMALLER.get(name, {}))


@jax.jit
def act_randomly(key, legal):
    """int32[...]: a legal action of each mask bool[..., A]."""
    return jax.random.categorical(key, jnp.where(legal, 0.0, -jnp.inf), axis=-1)


@pytest.mark.parametrize("name", EVERY)
def test_pgx_finds_no_fault(name, monkeypatch):
    pgx = pytest.importorskip("pgx")
    from pgx._src import api_test

    env = jaxgbg.to_pgx(small(name))
    known = get_args(pgx.EnvId)
    monkeypatch.setattr(api_test, "get_args", lambda _: (*known, env.id))
    # That of pgx 2.6 fails for a single state with JAX 0.10 and newer.
    monkeypatch.setattr(api_test, "act_randomly", act_randomly)
    # Only games that pgx knows have a picture.
    monkeypatch.setattr(pgx.State, "save_svg", lambda *_: None)
    pgx.api_test(env, 2, use_key=True)


@pytest.mark.parametrize("name", EVERY)
def test_pettingzoo_finds_no_fault(name):
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test

    # pytest raises any other warning.
    with pytest.warns(UserWarning, match="|".join(map(re.escape, MENTIONED))):
        api_test(jaxgbg.to_pettingzoo(small(name)), num_cycles=50)


@pytest.mark.parametrize("name", EVERY)
def test_both_play_the_game(name):
    game, random = small(name), np.random.default_rng(0)
    key = jax.random.key(3)
    env, theirs = jaxgbg.to_pettingzoo(game), jaxgbg.to_pgx(game)
    start, after = jax.random.split(key)
    env.reset(seed=3)
    state = game.init(start)
    pgx_state = jax.jit(theirs.init)(start)
    step, own = jax.jit(theirs.step), jax.jit(game.step)
    earned = np.zeros(game.num_players)
    while not state.terminal:
        seat = int(state.player)
        assert env.agent_selection == f"player_{seat}"
        assert seat == pgx_state.current_player
        seen = env.observe(env.agent_selection)
        np.testing.assert_array_equal(seen["observation"], pgx_state.observation)
        np.testing.assert_array_equal(seen["observation"], [*game.display_cells(state), seat])
        legal = np.flatnonzero(game.legal_actions(state))
        np.testing.assert_array_equal(np.flatnonzero(seen["action_mask"]), legal)
        np.testing.assert_array_equal(np.flatnonzero(pgx_state.legal_action_mask), legal)
        action = int(random.choice(legal))
        after, drawn = jax.random.split(after)
        before, state = state, own(state, jnp.int32(action), drawn)
        env.step(action)
        pgx_state = step(pgx_state, action, drawn)
        gains = state.rewards - before.rewards
        np.testing.assert_allclose(list(env.rewards.values()), gains, rtol=1e-6)
        np.testing.assert_allclose(pgx_state.rewards, gains, rtol=1e-6)
        earned += gains
    assert bool(pgx_state.terminated)
    assert all(env.terminations.values())
    np.testing.assert_allclose(earned, state.rewards, rtol=1e-5)


def test_a_wrong_move_is_refused_as_each_package_does():
    game = make("tictactoe")
    env = jaxgbg.to_pettingzoo(game)
    env.reset(seed=0)
    env.step(4)
    for wrong in (4, -1, 9, None):
        with pytest.raises(ValueError, match=f"tictactoe: action {wrong} is not legal here"):
            env.step(wrong)
    theirs = jaxgbg.to_pgx(game)
    state = theirs.step(theirs.step(theirs.init(jax.random.key(0)), 4), 4)
    assert bool(state.terminated)
    assert state.rewards.tolist() == [1, -1]


def test_chance_needs_a_key():
    env = jaxgbg.to_pgx(make("pig"))
    with pytest.raises(ValueError, match="pig is a game of chance: give step a key"):
        env.step(env.init(jax.random.key(0)), 0)


@pytest.mark.parametrize("package", ["pgx", "pettingzoo"])
def test_a_missing_package_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    to = getattr(jaxgbg, f"to_{package}")
    with pytest.raises(ValueError, match=rf"to_{package}: .*pip install 'jaxgbg\[{package}\]'"):
        to(make("nim"))
