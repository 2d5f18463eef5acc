"""The expected time of a sweep in one process here, from a short pilot of each program."""

import dataclasses
import math
import tempfile
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.loop import Training
from jaxgbg.runs.placement import LanePlacement, lanes_at_once
from jaxgbg.runs.run import Run
from jaxgbg.runs.storage.agents import SavedAgent, save_agent
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.histograms import histograms
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.sweeps.spec import Unit

PILOT_SECONDS = 1.0


class Cost(NamedTuple):
    """Seconds of a program: once for each number of lanes, for each lane and each run of a unit."""

    compiling: float
    a_lane: float
    a_run: float


def expected_seconds(units: Sequence[Unit], within: float = math.inf) -> list[float | None]:
    """Seconds of each unit, one after the other in this process, on all its devices.

    As many lanes of each program as the devices train at once are begun: compiled, trained for a
    second, evaluated, an agent written and a folder made, each twice to tell what compiling takes.
    The rate of that second stands for all: early games are random and may be longer or shorter than
    later ones. No pilot is begun later than `within` seconds from now; units of a program without
    one have None.
    """
    deadline = time.monotonic() + within
    costs: dict[Hashable, Cost | None] = {}
    compiled: set[tuple[Hashable, int]] = set()
    expected: list[float | None] = []
    for unit in units:
        program = program_of(unit.runs[0])
        if program not in costs:
            costs[program] = _pilot(sample(unit)) if time.monotonic() < deadline else None
        cost = costs[program]
        if cost is None:
            expected.append(None)
            continue
        # The next unit of as many lanes is the same program.
        seconds = cost.a_lane * unit.lanes + cost.a_run * len(unit.runs)
        if (program, unit.lanes) not in compiled:
            seconds += cost.compiling
            compiled.add((program, unit.lanes))
        expected.append(seconds)
    return expected


def sample(unit: Unit) -> Unit:
    """The first lanes of a unit: as many as the devices train at once, which are no more than one
    group of `LanePlacement`, and none but the first variants of the last run's seeds left out.
    """
    placement = LanePlacement(unit.lanes, lanes_at_once(unit.runs[0].make_learner(), unit.lanes))
    runs: list[Run] = []
    lanes = 0
    for run in unit.runs:
        if lanes >= placement.size:
            break
        seeds = -(-(placement.size - lanes) // len(run.variants))
        runs.append(dataclasses.replace(run, seeds=run.seeds[:seeds]))
        lanes += len(runs[-1].lanes)
    return Unit(tuple(runs), lanes, lanes * (unit.memory // unit.lanes))


def _pilot(unit: Unit) -> Cost:
    start = time.perf_counter()
    training = Training(*unit.runs)
    training.advance(training.episodes)
    begun = time.perf_counter() - start
    training_seconds, first = _training_seconds(training)
    evaluating = _twice(lambda: list(training.evaluate(0)))
    writing = _twice(lambda: _write(training))
    keeping = _twice(lambda: _keep(training))
    compiling = max(begun - first, 0.0)
    compiling += sum(max(early - later, 0.0) for early, later in (evaluating, writing, keeping))
    # The pilot meets no mean of weights, whose agents are judged and written as the last ones are.
    judged = training.milestones + training.milestones_of_means
    lasting = training_seconds + judged * evaluating[1]
    written = len(unit.runs[0].agents) / len(unit.runs[0].lanes) * writing[1]
    return Cost(compiling, lasting / unit.lanes + written, keeping[1])


def _training_seconds(training: Training) -> tuple[float, float]:
    """(seconds of the whole training without compiling, those of its first chunk)."""
    before = training.progress()
    while training.progress().episodes < before.total_episodes:
        training.advance(training.episodes)
        if training.seconds - before.seconds >= PILOT_SECONDS:
            break
    after = training.progress()
    if after.episodes == before.episodes:
        # It was over before anything could be timed apart from compiling.
        return 0.0, 0.0
    pace = (after.seconds - before.seconds) / (after.episodes - before.episodes)
    return after.total_episodes * pace, before.episodes * pace


def _twice(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of doing some work first, with compiling, and again."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[1]


def _write(training: Training) -> None:
    """Describe and write one agent, as the end of a run does with all of them."""
    run, value, lane = training.runs[0], training.learner.value, training.lanes[0]
    params = training.changing(0)[0].lane.params
    histograms(value, {lane: params})
    with tempfile.TemporaryDirectory() as folder:
        agent = SavedAgent(run.for_seed(lane.seed), lane.variant, value.weights_of(params))
        save_agent(Path(folder) / lane.file, agent)


def _keep(training: Training) -> None:
    """Make the folder of a run, as its beginning and its end do."""
    with tempfile.TemporaryDirectory() as out:
        folder = RunFolder(out, training.runs[0])
        with only_here(folder):
            folder.begin()
            folder.resume(None)
            write_json(folder.path / "summary.json", {})
