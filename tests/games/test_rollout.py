"""Games played in step against the same games played one by one, eagerly."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Game2048, Nim, make
from jaxgbg.games.rollout import play_ply, record, roll_out

GAMES = [make("nim3p"), pytest.param(Game2048(), marks=pytest.mark.slow)]


def starts(game, count=4):
    return jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(3), count))


def first_legal(game):
    legal_actions = jax.vmap(game.legal_actions)
    return jax.jit(lambda states: legal_actions(states).argmax(1).astype(jnp.int32))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_ply_splits_its_key_into_one_for_each_game(game):
    states, key = starts(game), jax.random.key(7)
    actions = first_legal(game)(states)
    played = play_ply(game, states, actions, key)
    step = jax.jit(game.step)
    states, played, actions = jax.device_get((states, played, actions))
    for i, draw in enumerate(jax.random.split(key, 4)):
        one = step(jax.tree.map(lambda x, i=i: x[i], states), actions[i], draw)
        jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda x, i=i: x[i], played), one)


@pytest.mark.slow
def test_a_ply_may_be_drawn_by_words():
    game = Game2048()
    states, words = starts(game), np.arange(4, dtype=np.uint32)[:, None] << 16
    actions = first_legal(game)(states)
    played = play_ply(game, states, actions, words)
    moved = jax.jit(jax.vmap(game.afterstate))(states, actions)
    expected = jax.jit(jax.vmap(game.spawn_from))(moved, words)
    jax.tree.map(np.testing.assert_array_equal, played, expected)
    assert (played.tiles != moved.tiles).any(1).all()


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_roll_out_is_ply_after_ply_until_all_have_ended(game):
    pick = first_legal(game)

    def choose(states, key, plies):
        key, _ = jax.random.split(key)
        # What is remembered decides: every other ply the last of the moves.
        legal = jax.vmap(game.legal_actions)(states)
        last = game.num_actions - 1 - legal[:, ::-1].argmax(1)
        return jnp.where(plies % 2 == 0, pick(states), last), key, plies + 1

    states, key, plies = starts(game), jax.random.key(5), jnp.int32(0)
    ended = jax.jit(partial(roll_out, game, choose=choose))(states, key=key, memory=plies)
    while not states.terminal.all():
        actions, key, plies = choose(states, key, plies)
        key, draw = jax.random.split(key)
        states = play_ply(game, states, actions, draw)
    jax.tree.map(np.testing.assert_array_equal, ended, states)


def test_a_record_holds_what_was_noted_before_each_ply():
    game = Nim(heaps=2, size=2)
    pick = first_legal(game)

    def choose(states, draw):
        return pick(states), (states.heaps, draw)

    keys = jax.random.split(jax.random.key(0), 4)
    after, (heaps, draws) = record(game, starts(game, 2), choose, jnp.arange(4), keys)
    np.testing.assert_array_equal(heaps[:, 0], [[2, 2], [1, 2], [0, 2], [0, 1]])
    np.testing.assert_array_equal(heaps[:, 1], heaps[:, 0])
    np.testing.assert_array_equal(draws, range(4))
    assert after.terminal.all()
