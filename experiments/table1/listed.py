"""ConnectFour on n-tuples from a list, unlike Table 1, whose seeds draw walks of their own.

    python -m experiments.table1.listed                            # what is known
    python -m experiments.table1.listed runs/connectfour-*/        # of these runs too

A list may be somebody else's and then is no part of this project, and neither are the configs that
hold it: of each run stand here its figures, how many of the 69 fours its n-tuples and their images
hold, the digest of its config and the hash of its metrics. What a run gives is added to
results.json next to this file; runs whose seeds draw their walks are left out.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.connectfour.run import figure, knows
from experiments.shared import Section, make_parser, opened
from experiments.table1.report import rows_of
from jaxgbg import Game, RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.values import Layout, NTupleSpec

_KEY = ("episodes", "variant", "opponent")


def listed(folder: RunFolder) -> Layout:
    """The n-tuples from the list of a finished run; none of another's."""
    value = folder.run.value
    if not folder.finished or not isinstance(value, NTupleSpec):
        return ()
    return value.layout if folder.run.game.name == "connectfour" else ()


def fours_held(game: Game, layout: Layout) -> int:
    """How many lines of the game lie within one of the n-tuples, or within an image of one."""
    images = [{int(image[cell]) for cell in cells} for cells in layout for image in game.symmetries]
    return sum(any(set(line) <= image for image in images) for line in game.lines)


def records_of(folder: RunFolder) -> list[dict[str, Any]]:
    """The mean of the evaluations in the last fifth, of each agent against each opponent."""
    run = folder.run
    known = {
        "seeds": list(run.seeds),
        "batch": run.schedule.batch,
        "fours": fours_held(run.game, listed(folder)),
        "config": run.digest,
        "metrics": hashlib.sha256((folder.path / "metrics.jsonl").read_bytes()).hexdigest(),
    }
    return [
        {
            "episodes": row.episodes,
            "variant": row.settings["variant"],
            "opponent": row.opponent,
            "figures": [round(each, 4) for each in row.per_seed],
            **known,
        }
        for row in rows_of([folder])
    ]


def table_of(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for all networks of a budget, a variant and an opponent."""
    yield "| episodes | games | fours | variant | opponent | n | agents | mean |"
    yield "|---" * 8 + "|"
    alike: dict[tuple[Any, ...], list[float]] = {}
    for record in records:
        key = (record["episodes"], record["batch"], record["fours"], *(record[k] for k in _KEY[1:]))
        alike.setdefault(key, []).extend(record["figures"])
    for (episodes, batch, fours, variant, opponent), figures in alike.items():
        each = ", ".join(f"{one:.1f}" for one in figures)
        cells = [f"{episodes:,}", batch, fours, variant, opponent, len(figures), each]
        yield f"| {' | '.join(map(str, cells))} | {figure(figures)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folders of runs")
    options = parser.parse_args(arguments)
    section = Section(options.results, "listed")
    for folder in opened(parser, options.runs):
        if listed(folder) and not knows(section, folder.run.digest):
            rows = [*section.read(), *records_of(folder)]
            section.write(sorted(rows, key=lambda row: (*(row[k] for k in _KEY), row["seeds"])))
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
