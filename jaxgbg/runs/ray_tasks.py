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
# What a node calls its resources, and the option that asks for them.
_RESOURCES = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
_ONE_CPU: Mapping[str, Any] = {"num_cpus": 1}


def on_ray(
    work: Callable[..., _T],
    tasks: Sequence[tuple[object, ...]],
    address: str | None,
    options: Mapping[str, Any] = _ONE_CPU,
) -> Iterator[tuple[int, _T | Exception]]:
    """Yield the number of each task, and the result of `work` for its arguments, or the exception.

    They come in the order in which they end. A task whose worker was lost is started up to `TRIES`
    times in all. `options` are Ray's options of each task, its resources. Without `address` Ray is
    started on this machine. Closing the iterator stops the tasks. Raises MissingExtra without Ray,
    and ValueError if no cluster answers at `address` or no node has the resources of a task.
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
    _check_resources([node["Resources"] for node in ray.nodes() if node["Alive"]], options)
    task = ray.remote(**options, max_retries=TRIES - 1)(work)
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


def _check_resources(nodes: Sequence[Mapping[str, float]], options: Mapping[str, float]) -> None:
    """Raise ValueError if no node has all that a task needs: Ray would wait forever."""

    def text(resources: Mapping[str, float]) -> str:
        cpus, gpus, memory = (resources.get(name, 0) for name in _RESOURCES)
        return f"{cpus:g} CPUs, {gpus:g} GPUs and {memory / 1e9:.4g} GB"

    needed = {name: options.get(option, 0) for name, option in _RESOURCES.items()}
    if not any(all(node.get(name, 0) >= needed[name] for name in needed) for node in nodes):
        each = "; ".join(dict.fromkeys(map(text, nodes)))
        raise ValueError(
            f"each unit asks for {text(needed)}, and no node of the Ray cluster has as much: {each}"
        )


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
