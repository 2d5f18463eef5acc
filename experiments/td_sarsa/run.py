"""TicTacToe learned by TD, SARSA and Q-learning, each with and without FARL: the paper's Fig. 3.

    python experiments/td_sarsa/run.py [--seeds 25] [--out runs/td_sarsa]

Runs that are finished in the output folder are not made again. Writes curves.json and curves.png
beside this file. Source of the figure: Konen & Bagheri 2021, Fig. 3 (TD and SARSA, 25 runs).
"""

import argparse
import json
from pathlib import Path

import numpy as np

from jaxgbg import preset
from jaxgbg.training import run
from jaxgbg.training.devices import prepare_jax

# The paper shows the first two; its Algorithm 5 plans anew where its authors' program does not.
LEARNERS = {
    "td": {"learner": "td"},
    "sarsa": {"learner": "sarsa"},
    "sarsa, replanned": {"learner": "sarsa", "replan": True},
    "q": {"learner": "q"},
}
COLOURS = {"farl": "#D55E00", "none": "#0072B2"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--out", type=Path, default=Path("runs/td_sarsa"))
    options = parser.parse_args()
    prepare_jax()
    records = []
    for name, changes in LEARNERS.items():
        config = preset("tictactoe", seeds=tuple(range(options.seeds)), **changes)
        folder = run(config, options.out)
        scores: dict[str, dict[int, list[float]]] = {variant: {} for variant in config.farl}
        for one in folder.evaluations():
            scores[one.farl].setdefault(one.episodes, []).append(one.score)
        for variant, curve in scores.items():
            late = [curve[n] for n in curve if n > 0.8 * config.episodes]
            per_seed = np.mean(late, axis=0)
            error = per_seed.std(ddof=1) / np.sqrt(len(per_seed))
            records.append(
                {
                    "game": "tictactoe",
                    "learner": name,
                    "farl": variant,
                    "opponent": "maxn",
                    "mean": round(float(per_seed.mean()), 4),
                    "sem": round(float(error), 4),
                    "n": len(per_seed),
                    "episodes": config.episodes,
                    "config": config.digest,
                    "seconds": folder.summary()["training_seconds"],
                    "per_seed": [round(float(score), 4) for score in per_seed],
                    "curve": {
                        n: [round(float(np.mean(s)), 4), round(float(np.std(s, ddof=1)), 4)]
                        for n, s in sorted(curve.items())
                    },
                }
            )
            print(name, variant, f"{records[-1]['mean']:+.3f} ± {records[-1]['sem']:.3f}")
    here = Path(__file__).parent
    (here / "curves.json").write_text(json.dumps(records, indent=1) + "\n")
    draw(records, here / "curves.png")


def draw(records: list[dict], path: Path) -> None:
    """One panel a learner: mean score against Max-N, in a band of one standard deviation."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(LEARNERS), sharey=True)
    for axis, name in zip(axes, LEARNERS, strict=True):
        for record in (one for one in records if one["learner"] == name):
            episodes = np.array([int(n) for n in record["curve"]]) / 1000
            mean, spread = np.array(list(record["curve"].values())).T
            colour = COLOURS[record["farl"]]
            label = "FARL" if record["farl"] == "farl" else "no FARL"
            axis.plot(episodes, mean, color=colour, label=label)
            axis.fill_between(episodes, mean - spread, mean + spread, color=colour, alpha=0.15)
        axis.set(title=name, xlabel="thousand episodes")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("score against Max-N (0 is perfect)")
    axes[0].legend(loc="lower right")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
