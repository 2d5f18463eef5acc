"""Every figure on every page is recomputed from the kept data; the check finds what is wrong."""

import re
from pathlib import Path

import pytest

from experiments import check, page_claims
from experiments.check import Checked, Claims, Group, check_group
from experiments.page_tables import TABLES, box_faults, table_faults
from experiments.page_text import EXPERIMENTS, ROOT, Cells, Page, cells_in, page_paths

PAGE = EXPERIMENTS / "td_sarsa" / "README.md"
NO_CLAIMS = Claims([], {})


def page_of(text: str, path: Path = PAGE) -> Page:
    """A page with another text."""
    page = Page(path)
    page.__dict__["text"] = text
    return page


def texts_of_faults(checked: list[Checked]) -> list[str]:
    return [fault.text for each in checked for fault in each.faults]


def checked(text: str, claims: Claims = NO_CLAIMS) -> list[str]:
    return texts_of_faults(check_group(Group("", [page_of(text)], claims)))


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize("name", [*(f"experiments/{name}/" for name in TABLES), *page_claims.PAGES])
def test_every_figure_is_recomputed_or_said_to_come_from_elsewhere(name: str) -> None:
    pages, faults = check.check([name])
    assert pages
    assert list(map(str, faults)) == []
    # Rounding some record finds only part of the mistakes.
    assert max([*each.held.values()].count("record") for each in pages) <= 16


@pytest.mark.figures
def test_no_page_is_left_out() -> None:
    assert {page.parent.name for page in EXPERIMENTS.glob("*/README.md")} == TABLES.keys()
    pages = [ROOT / "README.md", EXPERIMENTS / "README.md", *(ROOT / "docs").glob("*.md")]
    left = [page for page in pages if page.relative_to(ROOT).as_posix() not in page_claims.PAGES]
    assert [page.name for page in left if [*Page(page).figures()] or rows_with_figures(page)] == []


def rows_with_figures(page: Path) -> list[tuple[str, ...]]:
    """The rows of tables that have a number with decimals."""
    rows = [row for _, table in Page(page).tables() for row in table]
    return [row for row in rows if re.search(r"(?<![\w.])\d*\.\d", " ".join(row))]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It wins 4 of 5.", []),
        ("It wins 71.3 of 80 games.", ["71.3"]),
        ("It wins 71% of the games.", ["71"]),
        ("JAX 0.10, `alpha .5`, [a page](1.5.md), section 2.7 and 95% say nothing.", []),
        ("epsilon .1 to 0, lambda .5 and 7.5 points", ["7.5"]),
        ("| a | b |\n|---|---|\n| 7.5 | 8.5 |\n", []),
        ("```\n7.5\n```\n", []),
    ],
)
def test_a_figure_of_the_text_must_be_held(text: str, wrong: list[str]) -> None:
    faults = checked(text)
    assert [re.findall(r"printed (\S+),", fault)[0] for fault in faults] == wrong


def test_a_claim_names_what_is_printed_and_what_is_recomputed() -> None:
    claims = Claims([("It wins {} ± {} % in {} games", 71.26, 1.0, 2000)], {})
    assert checked("It wins 71.3 ± 1.0 %\nin 2,000 games", claims) == []
    (fault,) = checked("It wins 71.2 ± 1.0 % in 2,000 games", claims)
    assert fault.startswith("printed 71.2, recomputed 71.26, in ")
    (fault,) = checked("It wins 71.3 ± 1.0 % in 2,001 games", claims)
    assert fault.startswith("printed 2,001, recomputed 2000, in ")
    assert "no page has the sentence" in checked("Nothing.", claims)[0]
    # A sign may be in the words, but not a wrong one.
    assert checked("lower by 3.5 points", Claims([("by {} points", -3.5)], {})) == []
    assert len(checked("by +3.5 points", Claims([("by {} points", -3.5)], {}))) == 1


def test_what_comes_from_elsewhere_is_a_text_or_a_section() -> None:
    text = "# A\nThe paper has 7.5.\n## B\nIt took 3.5 s.\n### C\nAnd 4.5 s.\n## D\nHere 8.5.\n"
    assert len(checked(text)) == 4
    assert len(checked(text, Claims([], {"The paper has 7.5.": "the paper"}))) == 3
    (first, last) = checked(text, Claims([], {"## B": "measured"}))
    assert "7.5" in first
    assert "8.5" in last
    assert "no page has the outside text" in checked(text, Claims([], {"## E": "measured"}))[0]


def test_a_changed_table_box_or_pair_is_found() -> None:
    text = PAGE.with_name("details.md").read_text(encoding="utf-8")
    assert [*box_faults(page_of(text), "td_sarsa")] == []
    for old, new in (("43.4 ± 1.1", "43.5 ± 1.1"), ("41.1 to 45.7", "41.1 to 45.8")):
        (fault,) = box_faults(page_of(text.replace(old, new)), "td_sarsa")
        assert text.splitlines()[fault.line - 1].split()[:3] == ["sarsa", "no", "none"]
        assert "recomputed" in fault.text
    group = Group("td_sarsa", [page_of("It wins 43.4 ± 1.1, 41.1 to 45.7.")], NO_CLAIMS)
    assert texts_of_faults(check_group(group)) == []
    group = Group("td_sarsa", [page_of("It wins 12.34 ± 7.89.")], NO_CLAIMS)
    assert len(texts_of_faults(check_group(group))) == 2
    page = EXPERIMENTS / "discount" / "README.md"
    own = page.read_text(encoding="utf-8")
    assert [*table_faults("discount", [page_of(own, page)])] == []
    changed = own.replace("| 49.5 ± 0.3 | 18.1 ± 1.5 |", "| 49.5 ± 0.3 | 18.2 ± 1.5 |")
    (fault,) = table_faults("discount", [page_of(changed, page)])
    assert fault.text.startswith("printed 18.2 ± 1.5, recomputed 18.1 ± 1.5, in the row 1 | ")
    assert changed.splitlines()[fault.line - 1].startswith("| 1 | 49.5 ± 0.3 | 18.2 ± 1.5")


def test_cells_are_found_by_row_column_and_a_column_next_to_it() -> None:
    cells = cells_in("discount")
    assert cells("mlp | 1", "maxn, without", 1) == 0.4
    assert cells("0.8", "losses seen, without", having="mcts-1000, FARL") == 46.1
    box = cells_in("td_sarsa").box("tictactoe against maxn", "sarsa no none")
    assert box[:4] == [43.4, 1.1, 41.1, 45.7]
    with pytest.raises(ValueError, match="no table with the column"):
        Cells(*page_paths("discount"))("0.7", "maxn, FARL")
