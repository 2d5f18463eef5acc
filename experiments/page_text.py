"""The pages as text: their tables, boxes and numbers, each with its line."""

import dataclasses
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXPERIMENTS = Path(__file__).parent
ROOT = EXPERIMENTS.parent
NUMBER = r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
Row = tuple[str, ...]
Claim = tuple[Any, ...]

_CODE = re.compile(r"^ *```[^\n]*\n([\s\S]*?)^ *```", re.MULTILINE)
_TABLE = re.compile(r"(?:^ *\|.*\n)+", re.MULTILINE)
# Names with digits, not figures: inline code, targets of links, versions, parts of papers.
_NAMES = re.compile(
    r"`(?:[^`\n]|\n(?!\n))*`|\]\([^)]*\)|https?://\S+|(?i:arxiv)[: ]*[\d.]+|\b\d+\.\d+\.\d+[\d.]*\b"
    r"|(?:JAX|jax|jaxlib|numpy|Python|pgx|mctx|OpenSpiel|DuckDB|[Vv]ersion) \d+\.\d+[\d.]*"
    r"|(?:[Ss]ections?|Tables?|Figs?\.|[Aa]ppendix)\s+[A\d]\.\d[\d.]*(?: (?:to|and) \d\.\d)?"
    # Settings of runs.
    rf"|(?:gamma|lambda|epsilon|alpha|temperatures?(?:\s+of)?)\s+(?:from\s+)?{NUMBER}"
    r"(?:(?:,|\s+and|\s+to)\s+(?:0?\.\d+|[01])(?!\.?\d))*"
    # The level of an interval.
    r"|(?<![\d.])95 ?%"
)
_FIGURE = re.compile(rf"(?<![\w.])({NUMBER})(?![\w]|\.\d)(?P<thousand> ?k\b)?(?P<share> ?%)?")
_PAIR = re.compile(rf"(?<![\w.])({NUMBER})( k)?%?\s+(?:±|to)\s+({NUMBER})( k)?(?![\w]|\.\d)")


@dataclasses.dataclass(frozen=True)
class Printed:
    """A number as it stands on a page, at a position of its text."""

    text: str
    at: int
    unit: float = 1.0

    @property
    def value(self) -> float:
        return float(self.text.replace(",", "")) * self.unit

    @property
    def reach(self) -> float:
        """Half of a unit of the last digit, and a little."""
        return 0.501 * self.unit * 10.0 ** -len(self.text.partition(".")[2])

    def rounds(self, other: float) -> bool:
        """Whether this is a rounding of the other; a sign may be in the words."""
        value = self.value if self.text[0] in "+-" else abs(self.value)
        other = other if self.text[0] in "+-" else abs(other)
        return abs(value - other) <= self.reach


AS_TEXT = {
    "figure, paper's interval, agreement, rejection",
    ", difference, 95%, width, outcome",
    "part, share, what it does, what it writes",
    "change, forecast with FARL, outcome, forecast without, outcome",
    "figure, here, paper, ",
    "with FARL, against AB, 64 games in lockstep, one game at a time",
    "against, with FARL, 95%, paper, without, 95%, paper",
    "question, answer, figure, command, hours",
    ", the text, here, why, where, shared, measured",
    ", the text, here, why, measured",
    "paper, departure, why, where, measured",
}
"""Heads of tables that a hand wrote from figures of others: their cells are held as text is."""


@dataclasses.dataclass(frozen=True)
class Page:
    """A Markdown file."""

    path: Path

    @functools.cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    def line(self, at: int) -> int:
        """The line of a position in the text."""
        return self.text.count("\n", 0, at) + 1

    @functools.cached_property
    def prose(self) -> str:
        """The text with blanks in place of code, tables and names."""
        text = _CODE.sub(_blank, self.text)
        return _NAMES.sub(_blank, _TABLE.sub(_blank_unless_as_text, text))

    def tables(self) -> Iterator[tuple[int, list[Row]]]:
        """The line of the head of each table and its rows of cells, the head first."""
        text = _CODE.sub(_blank, self.text + "\n")
        for block in _TABLE.finditer(text):
            rows = [cells_of(line) for line in block[0].splitlines()]
            yield self.line(block.start()), [rows[0], *rows[2:]]

    def boxes(self) -> Iterator[tuple[int, list[str]]]:
        """The line of the beginning of each block of code, and its lines."""
        for block in _CODE.finditer(self.text):
            yield self.line(block.start(1)), block[1].splitlines()

    def figures(self) -> Iterator[Printed]:
        """The numbers of the prose that must be held: with decimals, or shares in per cent."""
        for found in _FIGURE.finditer(self.prose):
            if "." in found[1] or found["share"]:
                yield _printed(found[1], found.start(1), found["thousand"])

    def numbers(self) -> Iterator[Printed]:
        """All numbers of the prose."""
        for found in _FIGURE.finditer(self.prose):
            yield _printed(found[1], found.start(1), found["thousand"])

    def whole_numbers(self) -> int:
        """How many other numbers there are: counts, sizes and settings."""
        return sum(1 for _ in _FIGURE.finditer(self.prose)) - sum(1 for _ in self.figures())

    def pairs(self) -> Iterator[tuple[Printed, Printed]]:
        """The numbers A and B of each `A ± B` and `A to B` in the prose."""
        yield from pairs_of(self.prose)

    def find(self, sentence: str) -> Iterator[list[Printed]]:
        """The numbers at the holes `{}` of a sentence, wherever it stands."""
        words = [r"\s+".join(map(re.escape, part.split(" "))) for part in sentence.split("{}")]
        pattern = rf"({NUMBER})".join(words)
        for found in re.finditer(pattern, self.text):
            # A number that begins the sentence is not the end of another.
            if re.match(r"[\d.]", self.text[found.start() - 1 : found.start()] or " ") is None:
                groups = range(1, len(found.groups()) + 1)
                yield [self._at(found.start(n), found[n]) for n in groups]

    def spans(self, fragment: str) -> Iterator[tuple[int, int]]:
        """Where a text stands, whatever its line breaks; for a heading `# ...`, its section."""
        if fragment.startswith("#"):
            level = fragment.partition(" ")[0]
            end = rf"(?=^#{{1,{len(level)}}} |\Z)"
            pattern = rf"^{re.escape(fragment)}$[\s\S]*?{end}"
        else:
            pattern = r"\s+".join(map(re.escape, fragment.split(" ")))
        for found in re.finditer(pattern, self.text, re.MULTILINE):
            yield found.span()

    def around(self, at: int) -> str:
        """Some words around a position."""
        return " ".join(self.text[max(0, at - 50) : at + 25].split())

    def _at(self, start: int, text: str) -> Printed:
        after = self.text[start + len(text) : start + len(text) + 3]
        return _printed(text, start, " k" if re.match(r" ?k\b", after) else None)


def _blank_unless_as_text(found: re.Match[str]) -> str:
    head = cells_of(found[0].partition("\n")[0])
    return found[0] if ", ".join(head) in AS_TEXT else _blank(found)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "~", found[0])


def _printed(text: str, at: int, thousand: str | None) -> Printed:
    return Printed(text, at, 1000.0 if thousand else 1.0)


def pairs_of(text: str) -> Iterator[tuple[Printed, Printed]]:
    """The numbers A and B of each `A ± B` and `A to B` in a text."""
    for found in _PAIR.finditer(text):
        # `4.0 to 5.0 k` is of thousands in both.
        first = found[2] or found[4]
        yield (
            _printed(found[1], found.start(1), first),
            _printed(found[3], found.start(3), found[4]),
        )


def cells_of(line: str) -> Row:
    """The cells of a line of a table."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip().replace("**", "") for cell in inner.split("|"))


def numbers_of(text: str) -> list[float]:
    """All numbers of a text, which may have names with digits."""
    return [float(each.replace(",", "")) for each in re.findall(rf"(?<![\w.]){NUMBER}", text)]


def within(short: Row, whole: Row) -> bool:
    """Whether these cells stand in a longer row, in the same order."""
    rest = iter(whole)
    return all(cell in rest for cell in short)


class Cells:
    """The tables of some pages: `cells("hex | mcts", "with FARL")` is a number of a cell.

    Other tests compare the tables with the kept data.
    """

    def __init__(self, *pages: Path) -> None:
        self._pages = [Page(path) for path in pages]
        self._tables = [rows for page in self._pages for _, rows in page.tables()]

    def __call__(self, row: str, column: str, number: int = 0, having: str = "") -> float:
        """A number of a cell.

        `row` is some cells of the row, between bars and in order; `having` names one more column of
        the table.
        """
        return numbers_of(self.texts(column, row, having)[0])[number]

    def column(self, column: str, row: str = "", having: str = "") -> list[float]:
        """The first numbers of a column, of the rows that hold the cells of `row`."""
        return [numbers_of(text)[0] for text in self.texts(column, row, having) if text]

    def texts(self, column: str, row: str = "", having: str = "") -> list[str]:
        """The cells of a column in the first table that has such rows.

        `NAME#2` is the second column of that name.
        """
        name, _, number = column.partition("#")
        wanted = tuple(cell.strip() for cell in row.split("|")) if row else ()
        for head, *rows in self._tables:
            columns = [at for at, each in enumerate(head) if each == name]
            if columns and (not having or having in head):
                at = columns[int(number or 1) - 1]
                if own := [each[at] for each in rows if within(wanted, each)]:
                    return own
        raise ValueError(f"no table with the column {column!r} has the row {row!r}")

    def box(self, head: str, line: str) -> list[float]:
        """The numbers after the beginning `line` of a line, in the part of a box under `head`."""
        start = line.split()
        for page in self._pages:
            for _, lines in page.boxes():
                below = False
                for each in lines:
                    below = each.startswith(head) or (below and bool(each.strip()))
                    words = each.split()
                    if below and words[: len(start)] == start:
                        return numbers_of(" ".join(words[len(start) :]))
        raise ValueError(f"no box has the line {line!r} under {head!r}")


def page_paths(experiment: str) -> list[Path]:
    """The pages of an experiment, README.md first."""
    paths = (EXPERIMENTS / experiment).glob("*.md")
    return sorted(paths, key=lambda path: (path.name != "README.md", path.name))


def cells_in(experiment: str) -> Cells:
    """The tables of an experiment."""
    return Cells(*page_paths(experiment))
