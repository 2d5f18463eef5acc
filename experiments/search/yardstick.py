"""The search and DeepMind's mctx: the same positions, visits and values, how many a second.

    python -m experiments.search.yardstick [--batch 128 1] [--iterations 200] [--episodes 20000]

A ConnectFour agent of little training values the leaves in either, positions after ten random
plies; the median of three searches, in turn, by the clock and by the CPU time of this process. How
far the formulas are one is said in `tests/search/by_mctx.py`. Writes the section "yardstick" of
results.json.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from experiments.search.run import run_of
from experiments.search.speed import random_positions
from experiments.shared import Section, make_parser
from jaxgbg import search, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import SearchAgent

_REPEATS = 3
Visits = Callable[[Any, Any], Any]


def searches_of(player: SearchAgent, iterations: int) -> dict[str, Visits]:
    """Visits [B, A] of (params, states[B]) by every search, compiled when it is called first."""
    # Known to whoever runs this, but not to those who import it.
    from tests.search.by_mctx import visits_by_policy, visits_of_both

    def ours(params: Any, states: Any) -> Any:
        return player.search.search(params, states, iterations, jax.random.key(0)).visits

    both = partial(visits_of_both, player.search, iterations=iterations)
    policy = partial(visits_by_policy, player.search, iterations=iterations)
    return {
        "jaxgbg": jax.jit(ours),
        "mctx.search": jax.jit(both),
        "mctx.search, its own formula": jax.jit(partial(both, corrected=False)),
        "mctx.muzero_policy": jax.jit(policy),
    }


def measured(player: SearchAgent, batch: int, iterations: int) -> Iterator[dict[str, Any]]:
    """Figures of every search of so many positions in step."""
    params = jax.tree.map(lambda leaf: leaf[0], player.agent.params)
    # Some games are over by then, and mctx would go on.
    states = random_positions(player.game, 2 * batch)
    live = np.flatnonzero(~np.asarray(states.terminal))[:batch]
    states = jax.tree.map(lambda leaf: leaf[live], states)
    searches = searches_of(player, iterations)
    visits = {name: np.asarray(run(params, states)) for name, run in searches.items()}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
    for _ in range(_REPEATS):
        for name, run in searches.items():
            begun = time.perf_counter(), time.process_time()
            jax.block_until_ready(run(params, states))
            seconds[name].append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    for name, each in seconds.items():
        moved = np.abs(visits[name] - visits["jaxgbg"]).sum(1) / 2 / iterations
        wall, cpu = (statistics.median(column) for column in zip(*each, strict=True))
        yield {
            "search": name,
            "searches": len(live),
            "same_visits": int((moved == 0).sum()),
            "same_move": int((visits[name].argmax(1) == visits["jaxgbg"].argmax(1)).sum()),
            "visits_moved": {
                "mean": round(100 * float(moved.mean()), 2),
                "most": round(100 * float(moved.max()), 2),
            },
            "positions_per_s": round(len(live) * iterations / wall),
            "positions_per_core_s": round(len(live) * iterations / cpu),
        }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[128, 1])
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=20_000)
    options = parser.parse_args(arguments)
    section = Section(options.results, "yardstick")
    folder = train(run_of("connectfour", options.episodes), options.out)
    player = search(folder.agents(folder.run.lanes[:1]), options.iterations)
    command = (
        f"python -m experiments.search.yardstick --batch {' '.join(map(str, options.batch))}"
        f" --iterations {options.iterations} --episodes {options.episodes}"
    )
    common = {"iterations": options.iterations, "config": folder.run.digest, "command": command}
    rows: list[dict[str, Any]] = []
    for batch in options.batch:
        for row in measured(player, batch, options.iterations):
            rows.append({**row, **common})
            print(rows[-1], flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
