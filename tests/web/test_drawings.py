"""Every shipped game is drawn, every move has its place, and any other game shows its cells."""

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game, TicTacToe, game_names, make
from jaxgbg.web import drawings
from jaxgbg.web.drawings import Drawing, drawing_of, plain, register_drawing
from jaxgbg.web.drawings.core import named_squares, seat_colours
from jaxgbg.web.positions import shape_markup, value_scale
from jaxgbg.web.record_view import RecordView
from jaxgbg.web.records import GameRecord
from tests.games.undeclared import Undeclared, undeclared


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *(
            pytest.param(
                name, {}, marks=[pytest.mark.slow] * (name in ("lines_of_action", "othello"))
            )
            for name in game_names()
        ),
        ("hex", {"size": 3}),
        ("nim", {"heaps": 2, "max_take": 2}),
    ],
)
def test_every_legal_move_has_a_place_of_its_own(name, parameters):
    game = make(name, **parameters)
    drawing = drawing_of(game)
    assert len(drawing.actions) == len(set(drawing.actions)) == game.num_actions
    assert len(game.sides) == game.num_players
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
        board = np.asarray(game.display_cells(state))
        kinds = drawing.kinds(board)
        assert len(kinds) == len(drawing.spots)
        places = [drawing.spot_of(board, int(action)) for action in legal]
        origins = [drawing.origin_of(board, int(action)) for action in legal]
        assert len(set(zip(origins, places, strict=True))) == len(places)
        assert len({drawing.name(board, int(action)) for action in legal}) == len(legal)
        assert 0 <= min(places) <= max(places) < len(drawing.spots)
        # Moves are written where nothing stands, but in Nim on what is taken; a piece that goes
        # from spot to spot is one of the mover's.
        free = [drawing.pieces[kinds[place]] == "" for place in places]
        if drawing.name_of:
            if game.name == "ewn":
                # EinStein shows every stone by its number.
                owners = {int(board[origin] - 1) // 6 for origin in origins}
                assert owners == {int(state.player)}
            else:
                pieces = {drawing.piece_names[kinds[origin]] for origin in origins if origin >= 0}
                # Backgammon shows stacks: "5 white".
                assert {name.split()[-1] for name in pieces} <= {game.sides[int(state.player)]}
        else:
            assert all(free) != (game.name in ("nim", "nim3p"))
        state = step(state, random.choice(legal), key)


@pytest.mark.parametrize("name", game_names())
def test_spots_and_pieces_have_names_for_those_who_play(name):
    game = make(name)
    drawing = drawing_of(game)
    assert len(set(drawing.spot_names)) == len(drawing.spots)
    assert len(drawing.piece_names) == len(drawing.pieces)
    cells = drawing.cells or range(game.num_cells)
    assert len(cells) == len(drawing.spots)
    assert {*cells} - {-1} == {*range(game.num_cells)}
    assert len(drawing.colours) in (0, game.num_players)
    assert {*drawing.keys.values()} <= {*range(game.num_actions)}
    board = np.asarray(game.display_cells(game.init(jax.random.key(0))))
    if drawing.touched_by is not None:
        for action in range(game.num_actions):
            assert drawing.spot_of(board, action) in drawing.touched_by(board, action)


def test_a_side_has_the_colour_that_it_is_named_after():
    nim = drawing_of(make("nim"))
    assert seat_colours(nim, ("red", "Blue")) == ["var(--first)", "var(--second)"]
    # Others have no colour that could pass for one of these.
    assert seat_colours(nim, ("blue", "player 2")) == ["var(--second)", "var(--s1)"]
    assert seat_colours(nim, ("player 1", "player 2")) == ["var(--s0)", "var(--s1)"]
    for name in game_names():
        game = make(name)
        colours = seat_colours(drawing_of(game), game.sides)
        assert len(colours) == len(set(colours)) == game.num_players


def test_a_tile_of_32768_is_drawn_as_what_it_is():
    game = make("2048")
    state = game.init(jax.random.key(0))
    state = state._replace(tiles=jnp.arange(16, dtype=jnp.int8))
    board = np.asarray(game.display_cells(state))
    drawing = drawing_of(game)
    pieces = [drawing.pieces[kind] for kind in drawing.kinds(board)]
    assert pieces[0] == ""
    assert all(f">{2**power}<" in pieces[power] for power in range(1, 16))


class Unknown(Game):
    name, num_players, num_actions, num_cells, num_cell_values = "unknown", 2, 3, 5, 4


def test_a_game_that_nobody_drew_shows_its_cells():
    drawing = drawing_of(Unknown())
    assert len(drawing.spots) == 5
    assert [f">{digit}<" in piece for digit, piece in enumerate(drawing.pieces)] == [True] * 4
    assert drawing.spot_of(np.zeros(5, np.int8), 2) == -1


def test_a_game_of_pieces_that_nobody_drew_shows_discs_on_cells_to_click():
    drawing = drawing_of(undeclared(TicTacToe(), piece_digits=(2, 0)))
    assert [piece.count("<circle") for piece in drawing.pieces] == [1, 0, 1]
    assert drawing.pieces[1] == ""
    assert drawing.piece_names == ["player 2", "empty", "player 1"]
    first, second = drawing.colours
    assert first != second
    assert (first in drawing.pieces[2], second in drawing.pieces[0]) == (True, True)
    assert list(drawing.actions) == list(drawing.spot_names) == named_squares(3)
    assert [drawing.spot_of(np.zeros(9, np.int8), action) for action in range(9)] == [*range(9)]
    assert {f">{name}<" in drawing.ground for name in "abc123"} == {True}


def test_a_cell_to_click_is_that_which_the_action_fills():
    class Backwards(Undeclared):
        def legal_actions(self, state):
            return self.inner.legal_actions(state)[::-1]

        def afterstate(self, state, action):
            return self.inner.afterstate(state, 8 - action)

    drawing = drawing_of(dataclasses.dataclass(frozen=True)(type("Own", (Backwards,), {}))())
    assert [drawing.spot_of(np.zeros(9, np.int8), action) for action in range(9)] == [
        *range(8, -1, -1)
    ]
    assert drawing.actions[0] == "cell 8"


def test_an_action_that_fills_now_this_cell_now_that_names_none():
    """In ConnectFour, columns; in a game whose rules fail, nothing is known."""
    assert set(plain.cells_of_actions(ConnectFour())) == {-1}
    assert plain.cells_of_actions(Unknown()) == (-1, -1, -1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pgx:tic_tac_toe", "pgx:othello", "ludax:reversi"])
def test_a_borrowed_game_shows_whose_pieces_they_are(name):
    pytest.importorskip(name.partition(":")[0])
    game = make(name)
    drawing = drawing_of(game)
    step, key = jax.jit(game.step), jax.random.key(0)
    state = game.init(key)
    for _ in range(4):
        # Reversi of Ludax has passes, and cells that are filled by no action of their own.
        action = int(np.flatnonzero(game.legal_actions(state))[0])
        board = np.asarray(game.display_cells(state))
        spot, mover = drawing.spot_of(board, action), int(state.player)
        assert drawing.pieces[drawing.kinds(board)[spot]] == ""
        state = step(state, action, key)
        after = drawing.kinds(np.asarray(game.display_cells(state)))
        assert drawing.piece_names[after[spot]] == game.sides[mover]
        assert drawing.colours[mover] in drawing.pieces[after[spot]]


@pytest.fixture
def view_of_many():
    """A game with 127 kinds of cells, one or two of them in each cell."""

    class Many(Unknown):
        num_cell_values = 127

    boards = np.array([[0, 9, 35, 36, 126], [1, 10, 36, 99, 100]], np.int8)
    players, rewards = np.zeros(2, np.int8), np.zeros((2, 2), np.float32)
    values = np.zeros((1, 3), np.float32)
    names = ("agent", "agent")
    return RecordView(
        GameRecord(Many(), names, boards, players, rewards, np.array([1]), values), "s"
    )


def test_a_game_of_127_kinds_of_cells_is_shown_with_all_of_them(view_of_many):
    shapes = shape_markup(view_of_many.drawing, "s")
    data = json.loads(view_of_many.data())
    for at, board in enumerate(view_of_many.record.boards.tolist()):
        assert data["positions"][at][0] == board
        for digit in board:
            assert f'href="#s-{digit}"' in view_of_many.board(at)
            assert f'<g id="s-{digit}"><text x="0" y="0" class="digit">{digit}</text></g>' in shapes


@pytest.mark.browser
def test_digits_stand_in_the_middle_of_their_cells(browser, view_of_many):
    style = (Path(drawings.__file__).parents[1] / "page" / "board.css").read_text()
    shapes = shape_markup(view_of_many.drawing, "s")
    page = browser.new_page()
    page.set_content(
        f"<style>{style}</style><svg class=shapes width=0 height=0><defs>{shapes}</defs></svg>"
        + view_of_many.board(0)
    )
    boxes = page.locator(".spot use:first-child").evaluate_all(
        "uses => uses.map(use => use.getBBox())"
        ".map(box => [box.x, box.x + box.width, box.y, box.y + box.height])"
    )
    page.close()
    assert len(boxes) == 5
    for left, right, top, bottom in boxes:
        assert -22 < left < 0 < right < 22
        assert left + right == pytest.approx(0, abs=0.5)
        assert -22 < top < 0 < bottom < 22


@pytest.fixture
def registry(monkeypatch):
    """The registered drawings, forgotten again at the end."""
    registered = dict(drawings._DRAWINGS)
    monkeypatch.setattr(drawings, "_DRAWINGS", registered)
    return registered


def test_a_class_is_drawn_as_the_nearest_above_it(registry):
    class Larger(TicTacToe):
        pass

    class Largest(Larger):
        pass

    def build(game: Game) -> Drawing:
        return Drawing(1, 1, type(game).__name__, [], [], "", [])

    assert drawing_of(Largest()).ground == drawing_of(TicTacToe()).ground
    register_drawing(Larger, build)
    assert drawing_of(Largest()).ground == "Largest"
    assert drawing_of(TicTacToe()).ground != "TicTacToe"
    register_drawing(Unknown, build)
    assert drawing_of(Unknown()).ground == "Unknown"


@pytest.mark.parametrize("name", game_names())
def test_every_shipped_game_has_a_drawing_of_its_own(registry, name):
    assert type(make(name)) in registry


def test_values_are_called_estimates_and_shown_outside_the_range_of_rewards():
    class Paid(TicTacToe):
        reward_range = (0.0, 1.0)

    for game in (TicTacToe(), Paid()):
        assert value_scale(game).label == "estimate"
        assert [value_scale(game).figure(value) for value in (-0.18, 1.25)] == [-0.18, 1.25]
    assert value_scale(make("2048")).label == "estimate"
