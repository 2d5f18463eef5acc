"""What a tree search at play time adds to agents that were trained without one.

    python -m experiments.search.run [--only connectfour hex ...] [--plays puct-50 ...]

Trains the agents where they are missing, lets them play by themselves and with a search, and adds
each figure to figures.json as soon as it is there; what stands there is not played again, and
figures.png shows it. Source of the search: Scheiermann & Konen, arXiv 2204.13307.
"""

import contextlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from experiments.shared import make_parser, new_figure, save_figure
from jaxgbg import Protocol, Run, RunFolder, preset, train
from jaxgbg.papers import protocol_for
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.files import write_json
from jaxgbg.training.opponents import judge_by
from jaxgbg.training.play import Play

FILE = "figures.json"
_Z = 1.96


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
    "othello": Study(
        "othello", 50_000, 1, {"bench": None, "positional": None}, ("greedy", "puct-20", "puct-100")
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


def run_of(name: str, episodes: int | None = None) -> Run:
    """The training run of a study, by the published parameters but for the budget."""
    study = STUDIES[name]
    budget = episodes or study.episodes
    opponents = ("score" if study.game == "2048" else "random",)
    settings = study.evaluated or {"eval_every": budget, "opponents": opponents}
    return preset(
        study.game,
        seeds=range(study.seeds),
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


def interval(scores: np.ndarray, span: tuple[float, float] | None) -> tuple[float, float]:
    """95 % for the mean of one score a game: Wilson's where scores lie in `span`, else normal.

    Games that hang together, as those of one agent from one start, make it wider than this.
    """
    count, mean = scores.size, float(scores.mean())
    if span is None:
        reach = _Z * float(scores.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return mean - reach, mean + reach
    low, width = span[0], span[1] - span[0]
    share, shrunk = (mean - low) / width, _Z**2 / count
    centre = (share + shrunk / 2) / (1 + shrunk)
    reach = _Z / (1 + shrunk) * math.sqrt(share * (1 - share) / count + shrunk / (4 * count))
    return low + width * max(0.0, centre - reach), low + width * min(1.0, centre + reach)


def judged(name: str, folder: RunFolder, asked: Asked) -> dict[str, Any]:
    """The figures of all agents of a run, playing and judged as asked."""
    run, game = folder.run, folder.run.game
    lanes = run.lanes if asked.weights == "last" else tuple(lane.mean for lane in run.lanes)
    agents = play_of(asked.play).player(folder.agents(lanes))
    protocol = STUDIES[name].opponents[asked.opponent] or protocol_for(game, asked.opponent)
    judge = judge_by(asked.opponent, game, protocol)
    with contextlib.closing(judge):
        begun = time.perf_counter()
        scores = judge.scores(agents, jax.random.key(0))
        seconds = time.perf_counter() - begun
    span = (0.0, 1.0) if asked.opponent == "solver" else STUDIES[name].span
    scale = judge.scale
    low, high = (scale.figure(end) for end in interval(scores, span))
    return {
        "study": name,
        "game": game.name,
        **asked._asdict(),
        "unit": scale.label,
        "mean": round(scale.figure(float(scores.mean())), 4),
        "interval": [round(low, 4), round(high, 4)],
        "n": scores.size,
        "agents": len(lanes),
        "per agent": [
            round(scale.figure(float(own.mean())), 4) for own in scores.reshape(len(lanes), -1)
        ],
        "wins": int((scores > 0).sum()),
        "losses": int((scores < 0).sum()),
        "seconds": round(seconds, 1),
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "command": f"python -m experiments.search.run --only {name}"
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
    options = parser.parse_args(arguments)
    prepare_jax()
    path: Path = options.results / FILE
    records = json.loads(path.read_text()) if path.exists() else []
    known = {tuple(record[name] for name in _KEY) for record in records}
    for name in options.only:
        folder = train(run_of(name, options.episodes), options.out)
        for asked in questions(name, options.opponents or (), options.plays or ()):
            if (name, *asked, folder.run.digest) in known:
                continue
            record = judged(name, folder, asked)
            records.append(record)
            write_json(path, records)
            print(*(record[each] for each in _SHOWN), flush=True)
    draw(records, path.with_suffix(".png"))


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel a game and opponent: how agents do by the iterations of the paper's search."""
    panels: dict[tuple[str, str], dict[str, dict[int, dict[str, Any]]]] = {}
    for record in records:
        iterations = record["play"].removeprefix("puct-").replace("greedy", "1")
        if iterations.isdecimal():
            panel = panels.setdefault((record["study"], record["opponent"]), {})
            panel.setdefault(record["weights"], {})[int(iterations)] = record
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
        for (weights, points), colour in zip(panel.items(), _COLOURS, strict=False):
            places = sorted(points)
            means = np.array([points[place]["mean"] for place in places])
            ends = np.array([points[place]["interval"] for place in places])
            reach = abs(ends.T - means)
            style = {"marker": "o", "capsize": 3, "color": colour, "label": f"{weights} weights"}
            axis.errorbar(places, means, reach, **style)
        if len(panel) > 1:
            axis.legend(fontsize=7)
        unit = next(iter(panel["last"].values()))["unit"]
        axis.set(title=f"{study}, {opponent}", xlabel="iterations (1: no search)")
        axis.set(ylabel=unit, xscale="log")
        axis.grid(alpha=0.25)
    save_figure(figure, path)


_COLOURS = ("#0072B2", "#D55E00")
_KEY = ("study", "opponent", "play", "weights", "config")
_SHOWN = ("study", "opponent", "play", "weights", "mean", "interval", "unit", "n", "seconds")

if __name__ == "__main__":
    main()
