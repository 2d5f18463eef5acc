"""TicTacToe learned by TD, SARSA and Q-learning, each with and without FARL: the paper's Fig. 3.

    python -m experiments.td_sarsa.run [--seeds 25] [--out runs/td_sarsa]

Runs that are finished in the output folder are not made again. Writes curves.json and curves.png
beside this file. Source of the figure: Konen & Bagheri 2021, Fig. 3 (TD and SARSA, 25 runs).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import make_parser, new_figure, save_figure, sessions
from jaxgbg import Run, RunFolder, preset, train
from jaxgbg.results.statistics import mean_sem
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.files import write_json

# The paper shows the first two; its Algorithm 5 plans anew where its authors' program does not.
LEARNERS: dict[str, dict[str, Any]] = {
    "td": {"learner": "td"},
    "sarsa": {"learner": "sarsa"},
    "sarsa, replanned": {"learner": "sarsa", "replan": True},
    "q": {"learner": "q"},
}
COLOURS = {"farl": "#D55E00", "none": "#0072B2"}


def runs(seeds: int, **changes: Any) -> dict[str, Run]:
    """The run of each learner."""
    return {
        name: preset("tictactoe", seeds=range(seeds), **learner, **changes)
        for name, learner in LEARNERS.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--episodes", type=int, help="the paper's, where not given")
    options = parser.parse_args(arguments)
    prepare_jax()
    changes = {}
    if options.episodes:
        changes = {"episodes": options.episodes, "eval_every": max(1, options.episodes // 30)}
    records = []
    for name, run in runs(options.seeds, **changes).items():
        for record in records_of(name, train(run, options.out)):
            records.append(record)
            print(name, record["variant"], f"{record['mean']:+.3f} ± {record['sem']:.3f}")
    write_json(options.results / "curves.json", records)
    draw(records, options.results / "curves.png")


def records_of(name: str, folder: RunFolder) -> Iterator[dict[str, Any]]:
    """The mean over the last fifth of the run and the curve, of each variant."""
    run = folder.run
    for variant in run.variants:
        episodes, scores = sessions(folder, "maxn", variant)
        per_seed = scores[5 * episodes > 4 * run.schedule.episodes].mean(0)
        mean, sem = mean_sem(list(per_seed))
        spread = scores.std(1, ddof=1)
        yield {
            "game": "tictactoe",
            "learner": name,
            "variant": variant,
            "opponent": "maxn",
            "mean": round(mean, 4),
            "sem": round(sem, 4),
            "n": len(per_seed),
            "episodes": run.schedule.episodes,
            "config": run.digest,
            "seconds": folder.summary()["training_seconds"],
            "per_seed": [round(float(score), 4) for score in per_seed],
            "curve": {
                int(at): [round(float(level), 4), round(float(width), 4)]
                for at, level, width in zip(episodes, scores.mean(1), spread, strict=True)
            },
        }


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """One panel a learner: mean score against Max-N, in a band of one standard deviation."""
    figure = new_figure(13, 3.4)
    axes = figure.subplots(1, len(LEARNERS), sharey=True)
    for axis, name in zip(axes, LEARNERS, strict=True):
        for record in (one for one in records if one["learner"] == name):
            episodes = np.array([int(n) for n in record["curve"]]) / 1000
            mean, spread = np.array(list(record["curve"].values())).T
            colour = COLOURS[record["variant"]]
            label = "FARL" if record["variant"] == "farl" else "no FARL"
            axis.plot(episodes, mean, color=colour, label=label)
            axis.fill_between(episodes, mean - spread, mean + spread, color=colour, alpha=0.15)
        axis.set(title=name, xlabel="thousand episodes")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("score against Max-N (0 is perfect)")
    axes[0].legend(loc="lower right")
    save_figure(figure, path)


if __name__ == "__main__":
    main()
