"""2048 in lockstep at its published budget, as far as the time allows.

`experiments.gpu.published` is the command.
"""

import time

from experiments.gpu.connectfour_list import train_to_marks
from experiments.gpu.records import Records, Task
from jaxgbg.runs import Run, Training
from jaxgbg.runs.presets import preset

GAME = "2048"
SEEDS = 4
# 256 games, the most that other games have shown to cost nothing, would take twice the time that is
# left; see README.md.
BATCH = 1024
MARKS = (0.5, 0.85, 0.9, 0.95, 1.0)
# Games last longer towards the end of a training than on its average so far.
_SLOWER = 1.3


def run_of(scale: float) -> Run:
    """The paper's 2048 with many games in lockstep."""
    published, small = preset(GAME), scale < 0.01
    return preset(
        GAME,
        seeds=range(1 if small else SEEDS),
        batch=64 if small else BATCH,
        episodes=max(len(MARKS), round(scale * published.schedule.episodes)),
    )


def measure(task: Task, records: Records) -> None:
    """Train and evaluate; evaluations before the last are left out where the time gets short."""
    run = run_of(task.scale)
    if task.left() < 0:
        records.add({"what": "training", "game": GAME, "episodes": 0, "state": "no time"})
        return
    training, begun, took = Training(run), time.perf_counter(), [0.0]
    for episodes, state in train_to_marks(training, MARKS, lambda: task.left() < max(took)):
        to_come = training.seconds * (run.schedule.episodes / max(episodes, 1) - 1)
        if state == "going on" and task.left() < _SLOWER * to_come + 2 * max(took):
            continue
        start = time.perf_counter()
        results = [result for _, result in training.evaluate(episodes)]
        took.append(time.perf_counter() - start)
        for result in results:
            records.add({"what": "match", "game": GAME, **result._asdict()})
        records.add(
            {
                "what": "training",
                "game": GAME,
                "config": run.digest,
                "batch": run.schedule.batch,
                "episodes": episodes,
                "of": run.schedule.episodes,
                "state": state,
                "training_s": round(training.seconds, 1),
                "wall_s": round(time.perf_counter() - begun, 1),
                "evaluation_s": round(took[-1], 1),
                "lanes": training.lanes,
                "moves": training.moves.tolist(),
            }
        )
