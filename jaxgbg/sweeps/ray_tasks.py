"""Tasks on a Ray cluster: each on whichever machine is free, and again where one was lost."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxgbg.players import MissingExtra


def on_ray(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    address: str | None,
    tries: int,
) -> Iterator[tuple[int, Any]]:
    """The number of each task, and what `work` returns for its arguments, or the exception.

    They come as they end. A task whose worker was lost is begun `tries` times in all. Without
    `address` Ray is started on this machine. Who stops listening stops the tasks. Raises
    MissingExtra without Ray, ConnectionError where no cluster answers.
    """
    # No statistics of anybody's use leave the machine.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("the executor ray needs Ray: pip install 'jaxgbg[ray]'") from error
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=tries - 1)(work)
    pending = {task.remote(*arguments): number for number, arguments in enumerate(tasks)}
    try:
        while pending:
            (done,), _ = ray.wait(list(pending), num_returns=1)
            number = pending.pop(done)
            try:
                result = ray.get(done)
            except Exception as error:
                result = error
            yield number, result
    finally:
        for each in pending:
            ray.cancel(each)
