"""Several networks of one condition as one agent: what it plays from the empty board, by one ply.

    python -m experiments.connectfour.ensembles --members 4 --numbers 0 1

Ensemble k of n members has the mean weights of seeds n * k to n * k + n - 1: its value is the mean
of theirs, the sigmoid apart. It plays 200 games against the exact AB-DL and against AB, moving
first, and a thousand against AB-DL of which each move is held against exact play. Trains what is
missing, as `matches` does, and adds to results.json next to this file.
"""

from collections.abc import Sequence
from typing import Any

import jax

from experiments.connectfour import mistakes
from experiments.connectfour.matches import EPISODES, OPPONENTS, scored, trained
from experiments.connectfour.mistakes import given_away, told
from experiments.connectfour.run import AUTHORS, CONDITIONS, add, knows, run_of
from experiments.shared import Section, make_parser
from jaxgbg import Run, RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import SavedAgent, load_agent
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.storage.ensembles import ensemble

BEST = "140 from lines, openings, epsilon to .05"


def mean_weights(folder: RunFolder) -> SavedAgent:
    """The averaged agent of a run of one seed."""
    (lane,) = folder.run.lanes
    return load_agent(folder.path / "agents" / lane.mean.file)


def runs_of(condition: str, number: int, members: int, episodes: int) -> list[Run]:
    """The trainings of all members of an ensemble."""
    seeds = range(number * members, (number + 1) * members)
    return [run_of(condition, seed, episodes) for seed in seeds]


def config_of(runs: Sequence[Run]) -> str:
    """The digests of the members' runs."""
    return "+".join(run.digest for run in runs)


def record_of(folders: Sequence[RunFolder], condition: str, number: int) -> dict[str, Any]:
    """What the ensemble of these networks plays, and how long they were trained."""
    agent = ensemble({folder.run.name: mean_weights(folder) for folder in folders}).player()
    run = folders[0].run
    record: dict[str, Any] = {"condition": condition, "seed": number}
    record |= {"episodes": run.schedule.episodes, "members": len(folders)}
    record |= {"config": config_of([folder.run for folder in folders])}
    seconds = sum(folder.summary()["training_seconds"] for folder in folders)
    record["core minutes"] = round(seconds / 60, 1)
    record |= {opponent: scored(agent, run.game, opponent) for opponent in OPPONENTS}
    solver = judge_by("solver", run.game)
    kept = solver.scores(agent, jax.random.key(0))[solver.name]
    record["value kept"] = round(float(kept.mean()), 4)
    return record | given_away(agent)


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """An ensemble a line of Markdown."""
    head = ["condition", "episodes", "members", "number", "core minutes", "value kept, %"]
    head += [*OPPONENTS, f"ab-dl, {mistakes.GAMES:,} games", "of these given away, by ply"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        cells = [row["condition"], f"{row['episodes']:,}", str(row["members"]), str(row["seed"])]
        cells += [f"{row['core minutes']:.0f}", f"{100 * row['value kept']:.1f}"]
        cells += ["{wins}-{draws}-{losses}".format(**row[opponent]) for opponent in OPPONENTS]
        cells += ["{wins}-{draws}-{losses}".format(**row), told(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    names = [name for name in CONDITIONS if name != AUTHORS]
    parser.add_argument("--condition", choices=names, default=BEST)
    parser.add_argument("--members", type=int, choices=range(2, 8), default=4)
    parser.add_argument("--numbers", nargs="+", type=int, default=[0])
    parser.add_argument("--episodes", type=int, default=EPISODES)
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "ensembles")
    for number in options.numbers:
        runs = runs_of(options.condition, number, options.members, options.episodes)
        if knows(section, config_of(runs)):
            continue
        folders = [trained(run, options) for run in runs]
        row = record_of(folders, options.condition, number)
        add(section, row)
        print(table_of([row])[-1], flush=True)
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
