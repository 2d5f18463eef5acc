"""A sweep on a Ray cluster that loses a machine: complete, and the same bytes as undisturbed."""

import os
import threading
import time

import pytest

from jaxgbg.sweeps import EXECUTORS
from jaxgbg.sweeps.executors import ExecutorSettings
from jaxgbg.sweeps.spec import units
from tests.ray_cluster import two_machines
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
    wanted = units(FIELDS)
    assert len(wanted) == 2
    settings = ExecutorSettings(tmp_path / "inline", 60.0, 1)
    assert EXECUTORS["inline"](wanted, settings, lambda _: None) == []

    out = tmp_path / "ray"
    with two_machines(monkeypatch) as lose_a_machine:
        done_by_then = []

        def lose_it_in_time() -> None:
            # Both units have begun, each on a machine of its own.
            while len(list(out.glob("*/provenance.json"))) < 2:
                time.sleep(0.05)
            done_by_then.append(len(list(out.glob("*/summary.json"))))
            lose_a_machine()

        # A sweep that fails may begin no second unit: nobody waits for it then.
        watcher = threading.Thread(target=lose_it_in_time, daemon=True)
        watcher.start()
        done: list = []
        failures = EXECUTORS["ray"](wanted, ExecutorSettings(out, 0.5, 2), done.append)
        watcher.join()
        assert failures == []
        assert len(done) == 2
        # The machine was lost before its unit was done.
        assert done_by_then[0] < 2
    assert results(out, wanted) == results(tmp_path / "inline", wanted)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
