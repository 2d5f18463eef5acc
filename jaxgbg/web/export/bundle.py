"""Bundle the page's modules into one script, and its HTML, styles and picture into one file."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib import resources

from jaxgbg.types import JSON
from jaxgbg.web.play import page_sources

_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from "\./(?P<file>[\w.]+)";$'
)
_EXPORT = re.compile(r"^export (?P<rest>(?:async )?(?:const|function|class) (?P<name>\w+).*)$")
_POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)


def joined(modules: Mapping[str, str], first: str) -> str:
    """One script from modules by file name, each as a function; `first` runs last.

    A module must have each import, as "./file.js", and each export on its own line. Raises
    ValueError for other forms.
    """
    written: dict[str, str] = {}

    def write(file: str) -> None:
        if file in written:
            return
        # A cycle would also end here, with a name that is not defined yet.
        written[file] = ""
        lines, given = [], []
        for line in modules[file].splitlines():
            if found := _IMPORT.match(line):
                write(found["file"])
                taken = found["all"] or f"{{{found['some'].replace(' as ', ': ')}}}"
                lines.append(f"const {taken} = {_name(found['file'])};")
            elif found := _EXPORT.match(line):
                given.append(found["name"])
                lines.append(found["rest"])
            elif line.startswith(("import ", "export ")):
                raise ValueError(f"{file}: {line!r} is not a supported import or export")
            else:
                lines.append(line)
        lines.append(f"return {{ {', '.join(given)} }};")
        del written[file]
        written[file] = f"const {_name(file)} = (() => {{\n" + "\n".join(lines) + "\n})();"

    write(first)
    return "\n".join(written.values())


def _name(file: str) -> str:
    return "module_" + file.removesuffix(".js")


def page(compiled: str, content: dict[str, JSON], data: str) -> str:
    """The HTML of a file: `compiled` functions, its description as JSON, packed arrays as text."""
    own = page_sources()
    scripts = resources.files("jaxgbg.web").joinpath("export", "page")
    here = {each.name: each.read_text("utf-8") for each in scripts.iterdir()}
    functions = f"{here['runtime.js']}\nexport const compiled = {compiled};\n"
    # Replace the module that asks the server by one that answers locally.
    modules = own | here | {"api.js": here["local.js"], "compiled.js": functions}
    script = f"{own['board.js']}\n{joined(modules, 'main.js')}\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    icon = base64.b64encode(own["icon.svg"].encode()).decode()
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest)}">\n'
        f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">\n'
        f"<style>\n{own['board.css']}\n{own['play.css']}\n</style>\n"
    )
    told = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    tail = (
        f'<script type="application/json" id="file">{told}</script>\n'
        f'<script type="text/plain" id="data">{data}</script>\n'
        f"<script>{script}</script>\n"
    )
    kept = [line for line in own["play.html"].splitlines() if not _loads(line)]
    html = "\n".join(kept) + "\n"
    return html.replace("<title>", head + "<title>", 1).replace("</body>", tail + "</body>", 1)


def _loads(line: str) -> bool:
    """Whether a line of the page's HTML loads another file."""
    return line.startswith(("<link ", "<script "))
