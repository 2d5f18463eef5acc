"""What the device gives by itself: memory in order, and single rows read and added to at random."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_ROUNDS = 8
SECTOR = 32
"""Bytes that a GPU fetches for one row of a table, however short that is."""


def raw_rates(
    scale: float, seconds: float, skip: Callable[[dict[str, Any]], bool]
) -> Iterator[dict[str, Any]]:
    """GB/s of a copy, reads and writes counted; rows/s of look-ups and of additions by table.

    Tables are those of Nim3P to 2048: whether one fits a cache decides. `scale` below 1 makes them
    and the calls smaller. Those to `skip`, told by "what" and "bytes", are left out.
    """
    size = max(2**12, round(2**28 * min(1.0, scale)))
    about: dict[str, Any] = {"what": "copy", "bytes": 4 * size}
    if not skip(about):
        copied = _timed(_copy, size, seconds)
        yield {**about, "gb_per_s": 8 * size * _ROUNDS * copied / 1e9}
    for megabytes, rows in ((37, 2**24), (4, 2**24), (182, 2**24), (1024, 2**24), (0.001, 2**20)):
        # Additions to the smallest table meet each other all the time.
        rows = max(2**10, round(rows * min(1.0, scale)))
        weights = max(64, round(megabytes * 250_000 * min(1.0, scale)))
        for what, function in (("look up", _look_up), ("add", _add)):
            about = {"what": what, "bytes": 4 * weights}
            if not skip(about):
                rate = rows * _ROUNDS * _timed(partial(function, rows), weights, seconds)
                yield {**about, "rows_per_s": round(rate)}


def _timed(
    function: Callable[..., tuple[jax.Array, jax.Array]], weights: int, seconds: float
) -> float:
    """Calls a second on a table of so many weights, for about `seconds` and at least one."""
    run = jax.jit(function, donate_argnums=0)
    table, seed = jax.block_until_ready(run(jnp.zeros(weights, jnp.float32), np.uint32(1)))
    calls, start = 0, time.perf_counter()
    while not calls or time.perf_counter() - start < seconds:
        table, seed = jax.block_until_ready(run(table, seed))
        calls += 1
    return calls / (time.perf_counter() - start)


def _copy(table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.lax.fori_loop(0, _ROUNDS, lambda _, old: old + 1, table), seed


def _indices(rows: int, weights: int, seed: jax.Array) -> jax.Array:
    place = jnp.arange(rows, dtype=jnp.uint32) * np.uint32(0x9E3779B9) + seed
    mixed = (place ^ (place >> 15)) * np.uint32(0x85EBCA6B)
    return ((mixed ^ (mixed >> 13)) % np.uint32(weights)).astype(jnp.int32)


def _look_up(rows: int, table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    def again(_: int, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        seed, total = carry
        index = _indices(rows, len(table), seed)
        found = table.at[index].get(mode="promise_in_bounds").sum()
        return seed * np.uint32(1664525) + np.uint32(1013904223), total + found

    seed, total = jax.lax.fori_loop(0, _ROUNDS, again, (seed, jnp.float32(0)))
    return table.at[0].add(total), seed


def _add(rows: int, table: jax.Array, seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    def again(_: int, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        table, seed = carry
        index = _indices(rows, len(table), seed)
        table = table.at[index].add(jnp.float32(1), mode="promise_in_bounds")
        return table, seed * np.uint32(1664525) + np.uint32(1013904223)

    return jax.lax.fori_loop(0, _ROUNDS, again, (table, seed))
