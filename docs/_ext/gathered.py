"""Pages made of what stands elsewhere: a page for every experiment, and the notebooks.

Before a build, `docs/gallery` and `docs/notebooks` are written anew from `experiments/` and
`notebooks/`; git ignores both.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

DOCS = Path(__file__).resolve().parents[1]
EXPERIMENTS = DOCS.parent / "experiments"
NOTEBOOKS = DOCS.parent / "notebooks"
HEAD = """# Gallery

Each folder of `experiments/` has the commands, configs and figures of one question, and says what
falls short. Here is every one with its first picture; a title leads to the whole text.
"""
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^):]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^):#]+)\)")


def page_of(folder: Path) -> str:
    """An experiment's README as a page of the site; its pictures and links lead where they did."""

    def link(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target.name == "README.md" and target.parent.parent == EXPERIMENTS:
            return f"[{found[1]}]({target.parent.name}.md)"
        if target.suffix == ".md" and target.parent == DOCS:
            return f"[{found[1]}](../{target.name})"
        if not target.exists():
            raise ExtensionError(f"{folder.name}/README.md leads to {found[2]}, which is not there")
        return f"{found[1]} (`{target.relative_to(DOCS.parent)}`)"

    text = (folder / "README.md").read_text(encoding="utf-8")
    text = LINK.sub(link, text)
    text = IMAGE.sub(rf"![\1](../../experiments/{folder.name}/\2)", text)
    source = f"*The folder `experiments/{folder.name}` holds the configs and figures of this page.*"
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{source}\n{rest}"


def entry_of(folder: Path) -> str:
    """The gallery's lines on an experiment: its title, first paragraph and first picture."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    paragraphs = text.split("\n\n")
    first = next(part for part in paragraphs[1:] if not part.startswith(("#", "|", "`", "!")))
    first = LINK.sub(r"\1", first.rstrip(": "))
    image = IMAGE.search(text)
    lines = [f"## [{title}]({folder.name}.md)", "", first, ""]
    if image:
        lines += [f"![{image[1]}](../../experiments/{folder.name}/{image[2]})", ""]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    # What has not changed keeps its date, so that a second build reads nothing again.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def gather(app: Sphinx) -> None:
    """Write `docs/gallery` and `docs/notebooks`."""
    del app
    folders = sorted(path.parent for path in EXPERIMENTS.glob("*/README.md"))
    gallery, notebooks = DOCS / "gallery", DOCS / "notebooks"
    wanted = {f"{folder.name}.md" for folder in folders} | {"index.md"}
    for target in (gallery, notebooks):
        target.mkdir(exist_ok=True)
    for path in gallery.iterdir():
        if path.name not in wanted:
            path.unlink()
    for folder in folders:
        _write(gallery / f"{folder.name}.md", page_of(folder))
    names = "\n".join(folder.name for folder in folders)
    entries = "\n".join(entry_of(folder) for folder in folders)
    _write(gallery / "index.md", f"{HEAD}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n\n{entries}")
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy2(path, notebooks / path.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", gather)
    return {"parallel_read_safe": True}
