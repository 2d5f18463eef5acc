"""The core stands on jax, flax, optax, chex and numpy alone."""

import subprocess
import sys

_TRAIN_WITHOUT_EXTRAS = """
import sys
for name in ("tyro", "rich", "matplotlib", "jinja2", "bitbully", "pyspiel", "pytest"):
    sys.modules[name] = None
import jaxgbg
folder = jaxgbg.train(jaxgbg.preset("nim", seeds=(0,), episodes=200, eval_every=100), sys.argv[1])
agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
print(jaxgbg.evaluate(agent, "random").shape)
"""


def test_training_needs_no_package_beyond_the_core(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _TRAIN_WITHOUT_EXTRAS, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(2, 40)"
