"""Format tables for terminals of any width, as Markdown and as LaTeX."""

import csv
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from jaxgbg.types import JSON

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "markdown", "latex", "csv", "json"]
"""The output formats of a table."""

_GAP = 2
# A numeric cell may be wrapped only before these.
_BREAKS = re.compile(r" (?=[±(]|to )")
_LEAST = 8
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
}


class Column(NamedTuple):
    """A column: its name, a cell for each row, and whether the cells are numbers."""

    name: str
    cells: Sequence[str]
    figures: bool = False

    @property
    def natural(self) -> int:
        """Its width without wrapping."""
        return max(map(len, (self.name, *self.cells)))

    @property
    def least(self) -> int:
        """The minimum width at which no number and no word of the name is cut."""
        parts = [word for word in self.name.split()]
        if not self.figures:
            return max(min(self.natural, _LEAST), *map(len, parts), 1)
        parts += [part for cell in self.cells for part in _BREAKS.split(cell)]
        return max(map(len, parts), default=1)

    def wrapped(self, cell: str, width: int) -> str:
        """Wrap a cell to `width`."""
        if not self.figures or len(cell) <= width:
            return cell
        lines: list[str] = []
        for part in _BREAKS.split(cell):
            if lines and len(lines[-1]) + 1 + len(part) <= width:
                lines[-1] += f" {part}"
            else:
                lines.append(part)
        return "\n".join(lines)


def print_columns(
    columns: Sequence[Column], console: "Console", form: Format = "table", title: str = ""
) -> None:
    """Print a table; if it is wider than the terminal, print its rows as a list."""
    if form == "markdown":
        console.print(markdown(columns), markup=False, highlight=False, soft_wrap=True)
        return
    if form == "latex":
        console.print(latex(columns), markup=False, highlight=False, soft_wrap=True)
        return
    if title:
        console.print(title, style="bold", markup=False, highlight=False)
    widths = _widths(columns, console.width)
    if widths is None:
        _print_list(columns, console)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column, width in zip(columns, widths, strict=True):
        side = "right" if column.figures else "left"
        table.add_column(Text(column.name), justify=side, width=width, overflow="fold")  # type: ignore[arg-type]
    for row in zip(*(column.cells for column in columns), strict=True):
        # Text, so that rich does not interpret a value as markup.
        texts = [
            Text(column.wrapped(cell, width))
            for column, cell, width in zip(columns, row, widths, strict=True)
        ]
        table.add_row(*texts)
    console.print(table)


def print_plain(records: Sequence[Mapping[str, JSON]], form: Format) -> None:
    """Print records as CSV or JSON."""
    if form == "json":
        print(json.dumps(list(records), indent=1))
        return
    names = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(sys.stdout, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)


def _widths(columns: Sequence[Column], width: int) -> list[int] | None:
    """The widths of the columns in a terminal of `width`; None if the minimum widths do not fit."""
    widths = [column.natural for column in columns]
    excess = sum(widths) + _GAP * (len(columns) - 1) - width
    # Wrap the last columns first, so that most rows stay on one line.
    for at in reversed(range(len(columns))):
        less = min(max(excess, 0), widths[at] - columns[at].least)
        widths[at] -= less
        excess -= less
    return widths if excess <= 0 else None


def _print_list(columns: Sequence[Column], console: "Console") -> None:
    """Print a line for each entry of each row, with a blank line between rows."""
    name = max(len(column.name) for column in columns)
    for row in zip(*(column.cells for column in columns), strict=True):
        lines = [
            f"{column.name:<{name}}  {cell}" for column, cell in zip(columns, row, strict=True)
        ]
        console.print("\n".join(lines) + "\n", markup=False, highlight=False, soft_wrap=True)


def markdown(columns: Sequence[Column]) -> str:
    """Format a table as GitHub Markdown."""
    lines = [
        [column.name for column in columns],
        ["---:" if column.figures else "---" for column in columns],
        *zip(*(column.cells for column in columns), strict=True),
    ]
    return "\n".join(
        "| " + " | ".join(c.replace("|", "\\|") for c in line) + " |" for line in lines
    )


def latex(columns: Sequence[Column]) -> str:
    """Format a table as a LaTeX tabular with booktabs rules."""
    out = io.StringIO()
    out.write("\\begin{tabular}{" + "".join("lr"[c.figures] for c in columns) + "}\n\\toprule\n")
    rows = [[column.name for column in columns], *zip(*(c.cells for c in columns), strict=True)]
    for number, row in enumerate(rows):
        cells = ("".join(_LATEX.get(sign, sign) for sign in cell) for cell in row)
        # What comes before a row would take [ or * at its start for its own argument.
        out.write(
            "{}" * row[0].startswith(("[", "*"))
            + " & ".join(cells)
            + " \\\\\n"
            + "\\midrule\n" * (number == 0)
        )
    return out.getvalue() + "\\bottomrule\n\\end{tabular}"
