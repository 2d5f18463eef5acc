"""Generated pages: a page for every experiment, and the notebooks.

Before a build, `docs/gallery` and `docs/notebooks` are generated from `experiments/` and
`notebooks/`; git ignores both. `gallery.toml` has the outcome of each experiment in a sentence.
Pages link to the files in `experiments/` and `notebooks/`, so that they can be read in a clone; on
the site these links lead to the generated pages.
"""

import re
import shutil
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

DOCS = Path(__file__).resolve().parents[1]
EXPERIMENTS = DOCS.parent / "experiments"
NOTEBOOKS = DOCS.parent / "notebooks"
HEAD = """# Gallery

Each folder of `experiments/` answers one question, with its commands, configs and shortcomings.
This page has the outcome of each and a picture; a title links to the full text.
"""
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^):]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^):#]+)\)")
SOURCE = re.compile(r"\]\(\.\./((?:experiments|notebooks)/[^)#\s]+\.(?:md|ipynb))\b")


def text_of(folder: Path, page: str = "README.md") -> str:
    """A page of an experiment; links lead to pages of the site or become names of files."""

    def link(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target.suffix == ".md" and target.parent.parent == EXPERIMENTS and target.exists():
            return f"[{found[1]}]({name_of(target)}.md)"
        if target.suffix == ".md" and target.parent == DOCS:
            return f"[{found[1]}](../{target.name})"
        if not target.exists():
            raise ExtensionError(f"{folder.name}/{page} links to {found[2]}, which does not exist")
        return f"{found[1]} (`{target.relative_to(DOCS.parent)}`)"

    return LINK.sub(link, (folder / page).read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    """The name of an experiment's page in the gallery: README.md has that of the experiment."""
    stem = "" if page.stem == "README" else f"-{page.stem}"
    return f"{page.parent.name}{stem}"


def generated(source: Path) -> str:
    """The generated page, seen from `docs`, of a file in `experiments` or `notebooks`."""
    if source.parent == NOTEBOOKS:
        return f"notebooks/{source.name}"
    return f"gallery/{'index' if source.parent == EXPERIMENTS else name_of(source)}.md"


def link_generated(app: Sphinx, name: str, text: list[str]) -> None:
    """Let the links of a page lead to generated pages."""
    del app
    if "/" not in name:
        text[0] = SOURCE.sub(lambda found: f"]({generated(DOCS.parent / found[1])}", text[0])


def pictures_of(folder: Path, text: str) -> dict[str, str]:
    """Path from `docs/gallery` -> description: first what the text shows, then the other files."""
    described = {name: words for words, name in IMAGE.findall(text)}
    for path in sorted(folder.glob("*.png")):
        described.setdefault(path.name, f"{folder.name}: {path.stem}")
    return {f"../../experiments/{folder.name}/{name}": described[name] for name in described}


def page_of(folder: Path, text: str) -> str:
    """The page of an experiment: its text, and pictures that the text does not show."""
    title, _, rest = text.partition("\n")
    source = f"*The folder `experiments/{folder.name}` holds the configs and figures of this page.*"
    rest = IMAGE.sub(rf"![\1](../../experiments/{folder.name}/\2)", rest)
    left_out = [
        f"![{described}]({path})"
        for path, described in pictures_of(folder, text).items()
        if path not in rest
    ]
    return "\n\n".join([title, source, rest, *(["## Pictures"] if left_out else []), *left_out])


def entry_of(folder: Path, text: str, outcomes: dict[str, str]) -> str:
    """The gallery's lines on an experiment: title, outcome, first picture."""
    if folder.name not in outcomes:
        raise ExtensionError(f"docs/gallery.toml has no outcome of {folder.name}")
    title = text.partition("\n")[0].lstrip("# ")
    picture = list(pictures_of(folder, text))[:1]
    link = [f"[![Outcome of {folder.name}]({path})]({folder.name}.md)" for path in picture]
    return "\n\n".join([f"## [{title}]({folder.name}.md)", outcomes[folder.name], *link])


def _write(path: Path, text: str) -> None:
    # What has not changed keeps its date, so that a second build reads nothing again.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def gather(app: Sphinx) -> None:
    """Write `docs/gallery` and `docs/notebooks`."""
    del app
    gallery, notebooks = DOCS / "gallery", DOCS / "notebooks"
    for target in (gallery, notebooks):
        target.mkdir(exist_ok=True)
    outcomes = tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))
    folders = sorted(path.parent for path in EXPERIMENTS.glob("*/README.md"))
    texts = {folder: text_of(folder) for folder in folders}
    names = [folder.name for folder in folders]
    # What a README links: its details and tables.
    more = {
        name_of(path): text_of(folder, path.name)
        for folder in folders
        for path in sorted(folder.glob("*.md"))
        if path.name != "README.md"
    }
    for path in gallery.iterdir():
        if path.stem not in (*names, *more, "index"):
            path.unlink()
    for folder, text in texts.items():
        _write(gallery / f"{folder.name}.md", page_of(folder, text))
    for name, text in more.items():
        # Pictures are named from the experiment's folder.
        experiment = name.partition("-")[0]
        shown = IMAGE.sub(rf"![\1](../../experiments/{experiment}/\2)", text)
        _write(gallery / f"{name}.md", f"---\norphan: true\n---\n\n{shown}")
    contents = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    entries = [entry_of(folder, text, outcomes) for folder, text in texts.items()]
    _write(gallery / "index.md", "\n\n".join([HEAD, contents, *entries]) + "\n")
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy2(path, notebooks / path.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", gather)
    app.connect("source-read", link_generated)
    return {"parallel_read_safe": True}
