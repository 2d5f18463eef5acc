"""Docstrings are plain text with `code` in single backticks; here they become reStructuredText."""

import re

from sphinx.application import Sphinx

_prepared: dict[str, list[str]] = {}


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
    del app, what, obj, options
    examples = (">>>", "...")
    lines[:] = [line if line.lstrip().startswith(examples) else _escaped(line) for line in lines]
    _prepared[name] = list(lines)


def _restore(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    del app, obj, options
    # Napoleon takes the first line of these for a type, a colon and a description.
    if what in ("attribute", "data", "property"):
        lines[:] = _prepared[name]


def _skip(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    del app, what, name, skip, options
    # The fields of a NamedTuple are explained in the docstring of its class.
    return True if str(obj.__doc__).startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    # Before napoleon, which makes reStructuredText of its own, and after it.
    app.connect("autodoc-process-docstring", _prepare, priority=100)
    app.connect("autodoc-process-docstring", _restore, priority=900)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
