"""Where ConnectFour's agents of Table 1 give away a won game against AB-DL, moving first.

    python -m experiments.table1.given_away                        # what is known
    python -m experiments.table1.given_away runs/connectfour-*/    # of these runs, FARL alone, too

A thousand games as in `experiments.connectfour.mistakes`, by the last weights and by their mean.
What a run gives is added to results.json next to this file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.connectfour.mistakes import given_away, table_of
from experiments.connectfour.run import knows
from experiments.shared import Section, make_parser, opened
from jaxgbg import RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax

AGENTS = {"farl": "last weights", "farl-mean": "mean weights"}


def records_of(folder: RunFolder) -> list[dict[str, Any]]:
    """What each agent with FARL gives away."""
    run = folder.run
    return [
        {
            "condition": AGENTS[lane.variant],
            "seed": lane.seed,
            "episodes": run.schedule.episodes,
            "config": run.digest,
            **given_away(folder.agents((lane,))),
        }
        for lane in run.agents
        if lane.variant in AGENTS
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folders with agents")
    options = parser.parse_args(arguments)
    if options.runs:
        prepare_jax()
    section = Section(options.results, "given_away")
    for folder in opened(parser, options.runs):
        if folder.finished and not knows(section, folder.run.digest):
            rows = [*section.read(), *records_of(folder)]
            section.write(sorted(rows, key=lambda row: (row["episodes"], row["seed"])))
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
