"""Print the table of one run or of many: a row for each setting that differs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jaxgbg.evaluation import in_words
from jaxgbg.games import WIN_RATE, WINS
from jaxgbg.results.axes import value_text
from jaxgbg.results.formats import Column, Format, print_columns, print_plain
from jaxgbg.results.rows import Row, as_records, panel_numbers
from jaxgbg.runs import presets as papers

if TYPE_CHECKING:
    from rich.console import Console


def print_table(
    table: Sequence[Row],
    console: "Console",
    form: Format = "table",
    baseline: str = "none",
    more: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Print rows: mean ± s.e. and 95 % interval over n seeds, and the difference to `baseline`.

    The form "table" prints a table for each game, opponent and unit, and notes; the other forms
    print one for all. `more` has the columns of a second table below, a cell for each row.
    """
    if form in ("csv", "json"):
        print_plain(as_records(table), form)
        return
    columns = list(_columns(table, baseline))
    further = [Column(name, cells, True) for name, cells in (more or {}).items()]
    if form != "table":
        where = [
            Column("game", [row.game for row in table]),
            Column("opponent", [row.opponent for row in table]),
            Column("unit", [row.scale.label for row in table]),
        ]
        print_columns([*where, *columns, *further], console, form)
        return
    settings = [column for column in columns if table and column.name in table[0].settings]
    for title, _, at in _panels(table):
        for part in (columns, [*settings, *further] if further else []):
            if shown := _telling(part, table, at):
                print_columns(shown, console, title=title)
                console.print()
            title = ""
    for note in notes(table):
        console.print(note, highlight=False, markup=False)


def panel_tables(
    table: Sequence[Row], baseline: str
) -> Iterator[tuple[str, list[Row], list[Column]]]:
    """The heading, the rows and the columns of each game, opponent and unit."""
    columns = list(_columns(table, baseline))
    for title, of_panel, at in _panels(table):
        yield title, of_panel, _telling(columns, table, at)


def _panels(table: Sequence[Row]) -> Iterator[tuple[str, list[Row], list[int]]]:
    """The heading, the rows and their numbers of each game, opponent and unit."""
    for at in panel_numbers(table):
        of_panel = [table[n] for n in at]
        yield heading(of_panel[0].game, of_panel[0].opponent, of_panel), of_panel, at


def _telling(columns: Sequence[Column], table: Sequence[Row], at: Sequence[int]) -> list[Column]:
    """The columns of the rows `at` of a table that add something to their heading."""
    of_panel = [table[n] for n in at]
    where = of_panel[0].game, of_panel[0].opponent
    units = [row for row in table if (row.game, row.opponent) == where]
    kept = [column._replace(cells=[column.cells[n] for n in at]) for column in columns]
    return [column for column in kept if _is_informative(column, of_panel, units)]


def _columns(table: Sequence[Row], baseline: str) -> Iterator[Column]:
    """The columns of all rows; an axis that a game does not have is empty there."""
    for name in dict.fromkeys(name for row in table for name in row.settings):
        cells = [value_text(row.settings.get(name)) for row in table]
        numbers = [isinstance(row.settings.get(name), int | float) for row in table]
        yield Column(name, cells, all(numbers))
    yield Column("mean ± s.e.", [in_figures(row, row.mean, row.sem) for row in table], True)
    yield Column("95 % interval", [interval(row) for row in table], True)
    if any(row.paper_mean is not None for row in table):
        cells = [
            in_figures(row, row.paper_mean, row.paper_error) if row.as_published else ""
            for row in table
        ]
        yield Column("paper", cells, True)
    yield Column("last", [row.scale.text(row.last) for row in table], True)
    yield Column("n", [str(row.n) for row in table], True)
    if any(row.pooled for row in table):
        yield Column("agents", [str(row.agents) for row in table], True)
    if any(row.difference is not None for row in table):
        yield Column(f"− {baseline} (95 %)", [difference(row) for row in table], True)


def _is_informative(column: Column, table: Sequence[Row], units: Sequence[Row]) -> bool:
    """Whether a column adds something to the heading of the rows of one game.

    `units` are also those of the same game and opponent in other units: a setting that differs
    among all of these is shown in each table.
    """
    settings = table[0].settings
    if column.name == "paper":
        # A figure that all rows share is in the heading.
        figures = {row.paper_mean for row in table}
        return any(column.cells) and (len(figures) > 1 or len(table) == 1)
    if column.name in settings:
        values = {value_text(row.settings.get(column.name)) for row in units}
        return len(values) > 1 or len(settings) == 1
    return any(column.cells)


def heading(game: str, opponent: str, table: Sequence[Row]) -> str:
    """The heading: what the rows of a game and opponent have in common."""
    reached = sorted({row.episodes for row in table})
    episodes = " to ".join(f"{each:,}" for each in dict.fromkeys((reached[0], reached[-1])))
    seconds = {row.seconds for row in table}
    # Only for a single run; the sum over several runs is not useful.
    one = len(seconds) == 1 and all(row.runs == 1 for row in table)
    took = f", {table[0].seconds:,.0f} s" if one and math.isfinite(table[0].seconds) else ""
    published = {in_figures(row, row.paper_mean, row.paper_error) for row in table} - {""}
    paper = f", paper {published.pop()}" if len(published) == 1 and len(table) > 1 else ""
    return f"{in_words(game, opponent)}: {table[0].scale.label}, {episodes} episodes{took}{paper}"


def notes(table: Sequence[Row]) -> list[str]:
    """Notes about the figures of these rows, a line for each."""
    scored: dict[str, dict[str, None]] = {}
    for row in table:
        draws = ", a draw counts half" if row.scale == WIN_RATE else ""
        words = f"{row.scale.unit} in %{draws}" if row.scale.percent else f"mean {row.scale.unit}"
        several = len({other.scale.label for other in table if other.game == row.game}) > 1
        panel = in_words(row.game, row.opponent) if several else row.game
        scored.setdefault(words, {})[panel] = None
    sentences = [
        words + (f" ({', '.join(where)})" if len(scored) > 1 else "")
        for words, where in scored.items()
    ]
    sentences += dict.fromkeys(filter(None, (papers.note(row.game, row.opponent) for row in table)))
    told = [
        f"Scores: {'; '.join(sentences)}."
        " Mean: over the evaluations in the last fifth of the episodes that all seeds have reached;"
        " last: the last evaluation alone. Intervals: Student's t, Wilson's for bounded scores.",
    ]
    if any(row.difference is not None for row in table):
        told[0] += " Differences: paired by seed."
    told += [
        f"{game}: the paper's figures are after {papers.episodes_of(game):,} episodes."
        for game in dict.fromkeys(row.game for row in table if row.scale != WINS)
        if any(_shorter(row) for row in table if row.game == game)
    ]
    pooled = list(dict.fromkeys(name for row in table for name in row.pooled))
    if pooled:
        told.append(
            f"Pooled over {' and '.join(pooled)}: n is the number of seeds, each of which counts"
            " once, with the mean of its agents; intervals: bootstrap of seeds (cluster bootstrap)."
        )
    alike = [row for row in table if row.n > 1 and row.sem == 0]
    if alike:
        told.append(
            "If all seeds agree, s.e. 0 says nothing about another seed: the interval is that of"
            " the games of one evaluation."
        )
    told += [
        f"{place(row)}: {row.untrained} of {row.agents} agents have never learned, all their"
        " weights are 0."
        for row in table
        if row.untrained
    ]
    told += [
        f"{place(row)}: {row.diverged} of {row.agents} networks have diverged and play at random."
        for row in table
        if row.diverged
    ]
    return told


def _shorter(row: Row) -> bool:
    """Whether the paper's figure of a row is after more episodes than the row has."""
    return row.as_published and row.episodes < (papers.episodes_of(row.game) or 0)


def place(row: Row) -> str:
    """The label of a row."""
    values = (f"{name} {value_text(value)}" for name, value in row.settings.items())
    return ", ".join((row.game, row.opponent, *values))


def in_figures(row: Row, mean: float | None, error: float | None) -> str:
    """Format a mean ± its standard error, if it has one; "" for no mean."""
    if mean is None:
        return ""
    text = row.scale.text(mean)
    if error is not None and math.isfinite(error):
        text += f" ± {row.scale.text(error)}"
    return text


def interval(row: Row) -> str:
    """Format the 95% interval of the mean over seeds; "" for a single seed."""
    if not math.isfinite(row.low):
        return ""
    return f"{row.scale.text(row.low)} to {row.scale.text(row.high)}"


def difference(row: Row) -> str:
    """Format the difference to the baseline with its 95% interval; "" if there is none."""
    if row.difference is None:
        return ""

    def signed(figure: float) -> str:
        return ("+" if figure >= 0 else "-") + row.scale.text(abs(figure))

    text = signed(row.difference)
    low, high = row.difference_low, row.difference_high
    if low is not None and high is not None and math.isfinite(low):
        text += f" ({signed(low)} to {signed(high)})"
    return text
