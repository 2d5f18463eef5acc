"""`{boards}` shows games to play: pictures that lead to the exported pages of agents of the zoo.

`boards.toml` names the agents. A build of HTML pages writes the pictures and the exported pages to
`boards/` of the site. What the sources have not changed since the last build is kept.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import jaxgbg
from jaxgbg.games import make
from jaxgbg.runs.storage.zoo import FOLDER, card_of

PACKAGE = Path(jaxgbg.__file__).parent


def read(app: Sphinx) -> dict[str, dict[str, str]]:
    """Agent of the zoo -> `position`, the one that its picture shows."""
    path = Path(app.confdir) / app.config.boards_file
    return tomllib.loads(path.read_text(encoding="utf-8"))


class Boards(SphinxDirective):
    """A card for each agent: the picture, the game, and the first score of the agent's card."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(Path(self.env.app.confdir) / self.config.boards_file))
        cards = "".join(card(name) for name in read(self.env.app))
        return [nodes.raw("", f'<div class="boards">{cards}</div>', format="html")]


def card(name: str) -> str:
    """The HTML of one agent's card."""
    about = card_of(name)
    parameters = {key: value for key, value in about.game.items() if key != "name"}
    title, first = make(about.game["name"], **parameters).title, about.scores[0]
    score = f"{first['unit']} {first['mean']:,}"
    if first["opponent"] != "score":
        score += f" against {first['opponent']}"
    return (
        f'<a href="boards/{name}.html"><img src="boards/{name}.svg" alt="A board of {title}">'
        f"<strong>{escape(title)}</strong><span>{escape(score)}</span></a>"
    )


def export(app: Sphinx, failure: Exception | None) -> None:
    """Write the page and the picture of every agent that is named."""
    if failure is not None or app.builder.format != "html":
        return
    folder, kept = Path(app.outdir) / "boards", Path(app.doctreedir) / "boards.json"
    folder.mkdir(exist_ok=True)
    before = json.loads(kept.read_text()) if kept.exists() else {}
    named, sources = read(app), digest_of_sources()
    now = {name: digest_of(name, named[name], sources) for name in named}
    for path in folder.iterdir():
        if path.stem not in named:
            path.unlink()
    for name, digest in now.items():
        files = [folder / f"{name}.{kind}" for kind in ("html", "svg")]
        if before.get(name) != digest or not all(path.exists() for path in files):
            texts = pages_of(name, named[name]["position"])
            for path, text in zip(files, texts, strict=True):
                path.write_text(text, encoding="utf-8", newline="\n")
    kept.write_text(json.dumps(now))


def pages_of(name: str, position: str) -> tuple[str, str]:
    """(the exported page of an agent, the picture of a position of its game)."""
    import jax

    from jaxgbg.web.board.still import still
    from jaxgbg.web.export.file import game_file
    from jaxgbg.web.play.table import Table

    # No accelerator is needed, so JAX need not look for one.
    jax.config.update("jax_platforms", "cpu")
    agent = jaxgbg.load(f"zoo:{name}")
    return game_file(agent.game, {f"zoo:{name}": agent}), still(Table(agent.game), position)


def digest_of(name: str, about: Mapping[str, str], sources: str) -> str:
    """A digest of all that the files of an agent are made of."""
    agent = hashlib.sha256((FOLDER / f"{name}.agent").read_bytes()).hexdigest()
    return hashlib.sha256(f"{sources} {agent} {about['position']}".encode()).hexdigest()


def digest_of_sources() -> str:
    """A digest of the package without its agents."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".js", ".css", ".html", ".svg"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("boards_file", "boards.toml", "env")
    app.add_directive("boards", Boards)
    # Before the site is searched for files that it lacks.
    app.connect("build-finished", export, priority=400)
    return {"parallel_read_safe": True}
