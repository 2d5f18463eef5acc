"""Table 1 at a glance, in Markdown, from the archived runs.

    python -m experiments.table1.overview
    python -m experiments.table1.overview --missing    # what ten seeds of every row would take

The lines of ConnectFour on the authors' list have ten seeds of a GPU (experiments.gpu.published).
"""

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.connectfour.run import figure
from experiments.gpu.published import late_means
from experiments.shared import FinishedRun, archived_runs
from experiments.table1.report import LOCKSTEP, SERIAL, parts_of, rows_of
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


def figures_of_listed() -> dict[tuple[str, str], list[float]]:
    """(opponent, variant) -> win rates of ConnectFour's seeds on the authors' list."""
    return {key: figures for key, (figures, _) in full_budgets("connectfour").items()}


def lines_of_listed(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of ConnectFour in `rows` once more, on the authors' list."""
    found = figures_of_listed()
    farl = [row for row in rows if (row.game, row.settings["variant"]) == ("connectfour", "farl")]
    for row in farl:
        keys = [(row.opponent, variant) for variant in VARIANTS]
        if (row.game, row.opponent) in LEFT_OUT or keys[0] not in found:
            continue
        cells = [
            cell
            for key in keys
            for cell in (figure(found[key]) if key in found else "not run", _paper(row, key[-1]))
        ]
        seeds = len(found[keys[0]])
        yield (
            f"| connectfour, authors' list | {row.opponent} | {_episodes(row)} | {seeds} |"
            f" {' | '.join(cells)} |"
        )


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
    lines[last + 1 : last + 1] = lines_of_listed(lockstep)
    print("\n".join(lines))


if __name__ == "__main__":
    end_in_a_line(main)
