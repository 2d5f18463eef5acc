"""A small compiler from jaxprs, the traces of JAX functions, to JavaScript.

An equation becomes a statement or a loop; what has constants alone as operands is computed here.
Functions keep their arrays and use them again with every call: what they give is copied.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from jaxgbg.pages.export import movement
from jaxgbg.pages.export.primitives import written
from jaxgbg.pages.export.writer import Held, Unsupported, Value, Writer

__all__ = ["Program", "Unsupported"]

_INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr", "call")
_LOOPS = ("scan", "reduce", "reduce_window")


class Program:
    """JavaScript functions that share their constants, the `arrays` D[0], D[1] ..."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._names: dict[tuple[str, bytes], str] = {}
        self._functions: list[str] = []

    def constant(self, array: np.ndarray) -> str:
        """The name of a constant, of which there is one however many functions have it."""
        flat = np.ascontiguousarray(array).ravel()
        key = flat.dtype.name, flat.tobytes()
        if key not in self._names:
            self._names[key] = f"D[{len(self.arrays)}]"
            self.arrays.append(flat)
        return self._names[key]

    def add(self, name: str, function: Callable[..., Any], *examples: Any) -> None:
        """Compile `function`, whose arguments look like the examples, as `name`.

        In JavaScript it takes the leaves of its arguments one by one and gives an array of those of
        its result. Raises Unsupported, which names what JAX does there.
        """
        closed = jax.make_jaxpr(function)(*examples)
        writer = Writer(self.constant)
        inputs = [writer.held(f"x{at}", aval) for at, aval in enumerate(closed.in_avals)]
        results = [writer.text(value) for value in _written(writer, closed, inputs)]
        copied = [
            f"{text}.slice()" if aval.shape else text
            for text, aval in zip(results, closed.out_avals, strict=True)
        ]
        arguments = ", ".join(each.text for each in inputs)
        self._functions.append(
            "\n".join(
                [
                    f"{name}: (() => {{",
                    *(f"const {buffer};" for buffer in writer.buffers),
                    f"return ({arguments}) => {{",
                    *writer.lines,
                    f"return [{', '.join(copied)}];",
                    "};\n})()",
                ]
            )
        )

    @property
    def source(self) -> str:
        """A function of the typed arrays D, which gives all functions by their names."""
        return "(D) => ({\n" + ",\n".join(self._functions) + "\n})"


def _written(writer: Writer, closed: Any, values: Sequence[Value]) -> list[Value]:
    """Write the equations of a jaxpr, as far as its results need them; returns these."""
    jaxpr: Jaxpr = closed.jaxpr if isinstance(closed, ClosedJaxpr) else closed
    found: dict[Any, Value] = dict(zip(jaxpr.invars, values, strict=True))
    needed = _needed(jaxpr)
    constants = closed.consts if isinstance(closed, ClosedJaxpr) else []
    for var, constant in zip(jaxpr.constvars, constants, strict=True):
        if var in needed:
            found[var] = np.asarray(constant)

    def read(atom: Any) -> Value:
        return _literal(atom) if isinstance(atom, Literal) else found[atom]

    for equation in jaxpr.eqns:
        if any(var in needed for var in equation.outvars):
            results = _equation(writer, equation, [read(atom) for atom in equation.invars])
            found.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _literal(atom: Any) -> np.ndarray:
    return np.asarray(atom.val, atom.aval.dtype)


def _needed(jaxpr: Jaxpr) -> set[Any]:
    """The variables that the results depend on."""
    needed = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    for equation in reversed(jaxpr.eqns):
        if any(var in needed for var in equation.outvars):
            needed.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    return needed


def _equation(writer: Writer, equation: Any, values: list[Value]) -> list[Value]:
    """Write one equation; returns its results."""
    name, params = equation.primitive.name, equation.params
    if name == "while":
        return _loop(writer, params, values)
    if name == "cond":
        return _branches(writer, equation, values)
    inner = next((params[key] for key in _INNER if key in params), None)
    if isinstance(inner, ClosedJaxpr | Jaxpr) and name not in _LOOPS:
        return _written(writer, inner, values)
    several = equation.primitive.multiple_results
    if all(isinstance(value, np.ndarray) for value in values):
        with jax.ensure_compile_time_eval():
            results = equation.primitive.bind(*values, **params)
        return [np.asarray(result) for result in (results if several else [results])]
    if name == "scan" and len(values) == params["num_consts"] + params["num_carry"]:
        return _turns(writer, params, values)
    if several:
        parts = movement.parts(name, params, values[0].shape)
        if parts is None:
            raise Unsupported(f"what JAX calls {name} is not known in JavaScript here")
        pairs = zip(parts, equation.outvars, strict=True)
        return [writer.taken(values[0], places, var.aval) for places, var in pairs]
    return [written(writer, name, params, values, equation.outvars[0].aval)]


def _loop(writer: Writer, params: dict[str, Any], values: list[Value]) -> list[Value]:
    """`while`."""
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    carry = _carried(writer, params["body_jaxpr"], values[second:])
    writer.lines.append("for (;;) {")
    (going,) = _written(writer, params["cond_jaxpr"], [*values[:first], *carry])
    writer.lines.append(f"if (!{writer.text(going)}) break;")
    _turn(writer, params["body_jaxpr"], values[first:second], carry)
    return list(carry)


def _turns(writer: Writer, params: dict[str, Any], values: list[Value]) -> list[Value]:
    """`scan` over nothing: `fori_loop` with both ends known."""
    body, constants = params["jaxpr"], values[: params["num_consts"]]
    carry = _carried(writer, body, values[len(constants) :])
    writer.lines.append(f"for (let turn = 0; turn < {params['length']}; turn++) {{")
    _turn(writer, body, constants, carry)
    return list(carry)


def _carried(writer: Writer, body: ClosedJaxpr, values: list[Value]) -> list[Held]:
    """What a loop carries, kept apart from what its body makes of it."""
    return [
        _kept(writer, value, var.aval)
        for value, var in zip(values, body.jaxpr.outvars, strict=True)
    ]


def _turn(writer: Writer, body: ClosedJaxpr, constants: list[Value], carry: Sequence[Held]) -> None:
    """The body of a loop that has been opened, what it makes of `carry`, and the loop's end."""
    results = _written(writer, body, [*constants, *carry])
    held = {each.text for each in carry}
    for number, (old, new) in enumerate(zip(carry, results, strict=True)):
        text = writer.text(new)
        # What is carried from one place to another must outlive the change of the first.
        copied = f"{text}.slice()" if old.shape and text in held else text
        writer.lines.append(f"const n{number} = {copied};")
    for number, old in enumerate(carry):
        writer.lines.append(_assigned(old, f"n{number}"))
    writer.lines.append("}")


def _branches(writer: Writer, equation: Any, values: list[Value]) -> list[Value]:
    """`cond` and `switch`."""
    branches, (index, *arguments) = equation.params["branches"], values
    if isinstance(index, np.ndarray):
        chosen = int(np.clip(index, 0, len(branches) - 1))
        return _written(writer, branches[chosen], arguments)
    results = [writer.fresh(var.aval) for var in equation.outvars]
    writer.lines += [f"let {held.text};" for held in results if not held.shape]
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        begins = "if (true)" if last else f"if ({index.text} <= {number})"
        writer.lines.append(f"{'else ' if number else ''}{begins} {{")
        made = _written(writer, branch, arguments)
        writer.lines += [
            _assigned(held, writer.text(value)) for held, value in zip(results, made, strict=True)
        ]
        writer.lines.append("}")
    return list(results)


def _kept(writer: Writer, value: Value, aval: Any) -> Held:
    """A variable of its own, which holds a value and may change."""
    held = writer.fresh(aval)
    if not held.shape:
        writer.lines.append(f"let {held.text};")
    writer.lines.append(_assigned(held, writer.text(value)))
    return held


def _assigned(held: Value, text: str) -> str:
    assert isinstance(held, Held)
    return f"{held.text}.set({text});" if held.shape else f"{held.text} = {text};"
