"""What a tree search at play time adds to agents that were trained without one.

    python -m experiments.search.run [--only connectfour hex ...] [--plays puct-50 ...]

Trains the agents where they are missing, lets them play by themselves and with a search, and adds
each figure to results.json as soon as it is there; what stands there is not played again.
figures.png shows it, and tables.md has it as tables. Source of the search: Scheiermann & Konen,
arXiv 2204.13307.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from experiments.shared import (
    Section,
    add_legend,
    interval,
    make_parser,
    new_figure,
    older_layout,
    save_figure,
)
from jaxgbg import Protocol, Run, RunFolder, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets import protocol_for


class Study(NamedTuple):
    """The budget of a game's agents, whom they meet in how many games, and how they play.

    `opponents` names the protocols that are not the published ones; `span` bounds a score. Of runs
    that are judged while they train, `evaluated` has the settings; their averaged agents play too.
    """

    game: str
    episodes: int
    seeds: int
    opponents: dict[str, Protocol | None]
    plays: tuple[str, ...]
    span: tuple[float, float] | None = (-1.0, 1.0)
    evaluated: dict[str, Any] | None = None


# Less exploration than the paper has: it trusts the values sooner.
BOLD = "puct-200,exploration=0.25"
_FIRST = Protocol("default", repeats=100, seats=(0,))
STUDIES = {
    "connectfour": Study(
        "connectfour",
        300_000,
        1,
        {"solver": None, "ab": _FIRST, "ab-dl": _FIRST},
        (
            "greedy",
            "puct-50",
            "puct-200",
            BOLD,
            "puct-1000",
            *(f"puct-{n},solver=1" for n in (50, 200)),
        ),
    ),
    # The published budget, a layout drawn for every seed.
    "connectfour-5m": Study(
        "connectfour",
        5_000_000,
        2,
        {"solver": None, "ab": _FIRST, "ab-dl": _FIRST},
        ("greedy", "puct-50", "puct-200", "puct-1000"),
        evaluated={
            "walks": (70, 8),
            "averaging": "tail",
            "opponents": ("ab", "ab-dl", "solver"),
        },
    ),
    "tictactoe": Study("tictactoe", 30_000, 4, {"maxn": None}, ("greedy", "puct-50", "puct-200")),
    "nim3p": Study(
        "nim3p", 300_000, 1, {"maxn": None}, ("greedy", "puct-50", "puct-200", BOLD), (0.0, 1.0)
    ),
    "hex": Study(
        "hex",
        100_000,
        1,
        {"mcts-1000": None},
        ("greedy", "puct-50", "puct-200", "puct-200,temperature=0.1", "puct-1000"),
    ),
    # The published budget and opponent.
    "hex-300k": Study(
        "hex",
        300_000,
        2,
        {"mcts-10000": None},
        ("greedy", "puct-200", *(f"puct-{n},temperature=0.1" for n in (200, 1000))),
    ),
    # The published budget.
    "othello": Study(
        "othello",
        250_000,
        1,
        {"bench": None, "heur": None, "mcts-100": None, "mcts-1000": None},
        ("greedy", "puct-20", "puct-100"),
    ),
    "2048": Study(
        "2048",
        20_000,
        1,
        {"score": Protocol("default", repeats=50)},
        (
            "greedy",
            "look-ahead=2",
            "puct-20,exploration=0.01,temperature=0.01",
            "puct-100,exploration=0.01,temperature=0.01",
        ),
        None,
    ),
}


class Asked(NamedTuple):
    """What is asked of a study's agents: whom they meet, how they play, which of their weights."""

    opponent: str
    play: str
    weights: str


def questions(name: str, opponents: Sequence[str], plays: Sequence[str]) -> Iterator[Asked]:
    """All that a study asks, of `opponents` and `plays` alone where they are given."""
    study = STUDIES[name]
    for opponent in study.opponents:
        if opponents and opponent not in opponents:
            continue
        for play in plays or study.plays:
            for weights in ("last", "mean") if study.evaluated else ("last",):
                yield Asked(opponent, play, weights)


def run_of(name: str, episodes: int | None = None, seeds: Sequence[int] = ()) -> Run:
    """The training run of a study, by the published parameters but for the budget.

    Of `seeds`, else of the study's first ones.
    """
    study = STUDIES[name]
    budget = episodes or study.episodes
    opponents = ("score" if study.game == "2048" else "random",)
    plain = {"eval_every": budget, "opponents": opponents, **older_layout(study.game)}
    settings = study.evaluated or plain
    return preset(
        study.game,
        seeds=seeds or range(study.seeds),
        variants=("farl",),
        episodes=budget,
        **settings,
    )


def play_of(text: str) -> Play:
    """How an agent plays, of the words of `STUDIES`."""
    if text == "greedy":
        return Play()
    plies = text.removeprefix("look-ahead=")
    return Play(search=text) if plies == text else Play(look_ahead=int(plies))


def judged(name: str, folder: RunFolder, asked: Asked) -> dict[str, Any]:
    """The figures of all agents of a run, playing and judged as asked."""
    run, game = folder.run, folder.run.game
    lanes = run.lanes if asked.weights == "last" else tuple(lane.mean for lane in run.lanes)
    agents = play_of(asked.play).player(folder.agents(lanes))
    protocol = STUDIES[name].opponents[asked.opponent] or protocol_for(game, asked.opponent)
    judge = judge_by(asked.opponent, game, protocol)
    with contextlib.closing(judge):
        begun = time.perf_counter()
        scores = judge.scores(agents, jax.random.key(0))[judge.name]
        seconds = time.perf_counter() - begun
    span = (0.0, 1.0) if asked.opponent == "solver" else STUDIES[name].span
    scale = judge.scales[judge.name]
    by_agent = scores.reshape(len(lanes), -1)
    ends = [[scale.figure(end) for end in interval(own, span)] for own in by_agent]
    budget = run.schedule.episodes
    seeds = sorted({lane.seed for lane in run.lanes})
    spared = f" --episodes {budget}" if budget != STUDIES[name].episodes else ""
    if seeds != list(range(STUDIES[name].seeds)):
        spared += " --seeds " + " ".join(map(str, seeds))
    return {
        "study": name,
        "game": game.name,
        **asked._asdict(),
        "unit": scale.label,
        "mean": round(scale.figure(float(scores.mean())), 4),
        "n": scores.size,
        "per agent": [round(scale.figure(float(own.mean())), 4) for own in by_agent],
        "intervals": [[round(end, 4) for end in both] for both in ends],
        "wins": int((scores > 0).sum()),
        "losses": int((scores < 0).sum()),
        "seconds": round(seconds, 1),
        "episodes": budget,
        "seeds": seeds,
        "config": run.digest,
        "command": f"python -m experiments.search.run --only {name}{spared}"
        f" --opponents {asked.opponent} --plays {asked.play}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--only", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--plays", nargs="+", help="as puct-50; those of the study if not given")
    parser.add_argument("--opponents", nargs="+", help="those of the study if not given")
    parser.add_argument(
        "--episodes", type=int, help="of every agent; those of the study if not given"
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=(), help="of the agents; those of the study"
    )
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "strength")
    records = section.read()
    known = {tuple(record[name] for name in _KEY) for record in records}
    for name in options.only:
        folder = train(run_of(name, options.episodes, options.seeds), options.out)
        for asked in questions(name, options.opponents or (), options.plays or ()):
            if (name, *asked, folder.run.digest) in known:
                continue
            record = judged(name, folder, asked)
            records.append(record)
            section.write(records)
            print(*(record[each] for each in _SHOWN), flush=True)
    draw(records, options.results / "figures.png")
    (options.results / "tables.md").write_text("\n".join(tables(records)) + "\n")


def tables(records: Sequence[dict[str, Any]]) -> list[str]:
    """Markdown: a table a study, a line an opponent, with every agent's mean and interval."""
    lines = ["# Strength by search", "", _EXPLAINED]
    for study in dict.fromkeys(record["study"] for record in records):
        own = [record for record in records if record["study"] == study]
        plays = list(dict.fromkeys(record["play"] for record in own))
        lines += ["", f"## {study}, {own[0]['episodes']:,} episodes", ""]
        lines += ["| against | weights | games of an agent | " + " | ".join(plays) + " |"]
        lines += ["|---" * (3 + len(plays)) + "|"]
        kinds = dict.fromkeys((record["opponent"], record["weights"]) for record in own)
        for opponent, weights in kinds:
            same = [
                record
                for record in own
                if (record["opponent"], record["weights"]) == (opponent, weights)
            ]
            games = same[0]["n"] // len(same[0]["per agent"])
            heads = [f"{opponent}: {same[0]['unit']}", weights, f"{games:,}"]
            cells = [
                "; ".join(_cells(record) for record in same if record["play"] == play)
                for play in plays
            ]
            lines += ["| " + " | ".join(heads + cells) + " |"]
    return lines


def _cells(record: dict[str, Any]) -> str:
    digits = 2 if record["unit"] == "reward" else 1
    if abs(record["mean"]) >= 1000:
        digits = 0
    return "; ".join(
        f"{mean:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
        for mean, (low, high) in zip(record["per agent"], record["intervals"], strict=True)
    )


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel a game and opponent: how agents do by the iterations of the paper's search."""
    panels: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for record in records:
        if _iterations(record).isdecimal():
            panel = panels.setdefault((record["study"], record["opponent"]), {})
            panel.setdefault(record["weights"], []).append(record)
    panels = {name: panel for name, panel in panels.items() if len(panel["last"]) > 1}
    if not panels:
        return
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(2.8 * columns, 2.8 * lines)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, ((study, opponent), panel) in zip(axes, panels.items(), strict=False):
        for (weights, own), colour in zip(panel.items(), _COLOURS, strict=False):
            label: str | None = f"{weights} weights"
            # A line an agent: the intervals say how much games differ, not agents.
            for points in _by_agent(own):
                places = sorted(points)
                means = np.array([points[place][0] for place in places])
                ends = np.array([points[place][1] for place in places]).T
                style = {"marker": "o", "capsize": 3, "color": colour, "label": label}
                axis.errorbar(places, means, abs(ends - means), **style)
                label = None
        unit = panel["last"][0]["unit"]
        axis.set(title=f"{study}, {opponent}", xlabel="iterations (1: no search)")
        axis.set(ylabel=unit, xscale="log")
        axis.grid(alpha=0.25)
    add_legend(figure)
    save_figure(figure, path)


def _iterations(record: dict[str, Any]) -> str:
    return str(record["play"]).removeprefix("puct-").replace("greedy", "1")


def _by_agent(records: Sequence[dict[str, Any]]) -> list[dict[int, tuple[float, list[float]]]]:
    """Of each agent, what it made and the interval of it, by iterations."""
    agents: dict[int, dict[int, tuple[float, list[float]]]] = {}
    for record in records:
        found = zip(record["per agent"], record["intervals"], strict=True)
        for seed, own in zip(record["seeds"], found, strict=True):
            agents.setdefault(seed, {})[int(_iterations(record))] = own
    return list(agents.values())


_EXPLAINED = (
    "`python -m experiments.search.run` writes this. Each agent has its own mean, with the 95 % "
    "interval of its games: how much agents of other seeds would differ it does not say."
)
_COLOURS = ("#0072B2", "#D55E00")
_KEY = ("study", "opponent", "play", "weights", "config")
_SHOWN = ("study", "opponent", "play", "weights", "per agent", "intervals", "unit", "n", "seconds")

if __name__ == "__main__":
    end_in_a_line(main)
