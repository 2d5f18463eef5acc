"""How long a sweep will take in one process here, by a short pilot of each of its programs."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxgbg.sweeps.spec import Unit
from jaxgbg.training.agents import SavedAgent, save_agent
from jaxgbg.training.files import write_json
from jaxgbg.training.histograms import histograms
from jaxgbg.training.lanes import program_of
from jaxgbg.training.locks import only_here
from jaxgbg.training.loop import Training
from jaxgbg.training.store import RunFolder

PILOT_SECONDS = 1.0


class Cost(NamedTuple):
    """Seconds of a program: once for each number of lanes, for each lane and each run of a unit."""

    compiling: float
    a_lane: float
    a_run: float


def expected_seconds(units: Sequence[Unit]) -> list[float]:
    """Seconds of each unit, one after the other in this process, on all its devices.

    One unit of each program is begun: compiled, trained for a second, evaluated, an agent written
    and a folder made, each twice to tell what compiling takes. The rate of that second stands for
    all: early games are random and may be longer or shorter than later ones.
    """
    costs: dict[Any, Cost] = {}
    compiled: set[Any] = set()
    expected = []
    for unit in units:
        program = program_of(unit.runs[0])
        cost = costs.get(program) or costs.setdefault(program, _pilot(unit))
        # The next unit of as many lanes is the same program.
        seconds = cost.a_lane * unit.lanes + cost.a_run * len(unit.runs)
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
    evaluating = _twice(lambda number: list(training.evaluate(number)), training.milestones)
    writing = _twice(lambda _: _write(training), unit.lanes)
    keeping = _twice(lambda _: _keep(training), len(unit.runs))
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


def _twice(work: Callable[[int], object], times: int) -> tuple[float, float]:
    """Seconds of doing some work first, with compiling, and again, if it is done more `times`."""
    seconds = []
    for number in range(min(2, times)):
        start = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[-1]


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
