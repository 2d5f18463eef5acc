"""`{commands}` lists every command of `jaxgbg` with its own help, as the program prints it."""

import contextlib
import io
import os
import re
import sys
from unittest import mock

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from jaxgbg import cli

# Narrow enough for a column of text; NO_COLOR keeps escape codes out.
TERMINAL = {"COLUMNS": "78", "NO_COLOR": "1", "TERM": "dumb"}


def help_of(*arguments: str) -> str:
    """What `jaxgbg ARGUMENTS --help` prints."""
    printed = io.StringIO()
    with (
        mock.patch.dict(os.environ, TERMINAL),
        mock.patch.object(sys, "argv", ["jaxgbg", *arguments, "--help"]),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        cli.main()
    return printed.getvalue()


class Commands(SphinxDirective):
    """A section for each command, in the order in which the program names them."""

    def run(self) -> list[nodes.Node]:
        named = re.search(r"\{([\w,-]+)\}", help_of())
        if named is None:
            raise ExtensionError("`jaxgbg --help` names no commands in braces")
        sections = []
        for command in named[1].split(","):
            section = nodes.section(ids=[f"jaxgbg-{command}"], names=[f"jaxgbg {command}"])
            section += nodes.title("", f"jaxgbg {command}")
            section += nodes.literal_block("", help_of(command), language="text")
            self.state.document.note_explicit_target(section)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
