"""Do n-tuples with tables by stage play better than n-tuples with one table for the whole game?

    python -m experiments.stages.run [--labels "othello" ...] [--out OUT]
    python -m experiments.stages.run --scale .01 --seeds 2 --out OUT    # a trial
    python -m experiments.stages.run --show                             # the kept figures

Both are trained with FARL for the same number of episodes. Results are in OUT/results.json; what
stands there is not made again.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.shared import SCALE, Number, measure_rows
from jaxgbg import Run, make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import Protocol
from jaxgbg.results.statistics import confidence_interval

FILE = "results.json"

SMALL: Mapping[str, Any] = {"tcl": "none", "alpha": 1.0, "alpha_end": 0.01}
"""The counters of TCL begin at 1e-4, above the rewards of whole games on small boards of 2048."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A training with `stages` and without, judged by `opponents`."""

    label: str
    name: str
    episodes: int
    stages: tuple[int, ...]
    opponents: tuple[str, ...]
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seeds: int = 10
    protocols: tuple[Protocol, ...] | None = None

    def run(self, staged: bool, scale: float, seeds: int) -> Run:
        """The training, with a single evaluation at its end."""
        episodes = max(1, round(scale * self.episodes))
        changes = dict(self.changes)
        if self.protocols:
            changes["protocols"] = self.protocols
        return preset(
            make(self.name, **self.parameters),
            episodes=episodes,
            eval_every=episodes,
            seeds=range(min(seeds, self.seeds)),
            variants=("farl",),
            opponents=self.opponents,
            stages=self.stages if staged else (),
            **changes,
        )


SQUARE, RECTANGLE = ((0, 1, 3, 4),), ((0, 1, 2, 3, 4, 5),)
THREE: Mapping[str, Any] = {"rows": 3, "columns": 3, "digits": 12}
OFTEN = (Protocol(repeats=1_000),)

SETTINGS = (
    Setting(
        "2048, 3x3, squares", "2048", 20_000, (7, 8, 9), ("score",), THREE,
        {"layout": SQUARE, **SMALL}, protocols=OFTEN,
    ),
    Setting(
        "2048, 3x3, rectangles", "2048", 20_000, (7, 8, 9), ("score",), THREE,
        {"layout": RECTANGLE, **SMALL}, protocols=OFTEN,
    ),
    Setting("othello", "othello", 10_000, (20, 36, 52), ("bench", "heur")),
    Setting("connectfour", "connectfour", 200_000, (14, 28), ("ab", "ab-dl"), seeds=5),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    settings = {setting.label: setting for setting in SETTINGS}
    seeds = Number(10, "agents of each row")
    measure_rows(
        arguments, __file__, __doc__, FILE, settings, measured, table, scale=SCALE, seeds=seeds
    )


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train both, and keep the score of every seed against every opponent."""
    found: dict[str, Any] = {"label": setting.label, "stages": setting.stages}
    for name, staged in (("without", False), ("with", True)):
        run, used = setting.run(staged, options.scale, options.seeds), time.process_time()
        results = sorted(train(run, options.out / "runs").results(), key=lambda one: one.seed)
        found[name] = {
            "config": run.digest,
            "episodes": run.schedule.episodes,
            "cpu_s": round(time.process_time() - used, 1),
            "scores": {
                opponent: [
                    round(run.game.scale.figure(one.score), 2)
                    for one in results
                    if one.opponent == opponent
                ]
                for opponent in setting.opponents
            },
        }
    return found


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The mean score of both, and the difference, paired by seed, with its 95 % interval."""
    yield "| training | episodes | agents | judged by | without stages | with stages | difference |"
    yield "|---|---|---|---|---|---|---|"
    order = [setting.label for setting in SETTINGS]
    for one in sorted(results, key=lambda one: order.index(one["label"])):
        for opponent, without in one["without"]["scores"].items():
            staged = one["with"]["scores"][opponent]
            gains = [new - old for new, old in zip(staged, without, strict=True)]
            low, high = confidence_interval(gains)
            spread = f"({low:+,.1f} to {high:+,.1f})" if low < high else "(all seeds equal)"
            figures = [
                one["label"],
                f"{one['with']['episodes']:,}",
                str(len(gains)),
                opponent,
                f"{sum(without) / len(gains):,.1f}",
                f"{sum(staged) / len(gains):,.1f}",
                f"{sum(gains) / len(gains):+,.1f} {spread}",
            ]
            yield f"| {' | '.join(figures)} |"


if __name__ == "__main__":
    end_in_a_line(main)
