"""Docstrings are plain text with `code` in single backticks; here they become reStructuredText."""

import re

from sphinx.application import Sphinx


def _escaped(line: str) -> str:
    """The line with `code` as code, and no other character that means something."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        f"`{part}`" if part.startswith("`") else re.sub(r"([|*]|(?<=\w)_(?=\W|$))", r"\\\1", part)
        for part in parts
    )


def _prepare(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    del app, what, name, obj, options
    plain, lines[:] = list(lines), []
    for line in plain:
        lines.append(line if line.lstrip().startswith((">>>", "...")) else _escaped(line))


def setup(app: Sphinx) -> dict[str, bool]:
    # Before napoleon, which makes reStructuredText of its own.
    app.connect("autodoc-process-docstring", _prepare, priority=100)
    return {"parallel_read_safe": True}
