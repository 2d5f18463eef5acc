"""The n-tuple value function against a slow double loop, and its update rules one by one."""

import dataclasses
from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg import xla
from jaxgbg.games.grids import grid_adjacency
from jaxgbg.games.tictactoe import TicTacToe
from jaxgbg.values import NTuple, NTupleParams, NTupleSpec, line_walk, random_walk
from jaxgbg.values.core import Updates
from tests.games.batches import each
from tests.games.playouts import playouts
from tests.learners.replay import ntuple

LAYOUTS = {
    "tictactoe": ((0, 1, 2, 3, 4, 5, 6, 7, 8), (4, 0)),
    "nim": ((0, 1, 2), (2, 0)),
    "nim3p": ((0, 1, 2), (0, 1, 2)),
    "connectfour": ((0, 6, 12, 18), (41, 40, 34), (20, 21, 27)),
}
HALVES = [
    "tictactoe",
    "nim3p",
    *(pytest.param(n, marks=pytest.mark.slow) for n in ("nim", "connectfour")),
]


def make_value(name: str, tcl: str = "exp", combine: str = "saturating") -> NTuple:
    return ntuple(jaxgbg.make(name), LAYOUTS[name], tcl=tcl, combine=combine)


def played_states(name: str, plies: int):
    """One state a ply of a random game, stacked."""
    game = jaxgbg.make(name)
    generator = np.random.default_rng(0)
    see, move = jax.jit(game.legal_actions), jax.jit(game.afterstate)
    states = [game.init(jax.random.key(0))]
    while len(states) < plies and not states[-1].terminal:
        action = generator.choice(np.flatnonzero(see(states[-1])))
        states.append(move(states[-1], jnp.int32(action)))
    return game, jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


@pytest.mark.parametrize("sigmoid", [True, False])
@pytest.mark.parametrize("of_actions", [True, False])
def test_every_board_begins_at_the_initial_value_and_learns_from_it(sigmoid, of_actions):
    game, states = played_states("connectfour", 6)
    spec = NTupleSpec(layout=LAYOUTS["connectfour"], sigmoid=sigmoid, initial_value=0.4)
    value = spec.build(game, of_actions, 1)
    params, player = value.init(), jnp.zeros(len(states.player), jnp.int32)
    features = value.features(params, each(game.cells, states))
    if of_actions:
        found = value.action_values(params, features, player)
    else:
        found = value.value(params, features, player)
        change = jnp.float32(0.1)
        row = Updates(features[:1], player[:1], change[None], change[None], jnp.ones(1, bool))
        learned = value.update(params, row, jnp.float32(1), {"beta": jnp.float32(1)})
        assert float(value.value(learned, features[0], player[0])) > float(found[0]) + 0.05
    np.testing.assert_allclose(found, 0.4, rtol=1e-5)


def test_an_initial_value_that_no_sigmoid_gives_is_refused():
    with pytest.raises(ValueError, match=r"initial_value must lie in \(-1, 1\) .* not 1.0"):
        NTupleSpec(initial_value=1.0)
    assert NTupleSpec(initial_value=80, sigmoid=False).initial_value == 80


@pytest.mark.parametrize("name", HALVES)
def test_a_value_is_the_sum_over_tuples_and_images(name):
    value = make_value(name)
    game, states = played_states(name, 12)
    generator = np.random.default_rng(1)
    weights = generator.normal(0, 0.1, value.num_weights).astype(np.float32)
    params = value.init()._replace(weights=jnp.asarray(weights))
    cells = np.asarray(each(game.cells, states))
    evaluate = jax.jit(lambda c, p: value.value(params, value.features(params, c), p))
    for player in range(game.num_players):
        found = np.asarray(evaluate(cells, jnp.full(len(cells), player)))
        for board, seen in zip(cells, found, strict=True):
            total, start = 0.0, player * value.rows_per_player
            for tuple_cells in value.tuples:
                for image in game.symmetries:
                    digits = [int(board[image[cell]]) for cell in tuple_cells]
                    index = sum(d * value.num_cell_values**i for i, d in enumerate(digits))
                    total += weights[start + index]
                start += value.num_cell_values ** len(tuple_cells)
            assert seen == pytest.approx(np.tanh(total), abs=1e-5)


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("name", HALVES)
def test_shifted_features_are_those_of_the_afterstate(name, varied):
    game, states = played_states(name, 10)
    spec = NTupleSpec(walks=(3, 2))
    value = spec.build(game, of_actions=False, batch=64) if varied else make_value(name)
    assert value.varied == varied
    weights = jax.random.normal(jax.random.key(0), (value.num_weights,)) / 10
    # Not the layout of the first seed, of which alone the value function knows.
    params = value.init(jnp.asarray(spec.drawn(game, 7)))._replace(weights=weights)

    def compare(state):
        actions = jnp.arange(game.num_actions)
        features = value.features(params, game.cells(state))
        changes = jax.vmap(lambda action: game.change(state, action))(actions)
        after = jax.vmap(lambda action: game.cells(game.afterstate(state, action)))(actions)
        shifted = jax.vmap(lambda change: value.shift(params, features, change))(changes)
        fast = value.values_after(params, features, changes, state.player)
        players = jnp.broadcast_to(state.player, actions.shape)
        return shifted, value.features(params, after), fast, value.value(params, shifted, players)

    shifted, anew, fast, slow = jax.jit(jax.vmap(compare))(states)
    np.testing.assert_array_equal(shifted, anew)
    np.testing.assert_allclose(fast, slow, atol=1e-6)


def updated(value: NTuple, changes: list[float], features=None) -> NTupleParams:
    """The tables after one tick in which len(changes) games update one board (the first)."""
    games = len(changes)
    if features is None:
        features = jnp.tile(
            value.features(value.init(), jnp.array([5, 4, 3], jnp.int8)), (games, 1)
        )
    return jax.jit(value.update)(
        value.init(),
        Updates(
            features,
            jnp.zeros(games, jnp.int32),
            jnp.array(changes, jnp.float32),
            jnp.abs(jnp.array(changes, jnp.float32)),
            jnp.array(changes) != 0,
        ),
        jnp.float32(0.3),
        {"beta": jnp.float32(2.7)},
    )


def moved(params: NTupleParams) -> tuple[float, float, float]:
    """Weight, N and A (less their first values) of the one row that was updated."""
    row = int(jnp.argmax(jnp.abs(params.weights)))
    # N and A, and the scratch count where there is one.
    n, a = params.counters.reshape(params.weights.size, -1)[row, :2]
    return float(params.weights[row]), float(n) - 1e-4, float(a) - 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("combine", "times"),
    [("sum", 5.0), ("mean", 1.0), ("saturating", (1 - (1 - 0.3) ** 5) / 0.3)],
)
def test_five_like_updates_of_one_tick_are_joined_by_the_rule(combine, times):
    value = dataclasses.replace(make_value("nim", "id", combine), tuples=((0, 1, 2),))
    one, five = moved(updated(value, [0.2])), moved(updated(value, [0.2] * 5))
    assert one == pytest.approx((0.3 * 0.2, 0.2, 0.2), rel=1e-5)
    assert five == pytest.approx(tuple(times * x for x in one), rel=1e-5)


def test_saturating_is_what_serial_updates_towards_one_target_do():
    value = dataclasses.replace(make_value("nim", "none"), tuples=((0, 1, 2),), sigmoid=False)
    target, known = 0.7, 0.0
    for _ in range(4):
        known += 0.3 * (target - known)
    joined = updated(value, [target] * 4).weights.max()
    assert float(joined) == pytest.approx(known, rel=1e-5)


@pytest.mark.parametrize("combine", ["sum", "mean", "saturating"])
def test_a_weight_moves_once_but_counts_every_image(combine):
    """The empty board looks the same in all eight images."""
    value = dataclasses.replace(make_value("tictactoe", "id", combine), tuples=(tuple(range(9)),))
    features = value.features(value.init(), jnp.ones((1, 9), jnp.int8))
    weight, n, a = moved(updated(value, [0.4], features))
    assert weight == pytest.approx(0.3 * 0.4 / 8, rel=1e-5)
    assert (n, a) == pytest.approx((8 * 0.4, 8 * 0.4), rel=1e-5)


@pytest.mark.parametrize("tcl", ["none", "id", "exp"])
def test_a_dead_row_changes_nothing_and_the_scratch_count_returns_to_zero(tcl):
    value = make_value("nim", tcl)
    params = updated(value, [0.0, 0.0])
    np.testing.assert_array_equal(params.weights, value.init().weights)
    np.testing.assert_array_equal(params.counters, value.init().counters)
    after = updated(value, [0.3, 0.0, -0.2])
    assert not after.counters.reshape(after.weights.size, -1)[:, -1].any()


@pytest.mark.parametrize("tcl", ["none", "exp"])
def test_tables_longer_than_int32_counts_are_written_row_by_row(tcl, monkeypatch):
    value = make_value("nim", tcl)
    cells = jnp.array([[[5, 4, 3], [5, 4, 3]], [[1, 0, 2], [5, 5, 5]]], jnp.int8)

    def both_lanes() -> NTupleParams:
        def one(cells: jax.Array) -> NTupleParams:
            start = value.init()
            change = jnp.array([0.3, -0.2])
            features, player = value.features(start, cells), jnp.zeros(2, jnp.int32)
            updates = Updates(features, player, change, jnp.abs(change), change != 0)
            return value.update(start, updates, jnp.float32(0.3), {"beta": jnp.float32(2.7)})

        return jax.jit(jax.vmap(one))(cells)

    found = both_lanes()
    assert np.count_nonzero(found.weights) > 2
    monkeypatch.setattr(xla, "_MOST_PLACES", 100)
    jax.tree.map(np.testing.assert_array_equal, both_lanes(), found)


@pytest.mark.parametrize("combine", ["mean", "saturating"])
@pytest.mark.parametrize("tcl", ["none", "id", "exp"])
def test_a_small_table_is_updated_by_weights_to_the_same_bits(tcl, combine):
    value, games = make_value("nim3p", tcl, combine), 1_000
    random = np.random.default_rng(0)
    cells = random.integers(6, size=(games, 3)).astype(np.int8)
    change = jnp.asarray(random.normal(size=games) * (random.random(games) < 0.8), jnp.float32)
    player = jnp.asarray(random.integers(3, size=games), jnp.int8)
    features = value.features(value.init(), cells)
    assert features.size > value.num_weights
    updates = Updates(features, player, change, jnp.abs(change), change != 0)
    found = []
    for move in (value.update, value._by_weights, value._by_hits):
        params = value.init()
        for _ in range(2):
            params = jax.jit(move)(params, updates, jnp.float32(0.3), {"beta": jnp.float32(2.7)})
        found.append(params)
    assert np.count_nonzero(found[0].weights) > 900
    for other in found[1:]:
        jax.tree.map(np.testing.assert_array_equal, found[0], other)


def test_the_factor_is_the_one_left_by_the_update_before():
    value = dataclasses.replace(make_value("nim", "id", "sum"), tuples=((0, 1, 2),))
    features = value.features(value.init(), jnp.array([[5, 4, 3]], jnp.int8))
    params, weight, update = value.init(), 0.0, jax.jit(value.update)
    n = a = 1e-4
    for change in (0.5, -0.3, 0.1):
        weight += 0.3 * change * abs(n) / a
        n, a = n + change, a + abs(change)
        params = update(
            params,
            Updates(
                features,
                jnp.zeros(1, jnp.int32),
                jnp.array([change]),
                jnp.array([abs(change)]),
                jnp.array([True]),
            ),
            jnp.float32(0.3),
            {"beta": jnp.float32(2.7)},
        )
    assert float(params.weights[features[0, 0]]) == pytest.approx(weight, rel=1e-5)


def test_random_walks_are_connected_and_repeatable():
    game = jaxgbg.make("connectfour")
    layout = random_walk(game, 20, 8, seed=5)
    assert layout == random_walk(game, 20, 8, seed=5) != random_walk(game, 20, 8, seed=6)
    for cells in layout:
        assert len(set(cells)) == 8
        reached = {cells[0]}
        for _ in cells:
            reached |= {c for c in cells if game.adjacency[c, list(reached)].any()}
        assert reached == set(cells)


@pytest.mark.parametrize(
    ("name", "lines", "different"), [("tictactoe", 8, 3), ("connectfour", 69, 36)]
)
def test_stones_in_a_line_win_and_walks_from_lines_hold_them_all(name, lines, different):
    game = jaxgbg.make(name)
    assert len({frozenset(map(int, line)) for line in game.lines}) == len(game.lines) == lines
    length = game.lines.shape[1] + 2
    layout = line_walk(game, different, length, seed=5)
    assert layout == line_walk(game, different, length, seed=5)
    assert layout != line_walk(game, different, length, seed=6)
    assert {len(set(cells)) for cells in layout} == {length}
    images = [set(image[list(cells)]) for cells in layout for image in game.symmetries]
    assert all(any(set(line) <= cells for cells in images) for line in game.lines)
    # Of this draw each walk is needed; with more walks the first ones are all there.
    less = [set(image[list(cells)]) for cells in layout[1:] for image in game.symmetries]
    assert not all(any(set(line) <= cells for cells in less) for line in game.lines)
    assert set(layout) <= set(line_walk(game, 2 * different, length, seed=5))


class Columns(TicTacToe):
    """Three columns that do not touch."""

    column = np.arange(9) % 3
    adjacency = grid_adjacency(3, 3, diagonal=False) & (column == column[:, None])


def test_a_walk_ends_where_no_cell_is_left_to_reach():
    assert len(random_walk(Columns(), 20, 3, seed=0)) == 20
    with pytest.raises(ValueError, match=r"no more than 3 cells are connected with [0-2]"):
        random_walk(Columns(), 20, 4, seed=0)


@pytest.mark.parametrize("name", ["tictactoe", "connectfour"])
def test_a_game_is_won_where_a_line_is_full_and_nowhere_else(name):
    game = jaxgbg.make(name)
    played = playouts(game)
    stones = played.cells[..., game.lines]
    full = [(stones == digit).all(-1).any(-1) for digit in game.piece_digits]
    assert full[0].any()
    assert full[1].any()
    for player in range(2):
        np.testing.assert_array_equal(full[player], played.states.rewards[..., player] > 0)


@pytest.mark.parametrize(("length", "packed"), [(4, 3), (6, 2), (7, 1)])
@pytest.mark.parametrize("varied", [False, True])
def test_packed_indices_are_those_of_whole_numbers(length, packed, varied):
    # Othello has four digits. 47 tuples fill no number of packed columns.
    game = jaxgbg.make("othello")
    layout = random_walk(game, 47, length, seed=3)
    spec = NTupleSpec(walks=(47, length)) if varied else NTupleSpec(layout=layout)
    value = spec.build(game, False, 1)
    assert value._packing[0] == packed
    params = value.init(jnp.asarray(layout, jnp.int32))
    cells = np.random.default_rng(0).integers(0, 4, (20, 64)).astype(np.int8)
    # The greatest index of every tuple is that of a board of the greatest digits.
    cells[0] = 3
    places = [[image[c] for c in tuple_] for tuple_ in layout for image in value.symmetries]
    plain = cells[:, places].astype(np.int64) @ 4 ** np.arange(length)
    plain += np.repeat(4**length * np.arange(47), len(value.symmetries))
    assert (np.asarray(value.features(params, cells)) == plain).all()


@pytest.mark.slow
@pytest.mark.parametrize("varied", [False, True])
def test_a_value_with_one_more_stone_is_that_of_the_afterstate(varied):
    game, states = played_states("hex", 14)
    layout = random_walk(game, 7, 6, seed=3)
    spec = NTupleSpec(walks=(7, 6)) if varied else NTupleSpec(layout=layout)
    value = spec.build(game, of_actions=False, batch=1)
    assert value.varied == varied
    weights = jax.random.normal(jax.random.key(0), (value.num_weights,)) / 10
    params = value.init(jnp.asarray(layout) if varied else None)._replace(weights=weights)

    @jax.jit
    def compare(states):
        features = value.features(params, each(game.cells, states))
        found = value.values_with_stone(params, features, states.player)
        every_action = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))
        after = every_action(states, jnp.arange(36))
        boards = value.features(params, jax.vmap(jax.vmap(game.cells))(after))
        player = jnp.broadcast_to(states.player[:, None], (14, 36))
        legal = each(game.legal_actions, states)
        return found, value.value(params, boards, player), legal

    found, slow, legal = map(np.asarray, compare(states))
    assert legal.sum() > 200
    np.testing.assert_allclose(found[legal], slow[legal], atol=1e-5)


@pytest.mark.slow
def test_varied_layouts_read_the_rows_of_a_fixed_one():
    game, states = played_states("hex", 9)
    layout = random_walk(game, 5, 4, seed=8)
    other = random_walk(game, 5, 4, seed=9)
    cells = each(game.cells, states)
    fixed = ntuple(game, layout)
    varied = NTupleSpec(walks=(5, 4)).build(game, of_actions=False, batch=1)
    assert varied.varied
    rows = fixed.features(fixed.init(), cells)
    np.testing.assert_array_equal(varied.features(varied.init(jnp.asarray(layout)), cells), rows)
    assert (varied.features(varied.init(jnp.asarray(other)), cells) != rows).any()
    with pytest.raises(ValueError, match="all tuples must have one length"):
        ntuple(game, ((0, 1), (2,)))


def staged(name: str, starts: tuple[int, ...], of_actions: bool = False, **settings):
    """(the same n-tuples in stages and without, their game and states)."""
    game, states = played_states(name, 12)
    build = partial(NTupleSpec, layout=LAYOUTS[name], **settings)
    pair = (build(stages=starts).build(game, of_actions, 1), build().build(game, of_actions, 1))
    return *pair, game, states


@pytest.mark.parametrize("of_actions", [False, True])
@pytest.mark.parametrize("name", HALVES)
def test_the_weights_of_a_stage_correct_those_of_the_stages_before(name, of_actions):
    starts = (2, 5)
    value, plain, game, states = staged(name, starts, of_actions)
    generator = np.random.default_rng(1)
    blocks = generator.normal(0, 0.1, (game.num_players, 3, plain.rows_per_player))
    params = value.init()._replace(weights=jnp.asarray(blocks.ravel(), jnp.float32))
    cells = np.asarray(each(game.cells, states))
    seen = set()
    for board, player in product(cells, range(game.num_players)):
        stage = sum(int(game.progress(jnp.asarray(board))) >= start for start in starts)
        seen.add(stage)
        summed = blocks[:, : stage + 1].sum(1).ravel()
        known = plain.init()._replace(weights=jnp.asarray(summed, jnp.float32))
        found, expected = (
            (one.action_values if of_actions else one.value)(
                params, one.features(params, board), jnp.int32(player)
            )
            for one, params in ((value, params), (plain, known))
        )
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(seen) > 1


@pytest.mark.parametrize("tcl", ["none", "exp"])
def test_an_update_moves_the_weights_of_one_stage_as_far_as_without_stages(tcl):
    value, plain, game, states = staged("connectfour", (4,), tcl=tcl)
    for place in (1, 8):
        board, player = each(game.cells, states)[place], jnp.array([1])
        change, live = jnp.array([0.2]), jnp.ones(1, bool)
        moved = []
        for one in (value, plain):
            features = one.features(one.init(), board)[None]
            row = Updates(features, player, change, change, live)
            learned = one.update(one.init(), row, jnp.float32(0.5), {"beta": jnp.float32(2.7)})
            moved.append(np.asarray(learned.weights).reshape(game.num_players, -1))
        stage = int(place == 8)
        blocks = moved[0].reshape(game.num_players, 2, -1)
        np.testing.assert_array_equal(blocks[:, stage], moved[1])
        assert not blocks[:, 1 - stage].any()


def test_an_agent_with_stages_learns_and_is_saved(tmp_path):
    game = jaxgbg.make("2048", rows=2, columns=2)
    run = jaxgbg.preset(
        game, seeds=(0,), variants=("farl",), episodes=64, eval_every=64, stages=(2, 4)
    )
    agent = jaxgbg.train(run, tmp_path).agents(run.lanes)
    weights = np.asarray(agent.params.weights).reshape(3, -1)
    assert all(block.any() for block in weights)
    (path,) = tmp_path.glob("*/agents/*.agent")
    assert jaxgbg.load(path).value == agent.value
    np.testing.assert_array_equal(jaxgbg.load(path).params.weights[0], weights.ravel())


@pytest.mark.parametrize("stages", [(5, 3), (3, 3), (0,)])
def test_stages_that_do_not_increase_are_refused(stages):
    with pytest.raises(ValueError, match=r"stages must (increase, not|lie in \[1)"):
        NTupleSpec(stages=stages)


def test_stages_of_one_table_are_refused():
    with pytest.raises(ValueError, match="choose stages or one_table, not both"):
        NTupleSpec(stages=(3,), one_table=True)
