"""How many games in lockstep, joined by which rule: train every setting, then draw and tabulate.

    python experiments/lockstep/run.py nim3p [--episodes N] [--seeds 5] [--out runs/lockstep]

Settings that are finished in the output folder are not run again. Writes GAME.json and GAME.png
beside this file: the score of each setting against episodes and against seconds of training.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np

from jaxgbg import preset
from jaxgbg.cli import _prepare_jax
from jaxgbg.report.paper import to_unit
from jaxgbg.runs import run

BATCHES = (16, 64, 256, 1024, 4096)
RULES = ("sum", "mean", "saturating")
OPPONENTS = {"nim3p": ("maxn",), "hex": ("mcts-100",), "connectfour": ("solver", "ab", "ab-dl")}
COLOURS = {"serial": "#000000", "sum": "#D55E00", "mean": "#009E73", "saturating": "#0072B2"}


def settings(game: str, episodes: int | None, seeds: int):
    """(rule, config) of one game a seed, and of every batch with every rule."""
    base = preset(game, farl=("farl",), seeds=tuple(range(seeds)), opponents=OPPONENTS[game])
    if episodes:
        base = dataclasses.replace(base, episodes=episodes)
    base = dataclasses.replace(base, eval_every=base.episodes // 10)
    yield "serial", dataclasses.replace(base, batch=1)
    for batch in BATCHES:
        for rule in RULES:
            yield rule, dataclasses.replace(base, batch=batch, combine=rule)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=sorted(OPPONENTS))
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/lockstep"))
    options = parser.parse_args()
    _prepare_jax()
    records = []
    for rule, config in settings(options.game, options.episodes, options.seeds):
        folder = run(config, options.out)
        seconds = folder.summary()["training_seconds"]
        for opponent in config.opponents:
            scores: dict[int, list[float]] = {}
            for one in folder.evaluations():
                if one.opponent == opponent:
                    score = to_unit(options.game, opponent, one.score)
                    scores.setdefault(one.episodes, []).append(score)
            late = [scores[n] for n in scores if n > 0.8 * config.episodes]
            per_seed = np.mean(late, axis=0)
            records.append(
                {
                    "game": options.game,
                    "opponent": opponent,
                    "batch": config.batch,
                    "rule": rule,
                    "mean": round(float(per_seed.mean()), 4),
                    "sem": round(float(per_seed.std(ddof=1) / np.sqrt(len(per_seed))), 4),
                    "per_seed": [round(float(score), 4) for score in per_seed],
                    "episodes": config.episodes,
                    "seconds": seconds,
                    "curve": {n: round(float(np.mean(s)), 4) for n, s in sorted(scores.items())},
                }
            )
            last = records[-1]
            print(*(last[name] for name in ("opponent", "batch", "rule", "mean", "sem", "seconds")))
    here = Path(__file__).parent
    (here / f"{options.game}.json").write_text(json.dumps(records, indent=1) + "\n")
    draw(records, here / f"{options.game}.png")


def draw(records: list[dict], path: Path) -> None:
    """One line a batch, one column a measure of effort; rules are colours, batches are widths."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    opponents = list(dict.fromkeys(record["opponent"] for record in records))
    figure = Figure(figsize=(10, 3.6 * len(opponents)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(opponents), 2, squeeze=False, sharey="row")
    for line, opponent in zip(axes, opponents, strict=True):
        for record in (one for one in records if one["opponent"] == opponent):
            episodes = np.array(list(record["curve"]))
            width = 0.8 + 0.5 * np.log2(record["batch"]) / 4
            style = {"color": COLOURS[record["rule"]], "lw": width, "alpha": 0.8}
            label = f"{record['batch']} {record['rule']}"
            line[0].plot(episodes, list(record["curve"].values()), label=label, **style)
            spent = record["seconds"] * episodes / record["episodes"]
            line[1].plot(spent, list(record["curve"].values()), **style)
        line[0].set(xlabel="episodes", ylabel=f"{record['game']}, {opponent}")
        line[1].set(xlabel="seconds of training, all seeds together", xscale="log")
        for axis in line:
            axis.grid(alpha=0.25)
    axes[0][0].legend(fontsize=6, ncols=2)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
