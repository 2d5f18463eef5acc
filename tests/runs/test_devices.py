"""Lanes shared out over devices, and builds of JAX with known faults."""

import json
import os
import subprocess
import sys

import pytest

from jaxgbg.runs.devices import known_fault

PROGRAM = """
import json, sys
from jaxgbg.runs.devices import prepare_jax
prepare_jax(devices=int(sys.argv[1]))
import jax, numpy as np
from jaxgbg import preset
from jaxgbg.runs import Training
from jaxgbg.runs.storage.checkpoints import checksum
settings = dict(episodes=1_000, eval_every=1_000, batch=16, averaging=sys.argv[3])
run = preset(sys.argv[2], seeds=(0, 1, 2), **settings)
training = Training(run)
scores = [one.score for one in training.evaluations()]
sums = [checksum([leaf]) for leaf in training.leaves()]
print(json.dumps([training.placement.mesh.size, scores, sums]))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize(("game", "averaging"), [("tictactoe", "none"), ("nim3p", "tail")])
def test_four_devices_train_the_same_as_one_bit_for_bit(game, averaging):
    # Six lanes: with four devices two places are filled up with lanes that stand still.
    found = []
    for devices in (1, 4):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(devices), game, averaging],
            capture_output=True, text=True, check=False, env=dict(os.environ),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    (size, *results), (larger, *others) = found
    assert (size, larger) == (1, 4)
    assert others == results


@pytest.mark.parametrize(
    ("version", "platform", "flags", "warned"),
    [
        ("0.10.2", "gpu", "", True),
        ("0.11.0", "cuda", "--xla_gpu_foo", True),
        ("0.10.2", "cpu", "", False),
        ("0.12.0", "gpu", "", False),
        ("0.10.2", "gpu", "-nvptx-allow-ftz-atomics", False),
    ],
)
def test_slow_builds_are_named_on_a_gpu(version, platform, flags, warned):
    warning = known_fault(version, platform, flags)
    assert (warning is not None) == warned
    assert warning is None or ("update jaxlib" in warning and version in warning)
