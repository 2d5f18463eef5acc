"""Othello with a perceptron, trained against whom: van der Ree & Wiering 2013, Tables I to IV.

    python -m experiments.othello_partners.run td
    python -m experiments.othello_partners.run td --seeds 1 2
    python -m experiments.othello_partners.run td --loss matching
    python -m experiments.othello_partners.run td --games 1000000 --only self --step 16
    python -m experiments.othello_partners.run players

Runs that are finished in the output folder are not made again. Writes LEARNER-GAMES-cycled.json (or
players.json, Table I; parts, losses, steps and random openings have other names) beside this file,
where the rows of other seeds stay, and prints the rows beside the published ones. Source: van
der Ree & Wiering, "Reinforcement learning in the game of Othello: learning against a fixed opponent
and learning from self-play", ADPRL 2013.
"""

import dataclasses
import itertools
import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.shared import make_parser, new_figure, save_figure, sessions
from jaxgbg import Protocol, Run, RunFolder, compete, make, make_player, preset
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import train_together
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.presets import protocol_for
from jaxgbg.runs.storage.files import write_json

Row = dict[str, Any]

STARTS = "four_ply_positions"
OPPONENTS = ("bench", "heur", "random")
PARTNERS = {
    "itself": ("self", False),
    "BENCH": ("bench", False),
    "BENCH-LRN": ("bench", True),
    "HEUR": ("heur", False),
    "HEUR-LRN": ("heur", True),
    # The random player that shares a program with the others.
    "RAND": ("even", False),
    "RAND-LRN": ("even", True),
}
# Best test session, per cent of the points, a draw counting half: columns Q, SARSA, TD.
PAPER = {
    "bench": {
        "BENCH": (87.1, 85.9, 70.0),
        "BENCH-LRN": (78.0, 81.6, 62.8),
        "itself": (72.1, 69.9, 72.3),
        "HEUR": (58.2, 57.4, 52.2),
        "HEUR-LRN": (56.3, 42.7, 35.5),
        "RAND": (33.0, 30.7, 35.6),
        "RAND-LRN": (41.8, 30.0, 33.2),
    },
    "heur": {
        "HEUR": (81.0, 80.9, 77.5),
        "HEUR-LRN": (65.1, 72.8, 66.6),
        "itself": (64.1, 63.1, 76.7),
        "BENCH-LRN": (47.6, 36.1, 72.5),
        "BENCH": (39.7, 44.0, 70.8),
        "RAND-LRN": (35.6, 49.8, 61.0),
        "RAND": (42.6, 42.8, 64.4),
    },
    "random": {
        "itself": (94.9, 94.6, 97.5),
        "RAND": (89.3, 90.6, 92.8),
        "BENCH-LRN": (89.3, 89.6, 92.4),
        "RAND-LRN": (89.2, 88.5, 91.7),
        "HEUR-LRN": (91.4, 83.7, 81.4),
        "HEUR": (85.0, 82.7, 91.2),
        "BENCH": (79.2, 78.3, 87.9),
    },
}
PAPER_PLAYERS = {"heur-bench": 55.0, "bench-random": 80.0, "heur-random": 83.0}
COLUMN = {"q": 0, "sarsa": 1, "td": 2}
ALPHA = {"q": 0.01, "sarsa": 0.01, "td": 0.001}
# The paper's network answers in [0, 1], ours stretches the same sigmoid over [-1, 1]: error and
# slope are both twice as large, so a quarter of the step is the same step, or half without slope.
STRETCH = {"squared": 4, "matching": 2}


def run_of(
    learner: str,
    partner: str,
    games: int,
    seed: int,
    step: float = 1,
    openings: str = "cycled",
    loss: str = "squared",
) -> Run:
    """One cell's training: a network, its step size `step` times the paper's.

    Errors meet the slope of the output or, with the loss "matching", do not. Games begin with each
    of the 236 positions in turn, twice, as the paper's do, or after four random plies.
    """
    name, learns = PARTNERS[partner]
    game = make("othello")
    return preset(
        game,
        value="mlp",
        learner=learner,
        partner=name,
        learn_from_partner=learns,
        hidden=(50,),
        activation="sigmoid",
        output="sigmoid",
        loss=loss,
        initializer="uniform",
        # The paper's players learn their last move's reward and know nothing of part 2.
        variants=("part1" if learner == "td" else "farl",),
        seeds=(seed,),
        episodes=games,
        eval_every=20_000,
        alpha=step * ALPHA[learner] / STRETCH[loss],
        epsilon=0.1,
        epsilon_end=0.0,
        opening_plies=4,
        opening_share=1.0,
        opening_cycle=openings == "cycled",
        opponents=OPPONENTS,
        protocols=[
            dataclasses.replace(protocol_for(game, opponent), starts=STARTS)
            for opponent in OPPONENTS
        ],
    )


def rows_of(options: Namespace, partner: str, seed: int, folder: RunFolder) -> list[Row]:
    """Of one network, the sessions against each opponent: per cent of the points."""
    run, learner = folder.run, options.learner
    _, metrics = folder.metrics_mark()
    return [
        {
            "learner": learner,
            "partner": partner,
            "opponent": opponent,
            "seed": seed,
            "paper_best": PAPER[opponent][partner][COLUMN[learner]],
            "games": run.schedule.episodes,
            "step": options.step,
            "loss": options.loss,
            "openings": options.openings,
            "config": run.digest,
            "metrics_sha256": metrics,
            "seconds": folder.summary()["training_seconds"],
            "curve": [
                round(50 * (float(score) + 1), 2)
                for (score,) in sessions(folder, opponent, run.variants[0])[1]
            ],
        }
        for opponent in OPPONENTS
    ]


def fixed_players() -> list[dict[str, Any]]:
    """Table I: the fixed players among themselves over 236 positions, both seats."""
    game, rows = make("othello"), []
    for pair, paper in PAPER_PLAYERS.items():
        first, second = (make_player(name, game) for name in pair.split("-"))
        scores = compete(game, first, second, Protocol(STARTS, repeats=20), jax.random.key(0))
        share = round(50 * (float(scores.mean()) + 1), 2)
        rows.append({"players": pair, "paper": paper, "share": share, "games": scores.size})
        print(rows[-1])
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("learner", choices=("td", "q", "sarsa", "players"))
    parser.add_argument("--games", type=int, default=2_000_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="one network each")
    parser.add_argument("--step", type=float, default=1, help="in multiples of the paper's size")
    parser.add_argument("--loss", choices=tuple(STRETCH), default="squared")
    parser.add_argument("--openings", choices=("cycled", "random"), default="cycled")
    parser.add_argument("--only", choices=("self", "fixed"), help="self-play or fixed partners")
    options = parser.parse_args(arguments)
    prepare_jax()
    if options.learner == "players":
        write_json(options.results / "players.json", fixed_players())
        return
    # Self-play asks no partner: a program of its own. All fixed partners are lanes of one.
    fixed = [name for name in PARTNERS if name != "itself"]
    groups = {"self": ["itself"], "fixed": fixed}
    records: list[Row] = []
    # Seed by seed, as the last bits of a network depend on what is trained beside it.
    for seed, (kind, partners) in itertools.product(options.seeds, groups.items()):
        if options.only in (None, kind):
            asked = options.games, seed, options.step, options.openings, options.loss
            runs = [run_of(options.learner, partner, *asked) for partner in partners]
            folders = train_together(runs, options.out)
            for partner, folder in zip(partners, folders, strict=True):
                records += rows_of(options, partner, seed, folder)
    for row in records:
        print(
            f"{row['learner']:6}{row['partner']:10}{row['opponent']:7} seed {row['seed']}"
            f" paper {row['paper_best']:5} best {max(row['curve']):6}"
            f" final {row['curve'][-1]:6} ({row['seconds']:.0f} s)"
        )
    parts = [options.learner, str(options.games), options.only or ""]
    parts.append("" if options.loss == "squared" else options.loss)
    parts.append("" if options.step == 1 else f"step{options.step:g}")
    parts.append("" if options.openings == "random" else options.openings)
    path = options.results / ("-".join(filter(None, parts)) + ".json")
    records = with_other_seeds(records, path)
    write_json(path, records)
    draw(records, path.with_suffix(".png"))


def with_other_seeds(records: Sequence[Row], path: Path) -> list[Row]:
    """These rows and those of other seeds that the file has, by seed."""
    kept = json.loads(path.read_text()) if path.exists() else []
    seeds = {row["seed"] for row in records}
    others = [row for row in kept if row["seed"] not in seeds]
    return sorted([*others, *records], key=lambda row: int(row["seed"]))


def draw(records: Sequence[Row], path: Path) -> None:
    """A panel for each test opponent: points by training games, means over the networks."""
    figure = new_figure(13, 4)
    axes = figure.subplots(1, len(OPPONENTS), sharey=True)
    colours = {partner: f"C{number}" for number, partner in enumerate(PARTNERS)}
    for axis, opponent in zip(axes, OPPONENTS, strict=True):
        for partner, colour in colours.items():
            rows = [
                row for row in records if (row["opponent"], row["partner"]) == (opponent, partner)
            ]
            if rows:
                mean = np.mean([row["curve"] for row in rows], 0)
                games = np.arange(1, len(mean) + 1) * rows[0]["games"] / len(mean) / 1000
                axis.plot(games, mean, color=colour, label=partner, lw=1.3)
        axis.set(title=f"tested against {opponent}", xlabel="thousand training games")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("points, %")
    axes[0].legend(fontsize=8, title="trained against")
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
