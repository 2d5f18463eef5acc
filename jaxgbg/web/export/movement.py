"""Operations that only move the entries of arrays, by known places or by indices at run time.

Arrays are flat, in row-major order. A table of places int32[size of the result] gives the place in
the operand for each entry.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.jaxprs import Parameters

Shape = Sequence[int]


def _broadcast(array: np.ndarray, params: Parameters) -> np.ndarray:
    shape = params["shape"]
    ones = [1] * len(shape)
    for at, size in zip(params["broadcast_dimensions"], array.shape, strict=True):
        ones[at] = size
    return np.broadcast_to(array.reshape(ones), shape)


def _sliced(array: np.ndarray, params: Parameters) -> np.ndarray:
    steps = params["strides"] or [1] * array.ndim
    return array[tuple(map(slice, params["start_indices"], params["limit_indices"], steps))]


def _ordered(array: np.ndarray, params: Parameters) -> np.ndarray:
    """The array as `reshape` reads it: by rows, or in another order of its dimensions."""
    order = params["dimensions"]
    return array if order is None else array.transpose(order)


_MOVES: dict[str, Callable[[np.ndarray, Parameters], np.ndarray]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda array, params: _ordered(array, params).reshape(params["new_sizes"]),
    "squeeze": lambda array, params: np.squeeze(array, tuple(params["dimensions"])),
    "transpose": lambda array, params: array.transpose(params["permutation"]),
    "tile": lambda array, params: np.tile(array, params["reps"]),
    "rev": lambda array, params: np.flip(array, params["dimensions"]),
    "slice": _sliced,
}


def moved(primitive: str, params: Parameters, shape: Shape) -> np.ndarray | None:
    """The places, in the result's shape, of a primitive that only moves; None for any other."""
    if primitive not in _MOVES:
        return None
    return _MOVES[primitive](np.arange(int(np.prod(shape))).reshape(shape), params)


def parts(primitive: str, params: Parameters, shape: Shape) -> list[np.ndarray] | None:
    """The places of each result of a primitive that splits an array; None for any other."""
    if primitive not in ("split", "unstack"):
        return None
    axis, places = params["axis"], np.arange(int(np.prod(shape))).reshape(shape)
    if primitive == "split":
        return np.split(places, np.cumsum(params["sizes"])[:-1], axis)
    return list(np.moveaxis(places, axis, 0))


class Windows(NamedTuple):
    """The addresses of windows of an array, from rows of indices at run time.

    Entry k of the windows is at `offsets[k]` plus the start of row `rows[k]` of the indices, with D
    numbers in a row; each counts `strides[d]` and may reach from 0 to `limits[d]`.
    """

    rows: np.ndarray
    offsets: np.ndarray
    strides: np.ndarray
    limits: np.ndarray


def _strides(shape: Shape) -> np.ndarray:
    return np.append(np.cumprod(shape[:0:-1])[::-1], 1).astype(np.int64)[: len(shape)]


def _windows(
    shape: Shape,
    indices: Shape,
    result: Shape,
    window_dims: Shape,
    absent: Shape,
    indexed: Shape,
    batching: tuple[Shape, Shape],
    sizes: Shape,
) -> Windows:
    """Windows of an array of `shape`; `result` has them along `window_dims`, rows along the rest.

    `absent` are the dimensions of the array that windows do not have, `indexed` those that are
    indexed, `batching` those shared with the indices, as (of the array, of the indices).
    """
    strides, places = _strides(shape), np.indices(result)
    batch = [at for at in range(len(result)) if at not in window_dims]
    rows, offsets = np.zeros(result, np.int64), np.zeros(result, np.int64)
    for at, stride in zip(batch, _strides(indices[:-1]), strict=True):
        rows += places[at] * stride
    kept = [at for at in range(len(shape)) if at not in absent and at not in batching[0]]
    for at, dimension in zip(window_dims, kept, strict=True):
        offsets += places[at] * strides[dimension]
    for dimension, shared in zip(*batching, strict=True):
        offsets += places[batch[shared]] * strides[dimension]
    limits = [shape[dimension] - sizes[dimension] for dimension in indexed]
    chosen = strides[list(indexed)]
    return Windows(rows.ravel(), offsets.ravel(), chosen, np.array(limits, np.int64))


def gathered(params: Parameters, shape: Shape, indices: Shape, result: Shape) -> Windows:
    """The places that `gather` reads."""
    window_dims, absent, indexed, batching, shared = params.fields(
        "dimension_numbers",
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "operand_batching_dims",
        "start_indices_batching_dims",
    )
    sizes = params["slice_sizes"]
    return _windows(shape, indices, result, window_dims, absent, indexed, (batching, shared), sizes)


def scattered(params: Parameters, shape: Shape, indices: Shape, updates: Shape) -> Windows:
    """The places to which `scatter` writes its updates."""
    window_dims, absent, indexed, batching, shared = params.fields(
        "dimension_numbers",
        "update_window_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
        "operand_batching_dims",
        "scatter_indices_batching_dims",
    )
    kept = [at for at in range(len(shape)) if at not in absent and at not in batching]
    sizes = np.ones(len(shape), int)
    sizes[kept] = [updates[at] for at in window_dims]
    return _windows(
        shape, indices, updates, window_dims, absent, indexed, (batching, shared), sizes.tolist()
    )


def window(shape: Shape, sizes: Shape) -> Windows:
    """The window of `dynamic_slice` and `dynamic_update_slice`: one row of indices."""
    every = range(len(shape))
    return _windows(shape, (len(shape),), sizes, every, (), every, ((), ()), sizes)


def drops(mode: object) -> bool:
    """Whether places outside are dropped; otherwise they are clamped."""
    return bool(mode == jax.lax.GatherScatterMode.FILL_OR_DROP)


def fill_value(params: Parameters, dtype: np.dtype) -> float:
    """The value that `gather` reads outside of its operand."""
    value = params["fill_value"]
    if value is not None:
        return value
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return np.nan if dtype.kind == "f" else True


def last(shape: Shape, axes: Shape) -> np.ndarray:
    """Places of an array with `axes` moved to its end, [others, of the axes]."""
    others = [at for at in range(len(shape)) if at not in axes]
    places = np.arange(int(np.prod(shape))).reshape(shape).transpose([*others, *axes])
    return places.reshape(int(np.prod([shape[at] for at in others])), -1)


def factors(params: Parameters, left: Shape, right: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Places of the factors of `dot_general`: [batch, free, contracted] of both operands."""
    contracted, batch = params["dimension_numbers"]
    tables = []
    for side, shape in enumerate((left, right)):
        ends = [*batch[side], *contracted[side]]
        free = [at for at in range(len(shape)) if at not in ends]
        order = [*batch[side], *free, *contracted[side]]
        sizes = [int(np.prod([shape[at] for at in axes])) for axes in (batch[side], free)]
        places = np.arange(int(np.prod(shape))).reshape(shape).transpose(order)
        tables.append(places.reshape(*sizes, int(np.prod([shape[at] for at in contracted[side]]))))
    return tables[0], tables[1]
