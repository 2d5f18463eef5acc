"""How much of Table 1's time goes into evaluations and not into training?

    python -m experiments.table1.evaluation_share [--labels nim hex ...] [--out OUT]
    python -m experiments.table1.evaluation_share --show    # kept figures

Leave the machine idle. As many lanes of each game as its devices train at once are compiled and
trained for some seconds. Then their agents are evaluated twice, of which the second time counts,
and meet the opponents of finished agents once. The seconds of ten seeds of both variants at the
published budget follow from these rates, which are those of early games. Results are in
OUT/evaluation_share.json; what stands there is not made again.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.shared import Number, measure_rows
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import Judge, make_judge
from jaxgbg.games import Game
from jaxgbg.runs import Run
from jaxgbg.runs.budget import measured_pace
from jaxgbg.runs.loop import Training
from jaxgbg.runs.presets import konen2021, protocol_for
from jaxgbg.runs.presets.table1 import engine_judge, othello_engine, table1_run
from jaxgbg.sweeps.estimate import sample
from jaxgbg.sweeps.spec import Unit

FILE = "evaluation_share.json"
SEEDS = 10
PARTS = ("training", "evaluations", "final opponents")


def measured(run: Run, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of training, evaluations and final opponents of all lanes of a run."""
    (few,) = sample(Unit((run,), len(run.lanes), 0)).runs
    pace = measured_pace(few, options.seconds).episodes
    training = Training(few)
    training.advance(training.episodes)
    while training.seconds < options.seconds and (training.finished < training.episodes).any():
        training.advance(training.episodes)
    _evaluation(training)
    evaluation = _evaluation(training)
    training.judges = list(_final_judges(run.game))
    final = _evaluation(training) if training.judges else 0.0
    times = len(run.lanes) / len(training.lanes)
    seconds = (
        run.schedule.episodes * len(run.lanes) / pace,
        training.milestones * evaluation * times,
        final * times,
    )
    return {
        "label": run.game.name,
        "lanes": len(run.lanes),
        "measured_lanes": len(training.lanes),
        "milestones": training.milestones,
        "seconds": {part: round(each, 1) for part, each in zip(PARTS, seconds, strict=True)},
    }


def _evaluation(training: Training) -> float:
    """Seconds of one evaluation of all lanes by all judges."""
    start = time.perf_counter()
    assert list(training.evaluate(0))
    return time.perf_counter() - start


def _final_judges(game: Game) -> Iterator[Judge]:
    """The opponents that Table 1's finished agents meet; an engine only where it is installed."""
    for opponent in konen2021.FINAL_OPPONENTS.get(game.name, ()):
        if opponent != "engine":
            yield make_judge(opponent, game, protocol_for(game, opponent))
        elif (engine := othello_engine(None)) is not None:
            yield engine_judge(game, *engine)


def share(seconds: dict[str, float]) -> float:
    """What is not training, as a share of all."""
    return 1 - seconds["training"] / sum(seconds.values())


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Minutes of each row of Table 1 and of all of them, and the share of evaluations."""
    yield f"| game | evaluations | {' | '.join(f'{part}, min' for part in PARTS)} | share |"
    yield "|---" * (3 + len(PARTS)) + "|"
    rows = [(one["label"], str(one["milestones"]), one["seconds"]) for one in results]
    total = {part: sum(seconds[part] for _, _, seconds in rows) for part in PARTS}
    for name, milestones, seconds in [*rows, ("all", "", total)]:
        cells = [name, milestones, *(f"{seconds[part] / 60:.3g}" for part in PARTS)]
        yield f"| {' | '.join(cells)} | {share(seconds):.0%} |"


def main(arguments: Sequence[str] | None = None) -> None:
    runs = {game: table1_run(game, SEEDS, 1.0) for game in konen2021.GAMES}
    seconds = Number(10.0, "seconds of training of each game", None)
    measure_rows(arguments, __file__, __doc__, FILE, runs, measured, table, seconds=seconds)


if __name__ == "__main__":
    end_in_a_line(main)
