"""2048: slides against a plain loop, the chance of its tiles, and the edge of its encoding."""

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
import pytest

from jaxgbg.games import Game2048
from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.runs import Run
from jaxgbg.runs.presets import preset

GAME = Game2048()
KEY = jax.random.key(1)


def board(tiles) -> object:
    """The position with exponents `tiles` of 16 cells, ready to move."""
    state = GAME.init(KEY)
    return state._replace(tiles=jnp.asarray(tiles, jnp.int8).reshape(16))


def slid_line(line: list[int]) -> tuple[list[int], int]:
    """A line pushed to its front, one merge a tile, and the points."""
    tiles, points, out = [tile for tile in line if tile], 0, []
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile and tile < 17:
            tiles.pop(0)
            tile += 1
            points += 2**tile
        out.append(tile)
    return out + [0] * (len(line) - len(out)), points


def slid(tiles: np.ndarray, action: int) -> tuple[np.ndarray, int]:
    """`tiles` [R, C] after action 0 left, 1 up, 2 right, 3 down, and the points."""
    turned = {0: tiles, 1: tiles.T, 2: tiles[:, ::-1], 3: tiles.T[:, ::-1]}[action]
    lines = [slid_line([int(tile) for tile in line]) for line in turned]
    moved = np.array([line for line, _ in lines])
    moved = {0: moved, 1: moved.T, 2: moved[:, ::-1], 3: moved[:, ::-1].T}[action]
    return moved, sum(points for _, points in lines)


@pytest.mark.slow
def test_slides_and_points_are_those_of_a_plain_loop():
    generator = np.random.default_rng(0)
    tiles = generator.choice(6, (300, 4, 4), p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05])
    tiles[:20] = generator.integers(0, 18, (20, 4, 4))
    states = jax.vmap(board)(jnp.asarray(tiles))
    legal = np.asarray(jax.jit(jax.vmap(GAME.legal_actions))(states))
    moved = jax.jit(jax.vmap(GAME.afterstate, (0, None)))
    for action in range(4):
        after = jax.device_get(moved(states, jnp.int32(action)))
        for i, before in enumerate(tiles):
            expected, points = slid(before, action)
            assert legal[i, action] == (expected != before).any()
            if legal[i, action]:
                np.testing.assert_array_equal(after.tiles[i].reshape(4, 4), expected)
                assert float(after.score[i]) == points
                assert float(after.rewards[i, 0]) == pytest.approx(points / MAX_SCORE)
                assert bool(after.slid[i])
            else:
                np.testing.assert_array_equal(after.tiles[i].reshape(4, 4), before)
                assert not after.slid[i]


@pytest.mark.parametrize(
    ("line", "moved", "points"),
    [
        ([1, 1, 1, 1], [2, 2, 0, 0], 8),
        ([2, 2, 3, 0], [3, 3, 0, 0], 8),
        ([1, 0, 1, 2], [2, 2, 0, 0], 4),
        ([14, 14, 0, 0], [15, 0, 0, 0], 32768),
        ([15, 15, 0, 0], [16, 0, 0, 0], 65536),
        ([16, 16, 17, 15], [17, 17, 15, 0], 131072),
    ],
)
def test_lines_by_hand(line, moved, points):
    # A tile elsewhere makes every line a legal move.
    tiles = np.zeros((4, 4), int)
    tiles[0], tiles[3, 3] = line, 1
    after = GAME.afterstate(board(tiles), jnp.int32(0))
    assert after.tiles[:4].tolist() == moved
    assert float(after.score) == points


def test_a_large_tile_never_leaves_the_table():
    """It shows the largest digit: the index stays in its table, the rules know the difference."""
    tiles = np.full((4, 4), 16)
    value = preset("2048", seeds=(0,)).make_learner().value
    cells = GAME.cells(board(tiles))
    assert cells.tolist() == [14] * 16
    value_params = jax.eval_shape(value.init)
    features = np.asarray(value.features(value_params, cells)).reshape(4, 8)
    starts = np.arange(4)[:, None] * 15**6
    assert (features == starts + 15**6 - 1).all()
    assert GAME.legal_actions(board(tiles)).all()
    assert Game2048(digits=17).cells(board(tiles)).tolist() == [16] * 16
    # Nothing merges above the largest tile that play can reach.
    assert not GAME.legal_actions(board(tiles + 1)).any()
    largest = np.zeros((4, 4), int)
    largest[0] = 17, 17, 0, 1
    after = GAME.afterstate(board(largest), 0)
    assert after.tiles[:4].tolist() == [17, 17, 1, 0]
    assert after.score == board(largest).score


SHAPES = [(2, 2), (2, 4), (3, 2), (4, 3), (3, 3)]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_smaller_boards_slide_as_a_plain_loop_does(rows, columns):
    game = Game2048(rows, columns)
    generator = np.random.default_rng(rows + columns)
    tiles = generator.choice(4, (40, rows, columns), p=[0.4, 0.3, 0.2, 0.1])
    start = game.init(KEY)
    states = jax.vmap(lambda t: start._replace(tiles=t))(
        jnp.asarray(tiles, jnp.int8).reshape(40, -1)
    )
    moved = jax.jit(jax.vmap(game.afterstate, (0, None)))
    legal = np.asarray(jax.jit(jax.vmap(game.legal_actions))(states))
    for action in range(4):
        after = jax.device_get(moved(states, jnp.int32(action)))
        for i, before in enumerate(tiles):
            expected, points = slid(before, action)
            assert legal[i, action] == (expected != before).any()
            np.testing.assert_array_equal(after.tiles[i].reshape(rows, columns), expected)
            assert float(after.score[i]) == points


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_every_chance_on_a_smaller_board_is_a_tile_on_an_empty_cell(rows, columns):
    game = Game2048(rows, columns)
    tiles = np.arange(rows * columns) % 2
    state = game.init(KEY)._replace(tiles=jnp.asarray(tiles, jnp.int8), slid=jnp.bool_(True))
    chances = np.asarray(game.spawn_probabilities(state))
    empty = tiles == 0
    np.testing.assert_allclose(chances, np.outer([0.9, 0.1], empty).ravel() / empty.sum())
    for number in np.flatnonzero(chances):
        fallen = np.asarray(game.spawn_outcome(state, jnp.int32(number)).tiles) - tiles
        assert fallen.sum() == fallen[number % game.num_cells] == 1 + number // game.num_cells


def test_the_default_board_is_left_out_of_files_so_that_older_runs_are_the_same():
    assert preset("2048").plain()["game"] == {"name": "2048"}
    small = preset(Game2048(2, 3))
    assert small.plain()["game"] == {"name": "2048", "rows": 2, "columns": 3}
    assert Run.read(small.plain()) == small


def test_symmetries_carry_slides_over():
    generator = np.random.default_rng(2)
    tiles = generator.choice(4, (50, 16))
    moved = jax.jit(jax.vmap(lambda t, a: GAME.afterstate(board(t), jnp.int32(a)), (0, None)))
    for image, action_image in zip(GAME.symmetries, GAME.action_symmetries, strict=True):
        for action in range(4):
            there = moved(tiles, action)
            mirrored = moved(tiles[:, image], int(action_image[action]))
            np.testing.assert_array_equal(there.tiles[:, image], mirrored.tiles)
            np.testing.assert_array_equal(there.score, mirrored.score)


def test_new_tiles_fall_evenly_and_one_in_ten_is_a_4():
    """Chi-square against the uniform cell and the chance of 0.9 for a 2."""
    tiles = np.zeros(16, int)
    tiles[[0, 5, 6, 15]] = 3, 1, 2, 7
    state = board(tiles)._replace(slid=jnp.bool_(True))
    games = 40_000
    placed = jax.jit(jax.vmap(GAME.spawn, (None, 0)))(state, jax.random.split(KEY, games)).tiles
    new = np.asarray(placed) - tiles
    assert (new.sum(1) > 0).all()
    counts = (new > 0).sum(0)[tiles == 0]
    # 12 free cells: the 0.999 quantile of chi-square with 11 degrees of freedom is 31.3.
    assert ((counts - games / 12) ** 2 / (games / 12)).sum() < 31.3
    fours = (new == 2).sum()
    assert abs(fours - games / 10) < 4 * np.sqrt(games * 0.09)


def test_every_game_starts_with_two_tiles_anywhere():
    starts = jax.jit(jax.vmap(GAME.init))(jax.random.split(KEY, 16_000))
    tiles = np.asarray(starts.tiles)
    assert ((tiles > 0).sum(1) == 2).all()
    counts = (tiles > 0).sum(0)
    assert ((counts - 2000) ** 2 / 2000).sum() < 37.7  # 15 degrees of freedom, 0.999 quantile
    assert not np.asarray(starts.slid).any()
    assert not np.asarray(starts.terminal).any()


def random_games(games: int) -> tuple[np.ndarray, np.ndarray]:
    """(moves, score) of uniformly random games of ours."""

    @jax.jit
    def play(keys):
        def one(key):
            def step(carry):
                state, key, moves = carry
                key, choose, fall = jax.random.split(key, 3)
                legal = jnp.where(GAME.legal_actions(state), 0.0, -jnp.inf)
                action = jax.random.categorical(choose, legal)
                return GAME.step(state, action, fall), key, moves + 1

            start = (GAME.init(key), key, 0)
            state, _, moves = jax.lax.while_loop(lambda carry: ~carry[0].terminal, step, start)
            return moves, state.score

        return jax.vmap(one)(keys)

    return tuple(np.asarray(found) for found in play(jax.random.split(jax.random.key(9), games)))


def openspiel_games(games: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(4)
    game = pyspiel.load_game("2048(max_tile=65536)")
    found = []
    for _ in range(games):
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(generator.choice(outcomes, p=chances)))
            else:
                state.apply_action(int(generator.choice(state.legal_actions())))
                moves += 1
        found.append((moves, state.returns()[0]))
    moves, score = np.array(found).T
    return moves, score


@pytest.mark.slow
@pytest.mark.parametrize(("games", "theirs"), [(1024, 200), (8192, 1000)])
def test_random_games_last_and_score_as_elsewhere(games, theirs):
    moves, score = random_games(games)
    # Known from another implementation: 118.0 +- 0.4 moves, 1 089 points.
    assert abs(moves.mean() - 118.0) < 4 * np.hypot(0.4, moves.std() / np.sqrt(games))
    assert abs(score.mean() - 1089) < 4 * np.sqrt(2) * score.std() / np.sqrt(games)
    for ours, other in zip((moves, score), openspiel_games(theirs), strict=True):
        error = np.hypot(ours.std() / np.sqrt(ours.size), other.std() / np.sqrt(other.size))
        assert abs(ours.mean() - other.mean()) < 4 * error
        edges = np.quantile(ours, np.linspace(0, 1, 11))[1:-1]
        counts = np.bincount(np.searchsorted(edges, other), minlength=10)
        expected = np.bincount(np.searchsorted(edges, ours), minlength=10) / games * theirs
        # 9 degrees of freedom, 0.999 quantile 27.9; ours is a sample too.
        assert ((counts - expected) ** 2 / expected).sum() < 27.9 * (1 + theirs / games)


def test_a_move_without_effect_places_no_tile_and_a_finished_game_stands_still():
    tiles = np.zeros((4, 4), int)
    tiles[:, 0] = 1, 2, 3, 4
    state = board(tiles)
    ignored = jax.jit(GAME.step)(state, jnp.int32(0), KEY)
    np.testing.assert_array_equal(ignored.tiles, state.tiles)
    with pytest.raises(ValueError, match="2048: action 0 is not legal"):
        GAME.step(state, 0, KEY)
    checkered = np.indices((4, 4)).sum(0) % 2 + 1
    checkered[3, 3] = 0
    stuck = GAME.spawn(board(checkered)._replace(slid=jnp.bool_(True)), jax.random.key(3))
    full = np.asarray(stuck.tiles)
    assert bool(stuck.terminal) == (full[15] not in (full[11], full[14]))
    over = stuck._replace(terminal=jnp.bool_(True))
    assert not GAME.legal_actions(over).any()
    same = jax.jit(GAME.step)(over, jnp.int32(1), KEY)
    np.testing.assert_array_equal(same.tiles, over.tiles)
