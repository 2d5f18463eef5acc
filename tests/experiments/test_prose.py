"""`mean ± error` in the text of a page stands in a table: of the page, or of one that it links.

Other tests compare the tables with the kept data.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.experiments.pages import EXPERIMENTS

pytestmark = pytest.mark.figures
ROOT = EXPERIMENTS.parent
PAGES = [
    *sorted(EXPERIMENTS.glob("*/*.md")),
    EXPERIMENTS / "README.md",
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("table-1.md", "limits.md", "design-notes.md")),
]
NUMBER = r"([-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+))"
FIGURE = re.compile(rf"(?<![\d.]){NUMBER}( k)? ± {NUMBER}( k)?")
# Tables that a hand wrote: their figures stand in others.
BY_HAND = ("| figure | here |", "| against | with FARL | 95% |", "| with FARL, against AB |")
# In no kept table: of others, of runs that are not kept, or of data without a table.
ELSEWHERE = {
    "design-notes.md": {(0.344, 0.012), (0.354, 0.019)},
    "farl_ablation/README.md": {(40.6, 17.2), (50.6, 13.7)},
    "gpu/details.md": {(84.9, 0.2), (58.7, 0.6), (30.9, 0.03), (8.45, 0.57)},
    "ladder/README.md": {(424, 6), (139, 5), (17, 5), (42, 7), (25, 6), (103, 5)},
    "networks/README.md": {(6.7, 0.8), (6.7, 4.4)},
    "table1/details.md": {(55, 1), (53, 1), (0.724, 0.013), (76.6, 5.5)},
}


class Figure:
    """A mean and its error as they are written: what else they may be a rounding of."""

    def __init__(self, found: re.Match[str]) -> None:
        texts = (found[1], found[3])
        units = [1000 if unit else 1 for unit in (found[2], found[4])]
        numbers = [text.replace(",", "").lstrip("+") for text in texts]
        self.values = tuple(
            float(number) * unit for number, unit in zip(numbers, units, strict=True)
        )
        self.reach = [
            0.501 * unit * 10.0 ** -len(number.partition(".")[2])
            for number, unit in zip(numbers, units, strict=True)
        ]
        self.text = found[0]

    def rounds(self, other: "Figure") -> bool:
        """Whether this is the other one with no more digits; a sign may be said in words."""
        return all(
            abs(abs(mine) - abs(its)) <= reach
            for mine, its, reach in zip(self.values, other.values, self.reach, strict=True)
        )


def tables_and_text(page: Path) -> tuple[str, str]:
    """The lines of tables and boxes, and all others as one line."""
    boxes: list[str] = []

    def kept_apart(found: re.Match[str]) -> str:
        if found[0].lstrip().startswith(BY_HAND):
            return found[0]
        boxes.append(found[0])
        return ""

    text = page.read_text(encoding="utf-8")
    if page.suffix == ".txt":
        return text, ""
    rest = re.sub(r"^```[\s\S]*?^```|(?:^ *\|.*\n)+", kept_apart, text, flags=re.MULTILINE)
    return "\n".join(boxes), " ".join(rest.split())


def linked(page: Path) -> Iterator[Path]:
    """A page, its neighbours, and the pages that it links, with theirs."""
    yield page
    text = page.read_text(encoding="utf-8")
    for target in [".", *re.findall(r"\]\(([^)#]+\.md)", text)]:
        path = page.parent / target.replace("gallery/", "../experiments/")
        if not path.exists() and "gallery/" in target:
            path = EXPERIMENTS / path.stem / "README.md"
        folder = (path if path.is_dir() else path.parent).resolve()
        if folder.parent == EXPERIMENTS:
            yield from (*folder.glob("*.md"), *folder.glob("table.txt"))
        else:
            yield path


def figures(text: str) -> list[Figure]:
    return [Figure(found) for found in FIGURE.finditer(text)]


def name(page: Path) -> str:
    parts = page.relative_to(ROOT).parts
    return "/".join(parts[-2:]) if parts[0] == "experiments" else parts[-1]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_figures_in_the_text_stand_in_a_table(page: Path) -> None:
    places = {path.resolve() for path in linked(page) if path.is_file()}
    known = [one for path in places for one in figures(tables_and_text(path)[0])]
    text = tables_and_text(page)[1]
    missing = [one for one in figures(text) if not any(one.rounds(other) for other in known)]
    assert {one.values for one in missing} == ELSEWHERE.get(name(page), set())
