"""An Othello agent of the published budget against GRhino, level by level, bare and searching.

    python -m experiments.search.othello_levels [--levels 1 2 3] [--plays greedy puct-100 puct-1000]

Every start of four plies from both seats; GRhino without its opening book. What stands in the
section "othello_levels" of results.json is not played again; othello_levels.png shows it. The
wrapped and bare figures of Scheiermann & Konen (arXiv 2204.13307) are against Edax, another engine.
"""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.search.run import play_of
from experiments.shared import Section, add_legend, interval, make_parser, new_figure, save_figure
from jaxgbg import preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import MatchJudge
from jaxgbg.players import GRHINO, GTPEngine
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.presets import protocol_for

PLAYS = ("greedy", "puct-100", "puct-1000")
_PATIENCE = 120.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--plays", nargs="+", default=PLAYS, help="as puct-100 or greedy")
    parser.add_argument("--episodes", type=int, default=250_000)
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "othello_levels")
    budget = {"episodes": options.episodes, "eval_every": options.episodes}
    run = preset("othello", seeds=(0,), variants=("farl",), opponents=("random",), **budget)
    folder = train(run, options.out)
    game = folder.run.game
    rows = section.read()
    for play in options.plays:
        agent = play_of(play).player(folder.agents(run.lanes))
        for level in options.levels:
            asked = (play, level, run.digest)
            if any((row["play"], row["level"], row["config"]) == asked for row in rows):
                continue
            command = GRHINO.replace("-l 1", f"-l {level}")
            with contextlib.closing(GTPEngine(game, command, timeout=_PATIENCE)) as engine:
                judge = MatchJudge(game, engine, protocol_for(game, "grhino"), "grhino")
                begun = time.perf_counter()
                scores = judge.scores(agent, jax.random.key(0))[judge.name]
                seconds = time.perf_counter() - begun
            row = _row(play, level, scores, game.scale, seconds)
            row["command"] += f" --episodes {options.episodes}"
            rows.append(row | {"episodes": options.episodes, "config": run.digest})
            print(play, level, row["mean"], row["interval"], round(seconds), flush=True)
            section.write(rows)
    draw(
        [row for row in rows if row["config"] == run.digest], options.results / "othello_levels.png"
    )


def _row(play: str, level: int, scores: np.ndarray, scale: Any, seconds: float) -> dict[str, Any]:
    return {
        "play": play,
        "level": level,
        "unit": scale.label,
        "mean": round(scale.figure(float(scores.mean())), 2),
        "interval": [round(scale.figure(end), 2) for end in interval(scores, (-1.0, 1.0))],
        "wins": int((scores > 0).sum()),
        "losses": int((scores < 0).sum()),
        "n": scores.size,
        "seconds": round(seconds, 1),
        "command": f"python -m experiments.search.othello_levels --levels {level} --plays {play}",
    }


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """A line a play: its points by the level of the engine."""
    figure = new_figure(5.0, 3.4)
    axis = figure.subplots()
    for play in dict.fromkeys(row["play"] for row in rows):
        own = sorted((row for row in rows if row["play"] == play), key=lambda row: row["level"])
        levels, means = [row["level"] for row in own], np.array([row["mean"] for row in own])
        ends = np.array([row["interval"] for row in own]).T
        axis.errorbar(levels, means, abs(ends - means), marker="o", capsize=3, label=play)
    axis.set(xlabel="level of GRhino", ylabel=rows[0]["unit"], title="othello")
    axis.set_xticks(sorted({row["level"] for row in rows}))
    axis.grid(alpha=0.25)
    add_legend(figure)
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
