"""How many games in lockstep, joined by which rule: train every setting, then draw and tabulate.

    python experiments/lockstep/run.py nim3p [--episodes N] [--seeds 5] [--out runs/lockstep]

Settings that are finished in the output folder are not run again. Writes GAME.json and GAME.png
beside this file: the score of each setting against episodes and against seconds of training.
"""

import argparse
import dataclasses
import json
from functools import partial
from pathlib import Path

import numpy as np

from jaxgbg import preset
from jaxgbg.players import make_player
from jaxgbg.papers.figures import to_unit
from jaxgbg.training import RunFolder, run
from jaxgbg.training.devices import prepare_jax
from jaxgbg.papers.table1 import meet

BATCHES = (16, 64, 256, 1024, 4096)
RULES = ("sum", "mean", "saturating")
DEFAULT_RULE = "saturating"
OPPONENTS = {"nim3p": ("maxn",), "hex": ("mcts-100",), "connectfour": ("solver", "ab", "ab-dl")}
# Met by the finished agents only: too slow for every evaluation, but not yet always beaten.
FINAL_OPPONENTS = {"hex": "mcts-1000"}
COLOURS = {"serial": "#000000", "sum": "#D55E00", "mean": "#009E73", "saturating": "#0072B2"}


def settings(game: str, episodes: int | None, seeds: int):
    """(rule, config) of one game a seed, and of every batch with every rule."""
    base = preset(game, farl=("farl",), seeds=tuple(range(seeds)), opponents=OPPONENTS[game])
    if episodes:
        base = dataclasses.replace(base, episodes=episodes)
    base = dataclasses.replace(base, eval_every=base.episodes // 10)
    yield "serial", dataclasses.replace(base, batch=1)
    # The shipped rule first: it is what a run that is stopped early should have.
    for rule in (DEFAULT_RULE, *(rule for rule in RULES if rule != DEFAULT_RULE)):
        for batch in BATCHES:
            yield rule, dataclasses.replace(base, batch=batch, combine=rule)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=sorted(OPPONENTS))
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/lockstep"))
    parser.add_argument("--redraw", action="store_true", help="only the picture, from GAME.json")
    parser.add_argument("--finished", action="store_true", help="train nothing, use what there is")
    options = parser.parse_args()
    here = Path(__file__).parent
    if options.redraw:
        records = json.loads((here / f"{options.game}.json").read_text())
        draw(records, here / f"{options.game}.png")
        return
    prepare_jax()
    records: list[dict] = []
    for rule, config in settings(options.game, options.episodes, options.seeds):
        if options.finished and not RunFolder(options.out, config).finished:
            continue
        folder = run(config, options.out)
        seconds = folder.summary()["training_seconds"]
        opponents = config.opponents
        if final := FINAL_OPPONENTS.get(options.game):
            meet(folder, final, partial(make_player, final, config.make_game()))
            opponents = (*opponents, final)
        for opponent in opponents:
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
    (here / f"{options.game}.json").write_text(json.dumps(records, indent=1) + "\n")
    draw(records, here / f"{options.game}.png")


def draw(records: list[dict], path: Path) -> None:
    """One line an opponent: last scores by batch, curves by episodes for every rule, by seconds.

    Serial training, which joins nothing, is the black line of every panel.
    """
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    opponents = list(dict.fromkeys(record["opponent"] for record in records))
    figure = Figure(figsize=(17, 3.4 * len(opponents) + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(opponents), len(RULES) + 2, squeeze=False, sharey="row")
    shades = colormaps["viridis"](np.linspace(0, 0.9, len(BATCHES)))
    shade = {1: "black", **dict(zip(BATCHES, shades, strict=True))}
    for line, opponent in zip(axes, opponents, strict=True):
        found = [record for record in records if record["opponent"] == opponent]
        serial = next(record for record in found if record["rule"] == "serial")
        mean, sem = serial["mean"], serial["sem"]
        line[0].axhspan(mean - sem, mean + sem, color="black", alpha=0.15, label="one game")
        for rule in RULES:
            mine = [record for record in found if record["rule"] == rule]
            if not mine:
                continue
            batches, means, sems = zip(
                *((r["batch"], r["mean"], r["sem"]) for r in mine), strict=True
            )
            style = {"color": COLOURS[rule], "marker": "o", "ms": 4, "capsize": 3}
            line[0].errorbar(batches, means, sems, label=rule, **style)
        line[0].set(xlabel="games in lockstep", ylabel=f"{serial['game']}, {opponent}")
        line[0].set(xscale="log", title="last fifth of the run, s.e. over seeds")
        line[0].set_xticks(BATCHES, [str(batch) for batch in BATCHES], minor=False)
        line[0].minorticks_off()
        for axis, rule in zip(line[1:], (*RULES, DEFAULT_RULE), strict=True):
            if len(serial["curve"]) < 2:
                # Met once only, at the end.
                axis.set_axis_off()
                continue
            by_seconds = axis is line[-1]
            for record in (r for r in found if r["rule"] in ("serial", rule)):
                spent = np.array([int(n) for n in record["curve"]]) / 1000
                if by_seconds:
                    spent = record["seconds"] * spent / (record["episodes"] / 1000)
                scores = list(record["curve"].values())
                axis.plot(spent, scores, color=shade[record["batch"]], lw=1.5)
            axis.set(xlabel="thousand episodes", title=rule)
            if by_seconds:
                axis.set(xlabel="seconds of training, all seeds together", xscale="log")
                axis.xaxis.set_major_formatter(ScalarFormatter())
                axis.xaxis.set_minor_formatter(NullFormatter())
        for axis in line:
            axis.grid(alpha=0.25)
    axes[0][0].legend(fontsize=8)
    for batch, colour in shade.items():
        axes[0][-1].plot([], [], color=colour, label=f"{batch} games" if batch > 1 else "one game")
    axes[0][-1].legend(fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
