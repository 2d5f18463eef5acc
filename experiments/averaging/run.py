"""Averaged weights, or exploration that goes on: is an agent better for it than by its last ones?

    python -m experiments.averaging.run [--only connectfour ...] [--conditions tail ...]
        [--seeds 10] [--scale 1]

Trains what is missing by the presets' parameters, with FARL, and adds the result of each run to
figures.json next to this file as soon as it is there; what stands there is not made again. Then
prints the table of all and draws figures.png. `--scale` is a share of the presets' budgets,
`--seeds` a number of seeds; the studies have their own. "tail" comes first: the others are compared
with its last agents.
"""

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.shared import make_parser, new_figure, older_layout, save_figure, with_origin
from jaxgbg import Run, RunFolder, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.rows import Row, as_records, group, source_of
from jaxgbg.results.statistics import agree, paired_difference
from jaxgbg.results.table import difference, in_figures
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

FILE = "figures.json"
CONDITIONS: dict[str, dict[str, Any]] = {
    "tail": {"averaging": "tail"},
    "exponential": {"averaging": "exponential"},
    "exploring": {"averaging": "tail", "epsilon_end": 0.05},
}
AGENTS = {
    ("tail", "farl"): "last",
    ("tail", "farl-mean"): "tail mean",
    ("exponential", "farl-mean"): "exponential mean",
    ("exploring", "farl"): "exploring, last",
    ("exploring", "farl-mean"): "exploring, tail mean",
}
"""Condition and variant -> what the agents are called; the last ones of the other are the same."""
_EVALUATIONS = 30


class Study(NamedTuple):
    """The share of a game's preset budget, seeds, whom they meet, conditions and value function.

    Where the preset's exploration does not end at 0 there is no condition "exploring".
    """

    scale: float
    seeds: int
    opponent: str
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    value: str = "ntuple"


_MEANS = ("tail", "exponential")
STUDIES = {
    "tictactoe": Study(1, 10, "maxn"),
    "nim": Study(1, 10, "maxn"),
    "nim3p": Study(1, 10, "maxn", _MEANS),
    "hex": Study(1, 10, "mcts-1000", _MEANS),
    "connectfour": Study(0.02, 3, "solver"),
    "othello": Study(0.2, 4, "bench", _MEANS),
    "2048": Study(0.05, 4, "score", _MEANS),
    "tictactoe-network": Study(1, 10, "maxn", value="mlp"),
    "connectfour-network": Study(0.02, 5, "solver", value="mlp"),
}
"""By what a record calls its game."""


def preset_of(name: str, **changes: Any) -> Run:
    """The preset of a study's game and value function."""
    return preset(
        name.partition("-")[0], value=STUDIES[name].value, **older_layout(name), **changes
    )


def run_of(name: str, condition: str, scale: float, seeds: int) -> Run:
    """A training of a study, evaluated thirty times."""
    episodes = max(_EVALUATIONS, round(scale * preset_of(name).schedule.episodes))
    return preset_of(
        name,
        seeds=range(seeds),
        variants=("farl",),
        episodes=episodes,
        eval_every=episodes // _EVALUATIONS,
        opponents=(STUDIES[name].opponent,),
        **CONDITIONS[condition],
    )


def records_of(
    folder: RunFolder, about: dict[str, Any], known: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One record for each kind of agent, and what is said `about` the run, compared with the last
    agents of the first condition, which are among the `known` or of this very run.
    """
    run, summary, condition = folder.run, folder.summary(), about["condition"]
    source = source_of(run, folder.results(), summary["training_seconds"])
    table = group([source], ("variant",)).rows
    last = {row.opponent: row.per_seed for row in table if row.variant == "farl"}
    of_run = (about["game"], run.schedule.episodes, len(run.seeds))
    for one in known:
        if one["agent"] == "last" and (one["game"], one["episodes"], one["n"]) == of_run:
            last[one["opponent"]] = one["per_seed"]
    table = [beside(row, last[row.opponent]) for row in table]
    size, digest = folder.metrics.mark()
    about = about | {"metrics_bytes": size, "metrics_sha256": digest}
    return [
        {
            **record,
            **about,
            "agent": AGENTS[condition, row.variant],
            "swing": round(swing(row), 4),
            "text": in_figures(row, row.mean, row.sem),
            "swing_text": row.scale.text(swing(row)),
            "difference_text": difference(row) if AGENTS[condition, row.variant] != "last" else "",
        }
        for row, record in zip(table, as_records(table), strict=True)
        if (condition, row.variant) in AGENTS
    ]


def beside(row: Row, last: Sequence[float]) -> Row:
    """A row compared with the figures of the `last` agents, of the same seeds."""
    own, others = (dict(enumerate(figures)) for figures in (row.per_seed, last))
    found = paired_difference(own, others, row.scale.span, row.games())
    assert found is not None
    mean, low, high = found
    return dataclasses.replace(
        row, difference=mean, difference_low=low, difference_high=high, pairs=len(own)
    )


def swing(row: Row) -> float:
    """By how much an agent's evaluations in the last fifth differ: their standard deviation, as a
    mean over the seeds.
    """
    late = [
        [figure for at, figure in curve.items() if 5 * at > 4 * row.episodes]
        for curve in row.curves
    ]
    return float(np.mean([np.std(figures, ddof=1) for figures in late if len(figures) > 1]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--only", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--conditions", nargs="+", choices=CONDITIONS, default=list(CONDITIONS))
    parser.add_argument("--scale", type=float, help="share of the presets' budgets")
    parser.add_argument("--seeds", type=int, help="of every run")
    options = parser.parse_args(arguments)
    if (options.scale or 1) <= 0 or (options.seeds or 1) < 1:
        parser.error("--scale and --seeds must be positive")
    prepare_jax()
    path: Path = options.results / FILE
    records = json.loads(path.read_text()) if path.exists() else []
    for name in options.only:
        study = STUDIES[name]
        scale, seeds = options.scale or study.scale, options.seeds or study.seeds
        command = (
            f"python -m experiments.averaging.run --only {name} --scale {scale:g} --seeds {seeds}"
        )
        for condition in (each for each in study.conditions if each in options.conditions):
            run = run_of(name, condition, scale, seeds)
            if any(record["config"] == run.digest for record in records):
                continue
            about = {"game": name, "condition": condition, "command": command, "config": run.digest}
            made = records_of(train(run, options.out), about, records)
            records += with_origin(made, ())
            write_json(path, records)
            print(name, condition, *(one["text"] for one in made), flush=True)
    print("\n".join(table_of(records)))
    draw(records, path.with_suffix(".png"))


def table_of(records: Sequence[dict[str, Any]]) -> list[str]:
    """The figures as lines of Markdown, game by game and budget by budget."""
    games, agents = list(STUDIES), list(AGENTS.values())
    head = ["game, against", "agent", "last fifth", "minus the last (95 %)", "swing", "at the end"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for one in sorted(
        records,
        key=lambda one: (
            *(games.index(one["game"]), one["episodes"], one["n"]),
            *(one["opponent"], agents.index(one["agent"])),
        ),
    ):
        what = f"{one['game']} ({one['episodes']:,} episodes, {one['n']} seeds), {one['opponent']}"
        cells = [
            f"{what}: {one['unit']}",
            one["agent"],
            one["text"],
            difference_text(one, records),
            one["swing_text"],
            f"{one['last']:.4g}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def difference_text(one: dict[str, Any], records: Sequence[dict[str, Any]]) -> str:
    """Minus the last weights, with an interval unless all seeds are equal."""
    same = ("game", "opponent", "episodes", "n")
    last = next(
        each
        for each in records
        if each["agent"] == "last" and all(each[name] == one[name] for name in same)
    )
    if one is last or not agree(np.subtract(one["per_seed"], last["per_seed"])):
        return str(one["difference_text"])
    return f"0 (all {one['n']} seeds equal)"


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel a game, budget and opponent: every seed, and the mean of each kind of agent."""
    panels: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in records:
        name = (one["game"], one["opponent"], one["episodes"], one["n"])
        panels.setdefault(name, []).append(one)
    figure = new_figure(3.2 * min(3, len(panels)), 3.2 * math.ceil(len(panels) / 3))
    axes = figure.subplots(math.ceil(len(panels) / 3), min(3, len(panels)), squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, ((game, opponent, episodes, _), panel) in zip(axes, panels.items(), strict=False):
        for place, one in enumerate(panel):
            axis.plot([place] * one["n"], one["per_seed"], "o", ms=3, alpha=0.4, color="#0072B2")
            axis.errorbar(place, one["mean"], one["sem"], fmt="_", ms=14, color="#D55E00")
        axis.set_xticks(range(len(panel)), [one["agent"] for one in panel], rotation=30, ha="right")
        axis.set_title(f"{game}, {opponent}, {episodes:,} episodes", fontsize=8)
        axis.set_ylabel(panel[0]["unit"], fontsize=8)
        axis.tick_params(labelsize=7)
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
