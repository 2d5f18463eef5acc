"""How long a sweep will take in one process here, by a short pilot of each of its programs."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxgbg.sweeps.spec import Unit
from jaxgbg.training.agents import SavedAgent, save_agent
from jaxgbg.training.histograms import histograms
from jaxgbg.training.lanes import program_of
from jaxgbg.training.loop import Training

PILOT_SECONDS = 1.0


class Cost(NamedTuple):
    """Seconds of a program: once for each number of lanes, and for each lane of a unit."""

    compiling: float
    a_lane: float


def expected_seconds(units: Sequence[Unit]) -> list[float]:
    """Seconds of each unit, one after the other in this process, on all its devices.

    One unit of each program is begun: compiled, trained for a second, evaluated once or twice, an
    agent written. The rate of that second stands for all, and lanes for lanes: early games are
    random and may be longer or shorter than later ones.
    """
    costs: dict[Any, Cost] = {}
    compiled: set[Any] = set()
    expected = []
    for unit in units:
        program = program_of(unit.runs[0])
        cost = costs.get(program) or costs.setdefault(program, _pilot(unit))
        # The next unit of as many lanes is the same program.
        seconds = cost.a_lane * unit.lanes
        if (program, unit.lanes) not in compiled:
            seconds += cost.compiling
            compiled.add((program, unit.lanes))
        expected.append(seconds)
    return expected


def _pilot(unit: Unit) -> Cost:
    start = time.perf_counter()
    training = Training(*unit.runs)
    training.advance(training.episodes)
    begun = time.perf_counter() - start
    training_seconds, first = _training_seconds(training)
    evaluating = _evaluating_seconds(training)
    compiling = max(begun - first, 0.0) + max(evaluating[0] - evaluating[1], 0.0)
    lasting = training_seconds + training.milestones * evaluating[1]
    return Cost(compiling, lasting / unit.lanes + _writing_seconds(training))


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


def _evaluating_seconds(training: Training) -> tuple[float, float]:
    """Seconds of the first evaluation, with compiling, and of each later one."""
    seconds = []
    for number in range(min(2, training.milestones)):
        start = time.perf_counter()
        # Other starts than the first time, as it will be.
        list(training.evaluate(number))
        seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[-1]


def _writing_seconds(training: Training) -> float:
    """Seconds that one agent takes to be described and written."""
    run, value = training.runs[0], training.learner.value
    start = time.perf_counter()
    lane = training.lanes[0]
    params = training.agents(0)[lane]
    histograms(value, {lane: params})
    with tempfile.TemporaryDirectory() as folder:
        agent = SavedAgent(run.for_seed(lane.seed), lane.variant, value.weights_of(params))
        save_agent(Path(folder) / lane.file, agent)
    return time.perf_counter() - start
