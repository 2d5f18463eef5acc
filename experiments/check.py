"""Check every figure on every page against the kept data: `make figures-check`.

    python -m experiments.check
    python -m experiments.check hex networks         # pages whose names contain one of these
    python -m experiments.check --held networks      # also how each figure of the text is held

A figure is held by one of these:

- table: a row of a table, or a line of a box, is printed again from the kept data; in the text
  `A ± B` and `A to B` stand in such a table or in a record.
- claim: `claims` of the experiment's claims.py computes it from the kept data or takes it from a
  cell of a table. Claims of pages outside experiments are in `experiments.page_claims`.
- outside: `OUTSIDE` there says where it comes from: a paper, another program, a measurement
  without kept data.
- record: on pages of details it is a rounding of some number in the tables or records. That finds
  only part of the mistakes, so such figures are counted apart.

In the text every number with decimals and every share in per cent must be held, otherwise the
check fails. Other whole numbers (counts, sizes, settings) are checked in claims alone and counted.
"""

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from experiments import page_claims
from experiments.page_known import Known, known_to
from experiments.page_tables import TABLES, box_faults, table_faults
from experiments.page_text import ROOT, Page, page_paths
from jaxgbg.cli.exit_codes import end_in_a_line

TIERS = ("table", "claim", "record", "outside")
DETAILS = ("details.md", "tables.md", "design-notes.md")
"""Pages on which a figure may be held by some record."""


class Fault(NamedTuple):
    """What is wrong at a line of a page."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


class Claims(NamedTuple):
    """The claims about some pages, and where figures that nobody can recompute come from."""

    values: list[tuple[Any, ...]]
    outside: dict[str, str]


def claims_of(module: ModuleType | Any) -> Claims:
    """The claims in a module, or in an object of `experiments.page_claims`."""
    return Claims([*module.claims()], dict(module.OUTSIDE))


class Group(NamedTuple):
    """Pages with common claims; `experiment` is "" outside experiments."""

    experiment: str
    pages: list[Page]
    claims: Claims


def groups(wanted: Sequence[str] = ()) -> Iterator[Group]:
    """Experiment by experiment, then the other pages one by one."""

    def is_wanted(pages: Sequence[Page]) -> bool:
        return not wanted or any(text in page.name for text in wanted for page in pages)

    for experiment in TABLES:
        if is_wanted(pages := [*map(Page, page_paths(experiment))]):
            module = importlib.import_module(f"experiments.{experiment}.claims")
            yield Group(experiment, pages, claims_of(module))
    for name, claims in page_claims.PAGES.items():
        if is_wanted(pages := [Page(ROOT / name)]):
            yield Group("", pages, claims_of(claims))


class Checked(NamedTuple):
    """How the figures in the text of a page are held: their tiers, by position."""

    page: Page
    held: dict[int, str]
    faults: list[Fault]


def check_group(group: Group) -> list[Checked]:
    """Check the text of the pages of a group."""
    found = [Checked(page, {}, []) for page in group.pages]
    for sentence, *values in group.claims.values:
        used = [_hold_claim(each, sentence, values) for each in found]
        if not any(used):
            place = found[0].page.name
            found[0].faults.append(Fault(place, 1, f"no page has the sentence {sentence!r}"))
    for fragment in group.claims.outside:
        if not any([_hold_outside(each, fragment) for each in found]):
            place = found[0].page.name
            found[0].faults.append(Fault(place, 1, f"no page has the outside text {fragment!r}"))
    for each in found:
        _hold_figures(each, known_to(each.page, group.experiment))
    return found


def _hold_claim(checked: Checked, sentence: str, values: Sequence[float]) -> bool:
    page, used = checked.page, False
    for numbers in page.find(sentence):
        used = True
        if len(numbers) != len(values):
            wrong = f"{sentence!r} has {len(numbers)} numbers and {len(values)} values"
            checked.faults.append(Fault(page.name, page.line(numbers[0].at), wrong))
            continue
        for number, value in zip(numbers, values, strict=True):
            checked.held[number.at] = "claim"
            if not number.rounds(value):
                wrong = f"printed {number.text}, recomputed {value:.6g}, in {sentence!r}"
                checked.faults.append(Fault(page.name, page.line(number.at), wrong))
    return used


def _hold_outside(checked: Checked, fragment: str) -> bool:
    """Mark the numbers of a text, or of the section of a heading, as coming from elsewhere."""
    spans = [*checked.page.spans(fragment)]
    for start, end in spans:
        for number in checked.page.numbers():
            if start <= number.at < end:
                checked.held.setdefault(number.at, "outside")
    return bool(spans)


def _hold_figures(checked: Checked, known: Known) -> None:
    page, held = checked.page, checked.held
    needed = {number.at: number for number in page.figures()}
    for first, second in page.pairs():
        both = (first, second)
        if all(number.at in held for number in both):
            continue
        if any(number.at in needed for number in both) and known.has_pair(first, second):
            held.update((number.at, "table") for number in both)
    for at, number in needed.items():
        if at not in held and page.path.name in DETAILS and known.has(number):
            held[at] = "record"
        if at not in held:
            wrong = f"printed {number.text}, which nothing recomputes: ...{page.around(at)}..."
            checked.faults.append(Fault(page.name, page.line(at), wrong))


def check(wanted: Sequence[str] = ()) -> tuple[list[Checked], list[Fault]]:
    """Check the pages whose names contain one of the `wanted` texts; all by default."""
    checked: list[Checked] = []
    faults: list[Fault] = []
    for group in groups(wanted):
        wrong = [*table_faults(group.experiment, group.pages)]
        for page in group.pages:
            wrong += box_faults(page, group.experiment or "sweeps")
        outside = {
            (page.name, line)
            for page in group.pages
            for text in group.claims.outside
            for span in page.spans(text)
            for line in range(*map(page.line, span))
        }
        faults += [Fault(*each) for each in wrong if (each.page, each.line) not in outside]
        checked += check_group(group)
    faults += [fault for each in checked for fault in each.faults]
    return checked, faults


def summary(checked: Iterable[Checked]) -> Iterator[str]:
    """A line for each page: how many figures of its text each tier holds."""
    width = max(len(each.page.name) for each in checked)
    yield f"{'figures in the text of':{width}}  {'  '.join(f'{t:>7}' for t in TIERS)}  {'whole':>7}"
    for each in checked:
        counts = Counter(each.held.values())
        cells = [*(counts[tier] for tier in TIERS), each.page.whole_numbers()]
        yield f"{each.page.name:{width}}  {'  '.join(f'{cell:7}' for cell in cells)}"


def held_figures(checked: Checked) -> Iterator[str]:
    """How each figure of a page is held."""
    for at, tier in sorted(checked.held.items()):
        place = f"{checked.page.name}:{checked.page.line(at)}"
        yield f"{place}: {tier}: ...{checked.page.around(at)}..."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="parts of names; default all")
    parser.add_argument("--held", action="store_true", help="list how each figure is held")
    options = parser.parse_args(arguments)
    checked, faults = check(options.pages)
    if not checked:
        parser.error(f"no page is called {' or '.join(options.pages)}")
    if options.held:
        print("\n".join(line for each in checked for line in held_figures(each)))
    print("\n".join(summary(checked)))
    print("\n".join(map(str, faults)), end="\n" if faults else "")
    print(f"{len(faults)} faults" if faults else "every figure is held")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    end_in_a_line(main)
