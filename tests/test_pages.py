"""The pages of the documentation: their lists are complete, their links lead to files."""

import itertools
import re
import tomllib
from functools import partial
from pathlib import Path

import pytest

from jaxgbg.lazy import Function
from jaxgbg.learners import LearnerSpec
from jaxgbg.players.registry import PLAYERS
from jaxgbg.search.kinds import search_kinds
from jaxgbg.values import core
from tests.games import known_counts

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]
OURS = {
    kind: spec for kind, spec in LearnerSpec.kinds.items() if spec.__module__.startswith("jaxgbg.")
}


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The first table below a heading: each `name` in the first column -> the cells of its row."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {name: row for row in rows for name in re.findall(r"`([^`]+)`", row[0])}


def test_every_player_is_in_the_list():
    # Players that other tests register are classes, not names of what is imported later.
    named = {name for name, each in PLAYERS.items() if isinstance(each.build, Function | partial)}
    searches = {
        f"{kind}-N"
        for kind, spec in search_kinds(alone=True).items()
        if spec.__module__.startswith("jaxgbg.")
    }
    assert table("command-line.md", "## Players").keys() == named | searches


def test_every_learner_is_in_the_list_with_what_it_learns():
    listed = table("command-line.md", "### Learners")
    learned = {name: row[1] for name, row in listed.items()}
    assert learned == {kind: "Q" if spec.of_actions else "V" for kind, spec in OURS.items()}


def test_every_extra_is_in_the_list():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert table("start.md", "### Extras").keys() == project["optional-dependencies"].keys()


def test_every_capability_of_a_value_function_is_in_the_list():
    capabilities = {
        name
        for name, each in vars(core).items()
        if getattr(each, "_is_protocol", False) and each.__module__ == core.__name__
    }
    assert table("extending.md", "## A value function").keys() == capabilities


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_of_the_repository(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    generated = [DOCS / "gallery", DOCS / "notebooks"]
    for link in links:
        target = (page.parent / link).resolve()
        assert target.exists(), link
        assert target.parent not in generated, link


def test_counts_of_sequences_are_those_of_the_independent_programs():
    known = [
        [each if isinstance(each, tuple) else (each, 0) for each in counts]
        for _, counts in known_counts.KNOWN.values()
    ]
    # Only the independent program has gone so far.
    known.append([(3_721, 0), (219_600, 0), (12_740_460, 0), (726_422_160, 2_558_844)])
    rows = 0
    for page in ("games-with-dice.md", "games-without-dice.md"):
        for table in (DOCS / page).read_text(encoding="utf-8").split("| sequences of plies")[1:]:
            for row in itertools.takewhile(lambda line: line[:1] == "|", table.splitlines()[2:]):
                cells = re.findall(r"(\d[\d,]*\d|\d)(?: \(([\d,]+)\))?", row.split("|", 2)[2])
                counts = [(_whole(count), _whole(ended or "0")) for count, ended in cells]
                parts = [each[at:][: len(counts)] for each in known for at in range(len(each))]
                assert counts in parts, row
                rows += 1
    assert rows >= 24


def _whole(text: str) -> int:
    return int(text.replace(",", ""))
