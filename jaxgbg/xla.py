"""Everything that exists because of XLA: compiler options, and array forms that compile well.

XLA does not guarantee the names of its options: an option that this version lacks is left out.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import numpy as np

from jaxgbg.lazy import jax, jnp, lax

if TYPE_CHECKING:
    from jax.typing import ArrayLike

# Matrix products by Eigen if XLA has both it and YNNPACK on the CPU. The products are small and lie
# in a loop between look-ups in large tables. There YNNPACK takes several times as long (jaxlib
# 0.10.2: 2048 and ConnectFour train 1.7 times as fast without it), although not if timed alone.
_EIGEN = ("xla_cpu_experimental_ynn_fusion_type", "")
_UNOPTIMIZED = ("xla_backend_optimization_level", 0)
_CACHE_SETTING = "jax_enable_compilation_cache"

_OPTIONS = "--xla_backend_extra_options"
# The number of bytes, by default 1024, up to which a loop becomes one kernel on the CPU.
_WHOLE_LOOPS = f"{_OPTIONS}=xla_cpu_small_while_loop_byte_threshold={10**12}"

FEW = 32
"""The number of rows of a table up to which a loop writes them, if loops become one kernel.

With more rows scatters are faster, although a loop with scatters does not become one kernel.
"""

SMALL = 512
"""The number of elements that `materialize` writes one by one at most, in such loops."""

PIECE = 256
"""The number of elements that it writes in each round of such a loop, if there are more."""

_MOST_PLACES = 2**31 - 1


@cache
def compiler_option(name: str, value: int | str) -> dict[str, int | str]:
    """An option of XLA for `jax.jit`; empty if this version has no such option."""
    try:
        jax.jit(jnp.negative, compiler_options={name: value})(np.float32(0))
    except jax.errors.JaxRuntimeError:
        return {}
    return {name: value}


def fast_compile_options() -> dict[str, int | str]:
    """Compiler options for code that runs once: optimize compile time over run time."""
    return compiler_option(*_UNOPTIMIZED)


def training_compile_options() -> dict[str, int | str]:
    """Compiler options for the loop that trains."""
    return compiler_option(*_EIGEN)


@contextlib.contextmanager
def without_compilation_cache() -> Iterator[None]:
    """Compile within this context without the cache on disk."""
    before = getattr(jax.config, _CACHE_SETTING)
    jax.config.update(_CACHE_SETTING, False)
    try:
        yield
    finally:
        jax.config.update(_CACHE_SETTING, before)


def ask_for_whole_loops() -> None:
    """Ask XLA, which must not have started yet, to make one kernel of any loop that can be one.

    Loops with scatters cannot be one kernel, and loops with large matrix products should not
    (`kernel_by_kernel`). A step within a kernel takes no time, while launching kernels takes most
    of the time of a training with one game at a time. Does nothing if the user has set such options
    or JAX has an accelerator.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _OPTIONS not in flags and not entry_points(group="jax_plugins"):
        os.environ["XLA_FLAGS"] = f"{flags} {_WHOLE_LOOPS}".strip()


def whole_loops() -> bool:
    """Whether XLA makes one kernel of loops on this device."""
    return _WHOLE_LOOPS in os.environ.get("XLA_FLAGS", "") and not on_accelerator()


def kernel_by_kernel(array: jax.Array) -> jax.Array:
    """Return the same array by a scatter, so that no loop around it becomes one kernel.

    Within such a kernel XLA computes matrix products by plain loops, which takes up to forty times
    as long as its kernels for them.
    """
    if not whole_loops():
        return array
    first = (0,) * array.ndim
    # XLA would turn a scatter of a single number into a plain write.
    twice = (
        jnp.zeros(2, array.dtype)
        .at[np.arange(2)]
        .set(array[first], mode="promise_in_bounds", unique_indices=True)
    )
    return lax.dynamic_update_slice(array, twice[0].reshape((1,) * array.ndim), first)


def materialize(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Materialize the arrays once; otherwise XLA fuses the computation into every use.

    By default, XLA on the CPU repeats cheap work, however long, in every loop that uses it: the
    work of a whole game in each of its look-ups, that of a whole move in each word of the new
    position. It drops `lax.optimization_barrier` too early to prevent that. It never fuses a
    scatter or a loop into a reader. On an accelerator nothing is done, because there XLA weighs
    repeated work against the kernel that it saves.
    """
    return arrays if on_accelerator() else force_materialize(*arrays)


def force_materialize(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Materialize the arrays in a separate kernel, also on an accelerator."""
    settle = _materializing(whole_loops())
    return tuple(settle(array) for array in arrays)


def on_accelerator() -> bool:
    """Whether JAX computes on a device other than a CPU."""
    return jax.default_backend() != "cpu"


def order_after(array: jax.Array, *others: jax.Array) -> jax.Array:
    """Return the same array of 32-bit numbers, but not before the others are computed.

    Then a write that uses it has no reader that XLA might schedule after the write, for which it
    would copy the overwritten array. The array waits for one number of each of the others, which
    have 32 bits too, and so for everything that XLA computes together with it.
    """
    numbers = [array.reshape(-1), *(other.reshape(-1)[:1] for other in others)]
    bits = [lax.bitcast_convert_type(each, jnp.int32) for each in numbers]
    there = force_materialize(jnp.concatenate(bits))[0][: array.size]
    return lax.bitcast_convert_type(there, array.dtype).reshape(array.shape)


@lru_cache(maxsize=2)
def _materializing(loops: bool) -> Callable[[jax.Array], jax.Array]:
    """`force_materialize` for one array, by a loop or a scatter; traced once for each shape."""

    @jax.custom_batching.custom_vmap
    def settle(array: jax.Array) -> jax.Array:
        flat = array.reshape(-1)
        if flat.size == 1:
            # XLA removes a loop of one round, and a scatter of one number.
            return traced(jnp.broadcast_to(flat, 2))[0].reshape(array.shape)
        if loops:
            width = PIECE if flat.size > SMALL else 1
            put = partial(_put, flat, width)
            rounds = -(-flat.size // width)
            return lax.fori_loop(0, rounds, put, jnp.zeros_like(flat)).reshape(array.shape)
        return (
            jnp.zeros_like(flat)
            .at[jnp.arange(flat.size)]
            .set(flat, mode="promise_in_bounds", unique_indices=True)
            .reshape(array.shape)
        )

    @settle.def_vmap
    def _(axis_size: int, in_batched: list[bool], array: jax.Array) -> tuple[jax.Array, bool]:
        # A batch is materialized as one array, with any axes.
        del axis_size
        return traced(array), in_batched[0]

    traced = jax.jit(settle)
    return traced


def _put(flat: jax.Array, width: int, number: jax.Array, settled: jax.Array) -> jax.Array:
    # The last piece ends with the array, so a part of it is written twice.
    place = jnp.minimum(number * width, flat.size - width)
    return lax.dynamic_update_slice(settled, lax.dynamic_slice(flat, (place,), (width,)), (place,))


def numbered(places: int) -> bool:
    """Whether int32 can index this number of places."""
    return places <= _MOST_PLACES


def add_at(array: jax.Array, rows: jax.Array, values: jax.Array) -> jax.Array:
    """`array` [R, ...] with `values` [..., ...] added at `rows` int[...], all of which exist.

    Rows that occur twice get both values, the first one first.
    """
    values = values.reshape(rows.size, *array.shape[1:])
    return _adding()(array[None], rows.reshape(1, -1), values[None])[0]


@lru_cache(maxsize=1)
def _adding() -> Callable[..., jax.Array]:
    """`_add_to_each`, batched by JAX as one call."""
    adding = jax.custom_batching.custom_vmap(_add_to_each)
    adding.def_vmap(_add_to_each_batch)
    return adding


def _add_to_each(arrays: jax.Array, rows: jax.Array, values: jax.Array) -> jax.Array:
    """`add_at` for each of `arrays` [L, R, ...], with `rows` int[L, n] of its own."""
    if rows.size == 1:
        # For a single row XLA uses neither a loop nor a scatter: it fuses the write with its
        # neighbours and copies the array. Adding -0. changes no number, not even 0.
        rows = jnp.concatenate([rows, rows], 1)
        values = jnp.concatenate([values, jnp.full_like(values, -0.0)], 1)
    if rows.shape[1] <= FEW and whole_loops():
        count = np.int32(rows.shape[1])
        one = (1, 1, *arrays.shape[2:])
        rest: tuple[ArrayLike, ...] = (0,) * (arrays.ndim - 2)

        def add(number: jax.Array, arrays: jax.Array) -> jax.Array:
            lane, nth = lax.div(number, count), lax.rem(number, count)
            row = rows.at[lane, nth].get(mode="promise_in_bounds", wrap_negative_indices=False)
            place = (lane, row, *rest)
            value = lax.dynamic_slice(values, (lane, nth, *rest), one)
            return lax.dynamic_update_slice(
                arrays, lax.dynamic_slice(arrays, place, one) + value, place
            )

        return lax.fori_loop(0, rows.size, add, arrays)
    lanes, length = arrays.shape[:2]
    if not numbered(lanes * length):
        return jax.vmap(
            lambda array, rows, values: array.at[rows].add(values, mode="promise_in_bounds")
        )(arrays, rows, values)
    # XLA indexes the rows of one concatenated array faster than those of each array.
    flat = arrays.reshape(-1, *arrays.shape[2:])
    places = rows + (jnp.arange(lanes, dtype=rows.dtype) * length)[:, None]
    added = flat.at[places.reshape(-1)].add(
        values.reshape(-1, *values.shape[2:]), mode="promise_in_bounds"
    )
    return added.reshape(arrays.shape)


def _add_to_each_batch(
    axis_size: int, in_batched: list[bool], *arguments: jax.Array
) -> tuple[jax.Array, bool]:
    all_batched = [
        part if batched else jnp.broadcast_to(part, (axis_size, *part.shape))
        for part, batched in zip(arguments, in_batched, strict=True)
    ]
    joined = _adding()(*(part.reshape(-1, *part.shape[2:]) for part in all_batched))
    return joined.reshape(all_batched[0].shape), True
