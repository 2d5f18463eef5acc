"""A worker of a sweep: the runs of one unit, in a process of their own.

python -m jaxgbg.sweeps.worker OUT CHECKPOINT-EVERY CORE < configs.json
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxgbg.training.config import Config

# A worker that was lost may take this long to let go of its folder.
_PATIENCE_SECONDS = 120.0


def as_text(configs: Sequence["Config"]) -> str:
    """The configs of a unit as JSON."""
    return json.dumps([config.as_json() for config in configs])


def run_unit(configs: str, out: str, checkpoint_every: float) -> None:
    """Do the runs of one unit, given as JSON, on one device, unless they are done."""
    # In a thread the signals stay with whoever runs this worker.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_run, configs, out, checkpoint_every).result()


def _run(configs: str, out: str, checkpoint_every: float) -> None:
    from jaxgbg.training.config import Config
    from jaxgbg.training.devices import prepare_jax
    from jaxgbg.training.execution import run_together
    from jaxgbg.training.store import Busy

    # Where this process has used JAX before, it stays as it is.
    with contextlib.suppress(RuntimeError):
        prepare_jax(devices=1)
    read = [Config.from_json(fields) for fields in json.loads(configs)]
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            run_together(read, out, checkpoint_every=checkpoint_every)
            return
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(1.0)


def main() -> None:
    """The worker as a process: one core, one device, stopped by SIGTERM with a checkpoint."""
    out, every, core = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    try:
        _run(sys.stdin.read(), out, float(every))
    except (ValueError, OSError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
