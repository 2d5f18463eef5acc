"""What JAX and XLA do not document: where it is used, and whether it still is what we take it for.

A test that fails here after an update of JAX says in its message what to change.
"""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg import jaxprs, xla
from jaxgbg.runs import huge_pages
from tests import compiling, internals

ROOT = Path(__file__).resolve().parents[1]
HERE = "tests/test_internals.py"
HOMES = {
    r"\bjax\._src\b": {
        "jaxgbg/runs/compilation.py",
        "tests/internals.py",
        "tests/runs/test_compilation.py",
    },
    r"\bjax\.(core|extend|interpreters)\b": {"jaxgbg/jaxprs.py"},
    # The description of a device that the machine lacks; its script says what it needs.
    r"\bjax\.experimental\b": {"experiments/gpu/programs.py"},
    r"(equation|eqn)\.params\b": {
        "jaxgbg/jaxprs.py",
        "jaxgbg/web/export/compiler.py",
        "tests/test_jaxprs.py",
    },
    r"\bjax\.config\.values\b": {"tests/internals.py"},
    r"\bunsafe_buffer_pointer\b": {"jaxgbg/runs/huge_pages.py"},
    r"\._cache_size\b|\bget_compile_options\b": {"tests/internals.py"},
    r"copy\\\(|\bxla_cpu_small_call\b": {"tests/internals.py"},
    # All else is an error in tests. Ray's and wandb's own warnings, a cache entry that cannot be
    # kept, and what Optuna calls experimental (no deprecation is hidden).
    r"filterwarnings\b|\bsimplefilter\(": {
        "jaxgbg/sweeps/adaptive.py",
        "jaxgbg/runs/devices.py",
        "tests/cli/test_loggers.py",
        "tests/conftest.py",
        "tests/results/test_scheduler.py",
        "tests/sweeps/test_ray.py",
    },
    r"\bxla_(cpu|gpu|backend)_": {
        "jaxgbg/xla.py",
        "tests/compiling.py",
        "tests/test_xla.py",
        "tests/internals.py",
        "tests/learners/test_signatures.py",
        "tests/runs/test_devices.py",
        "experiments/table1/profile.py",
    },
}
"""Files in which each of them may stand."""
FILES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in ("jaxgbg", "tests", "experiments", "notebooks", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


@pytest.mark.parametrize("pattern", HOMES)
def test_what_is_not_documented_stands_in_its_home_alone(pattern):
    found = {name for name, text in FILES.items() if re.search(pattern, text)} - {HERE}
    message = f"{found - HOMES[pattern]}: use {pattern} through {HOMES[pattern]} or add it there"
    assert found <= HOMES[pattern], message
    assert found == HOMES[pattern], f"{pattern} is gone from a home: take it off this list"


@pytest.mark.parametrize("options", [xla.fast_compile_options, xla.training_compile_options])
def test_xla_knows_our_compiler_options(options):
    assert options(), (
        f"XLA lacks the option of jaxgbg.xla.{options.__name__}, so that it does nothing: look for"
        " its successor in XLA's flags, or remove it"
    )


def test_an_option_that_xla_lacks_is_left_out():
    assert xla.compiler_option("xla_cpu_is_not_known", 1) == {}


def test_tests_compile_as_for_users_where_they_say_so(full_optimization):
    before = full_optimization()
    jax.jit(lambda x: x * 3 + 1)(np.float32(2))
    assert full_optimization() > before, (
        "JAX no longer takes its compiler options from jax._src.compiler.get_compile_options: adapt"
        " compile_with in tests/internals.py"
    )
    for name, value in compiling.FULL_OPTIMISATION.items():
        assert xla.compiler_option(name, value), f"XLA lacks {name}: adapt tests/compiling.py"


def test_loops_become_one_kernel():
    loop = jax.jit(lambda x, n: jax.lax.fori_loop(0, n, lambda _, y: y * y[::-1] + 1, x))
    compiled = loop.lower(jnp.zeros(4096), jnp.int32(3)).compile()
    assert internals.is_one_kernel(compiled), (
        "XLA ignores the flag of jaxgbg.xla.ask_for_whole_loops, or prints it otherwise: look"
        " for the flag's successor, then at is_one_kernel in tests/internals.py"
    )


def test_copies_are_found_in_the_text_of_a_program():
    both = jax.jit(lambda x: (x.at[0].set(1), x.at[1].add(x[0])))
    copied = internals.copied_sizes(both.lower(jnp.zeros(4096)).compile(), "f32")
    assert 4096 in copied, (
        "XLA prints copies otherwise: adapt copied_sizes in tests/internals.py and copies in"
        " experiments/gpu/programs.py, or no test sees a copy of a table"
    )


def test_memory_of_a_program_is_told():
    compiled = jax.jit(lambda x: jnp.sort(x)[::-1] + x).lower(jnp.zeros(4096)).compile()
    memory = compiled.memory_analysis()
    sizes = (memory.argument_size_in_bytes, memory.output_size_in_bytes)
    assert sizes == (4 * 4096, 4 * 4096), (
        "memory_analysis has changed: adapt cli/benchmarks/training.py and games/perft.py"
    )
    assert memory.temp_size_in_bytes >= 0


def test_compilations_are_counted():
    function = jax.jit(lambda x: x + 1)
    for argument in (np.float32(1), np.float32(2), np.int32(1)):
        function(argument)
    assert internals.times_compiled(function) == 2, "adapt times_compiled in tests/internals.py"


def test_the_address_of_an_array_is_that_of_its_numbers():
    array = jnp.arange(huge_pages.PAGE, dtype=jnp.int32) + 0
    first, end = huge_pages.whole_pages(array)
    assert end - first >= 3 * huge_pages.PAGE, (
        "JAX no longer tells the address of an array by unsafe_buffer_pointer: tables are not moved"
        " to huge pages; adapt runs/huge_pages.py"
    )


def test_an_array_without_an_address_is_left_alone(monkeypatch):
    calls = []
    monkeypatch.setattr(huge_pages, "_madvise", lambda: lambda *args: calls.append(args) or 0)
    shard = type("Shard", (), {"nbytes": huge_pages.PAGE, "device": jax.devices()[0]})()
    shard.data = type("Data", (), {"nbytes": huge_pages.PAGE})()
    leaf = type("Leaf", (), {"nbytes": huge_pages.PAGE, "addressable_shards": [shard]})()
    huge_pages.move_to_huge_pages([leaf])
    assert calls == []


def test_the_cache_is_off_and_then_as_before():
    before = jax.config.jax_enable_compilation_cache
    with xla.without_compilation_cache():
        assert jax.config.jax_enable_compilation_cache is False
    assert jax.config.jax_enable_compilation_cache == before


def test_traced_values_are_told_from_known_ones():
    told = []
    jax.jit(lambda x: told.append(jaxprs.is_traced(1, x)) or x)(1.0)
    assert told == [True], "adapt is_traced in jaxgbg/jaxprs.py: JAX has another class of tracers"
    assert not jaxprs.is_traced(1, np.zeros(2), jnp.zeros(2))


def test_accelerators_are_seen_before_jax_starts(monkeypatch):
    """JAX finds its plug-ins by this group of entry points."""
    monkeypatch.setattr(xla, "entry_points", lambda group: [group])
    monkeypatch.setenv("XLA_FLAGS", "")
    xla.ask_for_whole_loops()
    assert not xla.whole_loops()
