"""Does one n-tuple table for all players learn faster than a table for each?

    python -m experiments.n_players.one_table [--labels "sim K6, 3 players" ...] [--out OUT]
    python -m experiments.n_players.one_table --scale .01 --seeds 2 --out OUT    # a trial
    python -m experiments.n_players.one_table --show    # kept figures

With the setting `one_table` every player looks its boards up in the table of player 0, on the image
on which it is that player (`Game.seat_rotations`). Each setting is trained with both parts of Final
Adaptation, ten seeds, with one table and with a table for each player, for an eighth, a quarter,
half and all of 8,000 episodes, each budget with its own schedules. Agents of one seed and budget
meet in every mixture of seats, and one table after half of the episodes meets a table for each
after all of them. Yavalath has 10 walks, as the 100 of its preset take too long here. Results are
in OUT/one_table.json; what stands there is not made again.

Expected, committed before any training. The numbers of episodes and walks were reduced after a
trial of Nim and Sim with at most 1,000 episodes, which printed its gains:

1. Nim for three: one table gains at least 0.05 after an eighth, and less after all, because the
   tables are small and are learned in the end either way.
2. Sim and Yavalath for two: one table gains at least 0.05 after an eighth, and less after all.
3. The same for three: it gains less than 0.05 at each budget, as Final Adaptation does there, but
   earns more against random players after an eighth, by at least 0.01.
4. Nowhere does it lose: no gain has an interval below zero.
5. One table after half of the episodes is not weaker than a table for each after all: no interval
   of this gain lies below zero in games for two.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.farl_predictor.run import agents_of, head_to_head, summary
from experiments.n_players.run import SEEDS, SETTINGS, Setting, against_random
from experiments.shared import SCALE, Number, measure_rows
from jaxgbg import GreedyAgent, Run, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.values import NTupleSpec

FILE = "one_table.json"
LABELS = (
    "nim, 3 players",
    *(f"{family}, {n} players" for family in ("sim K6", "yavalath side 3") for n in (2, 3)),
)
EPISODES = 8_000
WALKS = {"yavalath side 3": (10, 7)}
SHARES = {"1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "all": 1.0}
KINDS = {"each": False, "one": True}


def run_of(setting: Setting, one_table: bool, share: float, options: argparse.Namespace) -> Run:
    """The training of a setting with one table or a table for each, for a share of the episodes."""
    episodes = options.scale * share * EPISODES
    run = setting.run(episodes / setting.episodes, options.seeds)
    assert isinstance(run.value, NTupleSpec)
    walks = WALKS.get(setting.family, run.value.walks)
    value = dataclasses.replace(run.value, one_table=one_table, walks=walks)
    return dataclasses.replace(run, value=value, variants=("farl",))


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train both kinds for each share, and let them meet."""
    agents: dict[tuple[str, str], GreedyAgent] = {}
    seconds = dict.fromkeys(KINDS, 0.0)
    runs = {}
    for share, part in SHARES.items():
        for kind, one_table in KINDS.items():
            runs[kind] = run_of(setting, one_table, part, options)
            begun = time.perf_counter()
            agents[kind, share] = agents_of(train(runs[kind], options.out / "runs"), "farl")
            seconds[kind] += time.perf_counter() - begun

    def against(agent: GreedyAgent) -> list[float]:
        rewards: list[float] = against_random(agent, setting.opening).mean(1).round(4).tolist()
        return rewards

    def met(share: str, other: str) -> dict[str, Any]:
        pair = agents["one", share], agents["each", other]
        return summary(head_to_head(setting.game, *pair, setting.opening))

    return {
        "label": setting.label,
        "players": setting.players,
        "episodes": runs["one"].schedule.episodes,
        "config": runs["one"].digest,
        "weights": {kind: run.make_learner().value.num_weights for kind, run in runs.items()},
        "gains": {share: met(share, share) for share in SHARES},
        "half over all": met("1/2", "all"),
        "against_random": {
            kind: {share: against(agents[kind, share]) for share in SHARES} for kind in KINDS
        },
        "training_s": {kind: round(each, 1) for kind, each in seconds.items()},
    }


def more_against_random(one: dict[str, Any], share: str) -> list[float]:
    """By seed, how much more one table earns against random players than a table for each."""
    first, second = (one["against_random"][kind][share] for kind in ("one", "each"))
    return list(np.subtract(first, second))


def with_interval(values: Sequence[float]) -> str:
    low, high = confidence_interval(list(values))
    return f"{np.mean(values):+.2f} ({low:+.2f} to {high:+.2f})"


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What one table gains with its 95% interval, head to head and against random players."""
    heads = [f"after {share}" for share in SHARES]
    heads += ["half over all", "random, after 1/8", "random, after all"]
    yield f"| game | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for one in results:
        gains = [one["gains"][share]["per_seed"] for share in SHARES]
        gains += [one["half over all"]["per_seed"]]
        gains += [more_against_random(one, share) for share in ("1/8", "all")]
        yield f"| {one['label']} | {' | '.join(map(with_interval, gains))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    known = {setting.label: setting for setting in SETTINGS}
    settings = {label: known[label] for label in LABELS}
    seeds = Number(SEEDS, "agents of each kind", 2)
    measure_rows(
        arguments, __file__, __doc__, FILE, settings, measured, table, scale=SCALE, seeds=seeds
    )


if __name__ == "__main__":
    end_in_a_line(main)
