"""Draws play.png and play-phone.png: the play page as a browser shows it.

An agent of ConnectFour is trained for it, for a minute or two.
"""

import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import jaxgbg
from jaxgbg.web.play.serving import LOOPBACK, listen, server_of
from jaxgbg.web.play.table import Table

HERE = Path(__file__).resolve().parent
CHROMIUM = "/usr/bin/chromium"
EPISODES = 20_000
MOVES = "3,3,3,2,4,5,2,2"


def trained() -> Table:
    """A table with an agent that has seen a few games."""
    run = jaxgbg.preset(
        "connectfour",
        seeds=(0,),
        variants=("farl",),
        episodes=EPISODES,
        eval_every=EPISODES,
        opponents=("random",),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = jaxgbg.train(run, folder).path
        return Table(run.game, {"agent": jaxgbg.load(path / "agents" / "seed0-farl.agent")})


def draw(browser: Browser, address: str, name: str, width: int, height: int, scheme: str) -> None:
    """One picture; a person plays both sides, so that nothing moves."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    page.goto(f"{address}#seats=person,person&moves={MOVES}")
    page.wait_for_selector("svg.board .spot.legal", state="attached")
    page.locator("#seats select").nth(1).select_option("agent")
    page.locator("#values").select_option("mover")
    page.locator("#perfect").check()
    page.wait_for_selector(".verdict.best")
    page.locator("#inside summary").click()
    page.locator("svg.board .spot").nth(20).click(force=True)
    page.wait_for_selector("#inside tbody tr")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=HERE / name)
    context.close()


def main() -> None:
    table = trained()
    listener = listen(LOOPBACK, 0)
    server = server_of(table)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    address = f"http://localhost:{listener.getsockname()[1]}/"
    try:
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            draw(browser, address, "play.png", 1200, 1000, "light")
            draw(browser, address, "play-phone.png", 390, 844, "dark")
            browser.close()
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
