"""Table 1 at a glance, in Markdown, from the archived runs.

    python -m experiments.table1.overview
    python -m experiments.table1.overview --missing    # what ten seeds of every row would take

Three lists of n-tuples stand for ConnectFour: walks that every seed draws, the list that ships, and
the authors' list, with ten seeds of a GPU (experiments.gpu.published).
"""

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.connectfour.run import figure
from experiments.gpu.published import late_means
from experiments.shared import FinishedRun, Section, archived_runs
from experiments.table1.report import LOCKSTEP, SERIAL, SHIPPED, parts_of, rows_of
from jaxgbg import make
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.rows import Row
from jaxgbg.results.table import in_figures
from jaxgbg.runs.presets import konen2021

HERE = Path(__file__).parent
LISTED = HERE.parent / "gpu" / "published.json"
VARIANTS = {"farl": "with FARL", "none": "without"}
SEEDS = 10
"""The number of seeds of the paper."""
SHIPPED_LIST, AUTHORS_LIST = "connectfour, our list", "connectfour, authors' list"
# Opponents of our own on the way.
LEFT_OUT = {("hex", "mcts-100"), ("connectfour", "solver")}


def table_of(lockstep: Sequence[Row], serial: Sequence[Row]) -> Iterator[str]:
    """A line for each game and opponent; what one game at a time gives in brackets.

    n is the number of seeds where it is not that of the line.
    """
    heads = (head for title in VARIANTS.values() for head in (title, "paper"))
    yield f"| game | against | episodes | seeds | {' | '.join(heads)} |"
    yield "|---" * (4 + 2 * len(VARIANTS)) + "|"
    together, alone = (
        {(row.game, row.opponent, row.variant): row for row in rows} for rows in (lockstep, serial)
    )
    met = dict.fromkeys((row.game, row.opponent) for row in (*lockstep, *serial))
    for game, opponent in sorted(met, key=lambda pair: konen2021.GAMES.index(pair[0])):
        if (game, opponent) in LEFT_OUT:
            continue
        keys = [(game, opponent, variant) for variant in VARIANTS]
        first = together.get(keys[0]) or alone[keys[0]]
        cells = [
            cell
            for key in keys
            for cell in (
                _figures(together.get(key), alone.get(key), first.n),
                _paper(first, key[-1]),
            )
        ]
        yield f"| {game} | {opponent} | {_episodes(first)} | {first.n} | {' | '.join(cells)} |"


def _figures(together: Row | None, alone: Row | None, seeds: int) -> str:
    told = [] if together is None else [_figure(together, seeds)]
    if alone is not None:
        told.append(f"({_figure(alone, seeds)})")
    return " ".join(told) or "not run"


def _figure(row: Row, seeds: int) -> str:
    return in_figures(row, row.mean, row.sem) + ("" if row.n == seeds else f", n = {row.n}")


def full_budgets(game: str) -> dict[tuple[str, str], tuple[list[float], int]]:
    """(opponent, variant) -> figures of the seeds at full budgets on the GPU, games of each."""
    scale = make(game).scale
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in json.loads(LISTED.read_text())["results"]:
        if one["what"] == "match" and one["game"] == game:
            groups.setdefault((one["opponent"], one["variant"]), []).append(one)
    found = {}
    for key, matches in groups.items():
        means, times = late_means(matches)
        found[key] = [scale.figure(mean) for mean in means], times * matches[0]["games"]
    return found


Figures = dict[tuple[str, str], list[float]]
"""(opponent, variant) -> win rates of the seeds."""


def figures_of_listed() -> Figures:
    """ConnectFour's seeds on the authors' list, in lockstep."""
    return {key: figures for key, (figures, _) in full_budgets("connectfour").items()}


def figures_one_at_a_time() -> Figures:
    """ConnectFour's seeds on the authors' list, one game at a time."""
    found: Figures = {}
    for one in Section(HERE, "listed").read():
        if one["batch"] == 1:
            found.setdefault((one["opponent"], one["variant"]), []).extend(one["figures"])
    return found


def figures_of_shipped(parts: Mapping[str, Sequence[FinishedRun]]) -> Figures:
    """ConnectFour's seeds on the list that ships, in lockstep."""
    rows = rows_of(parts[SHIPPED])
    return {(row.opponent, row.settings["variant"]): list(row.per_seed) for row in rows}


def lines_of_list(
    name: str, rows: Sequence[Row], together: Figures, alone: Figures
) -> Iterator[str]:
    """The lines of ConnectFour in `rows` once more, on a list of n-tuples."""
    farl = [row for row in rows if (row.game, row.settings["variant"]) == ("connectfour", "farl")]
    for row in farl:
        keys = [(row.opponent, variant) for variant in VARIANTS]
        if (row.game, row.opponent) in LEFT_OUT or keys[0] not in together:
            continue
        seeds = len(together[keys[0]])
        cells = [
            cell
            for key in keys
            for cell in (_on_list(together.get(key), alone.get(key), seeds), _paper(row, key[-1]))
        ]
        yield f"| {name} | {row.opponent} | {_episodes(row)} | {seeds} | {' | '.join(cells)} |"


def _on_list(together: list[float] | None, alone: list[float] | None, seeds: int) -> str:
    parts = []
    if together is not None:
        few = "" if len(together) == seeds else f", n = {len(together)}"
        parts.append(figure(together) + few)
    if alone is not None:
        parts.append(f"({figure(alone)}, n = {len(alone)})")
    return " ".join(parts) or "not run"


def _paper(row: Row, variant: str) -> str:
    published = konen2021.FIGURES.get((row.game, row.opponent), {}).get(variant)
    return "" if published is None else in_figures(row, *published)


def _episodes(row: Row) -> str:
    published = konen2021.PRESETS[row.game].schedule.episodes
    return f"{row.episodes:,}" + ("" if row.episodes == published else f" of {published:,}")


Training = tuple[str, str, str]
"""Game, part of the table and variant."""


def hours_of_seeds(parts: Mapping[str, Sequence[FinishedRun]]) -> dict[Training, list[float]]:
    """The hours of training of every seed, on cores that other work shared."""
    hours: dict[Training, list[float]] = {}
    for part in (SERIAL, LOCKSTEP):
        for one in parts[part]:
            variants, seeds = one.run.variants, len(one.run.seeds)
            each = one.summary()["training_seconds"] / 3600 / seeds / len(variants)
            for variant in variants:
                hours.setdefault((one.run.game.name, part, variant), []).extend([each] * seeds)
    return hours


def missing(parts: Mapping[str, Sequence[FinishedRun]]) -> dict[Training, float]:
    """The hours of training that are missing to ten seeds, by the mean of the seeds so far."""
    return {
        training: (SEEDS - len(each)) * statistics.mean(each)
        for training, each in sorted(hours_of_seeds(parts).items())
        if len(each) < SEEDS
    }


def missing_table(parts: Mapping[str, Sequence[FinishedRun]]) -> Iterator[str]:
    """A line for each training with fewer than ten seeds."""
    hours = hours_of_seeds(parts)
    yield "| game | training | variant | seeds | hours a seed | hours to ten seeds |"
    yield "|---|---|---|---|---|---|"
    for training, left in missing(parts).items():
        each = hours[training]
        figures = f"{len(each)} | {statistics.mean(each):.2f} | {left:.1f}"
        yield f"| {' | '.join(training)} | {figures} |"


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--missing", action="store_true", help="print what is missing instead")
    options = parser.parse_args(arguments)
    parts = parts_of(archived_runs(HERE))
    if options.missing:
        print("\n".join(missing_table(parts)))
        return
    lockstep = rows_of(parts[LOCKSTEP])
    lines = [*table_of(lockstep, rows_of(parts[SERIAL]))]
    last = max(number for number, line in enumerate(lines) if line.startswith("| connectfour"))
    shipped = lines_of_list(SHIPPED_LIST, lockstep, figures_of_shipped(parts), {})
    listed = figures_of_listed(), figures_one_at_a_time()
    lines[last + 1 : last + 1] = [*shipped, *lines_of_list(AUTHORS_LIST, lockstep, *listed)]
    print("\n".join(lines))


if __name__ == "__main__":
    end_in_a_line(main)
