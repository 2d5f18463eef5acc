"""What makes greedy play of ConnectFour better: one setting at a time, each network by itself.

    python -m experiments.connectfour.run [--only base layouts ...] [--seeds 0 1 2]
        [--episodes 150000]
    python -m experiments.connectfour.run --only "the authors' list" --layout FILE

Trains what is missing with FARL and adds the share of moves that keep the value of solved
positions, of the last weights and of the mean over the last third, to the section "networks" of
results.json as soon as it is there; what stands there is not made again, and several may run side
by side. Prints the table of all networks and draws figures.png.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import (
    Record,
    Section,
    make_parser,
    new_figure,
    save_figure,
    sessions,
)
from jaxgbg import Run, RunFolder, make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import ConnectFour
from jaxgbg.results.statistics import mean_sem, paired_difference
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.values import Layout, NTupleSpec, read_layout

Settings = dict[str, Any]
NETWORKS = "networks"
"""The section of results.json."""
_EVALUATIONS = 30
_DIRECTIONS = {(0, 1): "vertical", (1, 0): "horizontal", (1, 1): "rising", (1, -1): "falling"}

BASE: Settings = {"walks": (70, 8)}
OPENINGS: Settings = {"opening_plies": 4, "opening_share": 0.5}
OFF_POLICY: Settings = {"learner": "td-off-policy", "temperature": 0.03}
LITTLE: Settings = {"epsilon": 0.02, "epsilon_end": 0.01}
DELAYING: Settings = {"loss_discount": 0.93}


def _from_lines(count: int, length: int = 8) -> Settings:
    return {"walks": (count, length), "from_lines": True}


def _best(count: int = 140) -> Settings:
    """Layout, starts and exploration together."""
    return _from_lines(count) | OPENINGS | {"epsilon_end": 0.05}


GROUPS: dict[str, dict[str, Settings]] = {
    "base": {"base": {}},
    "layouts": {
        **{f"{count} from lines": _from_lines(count) for count in (70, 140, 200)},
        "140 of 7 from lines": _from_lines(140, 7),
        "70 of 9 from lines": _from_lines(70, 9),
    },
    "traces": {"lambda .5": {"trace_decay": 0.5}},
    "steps": {
        "alpha 1.85": {"alpha": 1.85},
        "alpha 7.4": {"alpha": 7.4},
        "alpha to a tenth": {"alpha_end": 0.37},
        "no TCL": {"tcl": "none"},
        "batch 16": {"batch": 16},
        "batch 256": {"batch": 256},
    },
    "exploration": {
        "epsilon to .05": {"epsilon_end": 0.05},
        "epsilon from .2": {"epsilon": 0.2},
        "random openings": OPENINGS,
        "random openings of 8": OPENINGS | {"opening_plies": 8},
    },
    "together": {
        "140 from lines, lambda .5": _from_lines(140) | {"trace_decay": 0.5},
        "140 from lines, epsilon to .05": _from_lines(140) | {"epsilon_end": 0.05},
        "140 from lines, openings": _from_lines(140) | OPENINGS,
        **{f"{count} from lines, openings, epsilon to .05": _best(count) for count in (140, 200)},
        "140 from lines, all openings": _from_lines(140) | OPENINGS | {"opening_share": 1.0},
    },
    "best": {
        "best, epsilon .2 to .1": _best() | {"epsilon": 0.2, "epsilon_end": 0.1},
        "best, discount .99": _best() | {"discount": 0.99},
        "best, discount .97": _best() | {"discount": 0.97},
        "best, temperature .03": _best() | {"temperature": 0.03},
        "best, random moves left out": _best() | {"learn_from_random": False},
        "best, temperature .03, these left out": _best()
        | {"temperature": 0.03, "learn_from_random": False},
    },
    "off-policy": {
        "off-policy": _best() | OFF_POLICY,
        "off-policy, epsilon .02 to .01": _best() | OFF_POLICY | LITTLE,
        "off-policy, discount .98, epsilon .02 to .01": _best()
        | OFF_POLICY
        | LITTLE
        | {"discount": 0.98},
        "off-policy, delaying": _best() | OFF_POLICY | LITTLE | DELAYING,
    },
}
"""Group -> condition -> what it alters of the base."""
AUTHORS = "the authors' list"
"""Is read from a file: it is Konen & Bagheri's, in the sources of GBG, and not ours to copy."""
CONDITIONS = {name: altered for group in GROUPS.values() for name, altered in group.items()}
CONDITIONS[AUTHORS] = {}


def run_of(condition: str, seed: int, episodes: int, layout: Layout = ()) -> Run:
    """The training of one network; a `layout` goes before that of the condition."""
    if (condition == AUTHORS) != bool(layout):
        raise ValueError(f"{condition}: a layout goes with {AUTHORS}, and with nothing else")
    settings = {"layout": layout} if layout else BASE | CONDITIONS[condition]
    run = preset(
        "connectfour",
        seeds=(seed,),
        variants=("farl",),
        episodes=episodes,
        eval_every=max(1, episodes // _EVALUATIONS),
        opponents=("solver",),
        averaging="tail",
        **settings,
    )
    # The layout that the seed draws, as a fixed one: faster, and the same weights.
    return run.for_seed(seed)


def held(layout: Layout) -> dict[str, int]:
    """How many fours of each direction lie within one n-tuple or its mirror image."""
    game = ConnectFour()
    images = [set(map(int, image[list(cells)])) for cells in layout for image in game.symmetries]
    found = dict.fromkeys(_DIRECTIONS.values(), 0)
    for line in game.lines:
        first, second = (divmod(int(cell), 6) for cell in sorted(line)[:2])
        name = _DIRECTIONS[second[0] - first[0], second[1] - first[1]]
        found[name] += any(set(map(int, line)) <= cells for cells in images)
    return found


def record_of(folder: RunFolder, condition: str) -> dict[str, Any]:
    """The result of one network: shares in % by episodes, and what its layout holds."""
    run, summary = folder.run, folder.summary()
    (seed,) = run.seeds
    size, digest = folder.metrics.mark()
    spec = run.value
    assert isinstance(spec, NTupleSpec)
    record: dict[str, Any] = {"condition": condition, "seed": seed, "config": run.digest}
    record |= {"episodes": run.schedule.episodes, "seconds": round(summary["training_seconds"], 1)}
    record |= {
        "metrics_bytes": size,
        "metrics_sha256": digest,
        "fours": held(spec.layout_of(run.game, seed)),
    }
    for name, variant in (("last", "farl"), ("mean", "farl-mean")):
        at, scores = sessions(folder, "solver", variant)
        record[name] = dict(zip(map(str, at), scores[:, 0].round(4).tolist(), strict=True))
    return record


def add(section: Section, *records: Record) -> None:
    """Add what is known of one network, at once; others may add theirs at the same time."""
    # What a later revision has added, while this one was training, comes last.
    order = {name: place for place, name in enumerate(CONDITIONS)}

    def joined(kept: list[Record]) -> list[Record]:
        if any(one["config"] == records[0]["config"] for one in kept):
            return kept
        return sorted(
            [*kept, *records],
            key=lambda one: (
                one["episodes"],
                order.get(one["condition"], len(order)),
                one.get("members", 1),
                one["seed"],
            ),
        )

    section.update(joined)


def knows(section: Section, config: str) -> bool:
    """Whether a network, by the digest of its run, is among the records."""
    return any(record["config"] == config for record in section.read())


def late(record: dict[str, Any], agent: str) -> float:
    """The mean of an agent's shares in the last fifth of its training, in %."""
    shares = [share for at, share in record[agent].items() if 5 * int(at) > 4 * record["episodes"]]
    return 100 * float(np.mean(shares))


def table_of(records: Sequence[dict[str, Any]]) -> list[str]:
    """The figures as lines of Markdown, budget by budget: means over the seeds and errors."""
    head = ["episodes", "condition", "n", "last", "mean", "mean minus base's (95 %)", "seconds"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    groups = grouped(records)
    for (episodes, condition), networks in groups.items():
        base = {one["seed"]: late(one, "mean") for one in groups.get((episodes, "base"), ())}
        own = {one["seed"]: late(one, "mean") for one in networks}
        cells = [f"{episodes:,}", condition, str(len(networks))]
        cells += [figure([late(one, agent) for one in networks]) for agent in ("last", "mean")]
        found = paired_difference(own, base) if condition != "base" else None
        cells.append("" if found is None else difference(*found))
        cells.append(f"{np.median([one['seconds'] for one in networks]):.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def figure(values: Sequence[float]) -> str:
    mean, error = mean_sem(values)
    return f"{mean:.1f}" if np.isnan(error) else f"{mean:.1f} ± {error:.1f}"


def difference(mean: float, low: float, high: float) -> str:
    # One pair has no interval.
    return f"{mean:+.1f}" + ("" if np.isnan(low) else f" ({low:+.1f} to {high:+.1f})")


def grouped(records: Sequence[dict[str, Any]]) -> dict[tuple[int, str], list[dict[str, Any]]]:
    """(episodes, condition) -> networks, in the order of the records."""
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for one in records:
        groups.setdefault((one["episodes"], one["condition"]), []).append(one)
    return groups


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    names = sorted({*GROUPS, *CONDITIONS})
    default = [name for name in CONDITIONS if name != AUTHORS]
    parser.add_argument("--only", nargs="+", choices=names, default=default)
    parser.add_argument("--layout", type=Path, help=f"JSON file with {AUTHORS}")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=150_000)
    options = parser.parse_args(arguments)
    if (options.layout is None) == (AUTHORS in options.only):
        parser.error(f"--layout FILE is for --only {AUTHORS!r}, and that needs it")
    prepare_jax()
    section = Section(options.results, NETWORKS)
    layout = read_layout(make("connectfour"), options.layout) if options.layout else ()
    chosen = [each for name in options.only for each in GROUPS.get(name, (name,))]
    for seed in options.seeds:
        for condition in chosen:
            run = run_of(condition, seed, options.episodes, layout if condition == AUTHORS else ())
            if knows(section, run.digest):
                continue
            record = record_of(train(run, options.out), condition)
            add(section, record)
            print(f"{condition}, seed {seed}: {late(record, 'mean'):.1f}", flush=True)
    records = section.read()
    print("\n".join(table_of(records)))
    draw(records, options.results / "figures.png")


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Every network's mean weights by condition; and base's networks by the fours they hold."""
    shown = [one for one in records if one["episodes"] == records[0]["episodes"]]
    figure = new_figure(9, 4)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    names = [name for name in CONDITIONS if any(one["condition"] == name for one in shown)]
    for place, name in enumerate(names):
        shares = [late(one, "mean") for one in shown if one["condition"] == name]
        left.plot(shares, [place] * len(shares), "o", ms=3, alpha=0.4, color="#0072B2")
        left.plot(np.mean(shares), place, "|", ms=12, color="#D55E00")
    left.set_yticks(range(len(names)), names, fontsize=7)
    left.invert_yaxis()
    for name, colour in (("base", "#0072B2"), ("70 from lines", "#D55E00")):
        of_layout = [one for one in shown if one["condition"] == name]
        fours = [sum(one["fours"].values()) for one in of_layout]
        right.plot(fours, [late(one, "mean") for one in of_layout], "o", ms=3, color=colour)
    right.set_xlabel("fours of 69 within a tuple", fontsize=8)
    left.set_xlabel("moves that keep the value (%)", fontsize=8)
    for axis in (left, right):
        axis.tick_params(labelsize=7)
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
