"""The page on runs in progress in a browser: it follows the files, and says what is amiss."""

import shutil
import threading

import pytest

from jaxgbg.runs import Result, StopTraining, train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.web.play.serving import LOOPBACK, listen
from jaxgbg.web.watch.runs import Watched
from jaxgbg.web.watch.server import application
from tests.web.late_answers import late_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHAPES = [
    {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
]


class Served:
    """The page on a folder, as long as it is served."""

    def __init__(self, root, port: int = 0) -> None:
        self.watched = Watched(root)
        self.listener = listen(LOOPBACK, port)
        self.port = self.listener.getsockname()[1]
        self.address = f"http://localhost:{self.port}/"
        self.server = late_server(application(self.watched))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()
        self.watched.close()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that stopped at its first evaluation of four."""

    def stop(_):
        raise StopTraining("seen enough")

    settings = {"episodes": 400, "eval_every": 100, "batch": 8, "opponents": ("random",)}
    run = preset("tictactoe", seeds=(0,), **settings)
    return train(run, tmp_path_factory.mktemp("runs"), on_evaluation=stop)


def visit(browser, address: str, complaints: list, shape: dict):
    page = browser.new_context(**shape).new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request", lambda request: request.url.startswith(address) or complaints.append(request.url)
    )
    page.goto(address)
    return page


def test_the_page_follows_a_run_by_keys_and_at_every_width(browser, stopped):
    served, complaints = Served(stopped.path), []
    try:
        with only_here(stopped):
            for number, shape in enumerate(SHAPES):
                page = visit(browser, served.address, complaints, shape)
                page.wait_for_selector("#game .record .player:not([hidden])")
                page.wait_for_selector("#curves svg.chart")
                assert page.locator(".run .state").text_content() == "Stopped early"
                assert page.locator("progress").get_attribute("aria-label").startswith("Episodes")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                # A game is turned by its buttons, and by keys wherever the focus is.
                caption = page.locator(".caption").text_content()
                page.keyboard.press("ArrowRight")
                assert page.locator(".caption").text_content() != caption
                page.locator("#settings summary").focus()
                page.keyboard.press("Enter")
                assert page.locator("#settings dl dt").first.text_content() == "Game"
                stopped.append(Result(0, "farl", 200 + 100 * number, "random", 0.0, 20))
                served.watched.hurry()
                share = (200 + 100 * number) / 400
                page.wait_for_selector(f"#runs dd:has-text('{400 * share:.0f} of 400')")
                assert page.evaluate("document.querySelector('progress').value") == share
                assert page.title().startswith(f"{100 * share:.0f} %")
                page.context.close()
    finally:
        served.close()
    assert complaints == []


def test_a_server_that_is_gone_is_told_and_found_again(browser, stopped):
    served = Served(stopped.path)
    page = visit(browser, served.address, [], SHAPES[0])
    page.wait_for_selector("#game .record")
    served.close()
    # A request on the way when the server ended may have had another answer, until the next one.
    page.wait_for_selector("#fault:not([hidden]):has-text('Start it again')")
    assert page.locator("#curves svg.chart").count() == 1
    again = Served(stopped.path, served.port)
    try:
        page.wait_for_selector("#fault", state="hidden")
    finally:
        again.close()
    page.context.close()


def test_the_page_of_another_run_begins_anew(browser, stopped, tmp_path):
    served = Served(stopped.path)
    page = visit(browser, served.address, [], SHAPES[0])
    page.wait_for_selector("#game .record")
    page.evaluate("window.begun = true")
    served.close()
    other = Served(shutil.copytree(stopped.path, tmp_path / "other"), served.port)
    try:
        page.wait_for_selector("#name:has-text('Watching other')")
        page.wait_for_selector("#game .record")
        assert page.evaluate("window.begun") is None
    finally:
        other.close()
    page.context.close()


def test_a_game_that_is_looked_at_stays_until_asked(browser, stopped, monkeypatch):
    served = Served(stopped.path)
    try:
        page = visit(browser, served.address, [], SHAPES[0])
        page.wait_for_selector("#game .record")
        page.locator("#game [data-go=next]").focus()
        served.watched.game.html += "<p id='later'>a newer game</p>"
        page.wait_for_selector("#newer:not([hidden])")
        assert page.locator("#later").count() == 0
        # The button has left the game, so that the page asks for it by itself too.
        routes = []
        page.route("**/api/v1/game", lambda route: routes.append(route))
        page.locator("#newer").click()
        while len(routes) < 2:
            page.wait_for_timeout(15)
        routes[0].continue_()
        page.wait_for_selector("#later")
        page.wait_for_selector("#game .record:focus")
        with page.expect_request("**/api/v1/state"):
            routes[1].continue_()
        assert page.locator("#game .record:focus").count() == 1
        page.context.close()
    finally:
        served.close()
