"""Othello with a perceptron, trained against whom: van der Ree & Wiering 2013, Tables I to IV.

    python -m experiments.othello_partners.run td
    python -m experiments.othello_partners.run td --seeds 1 2
    python -m experiments.othello_partners.run td --loss matching
    python -m experiments.othello_partners.run td --games 1000000 --only self --step 16
    python -m experiments.othello_partners.run players

Runs that are finished in the output folder are not made again. Adds the rows of each network to the
section "networks" of results.json next to this file (or writes "players", Table I), prints them
next to the published ones and draws curves.png of all networks. Source: van
der Ree & Wiering, "Reinforcement learning in the game of Othello: learning against a fixed opponent
and learning from self-play", ADPRL 2013.
"""

import dataclasses
import itertools
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.shared import Section, add_legend, make_parser, new_figure, save_figure, sessions
from jaxgbg import Protocol, Run, RunFolder, compete, make, make_player
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import train_together
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.presets import protocol_for, ree2013

Row = dict[str, Any]
NETWORKS = "networks"
"""The section of results.json."""

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
    return ree2013.othello().run(
        game,
        learner=learner,
        partner=name,
        learn_from_partner=learns,
        loss=loss,
        # The paper's players learn their last move's reward and know nothing of part 2.
        variants=("part1" if learner == "td" else "farl",),
        seeds=(seed,),
        episodes=games,
        eval_every=20_000,
        alpha=step * ree2013.step_size(learner, loss),
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
    _, metrics = folder.metrics.mark()
    return [
        {
            "learner": learner,
            "partner": partner,
            "opponent": opponent,
            "seed": seed,
            "paper_best": ree2013.BEST_SESSIONS[opponent][partner][learner],
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
    for pair, paper in ree2013.FIXED_PLAYERS.items():
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
    parser.add_argument("--loss", choices=tuple(ree2013.STRETCH), default="squared")
    parser.add_argument("--openings", choices=("cycled", "random"), default="cycled")
    parser.add_argument("--only", choices=("self", "fixed"), help="self-play or fixed partners")
    options = parser.parse_args(arguments)
    prepare_jax()
    if options.learner == "players":
        Section(options.results, "players").write(fixed_players())
        return
    # Self-play asks no partner: a program of its own. All fixed partners are lanes of one.
    fixed = [name for name in PARTNERS if name != "itself"]
    groups = {"self": ["itself"], "fixed": fixed}
    records: list[Row] = []
    # Seed by seed, as the last bits of a network depend on what is trained with it.
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
    section = Section(options.results, NETWORKS)
    section.update(lambda kept: joined(kept, records))
    draw(section.read(), options.results / "curves.png")


def joined(kept: Sequence[Row], records: Sequence[Row]) -> list[Row]:
    """All rows, a column of the tables after the other: new ones replace those of their run."""
    runs = {row["config"] for row in records}
    rows = [*(row for row in kept if row["config"] not in runs), *records]
    columns = list(dict.fromkeys(map(column, [*kept, *records])))
    return sorted(rows, key=lambda row: (columns.index(column(row)), row["seed"]))


def column(row: Row) -> str:
    """Which column of the tables a row belongs to."""
    step = "" if row["step"] == 1 else f", {row['step']:g} times the step"
    games = "" if row["games"] == 2_000_000 else f", {row['games']:,} games"
    openings = "" if row["openings"] == "cycled" else ", random openings"
    return f"{row['learner']}, {row['loss']}{step}{games}{openings}"


def draw(records: Sequence[Row], path: Path) -> None:
    """Points by training games: a row of panels for each column of the tables."""
    columns = list(dict.fromkeys(map(column, records)))
    figure = new_figure(12, 1.9 * len(columns))
    axes = figure.subplots(len(columns), len(OPPONENTS), sharey=True, squeeze=False)
    for axis, opponent in zip(axes[0], OPPONENTS, strict=True):
        axis.set_title(f"tested against {opponent}")
    for axis in axes[-1]:
        axis.set_xlabel("thousand training games")
    for name, row in zip(columns, axes, strict=True):
        _draw_column([each for each in records if column(each) == name], name, row)
    add_legend(figure, "trained against")
    save_figure(figure, path, colors=128)


def _draw_column(records: Sequence[Row], name: str, axes: Sequence[Any]) -> None:
    """A panel for each test opponent; the curves are means over the networks."""
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
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel(textwrap.fill(f"{name}: points, %", 28), fontsize=7)


if __name__ == "__main__":
    end_in_a_line(main)
