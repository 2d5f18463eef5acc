"""What every shipped game promises in addition to the contract; `check_game` tries that on each."""

import dataclasses
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
import jaxgbg.games
from jaxgbg.games import (
    Backgammon,
    ChineseCheckers,
    ConnectFour,
    EinStein,
    Game,
    Game2048,
    Hex,
    LinesOfAction,
    Maedn,
    Nim,
    Othello,
    Pig,
    Sim,
    TicTacToe,
    Yavalath,
    check_game,
    check_playable,
    game_names,
)
from jaxgbg.games.sampling import sample_games
from jaxgbg.xla import fast_compile_options
from tests.games.playouts import select, start_symmetries
from tests.internals import NO_DEVICE_STARTED

# A game of each kind is in the fast half; so are, with tests of their own, the rules of the others.
FAST = [TicTacToe(), jaxgbg.make("nim3p")]
BOARD_GAMES = [
    *FAST,
    ConnectFour(),
    Hex(size=3),
    Nim(),
    Nim(heaps=2, size=4, rule="last_loses"),
    Nim(heaps=3, size=3, players=4),
    Nim(heaps=2, size=6, max_take=2),
    ConnectFour(draw_after=13),
    Hex(size=3, misere=True),
    Othello(size=4),
    LinesOfAction(size=4, max_plies=40),
    Sim(nodes=5, players=3),
    Yavalath(size=3, swap=True),
    ChineseCheckers(rows=1, turns=30),
]
GAMES = [
    *BOARD_GAMES,
    Game2048(),
    Pig(players=3, target=10, horizon=60),
    EinStein(4, 3),
    Maedn(3, quarter=2, pieces=2, max_plies=60, ranks=True),
    Backgammon(3, "gammons", max_plies=300),
]


def halves(games: list[Game]) -> list[object]:
    """All of them, those that are not fast marked as slow."""
    fast = [*FAST, Game2048()]
    return [each if each in fast else pytest.param(each, marks=pytest.mark.slow) for each in games]


KEY = jax.random.key(1)


@pytest.fixture(params=halves(GAMES), ids=repr)
def game(request) -> Game:
    return request.param


@pytest.fixture(params=halves(BOARD_GAMES), ids=repr)
def board_game(request) -> Game:
    return request.param


@pytest.mark.parametrize("game", halves(GAMES), ids=repr)
def test_a_shipped_game_keeps_the_contract(game):
    check_playable(game)
    assert check_game(game) == []


@pytest.mark.slow
def test_lines_of_action_keeps_the_contract_in_full_size():
    game = LinesOfAction()
    check_playable(game)
    assert check_game(game) == []


def test_a_game_is_an_immutable_value(game):
    assert sum(game == other for other in GAMES) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        game.surprise = 1


def test_make_builds_each_game_under_its_name(game):
    assert jaxgbg.make(game.name, **dataclasses.asdict(game)) == game


def test_equal_games_share_one_compiled_program(game):
    traced = []

    def first_cells(game):
        traced.append(game)
        return game.cells(game.init(KEY))

    compiled = jax.jit(first_cells, static_argnums=0)
    compiled(game)
    compiled(dataclasses.replace(game))
    assert traced == [game]


def test_a_compiled_ply_is_that_of_plain_python_bit_for_bit(game):
    played = sample_games(game)
    compiled = jax.jit(game.step)
    for ply in np.linspace(0, min(played.plies[0], 256) - 1, 3, dtype=int):
        state = select(played.states, (ply, 0))
        after = compiled(state, played.actions[ply, 0], KEY)
        with jax.disable_jit():
            state = jax.tree.map(jnp.asarray, state)
            alone = game.step(state, played.actions[ply, 0], KEY)
            np.testing.assert_array_equal(game.legal_actions(state), played.legal[ply, 0])
            np.testing.assert_array_equal(game.cells(state), played.cells[ply, 0])
        jax.tree.map(np.testing.assert_array_equal, alone, after)


def test_public_step_refuses_illegal_actions_and_compiled_step_ignores_them(game):
    played, compiled = sample_games(game), jax.jit(game.step)
    for ply in (0, len(played.terminal) // 3, len(played.terminal) - 1):
        state = select(played.states, (ply, 0))
        illegal = [-1, game.num_actions, 10**6, *np.flatnonzero(~played.legal[ply, 0])[:2].tolist()]
        for action in illegal:
            with pytest.raises(ValueError, match=f"{game.name}: action {action} is not legal"):
                game.step(state, action, KEY)
            after = compiled(state, np.int32(action), KEY)
            jax.tree.map(np.testing.assert_array_equal, after, state)


def test_public_step_takes_known_moves_while_something_else_is_traced(game):
    start = game.init(KEY)
    action = int(np.argmax(game.legal_actions(start)))
    traced = jax.jit(lambda key: game.step(start, action, key))(KEY)
    expected = jax.jit(game.step)(start, action, KEY)
    jax.tree.map(np.testing.assert_array_equal, traced, expected)


def test_rewards_are_paid_when_a_player_is_out_and_span_their_range(board_game):
    played = sample_games(board_game)
    # Who has not left the game before its end is paid nothing until then.
    whole = played.states.rewards, played.states.terminal
    out = getattr(played.states, "out", np.zeros(whole[0].shape, bool))
    assert not whole[0][~whole[1][..., None] & ~out].any()
    assert out.any() or not played.rewards[~played.terminal].any()
    paid = played.rewards[played.terminal]
    np.testing.assert_array_equal((paid.min(), paid.max()), np.float32(board_game.reward_range))


def test_every_player_is_on_turn_at_times(game):
    assert set(sample_games(game).player.ravel().tolist()) == set(range(game.num_players))


def test_all_symmetries_but_four_of_two_games_keep_the_start_as_it_is(board_game):
    kept = len(start_symmetries(board_game))
    assert kept == (
        4 if board_game.name in ("othello", "lines_of_action") else len(board_game.symmetries)
    )


@pytest.mark.parametrize(
    "game", [game for game in GAMES if type(game).outcomes is not Game.outcomes], ids=repr
)
def test_outcomes_told_sooner_are_those_of_making_every_move_bit_for_bit(game):
    def both(state):
        return game.outcomes(state), Game.outcomes(game, state)

    states = select(sample_games(game).states, np.s_[:, :8])
    told, made = jax.jit(jax.vmap(jax.vmap(both)), compiler_options=fast_compile_options())(states)
    jax.tree.map(np.testing.assert_array_equal, told, made)


@pytest.mark.slow
def test_importing_and_describing_games_touches_no_device():
    names = game_names()
    code = f"""
import jaxgbg, numpy
for name in {names}:
    game = jaxgbg.make(name)
    for constant in (game.symmetries, game.action_symmetries, game.adjacency, game.lines):
        assert type(constant) is numpy.ndarray
{NO_DEVICE_STARTED}
"""
    root = Path(jaxgbg.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)


def test_constants_of_the_rules_are_numpy():
    for module in pkgutil.iter_modules(jaxgbg.games.__path__, "jaxgbg.games."):
        for name, value in vars(importlib.import_module(module.name)).items():
            assert not isinstance(value, jax.Array), f"{module.name}.{name}"
