"""Draws watch.png: the page on a run in progress as a browser shows it.

ConnectFour is trained for it, for a minute or two, and stopped before its end.
"""

import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

import jaxgbg
from jaxgbg.runs import Result, StopTraining
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.web.play.serving import LOOPBACK, address_of, listen, server_for
from jaxgbg.web.watch.runs import Watched
from jaxgbg.web.watch.server import application

HERE = Path(__file__).resolve().parent
CHROMIUM = "/usr/bin/chromium"
EPISODES, EVERY, STOP = 40_000, 1_000, 14_000


def stop(result: Result) -> None:
    if result.episodes == STOP:
        raise StopTraining("seen enough")


def draw(address: str) -> None:
    """The picture, a few moves into the game."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1500})
        page.goto(address)
        page.wait_for_selector("#game .record .player:not([hidden])")
        for _ in range(8):
            page.keyboard.press("ArrowRight")
        page.screenshot(path=HERE / "watch.png", full_page=True)
        browser.close()


def main() -> None:
    settings = {"episodes": EPISODES, "eval_every": EVERY, "opponents": ("blocker",)}
    run = jaxgbg.preset("connectfour", seeds=(0, 1), variants=("farl", "none"), **settings)
    with tempfile.TemporaryDirectory() as place:
        folder = jaxgbg.runs.train(run, place, on_evaluation=stop)
        (folder.path / "stopped.json").unlink()
        with only_here(folder):
            watched, listener = Watched(folder.path), listen(LOOPBACK, 0)
            server = server_for(application(watched))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                draw(address_of(listener))
            finally:
                server.should_exit = True
                thread.join()
                watched.close()


if __name__ == "__main__":
    main()
