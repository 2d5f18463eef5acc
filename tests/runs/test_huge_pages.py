"""Large tables on huge pages, where Linux has them."""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.runs import huge_pages
from jaxgbg.runs.huge_pages import PAGE, move_to_huge_pages, whole_pages

_SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_COLLAPSE = 25


def on_huge_pages(first=0, end=1 << 64):
    """Bytes on huge pages of this process, in the mappings that touch `first` to `end`."""
    count, inside = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if mapping := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(mapping[1], 16) < end and first < int(mapping[2], 16)
        elif inside and line.startswith("AnonHugePages:"):
            count += int(line.split()[1]) << 10
    return count


@jax.jit
def late():
    """An array that is written only after its computation has run for a while."""
    last = jax.lax.fori_loop(0, 30_000_000, lambda _, x: x * 1664525 + 1013904223, jnp.int32(1))
    return jnp.arange(8 * PAGE // 4, dtype=jnp.int32) + (last == 0)


def collapses():
    """Whether this kernel makes huge pages at once (from 6.1 on), and is allowed to."""
    if not _SWITCH.exists() or "[never]" in _SWITCH.read_text(encoding="ascii"):
        return False
    return ctypes.CDLL(None).madvise(None, ctypes.c_size_t(0), _COLLAPSE) == 0


@pytest.mark.skipif(not collapses(), reason="this kernel makes no huge pages at once")
def test_a_large_array_is_moved_as_it_stands():
    array = late()
    move_to_huge_pages({"table": array, "key": jax.random.key(0), "small": jnp.zeros(3)})
    # Other memory of the process comes and goes: only the pages of this array count.
    first, end = whole_pages(array)
    assert end - first >= 7 * PAGE
    assert on_huge_pages(first, end) == end - first
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
