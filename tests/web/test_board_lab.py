"""The notebook board in a real JupyterLab: clicked, looked into, and read from Python."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120
CELLS = (
    "import jaxgbg\n"
    "from tests.web.tables import drawn_agent\n"
    "agent = drawn_agent(jaxgbg.make('tictactoe'))\n"
    "board = jaxgbg.board(agent, moves=(4, 0), seats=('person', 'person'))\n"
    "board",
    "print('here is', board.moves)",
    "board.moves = '4,0,8,1'",
)
# What takes long to load, and asks whether one wants the news.
WITHOUT = (
    "jupyterlab-jupytext",
    "@jupyterlab/apputils-extension:announcements",
    "@jupyterlab/debugger-extension",
    "@jupyterlab/extensionmanager-extension",
    "@jupyterlab/lsp-extension",
    "@jupyterlab/terminal-extension",
)


def address_in(folder: Path) -> str | None:
    """The address that a server has written to its file, whose content comes after its name."""
    for path in folder.glob("jpserver-*.json"):
        with contextlib.suppress(json.JSONDecodeError):
            return json.loads(path.read_text())["url"]
    return None


@contextlib.contextmanager
def jupyter_lab(folder: Path):
    """The address of a JupyterLab that knows nothing of this machine's user."""
    places = {name: folder / name.lower() for name in ("CONFIG", "DATA", "RUNTIME")}
    settings = places["CONFIG"] / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"disabledExtensions": dict.fromkeys(WITHOUT, True)}))
    environment = os.environ | {f"JUPYTER_{name}_DIR": str(place) for name, place in places.items()}
    for name in ("SETTINGS", "WORKSPACES"):
        environment[f"JUPYTERLAB_{name}_DIR"] = str(folder / name.lower())
    environment |= {"PYTHONPATH": str(ROOT), "HOME": str(folder)}
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--port=0"]
    command += ["--ip=127.0.0.1", "--IdentityProvider.token=secret"]
    command += [f"--ServerApp.root_dir={folder / 'notebooks'}"]
    with (folder / "log").open("w") as log:
        lab = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            end = time.monotonic() + SECONDS
            while (address := address_in(places["RUNTIME"])) is None:
                assert lab.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < end
                time.sleep(0.1)
            yield address
        finally:
            lab.terminate()
            try:
                lab.wait(30)
            except subprocess.TimeoutExpired:
                lab.kill()
                lab.wait()


@pytest.fixture
def page(browser, tmp_path):
    """An opened notebook, its kernel up, on which nothing may go wrong."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "board.ipynb")
    with jupyter_lab(tmp_path) as address:
        context = browser.new_context(viewport={"width": 1300, "height": 1000})
        context.set_default_timeout(1000 * SECONDS)
        opened = context.new_page()
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.goto(f"{address}lab/tree/board.ipynb?token=secret")
        opened.wait_for_selector("text=| Idle")
        yield opened
        context.close()
    assert faults == []


def run_cell(page, number: int) -> None:
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")


def test_a_board_is_played_on_in_jupyterlab(page):
    run_cell(page, 0)
    page.wait_for_selector(".play #caption:text-is('O: a1. X to move.')")
    values = page.locator(".play svg.board .value").all_text_contents()
    assert len([each for each in values if each]) == 7
    spots = page.locator(".play svg.board .spot")
    # A click is a move, and Python knows.
    spots.nth(8).click()
    page.wait_for_selector(".play #caption:text-is('X: c3. O to move.')")
    # The move reaches Python a little later than the board: until then the cell prints what was.
    end = time.monotonic() + SECONDS
    while not page.locator("text=here is 4,0,8").count():
        assert time.monotonic() < end
        run_cell(page, 1)
        page.wait_for_timeout(1000)
    # Through the game by keys, which are the board's alone while it has the focus.
    cells = page.locator(".jp-Cell").count()
    spots.nth(8).focus()
    for key in ("b", "[", "["):
        page.keyboard.press(key)
    page.wait_for_selector(".play #caption:text-is('X: b2. O to move.')")
    page.keyboard.press("]")
    page.wait_for_selector(".play #caption:text-is('O: a1. X to move.')")
    assert page.locator(".jp-Cell").count() == cells
    page.locator(".play #inside summary").click()
    page.wait_for_selector(".play svg.board.inspecting")
    spots.nth(4).click()
    page.wait_for_selector(".play #inside .sum:has-text('b2, valued for O: 8 of 8 look-ups')")
    assert page.locator(".play svg.board .spot.read").count() == 1
    # What Python does to the board is seen there.
    page.locator(".play #inside summary").click()
    run_cell(page, 2)
    page.wait_for_selector(".play #caption:text-is('O: b1. X to move.')")
    # It is as dark as the notebook, whatever the system is.
    page.get_by_text("Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text("JupyterLab Dark", exact=True).click()
    card = page.locator(".play .seen")
    look = "card => getComputedStyle(card).backgroundColor"
    end = time.monotonic() + SECONDS
    while card.evaluate(look) != "rgb(29, 33, 37)":
        assert time.monotonic() < end
        page.wait_for_timeout(100)
