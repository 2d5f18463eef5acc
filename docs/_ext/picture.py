"""`{picture} name` puts pictures/name.svg into the page itself, where it follows light and dark."""

from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).resolve().parents[1] / "pictures"


class Picture(SphinxDirective):
    """The drawing, and below it the directive's content as its caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = FOLDER / f"{self.arguments[0]}.svg"
        self.env.note_dependency(str(path))
        described = f'<svg role="img" aria-label="{self.options["alt"]}"'
        drawing = path.read_text(encoding="utf-8").replace("<svg", described, 1)
        figure = nodes.figure(classes=["picture"])
        figure += nodes.raw("", drawing, format="html")
        if self.content:
            text, _ = self.state.inline_text(" ".join(self.content), self.lineno)
            figure += nodes.caption("", "", *text)
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
