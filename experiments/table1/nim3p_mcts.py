"""What can be had against MCTS in Nim3P: an agent without a mistake, and Max-N, meet it.

    python -m experiments.table1.nim3p_mcts          # plays what results.json lacks
    python -m experiments.table1.nim3p_mcts --show   # the table of the kept figures

The agent is the one of the zoo, whose every move is as good as Max-N's. An evaluation is that of
Table 1: ten drawn starts, each seat, three games each.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.shared import Section, make_parser
from jaxgbg import evaluate, make
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import Player, make_player
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.devices import prepare_jax

SECTION = "nim3p_mcts"
PLAYERS = ("zoo:nim3p", "maxn")
ITERATIONS = (5_000, 10_000)
EVALUATIONS = 6


def record(name: str, iterations: int) -> dict[str, Any]:
    """The mean rewards of a player in several evaluations."""
    player: str | Player = name if name.startswith("zoo") else make_player(name, make("nim3p"))
    found = [evaluate(player, f"mcts-{iterations}", seed) for seed in range(EVALUATIONS)]
    return {
        "player": name,
        "iterations": iterations,
        "games": int(np.size(found)),
        "means": [round(float(one.mean()), 4) for one in found],
        "by_seat": [round(float(mean), 4) for mean in np.mean(found, axis=(0, 2))],
    }


def table(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each player and number of iterations; the interval is over evaluations."""
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
    wanted = () if options.show else [(name, n) for name in PLAYERS for n in ITERATIONS]
    if wanted:
        prepare_jax()
    for name, iterations in wanted:
        known = {(one["player"], one["iterations"]) for one in section.read()}
        if (name, iterations) not in known:
            new = record(name, iterations)
            section.update(lambda kept, new=new: [*kept, new])
    print("\n".join(table(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
