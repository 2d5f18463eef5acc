"""A worker of a sweep: the runs of one unit, in a process of their own.

python -m jaxgbg.sweeps.worker OUT CHECKPOINT-EVERY UNTIL CORE < runs.json
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.extensions import import_modules, imported_modules
from jaxgbg.system import pin_to_core

if TYPE_CHECKING:
    from jaxgbg.runs.loop import Result
    from jaxgbg.runs.run import Run

OnEvaluation = Callable[["Run", "Result"], object]
"""A callback that receives each evaluation: (run, result)."""

# A worker that was lost may take this long to let go of its folder, another sweep to finish it.
_PATIENCE_SECONDS = 120.0


def as_text(runs: Sequence["Run"]) -> str:
    """The runs of a unit as JSON, and the modules that a worker must import to know their games."""
    content = {"imports": imported_modules(), "runs": [run.plain() for run in runs]}
    return json.dumps(content)


def run_unit(runs: str, out: str, checkpoint_every: float, until: float, cores: int = 1) -> None:
    """Do the runs of one unit, given as JSON, unless they are done: on all GPUs that it has, or on
    as many CPU devices as it has `cores`.
    """
    # In a thread, so that signals stay with the process that runs this worker.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_run, runs, out, checkpoint_every, until, cores).result()


def _run(runs: str, out: str, checkpoint_every: float, until: float, cores: int = 1) -> None:
    from jaxgbg.games.backend import check_backend
    from jaxgbg.runs.devices import prepare_jax
    from jaxgbg.runs.run import Run

    # Where this process has used JAX before, it stays as it is.
    with contextlib.suppress(RuntimeError):
        prepare_jax(devices=cores)
    check_backend()
    content = json.loads(runs)
    import_modules(content["imports"])
    read = [Run.read(fields) for fields in content["runs"]]
    train_when_free(read, out, checkpoint_every, until)


def train_when_free(
    runs: Sequence["Run"],
    out: str | Path,
    checkpoint_every: float,
    until: float = 1.0,
    on_evaluation: OnEvaluation = lambda _run, _result: None,
) -> None:
    """Do the runs of one unit; where another process is at work in a folder, wait for it a while.

    They stop early at the first evaluation after the share `until` of their episodes. Raises Busy
    after two minutes.
    """
    from jaxgbg.runs import Result, StopTraining
    from jaxgbg.runs.execution import train_together
    from jaxgbg.runs.storage.locks import Busy

    def report(run: "Run", result: Result) -> None:
        on_evaluation(run, result)
        if result.episodes >= until * run.schedule.episodes:
            raise StopTraining(f"after {result.episodes:,} episodes, to be compared")

    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            train_together(runs, out, on_evaluation=report, checkpoint_every=checkpoint_every)
            return
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(1.0)


def main() -> None:
    """The worker as a process: one core, one device, stopped by SIGTERM with a checkpoint."""
    out, every, until, core = sys.argv[1:]
    pin_to_core(int(core))
    from jaxgbg.runs.compilation import visible_compilation
    from jaxgbg.runs.stopping import Stopped

    try:
        # Without its lines: the last line of a worker says why it has failed.
        with visible_compilation(shown=False):
            _run(sys.stdin.read(), out, float(every), float(until))
    except Stopped as stop:
        sys.exit(128 + stop.signal_number)
    except (ValueError, OSError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
