"""Rows are added to, and arrays settled, alike by a loop and by a scatter."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg import xla


@pytest.fixture(params=["scatter", "loop"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """How all arrays of these tests are written to."""
    if request.param == "scatter":
        monkeypatch.setattr(xla, "whole_loops", lambda: False)
    # What was traced in one way would be found again in the other, here and in later tests.
    jax.clear_caches()
    yield request.param
    jax.clear_caches()


def program_of(function, *arguments) -> str:
    return str(jax.make_jaxpr(function)(*arguments))


@pytest.mark.parametrize("columns", [(), (3,)])
def test_add_at_adds_as_often_as_a_row_is_named(way, columns):
    random = np.random.default_rng(0)
    table = random.normal(size=(7, *columns)).astype(np.float32)
    # Powers of two, so that no order of the additions is rounded.
    table = np.round(table * 8) / 8
    rows = random.integers(0, 7, (3, 4))
    values = np.float32(2.0) ** random.integers(-3, 3, (3, 4, *columns))
    expected = table.copy()
    np.add.at(expected, rows, values)
    assert ("scatter" in program_of(xla.add_at, table, rows, values)) == (way == "scatter")
    assert np.array_equal(xla.add_at(table, jnp.asarray(rows), values), expected)


@pytest.mark.parametrize("shared", [None, 0, 1, 2])
def test_add_at_of_many_lanes_is_that_of_each(way, shared):
    del way
    random = np.random.default_rng(1)
    parts = [
        jnp.asarray(random.integers(-8, 8, (2, 3, 5, 2)), jnp.float32),
        jnp.asarray(random.integers(0, 5, (2, 3, 4))),
        jnp.asarray(random.integers(-8, 8, (2, 3, 4, 2)), jnp.float32),
    ]
    axes = [0, 0, 0]
    if shared is not None:
        parts[shared], axes[shared] = parts[shared][:, 0], None
    found = jax.jit(jax.vmap(jax.vmap(xla.add_at, axes)))(*parts)
    for outer in range(2):
        for inner in range(3):
            table, rows, values = (
                np.asarray(part[outer] if axis is None else part[outer, inner])
                for part, axis in zip(parts, axes, strict=True)
            )
            expected = table.copy()
            np.add.at(expected, rows, values)
            assert np.array_equal(found[outer, inner], expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float32, bool])
def test_once_changes_nothing(way, dtype):
    random = np.random.default_rng(2)
    array = random.integers(0, 2 if dtype is bool else 100, (4, 3, 2)).astype(dtype)
    one = np.array([5], dtype)

    def settled(array, one):
        return jax.vmap(xla.materialize)(array, jnp.broadcast_to(one, (4, 1)))

    assert ("scatter" in program_of(settled, array, one)) == (way == "scatter")
    found, same = jax.jit(settled)(array, one)
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    assert np.array_equal(same, np.broadcast_to(one, (4, 1)))


def test_more_rows_than_a_few_are_scattered():
    rows = jnp.arange(xla.FEW + 1)
    program = program_of(xla.add_at, jnp.zeros(xla.FEW + 1), rows, rows * 1.0)
    assert "scatter" in program


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1000000000000"),
        ("--xla_dump_to=x", "--xla_dump_to=x --xla_backend_extra_options="),
        ("--xla_backend_extra_options=xla_cpu_optimize_for_size", None),
        ("--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1024", None),
    ],
)
def test_flags_of_the_user_stay(monkeypatch, before, after):
    monkeypatch.setenv("XLA_FLAGS", before)
    monkeypatch.setattr(xla, "entry_points", lambda group: [])
    xla.ask_for_whole_loops()
    flags = xla.os.environ["XLA_FLAGS"]
    assert flags == before if after is None else flags.startswith(after)
    assert xla.whole_loops() == (after is not None)


def test_nothing_is_asked_where_an_accelerator_may_read_it(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setattr(xla, "entry_points", lambda group: ["xla_cuda13"])
    xla.ask_for_whole_loops()
    assert not xla.whole_loops()
