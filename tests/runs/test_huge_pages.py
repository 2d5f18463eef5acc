"""Large tables on huge pages, where Linux has them."""

import ctypes
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.runs import huge_pages
from jaxgbg.runs.huge_pages import PAGE, move_to_huge_pages

_SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_COLLAPSE = 25


def on_huge_pages():
    """Bytes of this process that lie on huge pages."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("AnonHugePages"))


def collapses():
    """Whether this kernel makes huge pages at once (from 6.1 on), and is allowed to."""
    if not _SWITCH.exists() or "[never]" in _SWITCH.read_text(encoding="ascii"):
        return False
    return ctypes.CDLL(None).madvise(None, ctypes.c_size_t(0), _COLLAPSE) == 0


@pytest.mark.skipif(not collapses(), reason="this kernel makes no huge pages at once")
def test_a_large_array_is_moved_as_it_stands():
    array = jnp.arange(8 * PAGE // 4, dtype=jnp.int32) + 0
    before = on_huge_pages()
    move_to_huge_pages({"table": array, "key": jax.random.key(0), "small": jnp.zeros(3)})
    # Between them the memory has at least seven whole pages.
    assert on_huge_pages() - before >= 7 * PAGE
    np.testing.assert_array_equal(array, np.arange(8 * PAGE // 4))


def test_a_system_without_them_is_left_alone(monkeypatch):
    monkeypatch.setattr(huge_pages, "_madvise", lambda: None)
    move_to_huge_pages(jnp.zeros(PAGE))
    # A kernel that refuses is asked no more of that array.
    calls = []
    monkeypatch.setattr(huge_pages, "_madvise", lambda: lambda *args: calls.append(args) or -1)
    move_to_huge_pages(jnp.zeros(PAGE))
    assert len(calls) == 1


PROGRAM = """
from tests.runs.test_huge_pages import on_huge_pages
from jaxgbg import preset
from jaxgbg.runs import Training
run = preset("connectfour", seeds=(0,), variants=("farl",), episodes=64, eval_every=64,
             opponents=())
training = Training(run)
list(training.rounds())
print(on_huge_pages() / sum(leaf.nbytes for leaf in training.groups[0].params))
"""


@pytest.mark.slow
@pytest.mark.skipif(not collapses(), reason="this kernel makes no huge pages at once")
def test_a_training_has_its_tables_there():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.9
