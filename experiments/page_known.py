"""What the text of a page may quote: figures in tables of linked pages and in kept records."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.page_text import EXPERIMENTS, Page, Printed, numbers_of, pairs_of


class Known(NamedTuple):
    """Pairs float[n, 2], `mean ± error` or the ends of an interval; single numbers float[m]."""

    pairs: np.ndarray
    singles: np.ndarray

    def has_pair(self, first: Printed, second: Printed) -> bool:
        """Whether both numbers round a known pair; signs may be in the words."""
        return bool((_near(first, self.pairs[:, 0]) & _near(second, self.pairs[:, 1])).any())

    def has(self, number: Printed) -> bool:
        """Whether the number is a rounding of a known one."""
        return bool(_near(number, self.singles).any())


def _near(number: Printed, known: np.ndarray) -> np.ndarray:
    return np.abs(np.abs(known) - abs(number.value)) <= number.reach


def known_to(page: Page, experiment: str) -> Known:
    """What the page may quote: tables of it and of pages that it links, records of its own."""
    pairs: list[tuple[float, float]] = []
    singles: list[float] = []
    for path in sorted({each.resolve() for each in _linked(page.path) if each.is_file()}):
        own = _tables_of(path)
        pairs += own[0]
        singles += own[1]
    if experiment:
        own = _records_of(experiment)
        pairs += own[0]
        singles += own[1]
    return Known(np.array(pairs or [(np.nan, np.nan)]), np.array(singles))


def _linked(path: Path) -> Iterator[Path]:
    """A page, its neighbours, and the pages that it links, with theirs."""
    yield path
    text = path.read_text(encoding="utf-8")
    for target in [".", *re.findall(r"\]\(([^)#]+\.md)", text)]:
        other = path.parent / target
        folder = (other if other.is_dir() else other.parent).resolve()
        if folder.parent == EXPERIMENTS:
            yield from (*folder.glob("*.md"), *folder.glob("table.txt"))
        else:
            yield other


@functools.cache
def _tables_of(path: Path) -> tuple[list[tuple[float, float]], list[float]]:
    """The pairs and numbers in the tables and boxes of a file."""
    if path.suffix == ".md":
        page = Page(path)
        rows = [cell for _, table in page.tables() for row in table for cell in row]
        lines = [*rows, *(line for _, box in page.boxes() for line in box)]
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [(one.value, other.value) for line in lines for one, other in pairs_of(line)]
    return pairs, [number for line in lines for number in numbers_of(line)]


@functools.cache
def _records_of(experiment: str) -> tuple[list[tuple[float, float]], list[float]]:
    """The same in the JSON files of an experiment, each number also in per cent."""
    contents = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((EXPERIMENTS / experiment).glob("*.json"))
    ]
    pairs = [
        (scale * one, scale * other) for one, other in _pairs_in(contents) for scale in (1.0, 100.0)
    ]
    return pairs, [scale * number for number in numbers_in(contents) for scale in (1.0, 100.0)]


_PAIRS = (("mean", "sem"), ("low", "high"), ("difference_low", "difference_high"))


def _pairs_in(content: Any) -> Iterator[tuple[float, float]]:
    if isinstance(content, dict):
        for names in _PAIRS:
            one, other = (content.get(name) for name in names)
            if isinstance(one, int | float) and isinstance(other, int | float):
                yield float(one), float(other)
        for each in content.values():
            yield from _pairs_in(each)
    elif isinstance(content, list):
        if len(content) == 2 and all(isinstance(each, int | float) for each in content):
            yield float(content[0]), float(content[1])
        for each in content:
            yield from _pairs_in(each)


def numbers_in(content: Any) -> Iterator[float]:
    """All numbers in a record or a list of them."""
    if isinstance(content, dict | list):
        for each in content.values() if isinstance(content, dict) else content:
            yield from numbers_in(each)
    elif isinstance(content, int | float):
        yield float(content)
