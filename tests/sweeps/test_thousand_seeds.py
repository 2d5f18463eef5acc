"""1,000 seeds on eight GPUs: the recipe, as far as eight CPU devices can try it."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.placement import LanePlacement
from jaxgbg.sweeps.spec import units
from tests.sweeps.test_executors import results

RECIPE = Path(__file__).parents[2] / "experiments" / "sweeps" / "thousand_seeds.toml"
GPUS, GPU_BYTES = 8, 80e9

# The same cut into units, of a game and budget that eight devices on two cores can do.
TINY = {
    "game": "tictactoe",
    "seeds": "0:16",
    "chunk": 2,
    "lanes": 4,
    "settings": {"episodes": 64, "eval_every": 32, "opponents": ["random"], "batch": 16},
}
IN_ONE_PROCESS = """
import json, sys
from jaxgbg.runs.devices import prepare_jax
prepare_jax(devices=int(sys.argv[3]))
import jax
import jaxgbg
made = jaxgbg.sweep(json.loads(sys.argv[1]), sys.argv[2], progress=False)
assert jax.device_count() == int(sys.argv[3]), jax.devices()
assert not made.failures, made.failures
"""

# Ray counts what it is told to have, so eight GPUs can be tried where there is none. Four tasks run
# at once, because eight processes that import JAX together take minutes of two cores.
ON_RAY = """
import json, os, sys
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
ray.init(num_cpus=4, num_gpus=8, include_dashboard=False, log_to_driver=False)
import jaxgbg
from jaxgbg.sweeps.executors import Resources
made = jaxgbg.sweep(json.loads(sys.argv[1]), sys.argv[2], "ray", resources=Resources(gpus=1))
assert not made.failures, made.failures
ray.shutdown()
"""


def test_the_recipe_is_a_unit_for_each_gpu_that_fits_it():
    fields = tomllib.loads(RECIPE.read_text())
    found = units(fields)
    assert len(found) == GPUS
    assert {unit.lanes for unit in found} == {250}
    assert len({program_of(unit.runs[0]) for unit in found}) == 1
    assert sum(len(run.seeds) for unit in found for run in unit.runs) == 1000
    # Games and what XLA needs in addition to the tables must fit too.
    assert max(unit.memory for unit in found) < 0.75 * GPU_BYTES


def one_process(out: Path, fields: dict, devices: int) -> None:
    arguments = [json.dumps(fields), str(out), str(devices)]
    subprocess.run([sys.executable, "-c", IN_ONE_PROCESS, *arguments], check=True, timeout=900)


@pytest.mark.slow
def test_one_process_lays_all_seeds_out_over_eight_devices(tmp_path):
    # One unit of all lanes, which the devices share, against a unit a device, each in turn.
    together = TINY | {"lanes": 32, "chunk": 16}
    (unit,) = units(together)
    assert unit.lanes == 32
    one_process(tmp_path / "eight", together, 8)
    one_process(tmp_path / "one", together, 1)
    found = results(tmp_path / "eight", [unit])
    assert found == results(tmp_path / "one", [unit])
    assert sum(name.endswith(".agent") for name in found) == 32


@pytest.mark.slow
def test_a_ray_node_of_eight_gpus_does_a_unit_on_each(tmp_path):
    pytest.importorskip("ray")
    # This test is about devices and needs no evaluations.
    unjudged = TINY | {"settings": TINY["settings"] | {"opponents": []}}
    wanted = units(unjudged)
    assert len(wanted) == GPUS
    arguments = [json.dumps(unjudged), str(tmp_path)]
    # In a process of its own: Ray leaves processes behind that it does not wait for.
    subprocess.run([sys.executable, "-c", ON_RAY, *arguments], check=True, timeout=900)
    assert all(unit.finished(tmp_path) for unit in wanted)


def test_eight_devices_share_lanes_equally():
    class Eight:
        size = 8

    placement = LanePlacement(250, 250, Eight())
    live = [placement.live(group).reshape(8, -1).sum(1) for group in range(placement.groups)]
    assert sorted(sum(live)) == [26] + [32] * 7
