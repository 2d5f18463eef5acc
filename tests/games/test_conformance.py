"""What every game promises, whatever its rules."""

import dataclasses
import importlib
import itertools
import pkgutil
import subprocess
import sys
from pathlib import Path

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
import jaxgbg.games
from jaxgbg.games import ConnectFour, Game, Hex, Nim, Othello, TicTacToe
from tests.games.playouts import expansion, images, playouts, select, start_symmetries

GAMES = [
    TicTacToe(),
    Nim(),
    Nim(heaps=2, size=4, rule="last_loses"),
    Nim(heaps=3, size=3, players=4),
    Nim(heaps=2, size=6, max_take=2),
    jaxgbg.make("nim3p"),
    ConnectFour(),
    ConnectFour(draw_after=13),
    Hex(size=3),
    Hex(size=3, misere=True),
    Othello(size=4),
]
KEY = jax.random.key(1)


@pytest.fixture(params=GAMES, ids=repr)
def game(request) -> Game:
    return request.param


def test_a_game_is_an_immutable_value(game):
    twin = dataclasses.replace(game)
    assert twin is not game
    assert twin == game
    assert hash(twin) == hash(game)
    assert sum(game == other for other in GAMES) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        game.surprise = 1


def test_make_builds_each_game_under_its_name(game):
    assert jaxgbg.make(game.name, **dataclasses.asdict(game)) == game


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("chess", {}, "unknown game 'chess': choose one of .*connectfour"),
        ("tictactoe", {"size": 4}, "tictactoe: .*size"),
        ("nim", {"rule": "misere"}, "rule must be one of last_wins"),
        ("nim", {"heaps": 0}, "at least one heap"),
        ("nim", {"size": 127}, "126 items"),
        ("nim", {"max_take": 6}, "max_take must lie between 0 and the heap size 5"),
        ("nim3p", {"players": 2}, "3 players"),
        ("connectfour", {"draw_after": 6}, "draw_after must lie between 7 and 42 plies, not 6"),
        ("connectfour", {"draw_after": 43}, "draw_after must lie between 7 and 42 plies, not 43"),
        ("hex", {"size": 12}, "size must lie between 2 and 11, not 12"),
        ("othello", {"size": 5}, "size must be 4, 6 or 8, not 5"),
    ],
)
def test_make_explains_what_it_cannot_build(name, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        jaxgbg.make(name, **parameters)


def test_equal_games_share_one_compiled_program(game):
    traced = []

    def first_cells(game):
        traced.append(game)
        return game.cells(game.init(KEY))

    compiled = jax.jit(first_cells, static_argnums=0)
    compiled(game)
    compiled(dataclasses.replace(game))
    assert traced == [game]


def test_one_trace_serves_a_whole_episode(game):
    traced = []

    @jax.jit
    def step(state, action):
        traced.append(action)
        return game.step(state, action, KEY)

    start = state = game.init(KEY)
    for action in playouts(game).actions[:, 0]:
        state = step(state, action)
        assert jax.tree.map(jax.typeof, state) == jax.tree.map(jax.typeof, start)
    step(jax.jit(game.init)(KEY), action)
    assert len(traced) == 1


def test_fields_have_the_types_of_the_contract(game):
    state = game.init(KEY)
    chex.assert_tree_has_only_ndarrays(state)
    shown = [state.player, state.terminal, state.rewards]
    shown += [game.legal_actions(state), game.cells(state)]
    chex.assert_type(shown, [jnp.int8, jnp.bool_, jnp.float32, jnp.bool_, jnp.int8])
    chex.assert_shape(shown, [(), (), (game.num_players,), (game.num_actions,), (game.num_cells,)])
    assert not any(x.weak_type for x in jax.tree.leaves((state, shown)))


def test_an_episode_starts_with_player_0_and_nothing_paid(game):
    state = game.init(KEY)
    assert state.player == 0
    assert not state.terminal
    assert not state.rewards.any()


def test_moves_leave_their_inputs_alone_and_repeat_themselves(game):
    state = jax.tree.map(jnp.asarray, select(playouts(game).states, (1, 0)))
    action = playouts(game).actions[1, 0]
    before = jax.device_get(state)
    first = game.step(state, action, KEY)
    chex.assert_trees_all_equal(state, before)
    chex.assert_trees_all_equal(game.step(state, action, KEY), first)


def test_compiled_batched_and_plain_python_play_the_same_game(game):
    played = playouts(game)
    compiled = jax.jit(game.step)
    for ply in range(played.states.terminal[:, 0].argmax()):
        state = select(played.states, (ply, 0))
        action, expected = played.actions[ply, 0], select(played.states, (ply + 1, 0))
        chex.assert_trees_all_equal(compiled(state, action, KEY), expected)
        with jax.disable_jit():
            state = jax.tree.map(jnp.asarray, state)
            chex.assert_trees_all_equal(game.step(state, action, KEY), expected)
            np.testing.assert_array_equal(game.legal_actions(state), played.legal[ply, 0])
            np.testing.assert_array_equal(game.cells(state), played.cells[ply, 0])


def test_legal_actions_are_empty_exactly_when_terminal(game):
    played = playouts(game)
    np.testing.assert_array_equal(played.legal.any(-1), ~played.states.terminal)


def test_an_illegal_action_changes_nothing_and_a_legal_one_something(game):
    expanded = expansion(game)

    def same(before, after):
        return (before[:, None] == after).reshape(*expanded.legal.shape, -1).all(-1)

    unchanged = jax.tree.leaves(jax.tree.map(same, expanded.states, expanded.afterstates))
    np.testing.assert_array_equal(np.all(unchanged, axis=0), ~expanded.legal)


def test_a_terminal_state_is_absorbing(game):
    expanded = expansion(game)
    over = expanded.states.terminal
    assert over.any()
    for action in range(len(expanded.actions)):
        after = select(expanded.afterstates, (over, action))
        chex.assert_trees_all_equal(after, select(expanded.states, over))


def test_public_step_refuses_illegal_actions_and_compiled_step_ignores_them(game):
    played = playouts(game)
    for ply in (0, game.max_plies // 3, game.max_plies):
        state = select(played.states, (ply, 0))
        illegal = [-1, game.num_actions, 10**6, *np.flatnonzero(~played.legal[ply, 0])[:2].tolist()]
        for action in illegal:
            with pytest.raises(ValueError, match=f"{game.name}: action {action} is not legal"):
                game.step(state, action, KEY)
            chex.assert_trees_all_equal(jax.jit(game.step)(state, np.int32(action), KEY), state)


def test_public_step_takes_known_moves_while_something_else_is_traced(game):
    start = game.init(KEY)
    action = int(playouts(game).actions[0, 0])
    traced = jax.jit(lambda key: game.step(start, action, key))(KEY)
    chex.assert_trees_all_equal(traced, game.step(start, action, KEY))


def test_rewards_are_paid_at_the_end_alone_and_span_their_range(game):
    states = playouts(game).states
    assert not states.rewards[~states.terminal].any()
    paid = states.rewards[states.terminal]
    np.testing.assert_array_equal((paid.min(), paid.max()), np.float32(game.reward_range))


def test_every_episode_ends_within_max_plies(game):
    assert playouts(game).states.terminal[-1].all()


def test_players_and_digits_stay_in_range(game):
    played = playouts(game)
    assert set(played.states.player.ravel().tolist()) == set(range(game.num_players))
    assert played.cells.min() >= 0
    assert played.cells.max() < game.num_cell_values


def test_symmetries_are_a_group_that_acts_alike_on_cells_and_actions(game):
    boards, actions = game.symmetries, game.action_symmetries
    assert boards.dtype == actions.dtype == np.int32
    identity, every_action = np.arange(game.num_cells), np.arange(game.num_actions)
    np.testing.assert_array_equal(np.sort(boards), np.tile(identity, (len(boards), 1)))
    np.testing.assert_array_equal(np.sort(actions), np.tile(every_action, (len(boards), 1)))
    np.testing.assert_array_equal(boards[0], identity)
    row = {tuple(image): j for j, image in enumerate(boards.tolist())}
    assert len(row) == len(boards)
    for i, j in itertools.product(range(len(boards)), repeat=2):
        both = row[tuple(boards[i][boards[j]].tolist())]
        np.testing.assert_array_equal(actions[both], actions[j][actions[i]])


def test_the_image_of_a_game_is_a_game(game):
    played, image = playouts(game), images(game)
    kept = start_symmetries(game)
    assert len(kept) == (4 if game.name == "othello" else len(game.symmetries))
    for j, symmetry in enumerate(kept):
        board, action = game.symmetries[symmetry], game.action_symmetries[symmetry]
        np.testing.assert_array_equal(image.cells[:, j], played.cells[..., board])
        np.testing.assert_array_equal(image.legal[:, j][..., action], played.legal)
        for field in ("player", "terminal", "rewards"):
            found = getattr(image.states, field)[:, j]
            np.testing.assert_array_equal(found, getattr(played.states, field))


def test_the_change_of_a_move_leads_from_its_cells_to_those_of_the_afterstate(game):
    if game.change_patterns is None:
        pytest.skip("a move of this game can alter many cells")
    expanded = expansion(game)
    cells, differences = (x[expanded.patterns] for x in game.change_patterns)
    cells_before = playouts(game).cells.reshape(-1, game.num_cells).astype(int)
    found = np.repeat(cells_before[:, None], len(expanded.actions), axis=1)
    position, action = np.indices(expanded.legal.shape)[..., None]
    np.add.at(found, (position, action, cells), differences)
    np.testing.assert_array_equal(found, expanded.cells)


def test_outcomes_are_those_of_making_every_move(game):
    expanded = expansion(game)
    reward, over = jax.jit(jax.vmap(game.outcomes))(expanded.states)
    after = expanded.afterstates
    mover = np.asarray(expanded.states.player)[:, None, None]
    gain = np.asarray(after.rewards) - np.asarray(expanded.states.rewards)[:, None]
    gain = np.take_along_axis(gain, mover.astype(int), 2)[..., 0]
    np.testing.assert_array_equal(reward, gain[:, 2:-2])
    np.testing.assert_array_equal(over, np.asarray(after.terminal)[:, 2:-2])


def test_a_stone_alters_its_cell_alone_and_by_the_digit_of_its_player(game):
    if game.stone_digits is None:
        pytest.skip("a move of this game does more than put a stone on the cell of its action")
    expanded = expansion(game)
    before = playouts(game).cells.reshape(-1, 1, game.num_cells).astype(int)
    digit = np.array(game.stone_digits)[np.asarray(expanded.states.player)][:, None, None]
    stone = (expanded.actions[:, None] == np.arange(game.num_cells)) & expanded.legal[..., None]
    np.testing.assert_array_equal(expanded.cells, before + digit * stone)


def test_change_0_stands_for_the_illegal_actions_and_alters_nothing(game):
    if game.change_patterns is None:
        pytest.skip("a move of this game can alter many cells")
    expanded = expansion(game)
    np.testing.assert_array_equal(expanded.patterns == 0, ~expanded.legal)
    cells, differences = game.change_patterns
    assert cells.shape == differences.shape
    assert 0 <= cells.min() <= cells.max() < game.num_cells
    assert differences[1:].any(1).all()
    assert not differences[0].any()


def test_importing_and_describing_games_touches_no_device():
    names = sorted(jaxgbg.games.GAMES)
    code = f"""
import jaxgbg, numpy
for name in {names}:
    game = jaxgbg.make(name)
    for constant in (game.symmetries, game.action_symmetries, game.adjacency):
        assert type(constant) is numpy.ndarray
from jax._src import xla_bridge
assert not xla_bridge.backends_are_initialized()
"""
    root = Path(jaxgbg.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)


def test_constants_of_the_rules_are_numpy():
    for module in pkgutil.iter_modules(jaxgbg.games.__path__, "jaxgbg.games."):
        for name, value in vars(importlib.import_module(module.name)).items():
            assert not isinstance(value, jax.Array), f"{module.name}.{name}"
