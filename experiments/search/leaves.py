"""What several leaves a step cost and bring: speed and value-keeping moves on solved positions.

    python -m experiments.search.leaves [--leaves 1 4 8] [--episodes 20000] [--iterations 200]

A ConnectFour agent of little training searches solved positions, all in step and one alone; by the
median of three searches by the clock and by the CPU time of this process. Writes the section
"leaves" of results.json.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from experiments.search.run import run_of
from experiments.search.speed import seconds
from experiments.shared import Section, interval, make_parser
from jaxgbg import search, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation.solved_positions import SolvedPositions
from jaxgbg.players import SearchAgent


def positions_per_s(player: SearchAgent, states: Any, iterations: int) -> tuple[int, int]:
    """By the clock and by CPU time."""
    wall, cpu = (len(states.terminal) * iterations / taken for taken in seconds(player, states))
    return round(wall), round(cpu)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--leaves", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=20_000)
    options = parser.parse_args(arguments)
    section = Section(options.results, "leaves")
    folder = train(run_of("connectfour", options.episodes), options.out)
    solved = SolvedPositions(folder.run.game)
    # Spread over all of them, which may be in an order.
    some = np.linspace(0, len(solved.keeps) - 1, options.positions).astype(int)
    solved.states = jax.tree.map(lambda leaf: leaf[some], solved.states)
    solved.keeps = solved.keeps[some]
    one = jax.tree.map(lambda leaf: leaf[:1], solved.states)
    agent = folder.agents(folder.run.lanes[:1])
    rows: list[dict[str, Any]] = []
    first, every = None, " ".join(map(str, options.leaves))
    for leaves in options.leaves:
        player = search(agent, options.iterations, leaves=leaves)
        scores = solved.scores(player, jax.random.key(0))["share"][0]
        first = scores if first is None else first
        low, high = interval(scores, (0.0, 1.0))
        together = positions_per_s(player, solved.states, options.iterations)
        alone = positions_per_s(player, one, options.iterations)
        row = {
            "leaves": leaves,
            "iterations": options.iterations,
            "positions": len(scores),
            "value_kept": round(100 * float(scores.mean()), 1),
            "interval": [round(100 * bound, 1) for bound in (low, high)],
            "lost_and_won": [int((scores < first).sum()), int((scores > first).sum())],
            "positions_per_s": together[0],
            "positions_per_core_s": together[1],
            "alone_per_s": alone[0],
            "alone_per_core_s": alone[1],
            "config": folder.run.digest,
            "command": f"python -m experiments.search.leaves --leaves {every}"
            f" --positions {len(scores)} --iterations {options.iterations}"
            f" --episodes {options.episodes}",
        }
        rows.append(row)
        print(row, flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
