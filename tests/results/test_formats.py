"""Tables at any width: no figure is cut, and n never vanishes."""

import io
import re

import pytest
from rich.console import Console

from jaxgbg.results.formats import Column, latex, print_columns
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import rows
from jaxgbg.results.table import print_table
from tests.results.test_groups import write_run, write_sweep
from tests.results.test_rows import made_up


def printed(table, width=80, form="table", **options):
    text = io.StringIO()
    print_table(table.rows, Console(file=text, width=width), form, table.compared, **options)
    return text.getvalue()


@pytest.mark.parametrize("width", [20, 60, 80, 140])
def test_every_figure_stands_whole_at_any_width(tmp_path, width):
    table = read_table(write_sweep(tmp_path), baseline=["trace_decay=0"])
    text = printed(table, width)
    figures = re.findall(r"[-+]?\d+\.\d+", text)
    for row in table.rows:
        for figure in (row.mean, row.sem, row.low, row.high, row.last):
            assert row.scale.text(figure) in figures
        for figure in filter(None, (row.difference, row.difference_low)):
            assert f"{figure:+.3f}" in figures
    assert re.search(r"\bn\b", text)
    if width >= 60:
        grid = text.partition("Scores:")[0]
        assert max(map(len, grid.splitlines()[1:])) <= width


def test_at_80_columns_a_row_is_a_line(tmp_path):
    text = printed(read_table(write_sweep(tmp_path), baseline=["trace_decay=0"]))
    line = r"^ +0\.5 +0\.165 ± 0\.006 +0\.\d+ to 0\.\d+ +0\.165 +4 +\+0\.050 \(.0\.\d+ to .0\.\d+\)"
    assert re.search(line, text, re.MULTILINE)
    assert text.startswith("nim3p against maxn: reward, 1,000 episodes, paper 0.330 ± 0.030\n")


def test_a_table_has_its_forms_for_texts(tmp_path):
    write_run(tmp_path, range(3), variants=("farl", "none"))
    table = read_table(tmp_path)
    head, rule, first, *_ = printed(table, form="markdown").splitlines()
    assert head.startswith("| game | opponent | unit | variant | mean ± s.e. | 95 % interval |")
    assert rule.count("|") == head.count("|") == first.count("|")
    latex = printed(table, form="latex")
    assert latex.startswith("\\begin{tabular}{llll")
    assert "95 \\% interval" in latex
    assert "$\\pm$" in latex
    assert latex.count("\\\\") == 3


def test_latex_takes_no_word_for_a_sign_of_its_own():
    columns = [Column("[a", ["*", "[2]", "b*[c]"]), Column("n", ["<1", ">2", "3"], True)]
    rows = [line for line in latex(columns).splitlines() if " & " in line]
    assert rows == [
        "{}[a & n \\\\",
        "{}* & $<$1 \\\\",
        "{}[2] & $>$2 \\\\",
        "b*[c] & 3 \\\\",
    ]


@pytest.mark.parametrize(("form", "start"), [("csv", "game,opponent,trace_decay,"), ("json", "[")])
def test_a_table_is_printed_as_records(tmp_path, capsys, form, start):
    printed(read_table(write_sweep(tmp_path)), form=form)
    assert capsys.readouterr().out.startswith(start)


def test_words_are_taken_for_no_style_and_are_folded():
    text = io.StringIO()
    columns = [Column("name", ["[bold]" + "x" * 90]), Column("n", ["12"], True)]
    print_columns(columns, Console(file=text, width=40))
    assert "[bold]" in text.getvalue()
    assert text.getvalue().count("x") == 90
    assert "12" in text.getvalue()


def test_agents_that_never_learned_or_have_diverged_are_said_to_be_so():
    from dataclasses import replace

    table = [replace(row, untrained=2, diverged=1) for row in rows(*made_up(), 1.0)[:1]]
    text = io.StringIO()
    print_table(table, Console(file=text, width=200))
    assert "variant farl: 2 of 3 agents have never learned" in text.getvalue()
    assert "variant farl: 1 of 3 networks have diverged and play at random" in text.getvalue()
