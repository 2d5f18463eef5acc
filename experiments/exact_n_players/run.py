"""Do agents reach perfect play in games for two and three players whose values are known exactly?

    python -m experiments.exact_n_players.run [--labels "pig to 10" ...] [--out OUT]
    python -m experiments.exact_n_players.run --scale .01 --seeds 2 --out OUT    # a trial
    python -m experiments.exact_n_players.run --show                             # the kept figures

Every agent is trained with FARL. The value of best play and what an agent wins, against best play
and against the worst that can meet it, are computed over all positions, without any sampled game.
Results are in OUT/results.json; what stands there is not made again.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.exact_n_players.positions import (
    Positions,
    best_play,
    choices,
    positions_of,
    reached,
    reward,
)
from experiments.shared import SCALE, Number, measure_rows
from jaxgbg import Game, GreedyAgent, Run, make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs import LaneName

FILE = "results.json"
SEEDS = 10
MORE = ", five more"
"""What the label of a row with further seeds of another row ends with."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A game, and what its training changes of the preset; `judged` are changes of its rules.

    No more than `seeds` agents are trained, from `first_seed` on. The first `judged_seeds` of them
    are judged. With `second_wins` the second player is known to win, and an agent is judged in the
    positions alone that it can meet: there are too many of them in all.
    """

    label: str
    name: str
    parameters: Mapping[str, Any]
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    judged: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seeds: int = SEEDS
    first_seed: int = 0
    judged_seeds: int = SEEDS
    second_wins: bool = False

    def run(self, scale: float = 1.0, seeds: int = SEEDS) -> Run:
        """FARL alone, without any evaluation by matches."""
        game = make(self.name, **self.parameters)
        episodes = self.changes.get("episodes", preset(game).schedule.episodes)
        changes = {**self.changes, "episodes": max(1, round(scale * episodes))}
        return preset(
            game,
            eval_every=changes["episodes"],
            seeds=range(self.first_seed, self.first_seed + min(seeds, self.seeds)),
            variants=("farl",),
            opponents=(),
            **changes,
        )


def rectangles(size: int) -> tuple[tuple[int, ...], ...]:
    """All rectangles of 2x3 and 3x2 cells of a square board."""
    board = np.arange(size**2).reshape(size, size)
    return tuple(
        tuple(window.ravel().tolist())
        for shape in ((2, 3), (3, 2))
        for window in np.lib.stride_tricks.sliding_window_view(board, shape).reshape(-1, *shape)
    )


SETTINGS = (
    *(Setting(f"pig to {target}", "pig", {"target": target}) for target in (10, 15, 20, 25)),
    *(
        Setting(f"pig to {target}, 3 players", "pig", {"players": 3, "target": target})
        for target in (10, 15, 20, 25)
    ),
    Setting("ewn 3x3", "ewn", {"size": 3}),
    Setting("ewn 3x3, 2x3 cells", "ewn", {"size": 3}, {"layout": rectangles(3)}),
    Setting("ewn 4x4", "ewn", {"size": 4}, judged_seeds=3),
    Setting("ewn 4x4, 2x3 cells", "ewn", {"size": 4}, {"layout": rectangles(4)}, judged_seeds=3),
    Setting("ewn 3x3, by stones", "ewn", {"size": 3, "coding": "squares"}),
    Setting(
        "ewn 4x4, by stones",
        "ewn",
        {"size": 4, "coding": "squares"},
        {"episodes": 1_000_000},
        seeds=5,
    ),
    Setting(
        f"ewn 4x4, by stones{MORE}",
        "ewn",
        {"size": 4, "coding": "squares"},
        {"episodes": 1_000_000},
        seeds=5,
        first_seed=5,
    ),
    Setting(
        "ewn 4x4, 2x3 cells, longer",
        "ewn",
        {"size": 4},
        {"layout": rectangles(4), "episodes": 1_000_000},
        seeds=3,
    ),
    Setting("sim K6", "sim", {}, second_wins=True),
    # Chosen by `sim_recipes`, where half the episodes and twice as many did equally well.
    Setting(
        "sim K6, all edges",
        "sim",
        {},
        {
            "layout": (tuple(range(15)),),
            "learner": "td-off-policy",
            "epsilon_end": 0.3,
            "episodes": 100_000,
        },
        second_wins=True,
    ),
    *(
        Setting(
            f"chinese_checkers, 1 row, {turns} turns",
            "chinese_checkers",
            {"rows": 1, "backward": True, "turns": 60},
            judged={"turns": turns},
        )
        for turns in (9, 60)
    ),
    Setting("maedn, q = 4, 2 pieces", "maedn", {"quarter": 4, "pieces": 2}),
)


def main(arguments: Sequence[str] | None = None) -> None:
    settings = {setting.label: setting for setting in SETTINGS}
    seeds = Number(SEEDS, "agents of each game")
    measure_rows(
        arguments, __file__, __doc__, FILE, settings, measured, table, scale=SCALE, seeds=seeds
    )


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train a setting; its optimum, and what its agents win, as shares of the games by seat."""
    run = setting.run(options.scale, options.seeds)
    begun, used = time.perf_counter(), time.process_time()
    folder = train(run, options.out / "runs")
    trained, trained_cpu = time.perf_counter() - begun, time.process_time() - used
    judged = dataclasses.replace(run.game, **setting.judged)
    agents = [folder.agents([LaneName(seed, "farl")]) for seed in run.seeds]
    if setting.second_wins:
        count, best, of_seeds = None, np.array([-1.0, 1.0]), [met(judged, one) for one in agents]
    else:
        positions = positions_of(judged)
        count = len(positions.following)
        best, moves = best_play(positions)
        of_seeds = [
            found(positions, moves, choices(positions, agent))
            for agent in agents[: setting.judged_seeds]
        ]
    low, high = judged.reward_range
    shares = {
        name: np.round((np.array([each[name] for each in of_seeds]) - low) / (high - low), 6)
        for name in of_seeds[0]
    }
    return {
        "label": setting.label,
        "players": judged.num_players,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "positions": count,
        "best": np.round((best - low) / (high - low), 6).tolist(),
        **{name: share.tolist() for name, share in shares.items()},
        "training_s": round(trained, 1),
        "training_cpu_s": round(trained_cpu, 1),
        "judging_s": round(time.perf_counter() - begun - trained, 1),
    }


def met(game: Game, agent: GreedyAgent) -> dict[str, list[float]]:
    """The rewards by seat at worst and against random play, in a game for two."""
    parts = [positions_of(game, agent, seat) for seat in range(2)]
    return {
        "at_worst": [reward(part, seat, worst=True) for seat, part in enumerate(parts)],
        "against_random": [reward(part, seat) for seat, part in enumerate(parts)],
    }


def found(positions: Positions, best: np.ndarray, own: np.ndarray) -> dict[str, list[float]]:
    """The rewards by seat of an agent that makes the moves `own` bool[E].

    "against_best": all others make the moves `best` bool[E]. For two players also "at_worst": the
    other makes the moves that are worst for the agent, and "against_random".
    """
    mover = positions.mover[positions.source]
    rewards: dict[str, list[float]] = {"against_best": []}
    if positions.endings.shape[1] == 2:
        rewards |= {"at_worst": [], "against_random": []}
    for seat in range(positions.endings.shape[1]):
        kept = np.where(mover == seat, own, best)
        rewards["against_best"].append(reward(reached(positions, kept), seat))
        if "at_worst" in rewards:
            free = reached(positions, own | (mover != seat))
            rewards["at_worst"].append(reward(free, seat, worst=True))
            rewards["against_random"].append(reward(free, seat))
    return rewards


def lost(best: float, shares: Sequence[float]) -> tuple[str, str]:
    """How much less than `best` agents win: the mean with its interval, and the most of one."""
    less = [best - share for share in shares]
    if not less:
        return "", ""
    low, high = confidence_interval(less)
    spread = f" ({low:.4f} to {high:.4f})" if max(less) >= 5e-5 and not np.isnan(low) else ""
    return f"{np.mean(less):.4f}{spread}", f"{max(less):.4f}"


def pooled(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows; one with further seeds is joined to the row of the first ones."""
    further = {one["label"].removesuffix(MORE): one for one in results if MORE in one["label"]}
    shares = ("against_best", "at_worst", "against_random")
    return [
        one | {name: one[name] + further[one["label"]][name] for name in shares}
        if one["label"] in further
        else one
        for one in results
        if MORE not in one["label"]
    ]


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """By seat: what best play wins, and what the agents win less: on average, and one of them."""
    yield (
        "| game | episodes | agents | seat | best play | less: mean | the most | at worst"
        " | against random |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    order = [setting.label for setting in SETTINGS]
    for one in sorted(pooled(results), key=lambda one: order.index(one["label"])):
        against_best = one.get("against_best", [])
        seeds = len(against_best or one["at_worst"])
        for seat, best in enumerate(one["best"]):
            cells = [one["label"], f"{one['episodes']:,}", str(seeds)] if seat == 0 else [""] * 3
            cells += [str(seat), f"{best:.4f}", *lost(best, [each[seat] for each in against_best])]
            worst = [best - each[seat] for each in one.get("at_worst", [])]
            random = [each[seat] for each in one.get("against_random", [])]
            cells += [f"{np.mean(each):.4f}" if each else "" for each in (worst, random)]
            yield f"| {' | '.join(cells)} |".replace("-0.0000", "0.0000")


if __name__ == "__main__":
    end_in_a_line(main)
