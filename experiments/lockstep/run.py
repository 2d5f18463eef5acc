"""How many games in lockstep, joined by which rule: train every setting, then draw and tabulate.

    python -m experiments.lockstep.run nim3p [--episodes N] [--seeds 5] [--out runs/lockstep]

Settings that are finished in the output folder are not run again. Writes GAME.json and GAME.png
beside this file: the score of each setting against episodes and against seconds of training.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import make_parser, new_figure, save_figure
from jaxgbg import Run, RunFolder, preset, train, with_changes
from jaxgbg.arena import make_judge
from jaxgbg.papers import protocol_for
from jaxgbg.papers.table1 import meet
from jaxgbg.results.curves import curve
from jaxgbg.results.rows import rows
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.files import write_json

BATCHES = (16, 64, 256, 1024, 4096)
RULES = ("sum", "mean", "saturating")
DEFAULT_RULE = "saturating"
OPPONENTS = {"nim3p": ("maxn",), "hex": ("mcts-100",), "connectfour": ("solver", "ab", "ab-dl")}
# Met by the finished agents only: too slow for every evaluation, but not yet always beaten.
FINAL_OPPONENTS = {"hex": "mcts-1000"}
COLOURS = {"serial": "#000000", "sum": "#D55E00", "mean": "#009E73", "saturating": "#0072B2"}


def settings(game: str, episodes: int | None, seeds: int) -> Iterator[tuple[str, Run]]:
    """(rule, run) of one game a seed, and of every batch with every rule."""
    base = preset(game, variants=("farl",), seeds=range(seeds), opponents=OPPONENTS[game])
    episodes = episodes or base.schedule.episodes
    base = with_changes(base, {"episodes": episodes, "eval_every": max(1, episodes // 10)})
    yield "serial", with_changes(base, {"batch": 1})
    # The shipped rule first: it is what a run that is stopped early should have.
    for rule in (DEFAULT_RULE, *(rule for rule in RULES if rule != DEFAULT_RULE)):
        for batch in BATCHES:
            yield rule, with_changes(base, {"batch": batch, "combine": rule})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("game", choices=sorted(OPPONENTS))
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--redraw", action="store_true", help="only the picture, from GAME.json")
    parser.add_argument("--finished", action="store_true", help="train nothing, use what there is")
    options = parser.parse_args(arguments)
    figures = options.results / f"{options.game}.json"
    if options.redraw:
        draw(json.loads(figures.read_text()), figures.with_suffix(".png"))
        return
    prepare_jax()
    records: list[dict[str, Any]] = []
    for rule, run in settings(options.game, options.episodes, options.seeds):
        if options.finished and not RunFolder(options.out, run).finished:
            continue
        folder = train(run, options.out)
        if final := FINAL_OPPONENTS.get(options.game):
            meet(
                folder,
                final,
                partial(make_judge, final, run.game, protocol_for(run.game, final)),
            )
        for record in records_of(rule, folder):
            records.append(record)
            shown = ("opponent", "batch", "rule", "mean", "sem", "seconds")
            print(*(record[name] for name in shown))
    write_json(figures, records)
    draw(records, figures.with_suffix(".png"))


def records_of(rule: str, folder: RunFolder) -> Iterator[dict[str, Any]]:
    """What is kept of one setting, for each opponent."""
    run, results = folder.run, folder.results()
    for row in rows(run, results, folder.summary()["training_seconds"]):
        episodes, means, _ = curve(row)
        yield {
            "game": run.game.name,
            "opponent": row.opponent,
            "batch": run.schedule.batch,
            "rule": rule,
            "mean": round(row.mean, 4),
            "sem": round(row.sem, 4),
            "per_seed": [round(figure, 4) for figure in row.per_seed],
            "episodes": run.schedule.episodes,
            "seconds": row.seconds,
            "curve": {
                int(at): round(float(mean), 4) for at, mean in zip(episodes, means, strict=True)
            },
        }


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """One line an opponent: last scores by batch, curves by episodes for every rule, by seconds.

    Serial training, which joins nothing, is the black line of every panel.
    """
    from matplotlib import colormaps
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    opponents = list(dict.fromkeys(record["opponent"] for record in records))
    figure = new_figure(17, 3.4 * len(opponents) + 0.4)
    axes = figure.subplots(len(opponents), len(RULES) + 2, squeeze=False, sharey="row")
    shades = colormaps["viridis"](np.linspace(0, 0.9, len(BATCHES)))
    shade = {1: "black", **dict(zip(BATCHES, shades, strict=True))}
    for line, opponent in zip(axes, opponents, strict=True):
        against = [record for record in records if record["opponent"] == opponent]
        serial = next(record for record in against if record["rule"] == "serial")
        mean, sem = serial["mean"], serial["sem"]
        line[0].axhspan(mean - sem, mean + sem, color="black", alpha=0.15, label="one game")
        for rule in RULES:
            mine = [record for record in against if record["rule"] == rule]
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
            for record in (r for r in against if r["rule"] in ("serial", rule)):
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
    save_figure(figure, path)


if __name__ == "__main__":
    main()
