"""Symmetries that are found by simulation: all there are, and none that the rules break."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game, LinesOfAction, Nim, Pig, TicTacToe, Yavalath, make
from jaxgbg.games.find_symmetries import candidates, find_symmetries
from jaxgbg.games.grids import grid_shape
from tests.games.undeclared import Undeclared, undeclared


class OneColumnLess(Undeclared):
    """TicTacToe in which the right column wins nothing: left and right differ, up and down not."""

    def afterstate(self, state, action):
        after = self.inner.afterstate(state, action)
        mine = after.stones[state.player]
        column = (1 << 2) | (1 << 5) | (1 << 8)
        others = [w for w in _LINES if w != column]
        won = jnp.array([(mine & w) == w for w in others]).any()
        by_column = after.terminal & ~won & ((mine & column) == column) & ~state.terminal
        full = (after.stones[0] | after.stones[1]) == 511
        return after._replace(
            terminal=jnp.where(by_column, full, after.terminal),
            rewards=jnp.where(by_column, 0.0, after.rewards),
        )


_LINES = [
    sum(1 << cell for cell in line)
    for line in (
        (0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)
    )
]  # fmt: skip


def rows(images: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(row) for row in images.tolist()}


def declared(game: Game) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    pairs = zip(game.symmetries.tolist(), game.action_symmetries.tolist(), strict=True)
    return {(tuple(cells), tuple(actions)) for cells, actions in pairs}


def found_in(game: Game) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    found = find_symmetries(game)
    assert found.cells[0].tolist() == [*range(game.num_cells)]
    assert found.actions[0].tolist() == [*range(game.num_actions)]
    pairs = zip(found.cells.tolist(), found.actions.tolist(), strict=True)
    return {(tuple(cells), tuple(actions)) for cells, actions in pairs}


@pytest.mark.parametrize(
    "game",
    [
        TicTacToe(),
        Nim(heaps=2, size=3),
        pytest.param(ConnectFour(), marks=pytest.mark.slow),
        pytest.param(make("hex", size=3), marks=pytest.mark.slow),
    ],
    ids=lambda game: game.name,
)
def test_the_symmetries_of_shipped_games_are_found_with_their_actions(game):
    """In ConnectFour an action is a column, in Nim a heap and a number of items."""
    assert found_in(undeclared(game)) >= declared(game)


def test_nothing_but_the_symmetries_of_tictactoe_is_found():
    assert found_in(undeclared(TicTacToe())) == declared(TicTacToe())


@pytest.mark.slow
def test_the_images_of_a_hexagon_are_found():
    game = Yavalath(size=3)
    assert found_in(undeclared(game)) == declared(game)


@pytest.mark.slow
def test_moves_from_square_to_square_are_mapped():
    game = LinesOfAction(size=5)
    found = find_symmetries(game)
    images = {image.tobytes(): number for number, image in enumerate(game.symmetries)}
    assert len(found.cells) > 1
    # Actions that lead off the board are never legal.
    assert 0 < (~found.seen).sum() < game.num_actions / 2
    for cells, actions in zip(found.cells, found.actions, strict=True):
        expected = game.action_symmetries[images[cells.tobytes()]]
        assert (actions == expected)[found.seen].all()


def test_a_broken_rule_leaves_one_mirror():
    game = dataclasses.dataclass(frozen=True)(
        type("Less", (OneColumnLess,), {"inner": TicTacToe()})
    )()
    upside_down = np.arange(9).reshape(3, 3)[::-1].ravel().tolist()
    found = find_symmetries(game)
    assert found.cells.tolist() == [[*range(9)], upside_down]
    assert found.actions.tolist() == [[*range(9)], upside_down]


def test_a_bonus_for_a_corner_breaks_all_that_move_it():
    """Only the rewards show it, in the last ply of some games."""

    class Bonus(Undeclared):
        def afterstate(self, state, action):
            after = self.inner.afterstate(state, action)
            bonus = ((action == 0) & after.terminal & ~state.terminal).astype(jnp.float32)
            return after._replace(rewards=after.rewards + jnp.array([bonus, 0]))

    game = dataclasses.dataclass(frozen=True)(type("Bonus", (Bonus,), {}))()
    diagonal = np.arange(9).reshape(3, 3).T.ravel().tolist()
    assert rows(find_symmetries(game).cells) == {tuple(range(9)), tuple(diagonal)}


def test_what_is_printed_is_python_that_declares_them():
    found = find_symmetries(undeclared(TicTacToe()))
    space: dict[str, object] = {}
    exec(f"import numpy as np\nclass Members:\n{found.source()}", space)
    members = space["Members"]()  # type: ignore[operator]
    assert np.array_equal(members.symmetries, found.cells)
    assert np.array_equal(members.action_symmetries, found.actions)
    assert found.source().count("[") < 9 + 3  # Actions are cells: no second table.
    heaps = find_symmetries(Nim(heaps=2, size=3)).source()
    assert "argsort" not in heaps


def test_a_game_of_chance_is_refused():
    with pytest.raises(ValueError, match="pig is a game of chance"):
        find_symmetries(Pig())


def test_candidates_are_permutations_and_come_once():
    for game in (TicTacToe(), undeclared(Nim(heaps=6)), undeclared(Yavalath(size=3))):
        images = [tuple(image.tolist()) for image in candidates(game)]
        assert images[0] == tuple(range(game.num_cells))
        assert len(images) == len({*images})
        assert all(sorted(image) == [*range(game.num_cells)] for image in images)


def test_the_shape_of_a_board_is_read_from_its_neighbours():
    shapes = {
        game.name: grid_shape(game) for game in map(make, ("tictactoe", "connectfour", "nim"))
    }
    assert shapes == {"tictactoe": (3, 3), "connectfour": (7, 6), "nim": None}
    assert grid_shape(undeclared(TicTacToe())) is None
    assert grid_shape(undeclared(TicTacToe(), piece_digits=(2, 0))) == (3, 3)
