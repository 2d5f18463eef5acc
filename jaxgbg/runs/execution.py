"""Train runs, one or several together: checkpoints, stop, resume, finish."""

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import jax
import numpy as np

from jaxgbg.arguments import CheckpointEvery
from jaxgbg.games import check_playable
from jaxgbg.games.precision import in_32_bits
from jaxgbg.runs.devices import warn_of_known_faults
from jaxgbg.runs.environment import check_compiled
from jaxgbg.runs.loop import Progress, Result, Training
from jaxgbg.runs.memory import check_memory
from jaxgbg.runs.run import Run
from jaxgbg.runs.stopping import Stopped, StopRequest, StopTraining, call_all, stop_signals
from jaxgbg.runs.storage.agents import SavedAgent, save_agent
from jaxgbg.runs.storage.checkpoints import Checkpoint, Checkpoints, checksum, together_folder
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.histograms import active_weights, histograms
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.runs.storage.metrics import MetricsMark
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.specs import checked

CHECKPOINT_EVERY = 60.0
"""Default number of seconds of training between two checkpoints."""


def train(
    run: Run,
    out: str | Path = "runs",
    on_chunk: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[Result], object] = lambda _: None,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> RunFolder:
    """Train and evaluate all seeds and variants of `run` in a folder below `out`.

    A finished run is not trained again, and an unfinished one resumes from its last checkpoint.
    After an interruption (Stopped, a KeyboardInterrupt, is raised again) the folder has all
    evaluations so far and a checkpoint. The same holds if `on_evaluation` raises StopTraining,
    which is caught here. Raises ValueError if the folder cannot be written or has a run under other
    rules, the game breaks its contract, or the memory is not sufficient.
    """
    return train_together(
        [run], out, on_chunk, lambda _, result: on_evaluation(result), checkpoint_every
    )[0]


@in_32_bits
@checked
def train_together(
    runs: Sequence[Run],
    out: str | Path,
    on_chunk: Callable[[Progress], None] = lambda _: None,
    on_evaluation: Callable[[Run, Result], object] = lambda _run, _result: None,
    checkpoint_every: CheckpointEvery = CHECKPOINT_EVERY,
) -> list[RunFolder]:
    """`train` for several runs that are lanes of one program; each has a folder of its own.

    If one of them is unfinished, all are trained: the last bits of a lane depend on all lanes of
    its program.
    """
    folders = [RunFolder(out, run) for run in runs]
    unfinished = {number: f for number, f in enumerate(folders) if not f.finished}
    if not unfinished:
        return folders
    # Raises for mistakes in the runs, before anything is written.
    training = _prepare(runs)
    with contextlib.ExitStack() as stack:
        for folder in unfinished.values():
            stack.enter_context(only_here(folder))
        # With the locks, no other process can finish one of them.
        unfinished = {number: f for number, f in unfinished.items() if not f.finished}
        if not unfinished:
            return folders
        for folder in unfinished.values():
            folder.begin()
        checkpoints = stack.enter_context(_checkpoints(folders, checkpoint_every))
        _begin_or_resume(training, unfinished, checkpoints)
        at_start = training.reached, training.seconds
        request = stack.enter_context(_stop_signals(training))

        def between_chunks(progress: Progress) -> None:
            on_chunk(progress)
            request.obey()
            if checkpoints.due():
                checkpoints.save(_checkpoint(training, folders))

        try:
            for evaluations in training.rounds(between_chunks):
                _keep(evaluations, unfinished, on_evaluation)
                request.obey()
        except Stopped:
            if (training.reached, training.seconds) != at_start:
                checkpoints.save(_checkpoint(training, folders), wait=True)
            raise
        except StopTraining as stop:
            # After the last evaluation there is nothing left to stop.
            if training.reached < training.milestones:
                checkpoints.save(_checkpoint(training, folders), wait=True)
                for folder in unfinished.values():
                    folder.stop_early(str(stop))
                request.obey()
                return folders
        _finish(training, unfinished, checkpoints)
        # Or else what comes after this training would go on.
        request.obey()
    return folders


def _prepare(runs: Sequence[Run]) -> Training:
    """Return the training of `runs` before its first tick; raises ValueError if it cannot start."""
    check_compiled()
    warn_of_known_faults()
    check_memory(runs)
    check_playable(runs[0].game)
    return Training(*runs)


def _stop_signals(training: Training) -> contextlib.AbstractContextManager[StopRequest]:
    """Let signals stop `training` at once while its state is consistent: until a chunk has been
    compiled, and in evaluations.
    """
    return stop_signals(
        interruptible=lambda: training.evaluating,
        while_compiling=lambda: training.starting or training.evaluating,
    )


def _keep(
    evaluations: Sequence[tuple[int, Result]],
    unfinished: Mapping[int, RunFolder],
    on_evaluation: Callable[[Run, Result], object],
) -> None:
    """Write all evaluations of a milestone, then pass each of them to `on_evaluation`.

    A callback may stop the training; it stops after all callbacks are done.
    """
    kept = [(unfinished[owner], result) for owner, result in evaluations if owner in unfinished]
    for folder, result in kept:
        folder.append(result)
    call_all(partial(on_evaluation, folder.run, result) for folder, result in kept)


def _checkpoints(folders: Sequence[RunFolder], every: float) -> Checkpoints:
    """The checkpoints of one run, in its folder, or of several in one program, next to theirs."""
    name = "-".join(folder.run.digest for folder in folders)
    if len(folders) == 1:
        return Checkpoints(folders[0].path / "checkpoints", name, every)
    return Checkpoints(together_folder(folders[0].path.parent, name), name, every)


def _checkpoint(training: Training, folders: Sequence[RunFolder]) -> Checkpoint:
    """The whole state of the training and its metrics, enough to resume."""
    metrics = [folder.metrics.mark() for folder in folders]
    return Checkpoint(training.leaves(), training.reached, training.seconds, metrics)


def _begin_or_resume(
    training: Training, unfinished: Mapping[int, RunFolder], checkpoints: Checkpoints
) -> None:
    """Bring `training` and the folders to the last checkpoint, or to the start."""
    changed: list[RunFolder] = []

    def fits(marks: Sequence[MetricsMark]) -> bool:
        changed[:] = [f for at, f in unfinished.items() if not f.metrics.begins_with(marks[at])]
        return not changed

    checkpoint = checkpoints.restore(training.leaves(), fits)
    for folder in changed:
        what = "has been deleted: the run starts over"
        if folder.metrics.path.exists():
            what = (
                f"has been changed: it is kept as {folder.set_metrics_aside().name} until the run,"
                " which starts over, is finished"
            )
        print(f"jaxgbg: {folder.metrics.path} {what}", file=sys.stderr)
    if checkpoint is not None:
        training.restore(checkpoint.leaves, checkpoint.reached, checkpoint.seconds)
    for number, folder in unfinished.items():
        folder.resume(checkpoint.metrics[number].size if checkpoint else None)


def _finish(
    training: Training, unfinished: Mapping[int, RunFolder], checkpoints: Checkpoints
) -> None:
    """Write the results of all runs; remove the checkpoints once results are on the disk."""
    for number, folder in unfinished.items():
        _write_results(training, number, folder)
        folder.remove_set_aside()
        if checkpoints.folder.exists():
            folder.sync()
    checkpoints.remove()


def _write_results(training: Training, number: int, folder: RunFolder) -> None:
    """Write the agents of run `number` and, last of all, its summary."""
    run, value = folder.run, training.learner.value
    try:
        agents = training.agents(number)
        spread = histograms(value, agents)
        write_json(folder.path / "histograms.json", spread)
        for lane, params in (agents | training.means(number)).items():
            agent = SavedAgent(run.for_seed(lane.seed), lane.variant, value.weights_of(params))
            save_agent(folder.agent(lane), agent)
        lanes = [at for at, owner in enumerate(training.owners) if owner == number]
        # Runs that were trained together share the time by their lanes.
        seconds = training.seconds * len(lanes) / len(training.lanes)
        finished, moved = training.finished.tolist(), training.moves.tolist()
        moves = sum(moved[lane] for lane in lanes)
        diverged = [training.lanes[lane] for lane in lanes if lane in training.diverged]
        own = [jax.tree.leaves(one.lane) for one in training.changing(*lanes)]
        mine = (np.stack(leaves) for leaves in zip(*own, strict=True))
        write_json(
            folder.path / "summary.json",
            {
                "episodes": sum(finished[lane] for lane in lanes),
                "moves": moves,
                "training_seconds": round(seconds, 3),
                "moves_per_second": round(moves / seconds),
                # Tables, counters, games and random state: equal for equal runs.
                "state_sha256": checksum(mine),
                "agents": [
                    (*training.lanes[lane], finished[lane], moved[lane], value.num_weights, active)
                    for lane, active in zip(lanes, active_weights(spread), strict=True)
                ],
                **({"diverged": diverged} if diverged else {}),
            },
        )
    except OSError as error:
        raise folder.unwritable(error) from error
