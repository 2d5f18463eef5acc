"""JavaScript for the element-wise operations of JAX, on numbers of every dtype.

An int8, uint32 ... is a number in its range, a bool 0 or 1, a float32 a number that float32 can
represent. Sums and products are computed in float64, which can hold them, and then rounded or
wrapped.
"""

from collections.abc import Callable

import numpy as np
from jax.typing import DTypeLike

from jaxgbg.jaxprs import Parameters

_WRAPS = {
    "int8": "({}) << 24 >> 24",
    "int16": "({}) << 16 >> 16",
    "int32": "({}) | 0",
    "uint8": "({}) & 255",
    "uint16": "({}) & 65535",
    "uint32": "({}) >>> 0",
    "float32": "Math.fround({})",
    "bool": "+({})",
}
ARRAYS = {
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "float32": "Float32Array",
    "bool": "Uint8Array",
}
"""The typed array of each dtype; it rounds and wraps what is written into it."""

_EVERYWHERE = {
    "add": "{0} + {1}",
    "add_any": "{0} + {1}",
    "sub": "{0} - {1}",
    "neg": "-{0}",
    "abs": "Math.abs({0})",
    "sign": "Math.sign({0})",
    "max": "Math.max({0}, {1})",
    "min": "Math.min({0}, {1})",
    "eq": "{0} === {1}",
    "ne": "{0} !== {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "clamp": "Math.min(Math.max({1}, {0}), {2})",
    "copy": "{0}",
    "stop_gradient": "{0}",
}
_FLOATS = {
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "rem": "{0} % {1}",
    "square": "{0} * {0}",
    "sqrt": "Math.sqrt({0})",
    "rsqrt": "1 / Math.sqrt({0})",
    "exp": "Math.exp({0})",
    "log": "Math.log({0})",
    "log1p": "Math.log1p({0})",
    "expm1": "Math.expm1({0})",
    "logistic": "1 / (1 + Math.exp(-{0}))",
    "tanh": "tanh({0})",
    "sin": "Math.sin({0})",
    "cos": "Math.cos({0})",
    "pow": "{0} ** {1}",
    "floor": "Math.floor({0})",
    "ceil": "Math.ceil({0})",
    "is_finite": "Number.isFinite({0})",
}
_INTEGERS = {
    "mul": "Math.imul({0}, {1})",
    "square": "Math.imul({0}, {0})",
    # As in XLA, division by zero gives -1, and its remainder is the number itself.
    "div": "({1} ? {0} / {1} : -1)",
    "rem": "({1} ? {0} % {1} : {0})",
    "not": "~{0}",
    "population_count": "ones({0})",
    "clz": "Math.clz32({0})",
}


def wrapped(text: str, dtype: DTypeLike) -> str:
    """An expression as a number of `dtype`."""
    return _WRAPS[np.dtype(dtype).name].format(text)


def literal(number: float, dtype: DTypeLike) -> str:
    """The exact JavaScript literal of a number."""
    if np.dtype(dtype).kind != "f":
        return str(int(number))
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(
        str(float(number)), repr(float(number))
    )


def template(primitive: str, params: Parameters, dtypes: list[np.dtype]) -> str | None:
    """The expression of a primitive, {0}, {1} ... its operands of `dtypes`; None if unknown."""
    kind = dtypes[0].kind
    special: dict[str, Callable[..., str | None]] = {
        "convert_element_type": _conversion,
        "integer_pow": _power,
        "select_n": _choice,
        "shift_left": _shift,
        "shift_right_logical": _shift,
        "shift_right_arithmetic": _shift,
    }
    if primitive in special:
        return special[primitive](primitive, params, dtypes)
    if primitive == "not" and kind == "b":
        return "{0} ^ 1"
    if primitive in _EVERYWHERE:
        return _EVERYWHERE[primitive]
    if primitive in ("population_count", "clz") and dtypes[0].itemsize < 4:
        return None
    return (_FLOATS if kind == "f" else _INTEGERS).get(primitive)


def _conversion(name: str, params: Parameters, dtypes: list[np.dtype]) -> str:
    del name
    target = np.dtype(params["new_dtype"])
    if target.kind == "b":
        return "{0} !== 0"
    if dtypes[0].kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        return f"Math.trunc(Math.min(Math.max({{0}}, {limits.min}), {limits.max}))"
    return "{0}"


def _power(name: str, params: Parameters, dtypes: list[np.dtype]) -> str | None:
    del name
    if params["y"] < 1:
        return None
    times = "Math.fround({} * {{0}})" if dtypes[0].kind == "f" else "Math.imul({}, {{0}})"
    product = "{0}"
    for _ in range(params["y"] - 1):
        product = times.format(product)
    return product


def _choice(name: str, params: Parameters, dtypes: list[np.dtype]) -> str:
    del name, params
    text = f"{{{len(dtypes) - 1}}}"
    for number in range(len(dtypes) - 2, 0, -1):
        text = f"({{0}} === {number - 1} ? {{{number}}} : {text})"
    return text


def _shift(name: str, params: Parameters, dtypes: list[np.dtype]) -> str | None:
    """A shift by all bits or more gives 0, or the sign; JavaScript takes the shift modulo 32."""
    del params
    kind, bits = dtypes[0].kind, 8 * dtypes[0].itemsize
    if name == "shift_left":
        return f"({{1}} >>> 0 < {bits} ? {{0}} << {{1}} : 0)"
    if name == "shift_right_logical" and (kind == "u" or bits == 32):
        return f"({{1}} >>> 0 < {bits} ? {{0}} >>> {{1}} : 0)"
    if name == "shift_right_arithmetic" and kind == "i":
        return "({0} >> Math.min({1} >>> 0, 31))"
    return None
