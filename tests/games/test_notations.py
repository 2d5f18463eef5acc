"""Positions as text: every game reads what it writes, and refuses what is no position of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games.notations import set_up, write_position
from jaxgbg.games.rollout import select_states
from jaxgbg.games.sampling import sample_games

SHIPPED = [
    jaxgbg.make("tictactoe"),
    jaxgbg.make("nim", heaps=4, size=6, players=3, max_take=4),
    jaxgbg.make("nim3p"),
    jaxgbg.make("connectfour"),
    jaxgbg.make("connectfour", draw_after=12),
    jaxgbg.make("hex", size=5),
    jaxgbg.make("hex", size=4, misere=True),
    jaxgbg.make("othello", size=6),
    jaxgbg.make("othello"),
    jaxgbg.make("2048"),
    jaxgbg.make("lines_of_action", size=5),
    jaxgbg.make("lines_of_action", size=4, stuck="loss", both="mover", max_plies=30),
    jaxgbg.make("lines_of_action", size=4, repetition="none", max_plies=40),
    jaxgbg.make("lines_of_action", size=4, repetition="threefold", max_plies=30),
    jaxgbg.make("pig", players=3, target=30),
    jaxgbg.make("ewn", players=3, stones=3),
    jaxgbg.make("sim", players=3),
    jaxgbg.make("yavalath", size=3, players=3),
    jaxgbg.make("chinese_checkers", players=3, ranks=True),
    jaxgbg.make("maedn", quarter=3, ranks=True, players=3),
]


def named(game):
    changed = [str(value) for value in vars(game).values()]
    return "-".join([game.name, *changed])


def same(one, other):
    """Whether two states are equal in every field, to the bit and the type."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jax.tree.structure(one) == jax.tree.structure(other) and all(
        np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b) for a, b in pairs
    )


def positions(game, count=40):
    """States of random games, first and last ones among them, and afterstates before chance."""
    sample = sample_games(game)
    random = np.random.default_rng(0)
    plies, games = sample.terminal.shape[0], 32
    rows = []
    for at in range(games):
        last = int(np.argmax(sample.terminal[:, at])) if sample.terminal[:, at].any() else plies - 1
        rows += [(last, at), (int(random.integers(last + 1)), at)]
    chosen = [(0, 0), *rows][:count]
    states = [select_states(sample.states, row) for row in chosen]
    if game.stochastic:
        after = jax.jit(game.afterstate)
        states += [
            jax.device_get(after(state, jnp.int32(sample.actions[ply, at])))
            for state, (ply, at) in zip(states, chosen, strict=True)
        ]
    return states


@pytest.mark.parametrize("game", SHIPPED, ids=named)
def test_what_a_game_writes_it_reads_again(game):
    texts = {}
    for state in positions(game):
        text = write_position(game, state)
        assert "\n" not in text
        assert ";" not in text
        assert same(set_up(game, text), state), text
        assert same(jaxgbg.position(game, text), state)
        assert jaxgbg.position_text(game, state) == text
        # One text is one position.
        assert same(texts.setdefault(text, state), state)
    assert len(texts) > 3
