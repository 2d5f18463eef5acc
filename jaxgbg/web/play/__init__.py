"""The page to play on: its server is stateless, every request contains the whole game."""

from importlib import resources

LOOPBACK = "127.0.0.1"
"""The address that only this machine can reach."""


def page_sources() -> dict[str, str]:
    """Their texts by file name, including the board shared with the report."""
    pages = resources.files("jaxgbg.web")
    shared = [pages / "page" / name for name in ("board.js", "board.css")]
    files = [*(pages / "play" / "page").iterdir(), *shared]
    return {file.name: file.read_text("utf-8") for file in files}
