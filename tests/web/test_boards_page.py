"""The page "Play now" of the site, built with two of its boards and played offline."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.games import make
from jaxgbg.runs.storage.zoo import card_of, zoo_names
from tests.web.test_play_browser import DESKTOP, PHONE, Visit, by_mouse

DOCS = Path(__file__).parents[2] / "docs"
BOARDS = tomllib.loads((DOCS / "boards.toml").read_text(encoding="utf-8"))
SETTINGS = """import sys
sys.path.insert(0, {ext!r})
extensions = ["myst_parser", "boards", "self_contained"]
myst_heading_anchors = 3
root_doc = "play-now"
"""


def test_the_page_says_which_agents_it_leaves_out():
    games = {name: dict(card_of(name).game) for name in zoo_names()}
    left = [
        make(game.pop("name"), **game).title for name, game in games.items() if name not in BOARDS
    ]
    text = (DOCS / "play-now.md").read_text(encoding="utf-8")
    assert BOARDS.keys() <= set(zoo_names())
    assert all(title in text.partition("leaves out")[2] for title in left), left


@pytest.mark.browser
@pytest.mark.slow
def test_two_boards_of_the_built_site_answer_a_move_offline(browser, tmp_path):
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    (source / "conf.py").write_text(SETTINGS.format(ext=str(DOCS / "_ext")))
    (source / "play-now.md").write_text((DOCS / "play-now.md").read_text(encoding="utf-8"))
    named = {name: BOARDS[name]["position"] for name in ("tictactoe", "nim")}
    lines = [f'[{name}]\nposition = "{position}"' for name, position in named.items()]
    (source / "boards.toml").write_text("\n".join(lines))
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", source, site]
    subprocess.run(command, check=True, capture_output=True, cwd=DOCS.parent)
    page = browser.new_context(offline=True).new_page()
    page.goto((site / "play-now.html").as_uri())
    pictures = page.locator(".boards img").evaluate_all("all => all.map(each => each.naturalWidth)")
    assert len(pictures) == len(named)
    assert min(pictures) > 0
    addresses = page.locator(".boards a").evaluate_all("all => all.map(each => each.href)")
    page.context.close()
    for address, viewport in zip(addresses, (DESKTOP, PHONE), strict=True):
        visit = Visit(browser, address, viewport, offline=True)
        visit.hurry()
        by_mouse(visit, np.random.default_rng(1))
        # The agent has answered by the time a person is to move again.
        visit.until(lambda visit=visit: visit.plies == 2 or visit.over)
        visit.done()
