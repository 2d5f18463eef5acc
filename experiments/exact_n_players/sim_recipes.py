"""Which settings make agents of Sim on K6 perfect as second player?

    python -m experiments.exact_n_players.sim_recipes [--labels td-off-policy ...] [--out OUT]
    python -m experiments.exact_n_players.sim_recipes --show    # the kept figures

Each recipe changes the preset and is judged by agents of seeds 100 to 104, which no other script
here trains: by what the second player wins against the worst that can meet it, computed over all
positions that it can meet. `run` trains the chosen recipe with other seeds. Results are in
OUT/sim_recipes.json; what stands there is not made again.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.exact_n_players.positions import positions_of, reward
from experiments.shared import SCALE, measure_rows
from jaxgbg import make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import LaneName

FILE = "sim_recipes.json"
SEEDS = range(100, 105)
GAME = make("sim")
ALL_EDGES = (tuple(range(GAME.num_cells)),)
"""One n-tuple of the whole board."""
_OFF_POLICY: dict[str, Any] = {"learner": "td-off-policy", "epsilon_end": 0.3}
RECIPES: dict[str, dict[str, Any]] = {
    "explores to the end": {"epsilon_end": 0.3},
    "td-off-policy": _OFF_POLICY,
    "all edges, td-off-policy": {"layout": ALL_EDGES, **_OFF_POLICY},
    "all edges, td-off-policy, shorter": {"layout": ALL_EDGES, "episodes": 50_000, **_OFF_POLICY},
}
"""What each recipe changes of the preset."""


def measured(label: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train a recipe; what its agents win as second player, at worst, as shares of the games."""
    changes = dict(RECIPES[label])
    episodes = changes.pop("episodes", preset(GAME).schedule.episodes)
    episodes = max(1, round(options.scale * episodes))
    run = preset(
        GAME,
        episodes=episodes,
        eval_every=episodes,
        seeds=SEEDS,
        variants=("farl",),
        opponents=(),
        **changes,
    )
    begun, used = time.perf_counter(), time.process_time()
    folder = train(run, options.out / "runs")
    trained, trained_cpu = time.perf_counter() - begun, time.process_time() - used
    agents = [folder.agents([LaneName(seed, "farl")]) for seed in SEEDS]
    worst = [reward(positions_of(GAME, agent, 1), 1, worst=True) for agent in agents]
    return {
        "label": label,
        "changes": changes,
        "episodes": episodes,
        "config": run.digest,
        "seeds": [*SEEDS],
        "at_worst": np.round((np.array(worst) + 1) / 2, 6).tolist(),
        "training_s": round(trained, 1),
        "training_cpu_s": round(trained_cpu, 1),
        "judging_s": round(time.perf_counter() - begun - trained, 1),
    }


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """How many agents of each recipe are perfect."""
    yield "| recipe | episodes | perfect as second player |"
    yield "|---|---|---|"
    for one in sorted(results, key=lambda one: [*RECIPES].index(one["label"])):
        worst = np.array(one["at_worst"])
        yield f"| {one['label']} | {one['episodes']:,} | {(worst == 1).sum()} of {len(worst)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    labels = {label: label for label in RECIPES}
    measure_rows(arguments, __file__, __doc__, FILE, labels, measured, table, scale=SCALE)


if __name__ == "__main__":
    end_in_a_line(main)
