"""Everything that is here because of XLA: compiler options, and arrays in forms it compiles well.

XLA does not promise the names of its options: an option that this version lacks is left out.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from importlib.metadata import entry_points

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

# Matrix products by Eigen where XLA has both it and YNNPACK on the CPU: they are small and stand in
# a loop between look-ups in large tables, where YNNPACK takes several times as long (jaxlib 0.10.2:
# 2048 and ConnectFour train 1.7 times as fast without it), although not when it is timed alone.
_EIGEN = ("xla_cpu_experimental_ynn_fusion_type", "")
_UNOPTIMIZED = ("xla_backend_optimization_level", 0)
_CACHE_SETTING = "jax_enable_compilation_cache"

_OPTIONS = "--xla_backend_extra_options"
# Up to how many bytes, by default 1024, a loop becomes one kernel on the CPU.
_WHOLE_LOOPS = f"{_OPTIONS}=xla_cpu_small_while_loop_byte_threshold={10**12}"

FEW = 32
"""Up to how many rows of a table are written by a loop over them, where loops become one kernel.

With more rows a training is faster by scatters, although they keep the loop around them from that.
"""

SMALL = 512
"""Up to how many numbers `materialize` settles one by one, where loops become one kernel."""

PIECE = 256
"""How many of more numbers it settles in each round of such a loop."""

_MOST_PLACES = 2**31 - 1


@cache
def compiler_option(name: str, value: int | str) -> dict[str, int | str]:
    """An option of XLA as `jax.jit` takes it; nothing where this version has no such option."""
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
    """Let XLA, which must not have started yet, make one kernel of any loop that can be one.

    Loops with scatters cannot, those with large matrix products should not (`kernel_by_kernel`).
    Going from step to step within a kernel takes no time, and between kernels most of the time that
    a training takes with one game at a time. Nothing is asked where the user has such options of
    his own, or where JAX has an accelerator.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _OPTIONS not in flags and not entry_points(group="jax_plugins"):
        os.environ["XLA_FLAGS"] = f"{flags} {_WHOLE_LOOPS}".strip()


def whole_loops() -> bool:
    """Whether XLA, on this device, was asked for that."""
    return _WHOLE_LOOPS in os.environ.get("XLA_FLAGS", "") and not on_accelerator()


def kernel_by_kernel(array: jax.Array) -> jax.Array:
    """The array as it is, by way of a scatter, so that no loop around it becomes one kernel.

    Within such a kernel XLA spells matrix products out as plain loops, which takes up to forty
    times as long as its kernels for them.
    """
    if not whole_loops():
        return array
    first = (0,) * array.ndim
    # A scatter of a single number would be made a plain write.
    twice = (
        jnp.zeros(2, array.dtype)
        .at[np.arange(2)]
        .set(array[first], mode="promise_in_bounds", unique_indices=True)
    )
    return lax.dynamic_update_slice(array, twice[0].reshape((1,) * array.ndim), first)


def materialize(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Materialize the arrays once; otherwise XLA fuses the computation into every use.

    Left alone, XLA on the CPU repeats cheap work, however long, in every loop that uses it: that of
    a whole game in each of its look-ups, that of a whole move in each word of the new position. It
    drops `lax.optimization_barrier` too early to prevent that; it never fuses a scatter, or a loop,
    into what reads it. On an accelerator nothing is done: there XLA weighs repeated work against
    the kernel that it saves.
    """
    return arrays if on_accelerator() else force_materialize(*arrays)


def force_materialize(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Materialize the arrays by a kernel of their own, on an accelerator too."""
    settle = _materializing(whole_loops())
    return tuple(settle(array) for array in arrays)


def on_accelerator() -> bool:
    """Whether JAX computes on another device than a CPU."""
    return jax.default_backend() != "cpu"


def order_after(array: jax.Array, *others: jax.Array) -> jax.Array:
    """The array, of numbers of 32 bits, as it is, but not before the others are there.

    What is written with it then has no reader that XLA might put after the write, and for which it
    would keep a copy of what is overwritten. Of each other, of such too, one number is waited for,
    and so whatever XLA computes together with it.
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
            # A loop of one round, like a scatter of one number, is none to XLA.
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
        # A batch is settled as one array, whatever its axes.
        del axis_size
        return traced(array), in_batched[0]

    traced = jax.jit(settle)
    return traced


def _put(flat: jax.Array, width: int, number: jax.Array, settled: jax.Array) -> jax.Array:
    # The last piece ends with the array: some of it is put there twice.
    place = jnp.minimum(number * width, flat.size - width)
    return lax.dynamic_update_slice(settled, lax.dynamic_slice(flat, (place,), (width,)), (place,))


def numbered(places: int) -> bool:
    """Whether int32 has a number for each of so many places of an array."""
    return places <= _MOST_PLACES


def add_at(array: jax.Array, rows: jax.Array, values: jax.Array) -> jax.Array:
    """`array` [R, ...] with `values` [..., ...] added at `rows` int[...], all of which exist.

    Rows that are named twice get both values, the first one first.
    """
    values = values.reshape(rows.size, *array.shape[1:])
    return _add_to_each(array[None], rows.reshape(1, -1), values[None])[0]


@jax.custom_batching.custom_vmap
def _add_to_each(arrays: jax.Array, rows: jax.Array, values: jax.Array) -> jax.Array:
    """`add_at` for each of `arrays` [L, R, ...], with `rows` int[L, n] of its own."""
    if rows.size == 1:
        # A row alone is neither a loop nor a scatter to XLA: it fuses the write with what is near,
        # and copies the array. -0. is what alters no number, not even 0.
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
    # One after the other they are one array, whose rows XLA finds faster than those of each.
    flat = arrays.reshape(-1, *arrays.shape[2:])
    places = rows + (jnp.arange(lanes, dtype=rows.dtype) * length)[:, None]
    added = flat.at[places.reshape(-1)].add(
        values.reshape(-1, *values.shape[2:]), mode="promise_in_bounds"
    )
    return added.reshape(arrays.shape)


@_add_to_each.def_vmap
def _add_to_each_batch(
    axis_size: int, in_batched: list[bool], *arguments: jax.Array
) -> tuple[jax.Array, bool]:
    all_batched = [
        part if batched else jnp.broadcast_to(part, (axis_size, *part.shape))
        for part, batched in zip(arguments, in_batched, strict=True)
    ]
    joined = _add_to_each(*(part.reshape(-1, *part.shape[2:]) for part in all_batched))
    return joined.reshape(all_batched[0].shape), True
