"""Boolean masks as words of bits: find the n-th set bit, and visit all True entries in chunks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree
from jaxgbg.values.indices import look_up
from jaxgbg.xla import materialize

WORD = 32
"""Bits of a word."""
# The name of an axis of lanes, under which they are mapped together.
LANE = "lane"


def visit_pairs(
    mask: jax.Array, visit: Callable[[jax.Array, jax.Array, jax.Array], PyTree], chunk: int
) -> PyTree:
    """Return the results of `visit` for the True entries of bool[B, M]: leaves [B, M, ...].

    They are zero for all other entries. `visit(row int32[P], column int32[P], real bool[P])`
    returns leaves [P, ...]. A loop visits P = `chunk` entries at a time. In the last chunk, entries
    beyond the last one are not `real`, and their results are dropped.
    """
    # Traced once for its shapes and for the loop: visits within visits would double at each level.
    visit = jax.jit(visit, inline=True)
    batch, columns = mask.shape
    words = jax.vmap(pack)(mask)
    counts = jax.lax.population_count(words).sum(1).astype(jnp.int32)
    ends = jnp.cumsum(counts)
    last = most_of_lanes(ends[-1])

    def some(carry: tuple[jax.Array, PyTree]) -> tuple[jax.Array, PyTree]:
        first, results = carry
        number = first + jnp.arange(chunk, dtype=jnp.int32)
        row = jnp.minimum(_passed(ends, number), batch - 1)
        rank = number - look_up(ends - counts, row)
        # Otherwise XLA computes the pair again for every array that uses it.
        row, column = materialize(row, jax.vmap(nth_bit)(words[row], rank))
        real = number < ends[-1]
        visited = visit(row, column, real)
        place = jnp.where(real, row * columns + column, batch * columns)
        results = jax.tree.map(
            lambda all_, new: all_.at[place].set(new, mode="drop"), results, visited
        )
        return first + chunk, results

    numbers = jax.ShapeDtypeStruct((chunk,), jnp.int32)
    shapes = jax.eval_shape(visit, numbers, numbers, jax.ShapeDtypeStruct((chunk,), bool))
    nothing = jax.tree.map(
        lambda shape: jnp.zeros((batch * columns, *shape.shape[1:]), shape.dtype), shapes
    )
    start = (jnp.int32(0), nothing)
    _, results = jax.lax.while_loop(lambda carry: carry[0] < last, some, start)
    return jax.tree.map(lambda leaf: leaf.reshape(batch, columns, *leaf.shape[1:]), results)


def _passed(ends: jax.Array, number: jax.Array) -> jax.Array:
    """int32[P]: how many of `ends` int32[B], in rising order, are at most each `number` int32[P].

    By halving, which is faster than to compare with all of them; `jnp.searchsorted` is as fast, but
    a loop to whoever compiles the trace.
    """
    steps = [1 << bit for bit in reversed(range(ends.size.bit_length()))]
    padded = jnp.pad(ends, (0, 2 * steps[0] - ends.size), constant_values=np.iinfo(np.int32).max)
    passed = jnp.zeros_like(number)
    for step in steps:
        passed += jnp.where(look_up(padded, passed + step - 1) <= number, step, 0)
    return passed


def most_of_lanes(count: jax.Array) -> jax.Array:
    """The greatest `count` int32[] of all lanes, the same number in each of them.

    What a loop ends by: were each lane to end its own, all it carries would be copied every round.
    """
    try:
        return jax.lax.pmax(count, LANE)
    except NameError:
        # Nothing is mapped under that name: there is one.
        return count


def pack(mask: jax.Array) -> jax.Array:
    """uint32[ceil(A / 32)]: the bits of bool[A], lowest first."""
    packed = []
    for first in range(0, mask.shape[-1], WORD):
        part = mask[first : first + WORD]
        packed.append((part.astype(jnp.uint32) << np.arange(part.size, dtype=np.uint32)).sum())
    return jnp.stack(packed)


def nth_bit(words: jax.Array, rank: jax.Array) -> jax.Array:
    """Place int32[] of the set bit before which there are `rank` int32[] others."""
    counts = jax.lax.population_count(words).astype(jnp.int32)
    # Each step compares the untouched `rank` with a running sum. Were `rank` itself reduced step by
    # step, LLVM (jaxlib 0.11 and newer) would take time exponential in the number of words.
    word, place, before, end = words[0], jnp.int32(0), jnp.int32(0), counts[0]
    for number in range(1, words.shape[0]):
        beyond = rank >= end
        word = jnp.where(beyond, words[number], word)
        place = jnp.where(beyond, WORD * number, place)
        before = jnp.where(beyond, end, before)
        end = end + counts[number]
    rank = rank - before
    for width in (16, 8, 4, 2, 1):
        below = jax.lax.population_count(word & jnp.uint32((1 << width) - 1)).astype(jnp.int32)
        beyond = rank >= below
        rank = jnp.where(beyond, rank - below, rank)
        word = jnp.where(beyond, word >> width, word)
        place = place + jnp.where(beyond, width, 0)
    return place
