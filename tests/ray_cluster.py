"""A Ray cluster of two machines in this one, of which a test takes one away."""

import contextlib
from collections.abc import Callable, Iterator

import pytest


@contextlib.contextmanager
def two_machines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Connect to the cluster; yields a call that kills one of its machines."""
    # Ray gives a machine 30 s to start, which is too little where others keep the cores busy.
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        machine, _ = (cluster.add_node(num_cpus=1) for _ in range(2))
        ray.init(address=cluster.address, log_to_driver=False)
        yield lambda: cluster.remove_node(machine, allow_graceful=False)
    finally:
        ray.shutdown()
        cluster.shutdown()
