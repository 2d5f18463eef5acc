"""Executors of the units of a sweep: this process, several processes, Ray, or Slurm.

All of them do the same: units that are not finished on disk, each idempotent, so that a second
start does only the rest. A worker that is lost is replaced; a unit that fails is reported at the
end and stops no other.
"""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from jaxgbg.extensions import module_command
from jaxgbg.games.backend import check_backend
from jaxgbg.players import MissingExtra
from jaxgbg.runs.ray_tasks import TRIES, line, on_ray
from jaxgbg.runs.stopping import stop_signals
from jaxgbg.sweeps.resources import Resources
from jaxgbg.sweeps.spec import Unit
from jaxgbg.sweeps.worker import OnEvaluation, as_text, run_unit, train_when_free
from jaxgbg.system import core_numbers

_POLL_SECONDS = 0.1
# What a unit can be at fault for; TypeError and the like are faults of this program.
_FAULTS = (ValueError, OSError, RuntimeError, MemoryError, ArithmeticError)


class Failure(NamedTuple):
    """A unit that could not be done, and why, in one line."""

    unit: Unit
    reason: str


class ExecutorSettings(NamedTuple):
    """The folder for runs, seconds between checkpoints, number of workers, address of Ray or Slurm.

    Runs stop early at the first evaluation after the share `until` of their episodes. Runs in this
    process pass every evaluation to `on_evaluation`.
    """

    out: Path
    checkpoint_every: float
    workers: int
    address: str | None = None
    until: float = 1.0
    on_evaluation: OnEvaluation = lambda _run, _result: None
    resources: Resources = Resources()


Report = Callable[[Unit], None]
# A unit, how often it was begun, the process that is at it, and what that says on stderr.
_Worker = tuple[Unit, int, "subprocess.Popen[bytes]", BinaryIO]


def inline(units: Sequence[Unit], settings: ExecutorSettings, report: Report) -> list[Failure]:
    """One unit after the other in this process, on all its devices."""
    check_backend()
    failures = []
    for unit in units:
        try:
            every, until = settings.checkpoint_every, settings.until
            train_when_free(unit.runs, settings.out, every, until, settings.on_evaluation)
            report(unit)
        except _FAULTS as error:  # One unit's fault is not another's.
            failures.append(Failure(unit, line(error)))
    return failures


def processes(units: Sequence[Unit], settings: ExecutorSettings, report: Report) -> list[Failure]:
    """As many processes as `workers`, each with one unit at a time and a core of its own."""
    cores = core_numbers()
    waiting = [(unit, 1) for unit in units]
    working: dict[int, _Worker] = {}
    failures = []
    # SIGTERM as Ctrl-C, else workers would outlive the process that waits for them.
    with _ended_together(working), stop_signals(interruptible=lambda: True):
        while waiting or working:
            for place in range(settings.workers):
                if place not in working and waiting:
                    unit, attempt = waiting.pop(0)
                    core = str(cores[place % len(cores)])
                    # Open as long as its worker.
                    errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
                    working[place] = unit, attempt, _start(unit, settings, core, errors), errors
            time.sleep(_POLL_SECONDS)
            for place, (unit, attempt, process, errors) in list(working.items()):
                code = process.poll()
                if code is None:
                    continue
                del working[place]
                with errors:
                    errors.seek(0)
                    complaint = errors.read().decode(errors="replace")
                if code == 0:
                    report(unit)
                elif code < 0 and attempt < TRIES:
                    waiting.append((unit, attempt + 1))
                else:
                    last = (complaint.strip().splitlines() or [f"ended with code {code}"])[-1]
                    failures.append(Failure(unit, last))
    return failures


@contextlib.contextmanager
def _ended_together(working: dict[int, _Worker]) -> Iterator[None]:
    """Stop the workers that are left at the end of the block; each keeps a checkpoint."""
    try:
        yield
    finally:
        for _, _, process, _ in working.values():
            process.terminate()
        for _, _, process, errors in working.values():
            process.wait()
            errors.close()


def _start(
    unit: Unit, settings: ExecutorSettings, core: str, errors: BinaryIO
) -> "subprocess.Popen[bytes]":
    arguments = [str(settings.out), str(settings.checkpoint_every), str(settings.until), core]
    # Files, not pipes: a full pipe would block the worker, and one that nobody reads this process.
    with tempfile.TemporaryFile() as runs:
        runs.write(as_text(unit.runs).encode())
        runs.seek(0)
        return subprocess.Popen(
            [*module_command("jaxgbg.sweeps.worker"), *arguments],
            stdin=runs,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # Ctrl-C is for this process, which ends its workers itself.
            start_new_session=True,
        )


def by_ray(units: Sequence[Unit], settings: ExecutorSettings, report: Report) -> list[Failure]:
    """A task for each unit, on any machine of a Ray cluster; all machines see the same folder."""
    out = str(settings.out.resolve())
    every, until = settings.checkpoint_every, settings.until
    given = settings.resources
    options: dict[str, float] = {"num_cpus": given.cpus, "num_gpus": given.gpus}
    if given.job_memory_gb is not None:
        options["memory"] = given.job_memory_gb * 1e9
    tasks = [(as_text(unit.runs), out, every, until, given.cpus) for unit in units]
    failures = []
    for number, result in on_ray(run_unit, tasks, settings.address, options):
        if isinstance(result, Exception):
            failures.append(Failure(units[number], line(result)))
        else:
            report(units[number])
    return failures


def by_slurm(units: Sequence[Unit], settings: ExecutorSettings, report: Report) -> list[Failure]:
    """A job for each unit in one array, sent by submitit; `address` "local" tries it without Slurm.

    What submitit writes and reads, the batch file among it, is in the folder `slurm` below the
    runs. Where Slurm is told to requeue, a job that was taken away goes on from its checkpoint.
    """
    try:
        import submitit
    except ImportError as error:
        raise MissingExtra("the executor slurm needs submitit: pip install 'jaxgbg[slurm]'") from (
            error
        )
    executor = submitit.AutoExecutor(settings.out / "slurm", cluster=settings.address)
    given = settings.resources
    optional = {
        "gpus_per_node": given.gpus or None,
        "mem_gb": given.job_memory_gb,
        "slurm_partition": given.partition,
        "slurm_account": given.account,
    }
    executor.update_parameters(
        slurm_array_parallelism=settings.workers,
        timeout_min=given.minutes,
        cpus_per_task=given.cpus,
        **{name: value for name, value in optional.items() if value is not None},
    )
    out, every, until = str(settings.out.resolve()), settings.checkpoint_every, settings.until
    with executor.batch():
        jobs = [
            executor.submit(run_unit, as_text(unit.runs), out, every, until, given.cpus)
            for unit in units
        ]
    failures = []
    for job, unit in zip(jobs, units, strict=True):
        try:
            job.result()
            report(unit)
        except Exception as error:
            failures.append(Failure(unit, line(error)))
    return failures


EXECUTORS: dict[str, Callable[[Sequence[Unit], ExecutorSettings, Report], list[Failure]]] = {
    "inline": inline,
    "processes": processes,
    "ray": by_ray,
    "slurm": by_slurm,
}
"""Name -> what does the units given and returns those that failed."""
