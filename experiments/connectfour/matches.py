"""Agents of one condition play 200 games from the empty board, moving first, by greedy play alone.

    python -m experiments.connectfour.matches --condition "140 from lines" --episodes 2000000

Against the exact AB-DL, who delays its losses, and AB, by the last weights and by the mean over the
last third. Trains what is missing, seed by seed, and adds to results.json next to this file; what
stands there is not played again. The shares of `run` come with it.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

import jax

from experiments.connectfour.run import (
    AUTHORS,
    CONDITIONS,
    NETWORKS,
    add,
    knows,
    record_of,
    run_of,
)
from experiments.shared import Section, make_parser
from jaxgbg import Game, Protocol, Run, RunFolder, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import Player
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by

OPPONENTS = ("ab-dl", "ab")
GAMES = 200
EPISODES = 2_000_000


def scored(player: Player, game: Game, opponent: str) -> dict[str, int]:
    """What a player wins, draws and loses against an opponent, moving first."""
    judge = judge_by(opponent, game, Protocol("default", repeats=GAMES, seats=(0,)))
    scores = judge.scores(player, jax.random.key(0))[judge.name]
    results = {"wins": scores > 0, "draws": scores == 0, "losses": scores < 0}
    return {name: int(found.sum()) for name, found in results.items()}


def played(folder: RunFolder, condition: str) -> list[dict[str, Any]]:
    """What the last weights and their mean win, draw and lose against each opponent."""
    run = folder.run
    (lane,) = run.lanes
    rows: list[dict[str, Any]] = []
    for name, one in (("last", lane), ("mean", lane.mean)):
        for opponent in OPPONENTS:
            row: dict[str, Any] = {"condition": condition, "seed": lane.seed}
            row |= {"episodes": run.schedule.episodes, "config": run.digest}
            row |= {"weights": name, "opponent": opponent}
            rows.append(row | scored(folder.agents((one,)), run.game, opponent))
    return rows


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Wins, draws and losses as lines of Markdown, an agent a line."""
    columns = [(weights, opponent) for opponent in OPPONENTS for weights in ("last", "mean")]
    head = ["condition", "episodes", "seed", *(f"{opponent}, {each}" for each, opponent in columns)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    found = {
        (row["episodes"], row["condition"], row["seed"], row["weights"], row["opponent"]): row
        for row in rows
    }
    for agent in dict.fromkeys(key[:3] for key in found):
        episodes, condition, seed = agent
        cells = [condition, f"{episodes:,}", str(seed)]
        cells += ["{wins}-{draws}-{losses}".format(**found[*agent, *one]) for one in columns]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def asked(parser: ArgumentParser, arguments: Sequence[str] | None) -> Namespace:
    """Which networks, as the command line says; those of a file are not among them."""
    names = [name for name in CONDITIONS if name != AUTHORS]
    parser.add_argument("--condition", choices=names, default="140 from lines")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=EPISODES)
    return parser.parse_args(arguments)


def trained(run: Run, options: Namespace) -> RunFolder:
    """A network, its shares kept among the figures of `run`."""
    folder = train(run, options.out)
    section = Section(options.results, NETWORKS)
    if not knows(section, run.digest):
        add(section, record_of(folder, options.condition))
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked(make_parser(__file__, __doc__), arguments)
    prepare_jax()
    section = Section(options.results, "matches")
    for seed in options.seeds:
        run = run_of(options.condition, seed, options.episodes)
        if knows(section, run.digest):
            continue
        folder = trained(run, options)
        rows = played(folder, options.condition)
        add(section, *rows)
        for row in rows:
            result = "{wins}-{draws}-{losses}".format(**row)
            print(options.condition, seed, row["weights"], row["opponent"], result, flush=True)
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
