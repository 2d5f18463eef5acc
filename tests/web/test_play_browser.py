"""The play page in a browser: whole games by mouse and by keys, and all that stands next to it."""

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable
from importlib import resources
from urllib.parse import unquote

import numpy as np
import pytest

from jaxgbg.games import game_names, make
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.play.server import application
from jaxgbg.web.play.serving import LOOPBACK, listen
from jaxgbg.web.play.table import Table
from jaxgbg.web.play.tuples import Counters
from jaxgbg.web.positions import shape_markup
from tests.web.late_answers import late_server
from tests.web.tables import drawn_agent, table_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DESKTOP, PHONE = {"width": 1200, "height": 850}, {"width": 390, "height": 844}
# As shipped, but where a whole game of random moves would last for minutes.
SMALLER = {
    "lines_of_action": {"size": 5},
    "pig": {"target": 10},
    "ewn": {"size": 3},
    "yavalath": {"size": 3},
    "chinese_checkers": {"rows": 1},
    "maedn": {"quarter": 2, "pieces": 1},
    "backgammon": {"checkers": 3},
}


@contextlib.contextmanager
def served(table: Table, port: int = 0):
    """The address of a page, as long as it is served."""
    listener = listen(LOOPBACK, port)
    server = late_server(application(table))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class Visit:
    """A page on which nothing may go wrong: no complaint, no question to anybody else."""

    def __init__(self, browser, address: str, viewport: dict, **options) -> None:
        self.context = browser.new_context(viewport=viewport, **options)
        self.page = self.context.new_page()
        self.address, self.complaints = address.partition("#")[0], []
        # The browser's own line about an answer that a test asks for may come at any time.
        self.expected: str | None = None
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("request", self._asked)
        self.page.goto(address)
        self.settle(0)

    def _asked(self, request) -> None:
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.complaints.append(f"asked for {request.url}")

    @property
    def plies(self) -> int:
        """The number of the last move in the list, which begins later in a long game."""
        return self.page.locator("#history .line").evaluate(
            "list => Number(list.style.counterReset.split(' ')[1]) + list.children.length"
        )

    @property
    def caption(self) -> str:
        return self.page.locator("#caption").text_content()

    @property
    def over(self) -> bool:
        return "over" in self.caption

    def settle(self, plies: int) -> None:
        """Wait until so many plies are played and a person is to move, or nobody."""
        ready = (
            "!document.querySelector('.play').classList.contains('thinking')"
            " && (document.querySelector('#moves td button:not(:disabled)')"
            " || document.querySelector('#caption').textContent.includes('over'))"
        )
        self.until(lambda: self.plies >= plies and self.page.evaluate(ready))

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        """Wait for something; the page's own policy lets no script of the test wait there."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, self.caption
            self.page.wait_for_timeout(15)

    def kept(self) -> None:
        """Wait until the address holds the game, up to the position that is shown."""
        text = self.page.locator("#text textarea").input_value
        self.until(lambda: unquote(self.page.url).endswith(f"&moves={text()}"))

    def hurry(self) -> None:
        """Let the others answer without the pause in which a person sees them move."""
        self.page.evaluate("document.querySelector('#speed').value = 4")

    def legal(self) -> list[int]:
        return self.page.evaluate(
            """() => [...document.querySelectorAll("svg.board .spot")]
               .flatMap((spot, at) => spot.classList.contains("legal") ? [at] : [])"""
        )

    def click(self, spot: int) -> None:
        box = self.page.locator("svg.board .spot").nth(spot).bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def look_inside(self, looking: bool = True) -> None:
        """Open or close the weights behind the values; the board hears of it a little later."""
        self.page.locator("#inside summary").click()
        self.until(lambda: self.page.locator(".inspecting").count() == looking)

    def done(self) -> None:
        others = [
            line for line in self.complaints if not self.expected or self.expected not in line
        ]
        assert others == []
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        self.context.close()


def by_mouse(visit: Visit, random: np.random.Generator) -> None:
    """One move: a click, or two where a piece is taken up; else by the list."""
    before, spots = visit.plies, visit.legal()
    if not spots:
        visit.page.locator("#moves td button").first.click()
        visit.settle(before + 1)
        return
    spot = int(random.choice(spots))
    visit.page.locator("#board").scroll_into_view_if_needed()
    visit.click(spot)
    if visit.page.locator("svg.board .spot.picked").count():
        visit.click(int(random.choice([each for each in visit.legal() if each != spot])))
    visit.settle(before + 1)


def by_keys(visit: Visit, random: np.random.Generator) -> None:
    """One move: arrows to a spot, Enter; in 2048 an arrow."""
    page, before = visit.page, visit.plies
    if visit.walls:
        while visit.plies == before and not visit.over:
            page.keyboard.press(str(random.choice(visit.walls)))
            page.wait_for_timeout(40)
        return
    walk_to_legal(visit, random)
    page.keyboard.press("Enter")
    if page.locator("svg.board .spot.picked").count():
        walk_to_legal(visit, random)
        page.keyboard.press("Enter")
    visit.settle(before + 1)


_ARROW = """() => {
    const here = document.activeElement;
    const look = here.classList;
    if (look.contains("legal") && !look.contains("picked")) return "";
    const place = (spot) => { const box = spot.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = place(here);
    const ways = [...document.querySelectorAll("svg.board .spot.legal:not(.picked)")].map(place)
        .map(([a, b]) => [a - x, b - y]).sort((a, b) => Math.hypot(...a) - Math.hypot(...b));
    const [dx, dy] = ways[0];
    if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? "ArrowRight" : "ArrowLeft";
    return dy > 0 ? "ArrowDown" : "ArrowUp";
}"""
"""From the focused spot towards the nearest legal one, "" on it."""


def walk_to_legal(visit: Visit, random: np.random.Generator) -> None:
    """From the focused spot by arrows to one that is legal and not where a piece was taken up."""
    arrows = ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]
    for _ in range(500):
        arrow = visit.page.evaluate(_ARROW)
        if not arrow:
            return
        # Now and then another one, where the straight way leads nowhere.
        visit.page.keyboard.press(arrow if random.random() < 0.8 else str(random.choice(arrows)))
    raise AssertionError("the arrows lead to no legal spot")


@pytest.mark.parametrize("name", game_names())
def test_whole_games_by_mouse_and_by_keys(browser, name):
    table = table_of(name, **SMALLER.get(name, {}))
    table.warm_up()
    with served(table) as address:
        for viewport, move in ((DESKTOP, by_mouse), (PHONE, by_keys)):
            visit = Visit(browser, address, viewport, has_touch=viewport == PHONE)
            visit.walls = list(table.drawing.keys)
            visit.hurry()
            random = np.random.default_rng(1)
            if move is by_keys:
                while not visit.page.evaluate("document.activeElement.matches('.spot')"):
                    visit.page.keyboard.press("Tab")
            while not visit.over:
                move(visit, random)
                chance = re.search(r"Chance: ([^.]*)\.", visit.caption)
                # A die by its number alone, other chance with its place.
                dice = r"die [1-6](; die [1-6]|; double, 4 times)?|(?!.*die)[\w ]+ at (?!this).+"
                assert chance is None or re.fullmatch(dice, chance[1])
            plies, caption = visit.plies, visit.caption
            assert plies >= table.game.num_players
            # The address is the whole game.
            visit.kept()
            visit.page.reload()
            visit.settle(plies)
            assert (visit.plies, visit.caption) == (plies, caption)
            visit.done()
    table.close()


@pytest.fixture
def visit(browser):
    table = table_of("tictactoe")
    table.warm_up()
    with served(table) as address:
        opened = Visit(browser, address + "#seats=person,person&moves=4,0", DESKTOP)
        opened.settle(2)
        yield opened
        opened.done()
    table.close()


def press(visit: Visit, name: str) -> None:
    visit.page.locator(f"[data-do={name}]").click()


@pytest.mark.parametrize("name", game_names())
def test_all_words_on_a_board_stand_in_the_middle_of_their_spot(browser, name):
    """Pieces such as "rolls again" and "4 times" are cut off at the edge if they begin there."""
    style = (resources.files("jaxgbg.web") / "page" / "board.css").read_text()
    shapes = shape_markup(drawing_of(make(name)), "shape")
    page = browser.new_page()
    page.set_content(f'<style>{style}</style><svg class="shapes"><defs>{shapes}</defs></svg>')
    anchors = page.evaluate(
        "[...document.querySelectorAll('text')].map((each) => getComputedStyle(each).textAnchor)"
    )
    page.close()
    assert set(anchors) <= {"middle"}


@pytest.mark.parametrize(("name", "settings"), [
    ("chinese_checkers", {"rows": 1, "players": 6}), ("pig", {"target": 10, "players": 6}),
])  # fmt: skip
def test_the_values_of_six_players_are_not_cut_off(browser, name, settings):
    table = table_of(name, **settings)
    table.warm_up()
    with served(table) as address:
        opened = Visit(browser, address + f"#seats={'person,' * 5}person&moves=", DESKTOP)
        opened.page.locator("#values").select_option("all")
        opened.until(lambda: opened.page.locator("#moves thead th").count() == 7)
        box = opened.page.locator("#moves .scroll")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        opened.done()
    table.close()


def test_who_is_out_is_marked_and_a_hint_waits_for_the_values_of_its_position(browser):
    table = table_of("sim", nodes=5, players=3)
    table.warm_up()
    with served(table) as address:
        opened = Visit(
            browser, address + "#seats=person,person,person&moves=9,1,5,2,0,7,3", DESKTOP
        )
        page, rows = opened.page, opened.page.locator("#seats .row")
        opened.settle(7)
        assert "Out: red." in opened.caption
        assert [row.text_content() for row in rows.locator(".result").all()] == ["out: −1", "", ""]
        assert page.locator("#seats .row.out .side").text_content() == "red"
        page.evaluate(
            """() => { const ask = window.fetch; window.fetch = async (...request) => {
                   if (String(request[0]).includes("position"))
                     await new Promise((done) => setTimeout(done, 700));
                   return ask(...request); }; }"""
        )
        page.locator("#values").select_option("all")
        press(opened, "hint")
        opened.until(lambda: opened.caption.startswith("Hint: "), 10)
        # The values that were asked for are there too, and stay.
        assert page.locator("#moves thead th").count() == 4
        page.wait_for_timeout(800)
        assert opened.caption.startswith("Hint: ")
        opened.done()
    table.close()


def test_the_game_is_turned_back_and_forth(visit):
    page = visit.page
    assert visit.caption == "O: a1. X to move."
    press(visit, "previous")
    visit.until(lambda: visit.caption.startswith("X: b2"))
    page.locator("#history .line button").nth(1).click()
    visit.until(lambda: visit.caption.startswith("O: a1"))
    page.locator("body").press("Home")
    visit.until(lambda: visit.caption == "X to move.")
    # A move made in the past gives up what came after it.
    visit.click(8)
    visit.until(lambda: visit.plies == 1)
    visit.settle(1)
    assert visit.caption == "X: c3. O to move."
    press(visit, "back")
    visit.until(lambda: visit.plies == 0)
    visit.click(2)
    visit.settle(1)
    press(visit, "restart")
    visit.until(lambda: visit.plies == 0)
    assert visit.caption == "X to move."


@contextlib.contextmanager
def held(visit: Visit, name: str):
    """The requests of one name, which wait for their `continue_` if they come within the block."""
    routes, over = [], threading.Event()
    visit.page.route(
        f"**/api/v1/{name}",
        lambda route: route.continue_() if over.is_set() else routes.append(route),
    )
    yield routes
    over.set()


def test_moves_made_before_an_answer_are_played_after_it(visit):
    with held(visit, "move") as moves:
        visit.click(8)
        visit.click(2)
        # Nobody can move there twice.
        visit.click(8)
        visit.until(lambda: len(moves) == 1)
        visit.page.wait_for_timeout(100)
        assert (len(moves), visit.plies) == (1, 2)
    moves[0].continue_()
    visit.until(lambda: visit.plies == 4)
    visit.settle(4)
    assert visit.caption == "O: c1. X to move."
    # An action of another kind comes first: what waited for the answer is given up.
    with held(visit, "move") as moves:
        visit.click(6)
        visit.click(7)
        visit.until(lambda: len(moves) == 1)
        press(visit, "previous")
        visit.until(lambda: visit.caption == "X: c3. O to move.")
    moves[0].continue_()
    visit.page.wait_for_timeout(200)
    assert (visit.plies, visit.caption) == (4, "X: c3. O to move.")


def test_a_late_answer_does_not_replace_a_newer_one(visit):
    with held(visit, "position") as late:
        visit.page.locator("#values").select_option("all")
        visit.until(lambda: len(late) == 1)
        # The board still shows this position, only with other values.
        visit.click(8)
        visit.until(lambda: visit.plies == 3)
    late[0].continue_()
    visit.page.wait_for_timeout(200)
    assert visit.caption == "X: c3. O to move."
    visit.click(2)
    visit.until(lambda: visit.plies == 4)
    # The address follows within a quarter of a second.
    visit.until(lambda: visit.page.url.endswith("moves=4,0,8,2"))
    visit.page.reload()
    visit.settle(4)
    with held(visit, "position") as pages, held(visit, "move") as moves:
        press(visit, "previous")
        press(visit, "previous")
        visit.until(lambda: len(pages) == 2)
        # The board shows neither of these positions yet, and says so.
        assert visit.legal() == []
        visit.click(6)
        for page in reversed(pages):
            page.continue_()
        visit.until(lambda: visit.caption == "O: a1. X to move.")
        visit.page.wait_for_timeout(200)
        assert visit.caption == "O: a1. X to move."
        assert moves == []
    visit.click(6)
    visit.until(lambda: visit.caption == "X: a3. O to move.")
    assert visit.plies == 3


def test_a_player_moves_once_however_often_its_turn_is_shown(visit):
    page = visit.page
    page.locator("#perfect").check()
    page.wait_for_selector(".verdict.best")
    with held(visit, "perfect") as verdicts, held(visit, "move") as moves:
        # Moves do not wait for what perfect play says.
        visit.click(8)
        visit.until(lambda: len(moves) == 1)
        moves[0].continue_()
        visit.until(lambda: visit.plies == 3)
        page.locator("#seats select").nth(1).select_option("random")
        page.locator("#values").select_option("mover")
        page.locator("#values").select_option("all")
        visit.until(lambda: len(verdicts) >= 1)
        for verdict in verdicts:
            verdict.continue_()
        visit.until(lambda: len(moves) == 2)
        page.wait_for_timeout(300)
        assert len(moves) == 2
    moves[1].continue_()
    visit.settle(4)
    assert visit.plies == 4


def test_a_wrong_text_does_not_stop_the_player_who_thinks(visit):
    page = visit.page
    page.locator("#text summary").click()
    with held(visit, "move") as moves:
        page.locator("#seats select").nth(0).select_option("random")
        visit.until(lambda: len(moves) == 1)
        page.locator("#text textarea").fill("4,4")
        press(visit, "load")
        page.wait_for_selector("#fault:has-text('move 2 is not legal there')")
    moves[0].continue_()
    visit.settle(3)
    assert visit.plies == 3
    visit.expected = "400"


def test_the_list_of_moves_goes_on_in_a_long_game(browser):
    table = table_of("pig", agent=False)
    hold = "1.0"
    with served(table) as address:
        game = f"#seats=person,person&moves={','.join([hold] * 250)}"
        opened = Visit(browser, address + game, DESKTOP)
        assert opened.plies == 250
        opened.click(opened.legal()[-1])
        opened.until(lambda: opened.plies == 251)
        assert opened.page.locator("#history .line li").count() == 251
        opened.done()
    table.close()


def test_values_hints_and_perfect_play_are_shown_on_request(visit):
    page = visit.page
    values = page.locator("svg.board .value")
    # Whoever plays is not told, and the order of the moves does not tell either.
    assert not any(values.all_text_contents())
    assert page.locator("#curve polyline").count() == page.locator("#moves .bar").count() == 0
    names = page.locator("#moves td button").all_text_contents()
    assert names == ["b1", "c1", "a2", "c2", "a3", "b3", "c3"]
    page.locator("body").press("v")
    visit.until(lambda: len([each for each in values.all_text_contents() if each]) == 7)
    assert page.locator("#curve polyline").count() == 2
    # Each bar begins at zero, which lies in the middle of -1 to 1, and has a place of its own.
    for bar in page.locator("#moves .bar").all():
        assert bar.evaluate("cell => cell.style.getPropertyValue('--zero')") == "50%"
        figure = bar.locator("xpath=preceding-sibling::td[1]").text_content().replace("−", "-")
        left, width, look = bar.locator("i").evaluate(
            "bar => [parseFloat(bar.style.left), parseFloat(bar.style.width), bar.className]"
        )
        assert left + (0 if float(figure) > 0 else width) == pytest.approx(50)
        assert width == pytest.approx(50 * abs(float(figure)), abs=0.3)
        assert look == ("bad" if figure.startswith("-") else "good")
    page.locator("#values").select_option("all")
    visit.until(lambda: page.locator("#moves th").count() == 3)
    assert page.locator("#moves th").all_text_contents() == ["move", "X", "O"]
    page.locator("#perfect").check()
    page.wait_for_selector(".verdict.best")
    assert page.locator(".verdict").count() == 7
    for verdict in page.locator(".verdict").all():
        words, look = verdict.text_content(), verdict.get_attribute("class").split()
        # Green is good for the mover; the best of lost moves is none the less lost.
        assert ("good" in look, "bad" in look) == (words.startswith("win"), words.startswith("los"))
    press(visit, "hint")
    page.wait_for_selector("svg.board .spot.hinted", state="attached")
    assert visit.caption.startswith("Hint: ")


def test_seat_and_strength_are_chosen_before_the_first_move(visit):
    page = visit.context.new_page()
    page.goto(visit.address)
    page.wait_for_selector("#start button")
    assert page.locator("h1").text_content() == "jaxgbg TicTacToe"
    assert page.locator("#start label").all_text_contents() == [
        *("X (first)", "O", "nobody"),
        *("easy", "medium", "strong"),
    ]
    checked = "#start label:has(:checked)"
    assert page.locator(checked).all_text_contents() == ["X (first)", "medium"]
    page.get_by_text("O", exact=True).first.click()
    page.locator("#start").get_by_text("easy").click()
    # Nobody moves before the game begins.
    page.wait_for_timeout(500)
    assert page.locator(checked).all_text_contents() == ["O", "easy"]
    assert page.locator("#history .line li").count() == 0
    page.locator("#start button").click()
    page.wait_for_selector("#history .line li")
    assert not page.locator("#start").is_visible()
    visit.until(lambda: "#seats=mcts-20,person&moves=" in page.url)
    page.locator("[data-do=restart]").click()
    page.wait_for_selector("#start button")
    page.locator("[data-do=hint]").click()
    page.close()


def test_after_a_new_game_the_agent_waits_for_the_start(visit, browser):
    other = Visit(browser, visit.address + "#seats=random,person&moves=", DESKTOP)
    other.settle(1)
    press(other, "restart")
    other.page.wait_for_selector("#start button")
    # Other choices do not begin the game.
    other.page.locator("body").press("v")
    other.page.wait_for_timeout(500)
    assert other.plies == 0
    assert other.page.locator("#start").is_visible()
    other.page.locator("#start button").click()
    other.settle(1)
    other.done()


def test_a_move_taken_back_does_not_pause_the_game(visit, browser):
    other = Visit(browser, visit.address + "#seats=person,random&moves=", DESKTOP)
    other.click(4)
    other.settle(2)
    press(other, "back")
    other.until(lambda: other.plies == 0)
    assert not other.page.locator("[data-do=auto]").is_visible()
    other.done()


def test_what_chance_did_stands_among_the_moves(browser):
    table = table_of("2048")
    table.warm_up()
    with served(table) as address:
        opened = Visit(browser, address, DESKTOP)
        assert not opened.page.locator("#start").is_visible()
        opened.page.locator("#moves td button").first.click()
        opened.settle(1)
        told = opened.page.locator("#history .line button").text_content()
        assert re.fullmatch(r"(left|up|right|down) \+ [24] at row [1-4], column [1-4]", told)
        opened.done()
    table.close()


def test_the_board_is_seen_from_the_other_side(visit):
    first = visit.page.locator("svg.board .spot").first
    before = first.bounding_box()
    press(visit, "flip")
    after = first.bounding_box()
    assert after["x"] > before["x"] + 50
    assert after["y"] > before["y"] + 50
    visit.click(8)
    visit.settle(3)
    assert visit.caption == "X: c3. O to move."


def test_agents_play_by_themselves(visit):
    page = visit.page
    for seat in (0, 1):
        page.locator("#seats select").nth(seat).select_option("random")
    page.locator("#speed").fill("4")
    press(visit, "auto")
    visit.until(lambda: visit.over)
    assert 5 <= visit.plies <= 9


def test_an_agent_is_told_how_often_to_search(visit):
    page = visit.page
    page.locator("#seats select").nth(1).select_option("agent:search=puct")
    page.locator("#seats .strength input").fill("50")
    page.keyboard.press("Tab")
    told = "#seats=person,agent:search=puct-50&"
    visit.until(lambda: page.evaluate("location.hash").startswith(told))
    page.reload()
    visit.settle(2)
    assert page.locator("#seats select").nth(1).input_value() == "agent:search=puct"
    assert page.locator("#seats .strength input").input_value() == "50"


def test_a_search_is_told_to_prove(visit):
    page = visit.page
    assert page.locator("#seats .switch").count() == 0
    page.locator("#seats select").nth(1).select_option("agent:search=puct")
    page.locator("#seats .switch input").check()
    told = "#seats=person,agent:search=puct-200,solver=1&"
    visit.until(lambda: page.evaluate("location.hash").startswith(told))
    page.reload()
    visit.settle(2)
    assert page.locator("#seats .switch input").is_checked()
    page.locator("#seats .strength input").fill("50")
    page.keyboard.press("Tab")
    visit.until(lambda: "puct-50,solver=1&" in page.evaluate("location.hash"))
    visit.click(2)
    visit.settle(4)
    page.locator("#seats .switch input").uncheck()
    visit.until(lambda: "puct-50&" in page.evaluate("location.hash"))


def test_a_position_goes_out_and_in_as_text_and_as_a_file(visit, tmp_path):
    page = visit.page
    page.locator("#text summary").click()
    assert page.locator("#text textarea").input_value() == "4,0"
    with page.expect_download() as downloaded:
        press(visit, "save")
    kept = tmp_path / downloaded.value.suggested_filename
    downloaded.value.save_as(kept)
    content = json.loads(kept.read_text())
    assert (content["game"], content["moves"], content["names"]) == (
        "tictactoe",
        "4,0",
        ["b2", "a1"],
    )
    with page.expect_download() as downloaded:
        press(visit, "page")
    shown = visit.context.new_page()
    downloaded.value.save_as(tmp_path / "game.html")
    shown.goto((tmp_path / "game.html").as_uri())
    shown.get_by_role("button", name="last", exact=True).click()
    assert "End after 2 moves" in shown.locator(".caption").text_content()
    shown.close()
    page.locator("#text textarea").fill("8, 7, 6")
    press(visit, "load")
    visit.settle(3)
    assert visit.caption == "X: a3. O to move."
    page.locator("#text input").set_input_files(kept)
    visit.until(lambda: visit.caption.startswith("O: a1"))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**content, "game": "hex"}))
    page.locator("#text input").set_input_files(other)
    page.wait_for_selector("#fault:has-text('it is a game of hex, and this page plays tictactoe')")


def test_a_position_is_set_up_by_pasting_it_and_the_address_keeps_it(visit, browser):
    page = visit.page
    page.locator("#seats select").nth(1).select_option("person")
    page.locator("#text summary").click()
    page.locator("#text textarea").fill("XO.\n.X.\n...\nO")
    press(visit, "load")
    visit.until(lambda: page.locator("#text textarea").input_value() == "XO./.X./... O;")
    visit.click(8)
    visit.until(lambda: page.locator("#text textarea").input_value() == "XO./.X./... O;8")
    page.locator("#text textarea").fill("XO./.X./... X")
    press(visit, "load")
    page.wait_for_selector("#fault:has-text('O is to move with 2 X and 1 O')")
    page.locator("#fault button").click()
    visit.until(lambda: "moves=XO./.X./...%20O;8" in page.url)
    visit.expected = "400"
    again = Visit(browser, page.url, DESKTOP)
    again.settle(1)
    again.page.locator("#text summary").click()
    assert again.page.locator("#text textarea").input_value() == "XO./.X./... O;8"
    again.page.keyboard.press("Escape")
    press(again, "back")
    again.until(lambda: again.page.locator("#text textarea").input_value() == "XO./.X./... O;")
    again.done()


def test_a_wrong_text_is_refused_and_the_game_stays(visit):
    page = visit.page
    page.locator("#text summary").click()
    page.locator("#text textarea").fill("4,4")
    press(visit, "load")
    page.wait_for_selector("#fault:has-text('move 2 is not legal there')")
    page.locator("#fault button").click()
    assert not page.locator("#fault").is_visible()
    visit.click(8)
    visit.settle(3)
    assert visit.caption == "X: c3. O to move."
    visit.expected = "400"


def test_the_tuples_through_a_cell_are_looked_into(visit):
    page = visit.page
    visit.look_inside()
    visit.click(4)
    page.wait_for_selector("#inside tbody tr")
    assert (
        "b2, valued for O: 8 of 8 look-ups read it" in page.locator("#inside .sum").text_content()
    )
    assert "TC counters are none: its weights were" in page.locator("#inside .sum").text_content()
    assert page.locator("#inside thead").text_content().endswith("hits")
    page.locator("#inside tbody tr").first.hover()
    visit.until(lambda: page.locator("svg.board .spot.read").count() == 9)
    assert visit.plies == 2
    visit.look_inside(False)
    visit.click(8)
    visit.settle(3)


@pytest.mark.parametrize("shape", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_counters_of_a_checkpoint_stand_beside_the_weights(browser, shape):
    agent = drawn_agent(make("tictactoe"), tcl="exp")
    changes = np.random.default_rng(0).normal(size=(agent.value.num_weights, 3))
    values = np.column_stack([changes.sum(1), np.abs(changes).sum(1)])
    counters = Counters(values, "of the checkpoint after 7 episodes")
    table = Table(agent.game, {"drawn": agent}, {"drawn": counters})
    table.warm_up()
    with served(table) as address:
        opened = Visit(browser, address + "#seats=person,person&moves=4,0", shape)
        opened.settle(2)
        opened.look_inside()
        # On a phone the board is above what was opened.
        opened.page.locator("#board").scroll_into_view_if_needed()
        opened.click(4)
        opened.page.wait_for_selector("#inside tbody tr")
        said = opened.page.locator("#inside .sum").text_content()
        assert "TC counters are of the checkpoint after 7 episodes." in said
        heads = opened.page.locator("#inside thead th").all_text_contents()
        assert heads[-1] == "TC factor"
        rows = opened.page.locator("#inside tbody tr").all()
        assert len(rows) == 8
        for row in rows:
            told = row.locator("td").last.text_content().replace("−", "-")
            factor, n, a = map(float, re.fullmatch(r"(.+)N (.+)A (.+)", told).groups())
            assert factor == pytest.approx(abs(n) / a, abs=0.02 + 0.0006 / a)
        # All of it is seen without a move to the side.
        scroll = opened.page.locator("#inside .scroll")
        assert scroll.evaluate("(it) => it.scrollWidth <= it.clientWidth")
        opened.done()
    table.close()


def test_an_address_without_sense_is_told_and_a_new_game_is_there(visit):
    page = visit.context.new_page()
    page.goto(visit.address + "#seats=person,nobody,%ff&moves=9,9")
    page.wait_for_selector("#fault:has-text('move 1 is not legal there')")
    page.wait_for_selector("svg.board .spot.legal", state="attached")
    assert page.locator("#caption").text_content() == "X to move."
    page.close()


def test_two_tabs_play_two_games(visit):
    other = visit.context.new_page()
    other.goto(visit.address)
    other.wait_for_selector("svg.board .spot.legal", state="attached")
    visit.click(8)
    visit.settle(3)
    assert other.locator("#history .line li").count() == 0
    other.close()


def test_a_server_that_was_restarted_has_lost_nothing(browser):
    table = table_of("nim", agent=False, heaps=2, size=3)
    with served(table) as address:
        visit = Visit(browser, address + "#seats=person,person&moves=0", DESKTOP)
    port = int(address.rstrip("/").rpartition(":")[2])
    visit.page.locator("#moves td button").first.click()
    visit.page.wait_for_selector("#fault:has-text('The server does not answer')")
    visit.expected = "ERR_CONNECTION_REFUSED"
    again = table_of("nim", agent=False, heaps=2, size=3)
    with served(again, port):
        visit.page.locator("#fault button").click()
        visit.until(lambda: visit.plies == 2)
        visit.until(lambda: "#seats=person,person&moves=0," in visit.page.url)
        visit.done()
