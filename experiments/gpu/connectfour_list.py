"""ConnectFour on n-tuples from a file: trained on this device, judged elsewhere.

The file may be somebody else's and is no part of this project. `experiments.gpu.published` is the
command.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.gpu.records import Records, Task
from jaxgbg.contents import read_json
from jaxgbg.games import make
from jaxgbg.runs import LaneName, Run, Training
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.values import Layout
from jaxgbg.values.layouts import check_layout

GAME = "connectfour"
OPPONENTS = ("ab", "ab-dl-gbg", "ab-dl")
"""The paper's two first; the exact AB-DL is no opponent of the paper."""
SEEDS, FEW_SEEDS = 10, 2
# Shares of the budget after which agents are judged: the last fifth every 100,000 episodes of 5 M.
MARKS = (0.2, 0.4, 0.6, 0.8, *(np.arange(41, 51) / 50).tolist())


def layout_of(path: Path) -> Layout:
    """The n-tuples in a file: a list, or the entry ConnectFour.tuples of a list of games."""
    content = read_json(path)
    tuples = content["ConnectFour"]["tuples"] if isinstance(content, dict) else content
    return check_layout(make(GAME), tuples, f"layout file {path.name}")


def run_of(layout: Layout, scale: float) -> Run:
    """The paper's ConnectFour on this layout, ten seeds with FARL and without."""
    published = preset(GAME)
    return preset(
        GAME,
        layout=layout,
        seeds=range(SEEDS if scale >= 0.01 else FEW_SEEDS),
        episodes=max(len(MARKS), round(scale * published.schedule.episodes)),
        opponents=("solver",),
    )


def kept_digest(layout: Layout) -> str:
    """The digest of the run of seed 0 that `experiments.table1.listed` knows, on this layout."""
    opponents = ("ab", "ab-dl", "ab-dl-gbg", "solver")
    changes: dict[str, Any] = {"averaging": "tail", "opponents": opponents}
    return preset(GAME, layout=layout, seeds=(0,), variants=("farl",), **changes).digest


def measure(task: Task, records: Records, layout: Layout, work: Path) -> None:
    """Train all agents and leave them in the folder `work` for the judges, at every mark."""
    run = run_of(layout, task.scale)
    training, begun = Training(run), time.perf_counter()
    for episodes, state in train_to_marks(training, MARKS, lambda: task.left() < 0):
        shares: dict[str, list[float]] = {}
        for _, result in training.evaluate(episodes):
            shares.setdefault(result.variant, []).append(round(result.score, 4))
        active = hand_over(training, work, episodes)
        records.add(
            {
                "what": "training",
                "game": GAME,
                "config": run.digest,
                "episodes": episodes,
                "of": run.schedule.episodes,
                "state": state,
                "training_s": round(training.seconds, 1),
                "wall_s": round(time.perf_counter() - begun, 1),
                "lanes": training.lanes,
                "moves": training.moves.tolist(),
                "active_weights": active,
                "value_keeping": shares,
            }
        )


def train_to_marks(
    training: Training, marks: tuple[float, ...], over: Callable[[], bool]
) -> Iterator[tuple[int, str]]:
    """Train, yielding at each mark, a share of the budget: (episodes, "going on" or "done").

    Once the time is `over`, which is asked between chunks, (episodes, "stopped") comes last: so
    many are finished by all lanes.
    """
    for mark in marks:
        episodes = round(mark * training.episodes)
        while training.finished.min() < episodes:
            if over():
                yield int(training.finished.min()), "stopped"
                return
            training.advance(episodes)
        yield episodes, "done" if mark == marks[-1] else "going on"


def hand_over(training: Training, work: Path, episodes: int) -> list[int]:
    """Write the weights of every lane for the judges; returns how many of each are not 0."""
    weights = training.placement.by_lane([group.params.weights for group in training.groups])
    for lane, own in zip(training.lanes, weights, strict=True):
        with written_whole(work / job_name(episodes, lane)) as temporary, temporary.open("wb") as f:
            np.save(f, own)
    return [int(np.count_nonzero(own)) for own in weights]


def job_name(episodes: int, lane: LaneName) -> str:
    """The name of the file of an agent that is to be judged."""
    return f"{episodes:09d}-{lane.variant}-{lane.seed}.npy"


def read_job(name: str) -> tuple[int, LaneName]:
    """Undo `job_name`."""
    episodes, variant, seed = name.removesuffix(".npy").split("-")
    return int(episodes), LaneName(int(seed), variant)
