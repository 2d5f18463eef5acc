"""A page that would ask another machine for something, or lacks a file of its own, is an error."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# What a browser fetches by itself; links that a reader follows are his own affair.
FETCHED = {"audio", "embed", "iframe", "img", "link", "script", "source", "video"}
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)""")


class Fetches(HTMLParser):
    """Collects the addresses that a browser fetches when it opens a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in FETCHED:
            self.addresses += [given[key] for key in ("src", "href") if given.get(key)]


def check(app: Sphinx, failure: Exception | None) -> None:
    """Raise ExtensionError for the first page that is not complete in itself."""
    if failure is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    for page in sorted(folder.rglob("*.html")):
        fetches = Fetches()
        fetches.feed(page.read_text(encoding="utf-8"))
        for address in fetches.addresses:
            parts = urlsplit(address)
            local = not (parts.scheme or parts.netloc) or parts.scheme == "data"
            there = parts.scheme == "data" or (page.parent / unquote(parts.path)).exists()
            if not (local and there):
                raise ExtensionError(f"{page.relative_to(folder)} asks for {address}")
    for style in sorted(folder.rglob("*.css")):
        found = IN_STYLE.search(style.read_text(encoding="utf-8"))
        if found:
            raise ExtensionError(f"{style.relative_to(folder)} asks for {found[1]}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
