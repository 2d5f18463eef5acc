"""`{commands}` lists every command of `jaxgbg` with its options, from what `--help` prints."""

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

from jaxgbg.cli import app as command_line

# So wide that no explanation is broken; a dumb terminal gets no frames and no colours.
TERMINAL = {"COLUMNS": "2000", "NO_COLOR": "1", "TERM": "dumb"}
OPTION = re.compile(r" {1,4}(?=\S)(.+?)(?: {2,}(.*))?$")


def help_of(*arguments: str) -> list[str]:
    """The lines that `jaxgbg ARGUMENTS --help` prints."""
    printed = io.StringIO()
    with (
        mock.patch.dict(os.environ, TERMINAL),
        mock.patch.object(sys, "argv", ["jaxgbg", *arguments, "--help"]),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        command_line.main()
    return [line.rstrip() for line in printed.getvalue().splitlines()]


def text(line: str) -> list[nodes.Node]:
    """A line of help with `code` as code."""
    return [
        nodes.literal("", part) if number % 2 else nodes.Text(part)
        for number, part in enumerate(line.split("`"))
    ]


def describe(lines: list[str]) -> list[nodes.Node]:
    """What help says, as paragraphs and lists of options."""
    described: list[nodes.Node] = []
    options: nodes.definition_list | None = None
    for number, line in enumerate(lines):
        if not line.strip() or set(line.strip()) == {"-"}:
            continue
        if number + 1 < len(lines) and set(lines[number + 1].strip()) == {"-"}:
            described.append(nodes.rubric("", line.strip()))
            options = nodes.definition_list(classes=["options"])
            described.append(options)
        elif options is None and number and lines[number - 1]:
            described[-1] += text(f" {line}")
        elif options is None:
            described.append(nodes.paragraph("", "", *text(line)))
        elif option := OPTION.fullmatch(line):
            term = nodes.term("", "", nodes.literal("", option[1]))
            meaning = nodes.definition("", nodes.paragraph("", "", *text(option[2] or "")))
            options += nodes.definition_list_item("", term, meaning)
        else:
            # The explanation of an option too long to leave it room on its own line.
            options[-1][-1][0] += text(line.strip())
    return described


class Commands(SphinxDirective):
    """A section for each command, in the order in which the program names them."""

    def run(self) -> list[nodes.Node]:
        named = re.search(r"\{([\w,-]+)\}", "\n".join(help_of()))
        if named is None:
            raise ExtensionError("`jaxgbg --help` names no commands in braces")
        sections = []
        for command in named[1].split(","):
            usage, *lines = help_of(command)
            section = nodes.section(ids=[f"jaxgbg-{command}"], names=[f"jaxgbg {command}"])
            section += nodes.title("", f"jaxgbg {command}")
            section += nodes.literal_block("", usage.removeprefix("usage: "), language="text")
            section += describe(lines)
            self.state.document.note_explicit_target(section)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
