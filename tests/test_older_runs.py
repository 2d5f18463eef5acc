"""Runs and agents of the oldest supported versions are loaded by the versions that run this test.

JAXGBG_OLDEST names the Python of the environment that writes them; `make test-older-runs` sets it.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import jaxgbg as package

ROOT = Path(__file__).resolve().parents[1]
OLDEST = os.environ.get("JAXGBG_OLDEST")
pytestmark = pytest.mark.skipif(
    OLDEST is None, reason="JAXGBG_OLDEST is not set: make test-older-runs sets it"
)

# One finished run, and one of each kind of value function that stops after its first evaluation.
RUNS = {
    "finished": ("nim", {}),
    "ntuple": ("nim", {"learner": "sarsa"}),
    "mlp": ("tictactoe", {"value": "mlp"}),
}
SETTINGS = {"seeds": (0, 1), "episodes": 600, "eval_every": 200}
STOPPED = ("ntuple", "mlp")
WRITE = f"""
import json, sys
from pathlib import Path
import jax, jaxgbg

def stop(result):
    raise jaxgbg.StopTraining("kept for newer versions")

out = Path(sys.argv[1])
for name, (game, changes) in {RUNS!r}.items():
    run = jaxgbg.preset(game, **{SETTINGS!r}, **changes)
    jaxgbg.train(run, out / name, callbacks=[stop] if name in {STOPPED!r} else [])
(path,) = out.glob("finished/*/agents/seed0-farl.agent")
agent = jaxgbg.load(path)
values = [float(each) for each in agent.action_values(agent.game.init(None))]
print(json.dumps({{"jax": jax.__version__, "values": values}}))
"""


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """(folder of the runs, what the oldest versions printed about them)."""
    folder = tmp_path_factory.mktemp("older")
    settings = ("JAX", "XLA")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    done = subprocess.run(
        [ROOT / str(OLDEST), "-W", "error::DeprecationWarning:jaxgbg", "-c", WRITE, str(folder)],
        env=kept | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def only_run(folder: Path) -> Path:
    (config,) = folder.glob("*/config.json")
    return config.parent


def test_an_agent_values_moves_as_it_did(older):
    folder, said = older
    agent = package.load(only_run(folder / "finished") / "agents" / "seed0-farl.agent")
    values = agent.action_values(agent.game.init(None))
    np.testing.assert_allclose(values, said["values"], rtol=1e-5, atol=1e-6)


def test_a_finished_run_is_evaluated_shown_and_reported(older, jaxgbg):
    folder, _ = older
    run = only_run(folder / "finished")
    for command in (
        ["eval", run],
        ["results", folder],
        ["report", folder],
        ["play", run, "--export", folder / "game.html"],
    ):
        code, _, err = jaxgbg(*command)
        assert code == 0, err
        assert "damaged" not in err


@pytest.mark.parametrize("name", STOPPED)
def test_a_stopped_run_goes_on(older, name):
    folder, _ = older
    run = only_run(folder / name)
    begun = (run / "metrics.jsonl").read_bytes()
    assert begun
    assert not (run / "summary.json").exists()
    game, changes = RUNS[name]
    finished = package.train(package.preset(game, **SETTINGS, **changes), folder / name)
    assert finished.path == run
    assert (run / "summary.json").exists()
    # What was evaluated before is not evaluated again.
    assert (run / "metrics.jsonl").read_bytes().startswith(begun)
