"""Positions that are set up by clicks: the text that comes out, and the page."""

import jax
import numpy as np
import pytest

from jaxgbg.games import game_names, make
from jaxgbg.games.notations import set_up
from jaxgbg.games.rollout import select_states
from jaxgbg.games.sampling import sample_games
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.play.describe import describe_game
from tests.web.tables import table_of
from tests.web.test_play_browser import DESKTOP, PHONE, Visit, press, served

BY_CLICKS = {
    "tictactoe": {},
    "connectfour": {},
    "hex": {"size": 3},
    "othello": {"size": 4},
    "2048": {},
    "lines_of_action": {"size": 4},
}


def form_of(game) -> dict | None:
    return describe_game(game, drawing_of(game))["setUp"]


def text_of(form: dict, pieces: list[int], player: int) -> str:
    """What the page writes, see setup.js."""
    words = {kind: words for words, kind in form["contents"]}
    empty = form["contents"][0][0]
    rows = [[words.get(pieces[spot], empty) for spot in row] for row in form["rows"]]
    board = "/".join(form["between"].join(row) for row in rows)
    return " ".join([board, *(words for words, _ in form["sides"][player : player + 1])])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "lines_of_action" else [])
        for name in BY_CLICKS
    ],
)
def test_the_text_of_a_board_is_read_as_that_board(name):
    game = make(name, **BY_CLICKS[name])
    form, drawing, sample = form_of(game), drawing_of(game), sample_games(game)
    kinds = [kind for _, kind in form["contents"]]
    assert len(set(kinds)) == len(kinds)
    show = jax.jit(game.display_cells)
    seen = 0
    for ply in range(0, min(40, sample.terminal.shape[0]), 3):
        state = select_states(sample.states, (ply, ply % 32))
        if state.terminal:
            continue
        board = np.asarray(show(state))
        read = set_up(game, text_of(form, list(drawing.kinds(board)), int(state.player)))
        np.testing.assert_array_equal(show(read), board)
        assert int(read.player) == int(state.player)
        seen += 1
    assert seen


def test_games_whose_board_is_not_all_have_no_clicks():
    assert {name for name in game_names() if form_of(make(name))} == BY_CLICKS.keys()


def choose(visit: Visit, name: str) -> None:
    visit.page.locator("#setup").get_by_role("button", name=name).click()


@pytest.mark.browser
@pytest.mark.slow
def test_a_position_is_set_up_by_clicks_and_a_wrong_one_says_why(browser):
    table = table_of("othello", size=4)
    table.warm_up()
    with served(table) as address:
        visit = Visit(browser, address + "#seats=person,person&moves=", DESKTOP)
        page = visit.page
        press(visit, "setup")
        assert not page.locator(".turns").is_visible()
        choose(visit, "Clear")
        choose(visit, "Done")
        page.wait_for_selector("#fault:has-text('the four squares in the middle have discs')")
        page.locator("#fault button").click()
        # From empty to black to white.
        for spot in (5, 6, 9, 10, 0, 0):
            visit.click(spot)
        assert page.locator("svg.board .spot").nth(0).get_attribute("aria-label") == "a1: white"
        choose(visit, "Done")
        page.wait_for_selector("#fault:has-text('black cannot move: it is the turn of white')")
        page.locator("#setup select").select_option("1")
        choose(visit, "Done")
        visit.until(lambda: visit.caption == "White to move.")
        # What was wrong is not left over a position that is right.
        visit.until(lambda: page.locator("#fault").is_hidden())
        visit.until(lambda: "moves=O----XX--XX-----%20O;" in page.url)
        assert page.locator("#setup").is_hidden()
        # The others wait while somebody sets up, and nothing has changed after Cancel.
        press(visit, "setup")
        choose(visit, "Clear")
        page.locator("body").press("u")
        choose(visit, "Cancel")
        assert visit.caption == "White to move."
        visit.expected = "400"
        visit.done()
    table.close()


@pytest.mark.browser
@pytest.mark.slow
def test_the_agent_answers_in_a_position_that_was_set_up(browser):
    table = table_of("tictactoe")
    table.warm_up()
    with served(table) as address:
        visit = Visit(browser, address + "#seats=agent,person&moves=4,0", PHONE)
        visit.hurry()
        visit.settle(3)
        press(visit, "setup")
        choose(visit, "Clear")
        # By key: the first cell gets a cross, the next one a nought.
        board = visit.page.locator("svg.board .spot")
        board.nth(0).focus()
        for key in ("Enter", "ArrowRight", "Enter", "Enter"):
            visit.page.keyboard.press(key)
        choose(visit, "Done")
        # The game before had three plies.
        visit.until(lambda: visit.plies == 1)
        visit.until(lambda: "moves=XO./.../..." in visit.page.url)
        visit.done()
    table.close()
    # A game without such a text has no button.
    table = table_of("nim")
    table.warm_up()
    with served(table) as address:
        visit = Visit(browser, address, DESKTOP)
        assert not visit.page.locator("[data-do=setup]").is_visible()
        visit.done()
    table.close()
