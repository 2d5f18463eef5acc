"""What can be had against MCTS in Nim3P: an agent without a mistake meets it.

    python -m experiments.table1.nim3p_mcts          # plays what results.json lacks
    python -m experiments.table1.nim3p_mcts --show   # the table of the kept figures

The agent is the one of the zoo, whose every move is as good as Max-N's. An evaluation is that of
Table 1: ten drawn starts, each seat, three games each.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.shared import Section, make_parser
from jaxgbg import evaluate
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.devices import prepare_jax

SECTION = "nim3p_mcts"
AGENT = "zoo:nim3p"
ITERATIONS = (1_000, 5_000, 10_000)
EVALUATIONS = 6


def record(iterations: int) -> dict[str, Any]:
    """The mean rewards of the agent in several evaluations."""
    found = [evaluate(AGENT, f"mcts-{iterations}", seed) for seed in range(EVALUATIONS)]
    return {
        "player": AGENT,
        "iterations": iterations,
        "games": int(np.size(found)),
        "means": [round(float(one.mean()), 4) for one in found],
        "by_seat": [round(float(mean), 4) for mean in np.mean(found, axis=(0, 2))],
    }


def table(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each number of iterations; the interval is over evaluations."""
    yield "| player | iterations | games | reward (95%) | by seat |"
    yield "|---|---|---|---|---|"
    for one in records:
        low, high = confidence_interval(one["means"], span=(0.0, 1.0), games=90)
        mean = f"{np.mean(one['means']):.3f} ({low:.3f} to {high:.3f})"
        seats = " / ".join(f"{each:.2f}" for each in one["by_seat"])
        cells = [one["player"], f"{one['iterations']:,}", f"{one['games']:,}", mean, seats]
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--show", action="store_true", help="print the kept figures")
    options = parser.parse_args(arguments)
    section = Section(options.results, SECTION)
    known = {one["iterations"] for one in section.read()}
    missing = [] if options.show else [each for each in ITERATIONS if each not in known]
    if missing:
        prepare_jax()
        rows = [*section.read(), *map(record, missing)]
        section.write(sorted(rows, key=lambda row: row["iterations"]))
    print("\n".join(table(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
