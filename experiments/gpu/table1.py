"""Table 1 at the published budgets, as far as the time allows: each game that fits, whole."""

import dataclasses
import time
from typing import Any

from experiments.gpu.connectfour import episodes_per_s
from experiments.gpu.records import Records, Task
from experiments.gpu.speed import reason_of
from jaxgbg import with_changes
from jaxgbg.players import MissingExtra
from jaxgbg.results.rows import as_records, rows
from jaxgbg.runs import Run, RunFolder, train
from jaxgbg.runs.loop import Progress
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.presets import konen2021
from jaxgbg.runs.presets.table1 import meet_final_opponents, table1_run
from jaxgbg.runs.stopping import StopTraining

KEY = ("game", "what")
# First those that take longest elsewhere; but 2048 is the last, for its evaluations are games of
# thousands of moves, and no clock stops one.
ORDER = ("othello", "connectfour", "hex", "nim3p", "tictactoe", "nim", "2048")
SEEDS = 10
# Evaluations and compiling, in addition to the predicted training.
_BESIDE = 1.3
# How many times as long as an untrained game a trained one is, where that is much.
_LONGER = {"2048": 10, "connectfour": 2.5}
_NEVER = 1e9


def measure(task: Task, records: Records) -> None:
    """Train each game that will be ready in time, and let it meet its last opponents."""
    for game in [game for game in ORDER if game in task.games]:
        try:
            if {"game": game, "what": "row"} not in records and task.left() > 0:
                row(game, task, records)
            if game in konen2021.FINAL_OPPONENTS and task.left() > 0:
                last_opponents(game, task, records)
        except Exception as error:
            records.fail(f"{game}: {reason_of(error)}")


def last_opponents(game: str, task: Task, records: Records) -> None:
    """The matches of a finished row that come after its training."""
    folder = RunFolder(task.out / "runs", run_of(game, task.scale))
    if folder.finished and {"game": game, "what": "final opponents"} not in records:
        meet_final_opponents(folder, None, lambda text: print(f"table1: {text}", flush=True))
        keep(records, folder, "final opponents")


def row(game: str, task: Task, records: Records) -> None:
    """One row, whole, or of what its time allowed; not begun where it would not be ready."""
    run = run_of(game, task.scale)
    rate = episodes_per_s(run, task)
    longer = _BESIDE * _LONGER.get(game, 1)
    predicted = longer * run.schedule.episodes * len(run.lanes) / rate
    about = {"game": game, "episodes_per_s": round(rate), "foretold_s": round(predicted, 1)}
    if predicted > task.left():
        records.add({**about, "what": "no time", "left_s": round(task.left(), 1)})
        return

    def on_chunk(_: Progress) -> None:
        if task.left() < 0:
            raise StopTraining("out of time")

    start = time.perf_counter()
    folder = train(run, task.out / "runs", on_chunk, checkpoint_every=_NEVER)
    took = round(time.perf_counter() - start, 1)
    keep(records, folder, "row" if folder.finished else "stopped", **about, wall_s=took)


def run_of(game: str, scale: float) -> Run:
    """The published run; where the solver of ConnectFour is missing, solved positions judge."""
    run = table1_run(game, SEEDS if scale >= 0.01 else 2, scale)
    if game == "connectfour":
        # As in the kept rows of experiments/table1: every seed draws its own n-tuples.
        run = with_changes(run, {"layout": (), "walks": (70, 8)})
    try:
        for opponent in run.evaluation.opponents:
            judge_by(opponent, run.game).close()
    except MissingExtra:
        evaluation = dataclasses.replace(run.evaluation, opponents=("solver",), protocols=())
        return dataclasses.replace(run, evaluation=evaluation)
    return run


def keep(records: Records, folder: RunFolder, what: str, **about: Any) -> None:
    """The rows of a run as the tables of the project have them."""
    run, results = folder.run, folder.results()
    seconds = folder.summary()["training_seconds"] if folder.finished else float("nan")
    made = as_records(rows(run, results, seconds)) if results else []
    fields = {"game": run.game.name, "what": what, "runs": run.name, **about}
    records.add({**fields, "episodes": run.schedule.episodes, "rows": made})
