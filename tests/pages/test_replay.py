"""Recorded games keep the rules and the agent's judgement, and every move has its place."""

import jax
import numpy as np
import pytest

from jaxgbg.games import GAMES, Game, make
from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.players import GreedyAgent, MaxN
from jaxgbg.pages.board_svg import drawing_of
from jaxgbg.pages.film import Film
from jaxgbg.pages.replay import sample_games
from jaxgbg.values import NTuple, random_walk


def agent_of(game: Game) -> GreedyAgent:
    """An agent with random weights."""
    tuples = random_walk(game, 3, 2, seed=1)
    value = NTuple.for_game(game, tuples, True, "none", "sum")
    weights = np.random.default_rng(0).normal(0, 0.1, value.num_weights).astype(np.float32)
    return GreedyAgent(game, value, value.with_weights(weights))


@pytest.mark.parametrize("name", ["tictactoe", "nim3p"])
def test_a_recorded_game_can_be_played_again(name):
    game = make(name)
    agent = agent_of(game)
    perfect = MaxN(game)
    values_of = jax.jit(agent.action_values)
    replays = sample_games(agent, ("mcts-100", "maxn"))
    others = ("maxn",) * (game.num_players - 1)
    assert [replay.names for replay in replays] == [("agent", *others), (*others, "agent")]
    for replay in replays:
        state = game.init(jax.random.key(0))
        for ply, action in enumerate(replay.actions):
            np.testing.assert_array_equal(replay.digits[ply], game.cells(state))
            assert replay.players[ply] == state.player
            values = np.asarray(values_of(state))
            np.testing.assert_allclose(replay.values[ply], values, atol=1e-6)
            if replay.names[int(state.player)] == "agent":
                assert values[action] == pytest.approx(values.max(), abs=1e-6)
            else:
                one = jax.tree.map(lambda leaf: leaf[None], state)
                assert perfect.best_actions(one)[0, action]
            state = game.step(state, int(action), jax.random.key(0))
        assert state.terminal
        np.testing.assert_array_equal(replay.digits[-1], game.cells(state))
        np.testing.assert_array_equal(replay.rewards[-1], state.rewards)


def test_a_game_of_chance_is_recorded_to_its_end():
    (replay,) = sample_games(agent_of(make("2048")), ("score",))
    # A move that pays nothing raises no reward, and no tile is ever lost.
    assert (np.diff(replay.rewards[:, 0]) >= 0).all()
    sums = (2 ** replay.digits.astype(int) * (replay.digits > 0)).sum(1)
    assert set(np.diff(sums)) <= {2, 4}
    assert f"{replay.rewards[-1, 0] * MAX_SCORE:,.0f} points" in Film(replay, "s").title
    (again,) = sample_games(agent_of(make("2048")), ("score",))
    np.testing.assert_array_equal(again.actions, replay.actions)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [*((name, {}) for name in GAMES), ("hex", {"size": 3}), ("nim", {"heaps": 2, "max_take": 2})],
)
def test_every_legal_move_has_a_place_of_its_own(name, parameters):
    game = make(name, **parameters)
    drawing = drawing_of(game)
    assert len(drawing.actions) == len(set(drawing.actions)) == game.num_actions
    assert len(drawing.sides) == game.num_players
    for x, y in drawing.spots:
        assert 0 < x < drawing.width
        assert 0 < y < drawing.height
    step = jax.jit(game.step)
    key, state = jax.random.key(0), jax.jit(game.init)(jax.random.key(0))
    random = np.random.default_rng(0)
    for _ in range(12):
        legal = np.flatnonzero(game.legal_actions(state))
        if not legal.size:
            break
        digits = np.asarray(game.cells(state))
        kinds = drawing.show(digits)
        assert len(kinds) == len(drawing.spots)
        places = [drawing.place(digits, int(action)) for action in legal]
        assert len(set(places)) == len(places)
        assert 0 <= min(places) <= max(places) < len(drawing.spots)
        # Moves are written where nothing stands, but in Nim on what is taken.
        free = [drawing.pieces[kinds[place]] == "" for place in places]
        assert all(free) != (game.name in ("nim", "nim3p"))
        state = step(state, random.choice(legal), key)


def test_a_game_that_nobody_drew_shows_its_cells():
    class Unknown(Game):
        name, num_players, num_actions, num_cells, num_cell_values = "unknown", 2, 3, 5, 4

    drawing = drawing_of(Unknown())
    assert len(drawing.spots) == 5
    assert [f">{digit}<" in piece for digit, piece in enumerate(drawing.pieces)] == [True] * 4
    assert drawing.place(np.zeros(5), 2) == -1
