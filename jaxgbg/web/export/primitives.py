"""JavaScript for the JAX primitives that are not element-wise."""

from collections.abc import Callable
from functools import partial

import numpy as np

from jaxgbg.jaxprs import Parameters, UnknownJaxpr
from jaxgbg.web.export import movement
from jaxgbg.web.export.elementwise import literal, template, wrapped
from jaxgbg.web.export.writer import Shaped, Unsupported, Value, Variable, Writer

_Write = Callable[[Writer, Parameters, list[Value], Shaped], Value]

_SUM, _PRODUCT = ("0", "a + b"), ("1", "a * b")
_MOST, _LEAST = ("-Infinity", "Math.max(a, b)"), ("Infinity", "Math.min(a, b)")


def written(
    writer: Writer, primitive: str, params: Parameters, values: list[Value], aval: Shaped
) -> Value:
    """Write the result of a primitive; raises UnknownJaxpr, which names it."""
    if primitive in _WRITTEN:
        return _WRITTEN[primitive](writer, params, values, aval)
    places = movement.moved(primitive, params, values[0].shape)
    if places is not None:
        return writer.taken(values[0], places, aval)
    kinds = [value.dtype for value in values]
    if primitive == "div" and isinstance(values[1], np.ndarray) and kinds[1].kind == "f":
        # XLA also computes it as a product; the last bit may differ.
        primitive, values = "mul", [values[0], np.float32(1) / values[1]]
    expression = template(primitive, params, kinds)
    if expression is None:
        raise UnknownJaxpr(
            f"the JAX primitive {primitive} has no translation to JavaScript for {kinds[0].name}"
        )
    return writer.elementwise(expression, values, aval)


def _join(text: str, aval: Shaped) -> str:
    if text == _PRODUCT[1] and aval.dtype.kind in "iu":
        # In float64 a product would lose its low bits before wrapping.
        text = "Math.imul(a, b)"
    return f"(a, b) => {wrapped(text, aval.dtype)}"


def _folded(
    rule: tuple[str, str], writer: Writer, params: Parameters, values: list[Value], aval: Shaped
) -> Variable:
    places = movement.last(values[0].shape, params["axes"])
    ends = [writer.array(values[0]), writer.table(places), str(places.shape[-1])]
    if rule == _SUM and aval.dtype == np.float32:
        return writer.called("sum", aval, *ends)
    return writer.called("fold", aval, *ends, rule[0], _join(rule[1], aval))


def _scanned(
    rule: tuple[str, str], writer: Writer, params: Parameters, values: list[Value], aval: Shaped
) -> Variable:
    places = movement.last(values[0].shape, [params["axis"]])
    places = places[:, ::-1] if params["reverse"] else places
    ends = [writer.array(values[0]), writer.table(places), str(places.shape[-1])]
    return writer.called("scan", aval, *ends, rule[0], _join(rule[1], aval))


def _chosen(
    sign: str, writer: Writer, params: Parameters, values: list[Value], aval: Shaped
) -> Variable:
    places = movement.last(values[0].shape, params["axes"])
    ends = [writer.array(values[0]), writer.table(places), str(places.shape[-1])]
    return writer.called("arg", aval, *ends, f"(a, b) => a {sign} b")


def _concatenated(
    writer: Writer, params: Parameters, values: list[Value], aval: Shaped
) -> Variable:
    axis = params["dimension"]
    return _joined(writer, values, [value.shape[axis] for value in values], axis, aval)


def _stacked(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    return _joined(writer, values, [1] * len(values), params["axis"], aval)


def _joined(
    writer: Writer, values: list[Value], lengths: list[int], axis: int, aval: Shaped
) -> Variable:
    """Concatenate values along an axis, given the length of each."""
    out, start = writer.fresh(aval), 0
    numbers = np.moveaxis(np.arange(out.size).reshape(out.shape), axis, 0)
    for value, length in zip(values, lengths, strict=True):
        places = np.moveaxis(numbers[start : start + length], 0, axis).ravel()
        start += length
        if places.size == 1:
            writer.lines.append(f"{out.text}[{places[0]}] = {writer.entry(value, '0')};")
        elif places.size and (np.diff(places) == 1).all():
            writer.each(places.size, f"{out.text}[i + {places[0]}] = {writer.entry(value, 'i')}")
        elif places.size:
            table = writer.table(places)
            writer.each(places.size, f"{out.text}[{table}[i]] = {writer.entry(value, 'i')}")
    return out


def _padded(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    value, padding = values
    if min(min(low, high) for low, high, _ in params["padding_config"]) < 0:
        raise Unsupported("the JAX primitive pad has no translation for negative padding")
    out = writer.fresh(aval)
    numbers = np.arange(out.size).reshape(out.shape)
    ends = zip(params["padding_config"], value.shape, strict=True)
    index = tuple(
        slice(low, low + (size - 1) * (between + 1) + 1 if size else low, between + 1)
        for (low, _, between), size in ends
    )
    table = writer.table(numbers[index])
    writer.lines.append(f"{out.text}.fill({writer.text(padding)});")
    count = int(np.prod(value.shape))
    writer.each(count, f"{out.text}[{table}[i]] = {writer.entry(value, 'i')}")
    return out


def _dot(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    left, right = movement.factors(params, values[0].shape, values[1].shape)
    tables = f"[{writer.table(left)}, {writer.table(right)}]"
    sizes = [*left.shape[:2], right.shape[1], left.shape[2]]
    kinds = {"f": "Math.fround(sum + a * b)", "b": "sum | (a & b)"}
    next_sum = f"(sum, a, b) => {kinds.get(aval.dtype.kind, 'sum + Math.imul(a, b) | 0')}"
    return writer.called("dot", aval, *map(writer.array, values), tables, str(sizes), next_sum)


def _gathered(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    operand, indices = values
    windows = movement.gathered(params, operand.shape, indices.shape, aval.shape)
    drop = movement.drops(params["mode"])
    outside = movement.fill_value(params, operand.dtype)
    fill = literal(outside, aval.dtype) if drop else "0"
    if isinstance(indices, np.ndarray) and not drop:
        return writer.taken(operand, _known(windows, indices), aval)
    ends = [*map(writer.array, values), writer.windows(windows), str(int(drop)), fill]
    return writer.called("gather", aval, *ends)


def _known(windows: movement.Windows, indices: np.ndarray) -> np.ndarray:
    """The places of windows whose indices are known."""
    starts = np.clip(indices.reshape(-1, len(windows.strides)), 0, windows.limits)
    places: np.ndarray = (starts @ windows.strides)[windows.rows] + windows.offsets
    return places


def _scattered(
    join: str, writer: Writer, params: Parameters, values: list[Value], aval: Shaped
) -> Variable:
    onto, indices, updates = values
    windows = movement.scattered(params, onto.shape, indices.shape, updates.shape)
    ends = [*map(writer.array, values), writer.windows(windows)]
    drop = str(int(movement.drops(params["mode"])))
    return writer.called("scatter", aval, *ends, drop, _join(join, aval))


def _sliced(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    windows = movement.window(values[0].shape, params["slice_sizes"])
    starts = f"[{', '.join(map(writer.text, values[1:]))}]"
    ends = [writer.array(values[0]), starts, writer.windows(windows), "0", "0"]
    return writer.called("gather", aval, *ends)


def _updated(writer: Writer, params: Parameters, values: list[Value], aval: Shaped) -> Variable:
    del params
    windows = movement.window(values[0].shape, values[1].shape)
    starts = f"[{', '.join(map(writer.text, values[2:]))}]"
    ends = [writer.array(values[0]), starts, writer.array(values[1]), writer.windows(windows)]
    return writer.called("scatter", aval, *ends, "0", _join("b", aval))


_WRITTEN: dict[str, _Write] = {
    "reduce_sum": partial(_folded, _SUM),
    "reduce_prod": partial(_folded, _PRODUCT),
    "reduce_max": partial(_folded, _MOST),
    "reduce_min": partial(_folded, _LEAST),
    "reduce_or": partial(_folded, ("0", "a | b")),
    "reduce_and": partial(_folded, ("-1", "a & b")),
    "reduce_xor": partial(_folded, ("0", "a ^ b")),
    "cumsum": partial(_scanned, _SUM),
    "cumprod": partial(_scanned, _PRODUCT),
    "cummax": partial(_scanned, _MOST),
    "cummin": partial(_scanned, _LEAST),
    "argmax": partial(_chosen, ">"),
    "argmin": partial(_chosen, "<"),
    "scatter": partial(_scattered, "b"),
    "scatter-add": partial(_scattered, "a + b"),
    "concatenate": _concatenated,
    "stack": _stacked,
    "pad": _padded,
    "dot_general": _dot,
    "gather": _gathered,
    "dynamic_slice": _sliced,
    "dynamic_update_slice": _updated,
}
