"""The parts of a compiled function: its variables, constants and statements."""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, cast

import jax
import numpy as np

from jaxgbg.web.export.elementwise import ARRAYS, literal, wrapped
from jaxgbg.web.export.movement import Windows

_MOST_ENTRIES = 2**25
"""Numbers that the arrays of one function may hold: 134 MB in a browser, 4 bytes each."""


class Unsupported(ValueError):
    """The function uses an operation without a translation to JavaScript."""


class Shaped(Protocol):
    """An object with the shape and dtype of an array, such as a jaxpr variable's `aval`."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype: ...


class Variable(NamedTuple):
    """A variable of the program; `text` is its name there."""

    text: str
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


Value = Variable | np.ndarray
"""The value of a jaxpr variable: held by the program, or known before it runs."""


class Writer:
    """Writes one function: `buffers` are created once, `lines` run in every call.

    `constant(array)` names a constant array. A scalar is a number, everything else a flat typed
    array.
    """

    def __init__(self, constant: Callable[[np.ndarray], str]) -> None:
        self.constant = constant
        self.lines: list[str] = []
        self.buffers: list[str] = []
        self._numbers = itertools.count()
        self._entries = 0

    def check_room(self, operands: Iterable[Shaped], results: Iterable[Shaped]) -> None:
        """Raise Unsupported if a page would have to hold too many numbers."""
        before, after = (sum(math.prod(a.shape) for a in each) for each in (operands, results))
        # Weights, which are arguments, are often only reshaped.
        if self._entries + max(after - before, 0) > _MOST_ENTRIES:
            raise Unsupported(f"one position needs more than {_MOST_ENTRIES:,} numbers")

    def held(self, text: str, aval: Shaped) -> Variable:
        """A variable of that name; raises Unsupported if JavaScript has no such numbers."""
        if aval.dtype.name not in ARRAYS:
            raise Unsupported(
                f"numbers of the type {aval.dtype.name} have no translation to JavaScript"
            )
        return Variable(text, tuple(aval.shape), np.dtype(aval.dtype))

    def fresh(self, aval: Shaped) -> Variable:
        """A new variable: a number's name, or an array that is created."""
        held = self.held(f"v{next(self._numbers)}", aval)
        if held.shape:
            self._entries += held.size
            self.buffers.append(f"{held.text} = new {ARRAYS[held.dtype.name]}({held.size})")
        return held

    def text(self, value: Value) -> str:
        """A value in the program."""
        if isinstance(value, Variable):
            return value.text
        return self.constant(value) if value.shape else literal(cast(float, value[()]), value.dtype)

    def array(self, value: Value) -> str:
        """A value as an array, even if it is a number."""
        return self.text(value) if value.shape else f"[{self.text(value)}]"

    def entry(self, value: Value, at: str) -> str:
        """One entry of an array, or the number."""
        if isinstance(value, np.ndarray) and value.size and (value == value.flat[0]).all():
            return literal(value.flat[0], value.dtype)
        return f"{self.text(value)}[{at}]" if value.shape else self.text(value)

    def table(self, places: np.ndarray) -> str:
        """The name of a table of places."""
        return self.constant(places.astype(np.int32))

    def windows(self, windows: Windows) -> str:
        """The tables of windows, as the runtime takes them."""
        return f"[{', '.join(self.table(part) for part in windows)}]"

    def each(self, count: int, statement: str) -> None:
        """A statement for each `i`."""
        self.lines.append(f"for (let i = 0; i < {count}; i++) {statement};")

    def elementwise(self, expression: str, values: list[Value], aval: Shaped) -> Variable:
        """An expression of {0}, {1} ..., entry by entry; scalars are broadcast."""
        texts = [self.entry(self.widened(value, aval), "i") for value in values]
        out = self.fresh(aval)
        texts = [f"({text})" if text.startswith("-") else text for text in texts]
        made = expression.format(*texts)
        if out.shape:
            self.each(out.size, f"{out.text}[i] = {made}")
        else:
            self.lines.append(f"const {out.text} = {wrapped(made, out.dtype)};")
        return out

    def widened(self, value: Value, aval: Shaped) -> Value:
        """A value broadcast to the result; a number stays one."""
        if value.shape in ((), tuple(aval.shape)):
            return value
        if isinstance(value, np.ndarray):
            return np.broadcast_to(value, aval.shape)
        places = np.arange(value.size).reshape(value.shape)
        wide = jax.ShapeDtypeStruct(aval.shape, value.dtype)
        return self.taken(value, np.broadcast_to(places, aval.shape), wide)

    def taken(self, value: Value, places: np.ndarray, aval: Shaped) -> Variable:
        """The entries at known places."""
        flat, size = places.ravel(), int(np.prod(value.shape))
        same = flat.size == size and (flat == np.arange(size)).all()
        if isinstance(value, Variable) and same and bool(value.shape) == bool(aval.shape):
            return value._replace(shape=tuple(aval.shape))
        out = self.fresh(aval)
        if not aval.shape:
            self.lines.append(f"const {out.text} = {self.entry(value, str(flat[0]))};")
        elif (flat == flat[:1]).all():
            if flat.size:
                self.lines.append(f"{out.text}.fill({self.entry(value, str(flat[0]))});")
        else:
            self.each(out.size, f"{out.text}[i] = {self.text(value)}[{self.table(flat)}[i]]")
        return out

    def called(self, function: str, aval: Shaped, *arguments: str) -> Variable:
        """A call of a runtime function that fills an array."""
        out = self.fresh(jax.ShapeDtypeStruct(aval.shape or (1,), aval.dtype))
        self.lines.append(f"{function}({', '.join([out.text, *arguments])});")
        return out if aval.shape else Variable(f"{out.text}[0]", (), out.dtype)
