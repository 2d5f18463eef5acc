"""What do agents earn among perfect players, with and without Final Adaptation?

    python -m experiments.n_players.perfect [--labels "nim, 3 players" ...] [--out OUT]
    python -m experiments.n_players.perfect --scale .001 --games 20 --seeds 2 --out OUT    # a trial
    python -m experiments.n_players.perfect --show    # kept figures

Trains the agents of `run`. In each seat they meet Max-N players, which know the value of every
position, and Max-N also plays in their place. Games begin two random plies after the start. What an
agent loses is the reward of Max-N less its own, the mean over all seats. Results are in
OUT/perfect.json; what stands there is not made again.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.farl_predictor.run import agents_of
from experiments.n_players.equal_time import rewards
from experiments.n_players.run import SEEDS, SETTINGS, VARIANTS, Setting
from experiments.shared import SCALE, Number, measure_rows
from jaxgbg import train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import MaxN
from jaxgbg.results.statistics import confidence_interval

FILE = "perfect.json"
LABELS = tuple(f"nim, {players} players" for players in range(2, 7)) + ("sim K5, 2 players",)
GAMES = 200
"""Games of each agent in each seat."""


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train the variants of a setting; what each seed earns and loses among perfect players."""
    run = setting.run(options.scale, options.seeds)
    folder, game = train(run, options.out / "runs"), setting.game
    perfect = MaxN(game)
    earned = rewards(game, perfect, None, options.games * options.seeds, setting.opening)
    each = {}
    for variant in VARIANTS:
        agent = agents_of(folder, variant)
        own = rewards(game, agent, perfect, options.games * agent.copies, setting.opening)
        each[variant] = own.reshape(game.num_players, agent.copies, -1).mean((0, 2))
    return {
        "label": setting.label,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "games": options.games,
        "perfect": round(float(earned.mean()), 4),
        "rewards": {variant: own.round(4).tolist() for variant, own in each.items()},
    }


def lost(one: dict[str, Any], variant: str) -> list[float]:
    """How much less than Max-N each seed earns."""
    return [one["perfect"] - reward for reward in one["rewards"][variant]]


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each game: the reward of Max-N, and what the agents lose, with 95% intervals."""
    yield "| game | Max-N earns | farl loses | part1 loses | none loses | none less farl |"
    yield "|---|---|---|---|---|---|"
    for one in sorted(results, key=lambda one: LABELS.index(one["label"])):
        losses = [lost(one, variant) for variant in VARIANTS]
        more = list(np.subtract(losses[-1], losses[0]))
        cells = [one["label"], f"{one['perfect']:+.2f}"]
        for values in (*losses, more):
            low, high = confidence_interval(values)
            cells.append(f"{np.mean(values):+.2f} ({low:+.2f} to {high:+.2f})")
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    settings = {setting.label: setting for setting in SETTINGS if setting.label in LABELS}
    numbers = {
        "games": Number(GAMES, "games of an agent in each seat"),
        "seeds": Number(SEEDS, "agents of each variant"),
    }
    measure_rows(
        arguments, __file__, __doc__, FILE, settings, measured, table, scale=SCALE, **numbers
    )


if __name__ == "__main__":
    end_in_a_line(main)
