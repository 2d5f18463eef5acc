"""Tasks on a Ray cluster: each on whichever machine is free, and again where one was lost."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from jaxgbg.players import MissingExtra

_T = TypeVar("_T")

TRIES = 4
"""How often a unit is begun whose worker was lost."""
_PATIENCE_SECONDS = 10.0
_ONE_CPU: Mapping[str, Any] = {"num_cpus": 1}


def on_ray(
    work: Callable[..., _T],
    tasks: Sequence[tuple[object, ...]],
    address: str | None,
    tries: int,
    options: Mapping[str, Any] = _ONE_CPU,
) -> Iterator[tuple[int, _T | Exception]]:
    """Yield the number of each task, and the result of `work` for its arguments, or the exception.

    They come in the order in which they end. A task whose worker was lost is started up to `tries`
    times in all. `options` are Ray's options of each task, its resources. Without `address` Ray is
    started on this machine. Closing the iterator stops the tasks. Raises MissingExtra without Ray,
    and ValueError if no cluster answers at `address` or it has too few GPUs for a task.
    """
    if not tasks:
        return
    # Send no usage statistics.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("the executor ray needs Ray: pip install 'jaxgbg[ray]'") from error
    if not ray.is_initialized():
        _reach(address)
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    _check_resources(ray.cluster_resources(), options)
    task = ray.remote(**options, max_retries=tries - 1)(work)
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


def _check_resources(cluster: Mapping[str, float], options: Mapping[str, float]) -> None:
    """Raise ValueError if the cluster has no GPU that a task needs: Ray would wait forever."""
    needed, has = options.get("num_gpus", 0), cluster.get("GPU", 0)
    if needed > has:
        raise ValueError(f"each unit asks for {needed:g} GPUs and the Ray cluster has {has:g}")


def _reach(address: str | None) -> None:
    """Raise ValueError if no server listens at host:port; Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ValueError(f"no Ray cluster answers at {address}: {error}") from error


def line(error: Exception) -> str:
    """The message of a worker's error, in one line: the last one of its traceback."""
    lines = [text.strip() for text in str(error).splitlines() if text.strip()]
    return lines[-1] if lines else type(error).__name__
