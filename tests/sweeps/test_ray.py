"""A sweep on a Ray cluster that loses a machine: complete, and the same bytes as undisturbed."""

import os
import threading
import time

import pytest

from jaxgbg.sweeps import EXECUTORS
from jaxgbg.sweeps.executors import ExecutorSettings
from jaxgbg.sweeps.spec import units
from tests.sweeps.test_executors import results

FIELDS = {
    "game": "tictactoe",
    "seeds": "0:2",
    "chunk": 1,
    "lanes": 1,
    "settings": {
        "episodes": 150_000,
        "eval_every": 50_000,
        "opponents": ["random"],
        "variants": "farl",
        "batch": 4,
    },
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own; they are not ours to mend.
def test_a_cluster_that_loses_a_machine_finishes_its_sweep(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    wanted = units(FIELDS)
    assert len(wanted) == 2
    settings = ExecutorSettings(tmp_path / "inline", 60.0, 1)
    assert EXECUTORS["inline"](wanted, settings, lambda _: None) == []

    out = tmp_path / "ray"
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        lost = []

        def lose_a_machine() -> None:
            # Both units have begun, each on a machine of its own.
            while len(list(out.glob("*/provenance.json"))) < 2:
                time.sleep(0.05)
            cluster.remove_node(nodes[0], allow_graceful=False)
            done = list(out.glob("*/summary.json"))
            lost.append(len(done))

        watcher = threading.Thread(target=lose_a_machine)
        watcher.start()
        done: list = []
        failures = EXECUTORS["ray"](wanted, ExecutorSettings(out, 0.5, 2), done.append)
        watcher.join()
        assert failures == []
        assert len(done) == 2
        # The machine was lost before its unit was done.
        assert lost[0] < 2
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert results(out, wanted) == results(tmp_path / "inline", wanted)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
