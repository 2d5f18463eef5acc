"""A small compiler from jaxprs, the traces of JAX functions, to JavaScript.

An equation becomes a statement or a loop; an equation with only constant operands is evaluated
here. Functions own their arrays and reuse them in every call; their results are copied.
"""

from collections.abc import Callable, Sequence
from typing import cast

import jax
import numpy as np

from jaxgbg import jaxprs
from jaxgbg.jaxprs import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Parameters, UnknownJaxpr, Var
from jaxgbg.types import PyTree
from jaxgbg.web.export import movement
from jaxgbg.web.export.primitives import written
from jaxgbg.web.export.writer import Shaped, Unsupported, Value, Variable, Writer

__all__ = ["Program", "Unsupported"]


class Program:
    """JavaScript functions that share their constants, the `arrays` D[0], D[1] ..."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._names: dict[tuple[str, bytes], str] = {}
        self._functions: list[str] = []

    def constant(self, array: np.ndarray) -> str:
        """The name of a constant; equal constants of several functions are shared."""
        flat = np.ascontiguousarray(array).ravel()
        key = flat.dtype.name, flat.tobytes()
        if key not in self._names:
            self._names[key] = f"D[{len(self.arrays)}]"
            self.arrays.append(flat)
        return self._names[key]

    def add(self, name: str, function: Callable[..., PyTree], *examples: PyTree) -> None:
        """Compile `function`, whose arguments look like the examples, as `name`.

        In JavaScript it takes the leaves of its arguments one by one and returns an array of the
        leaves of its result. Raises Unsupported or UnknownJaxpr, which name the JAX operation.
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

    def has(self, name: str) -> bool:
        """Whether a function of that name has been compiled."""
        return any(each.startswith(f"{name}: ") for each in self._functions)

    @property
    def source(self) -> str:
        """A function of the typed arrays D that returns all functions by their names."""
        return "(D) => ({\n" + ",\n".join(self._functions) + "\n})"


def _written(writer: Writer, closed: ClosedJaxpr, values: Sequence[Value]) -> list[Value]:
    """Write the equations of a jaxpr that its results need; return the results."""
    jaxpr, constants = jaxprs.unclosed(closed)
    found: dict[Var, Value] = dict(zip(jaxpr.invars, values, strict=True))
    needed = _needed(jaxpr)
    for var, constant in zip(jaxpr.constvars, constants, strict=True):
        if var in needed:
            found[var] = np.asarray(constant)

    def read(atom: Var | Literal) -> Value:
        return _literal(atom) if isinstance(atom, Literal) else found[atom]

    for equation in jaxpr.eqns:
        if any(var in needed for var in equation.outvars):
            results = _equation(writer, equation, [read(atom) for atom in equation.invars])
            found.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _shaped(atom: Var | Literal) -> Shaped:
    return cast(Shaped, atom.aval)


def _literal(atom: Literal) -> np.ndarray:
    return np.asarray(atom.val, _shaped(atom).dtype)


def _needed(jaxpr: Jaxpr) -> set[Var]:
    """The variables that the results depend on."""
    needed = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    for equation in reversed(jaxpr.eqns):
        if any(var in needed for var in equation.outvars):
            needed.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    return needed


def _equation(writer: Writer, equation: JaxprEqn, values: list[Value]) -> list[Value]:
    """Write one equation; return its results."""
    name = equation.primitive.name
    if name == "while":
        return _while(writer, equation, values)
    if name == "cond":
        return _branches(writer, equation, values)
    if (inner := jaxprs.called(equation)) is not None:
        return _written(writer, inner, values)
    several = equation.primitive.multiple_results
    writer.check_room(values, map(_shaped, equation.outvars))
    if all(isinstance(value, np.ndarray) for value in values):
        with jax.ensure_compile_time_eval():
            results = equation.primitive.bind(*values, **equation.params)
        return [np.asarray(result) for result in (results if several else [results])]
    if name == "scan":
        return _scan(writer, equation, values)
    params = Parameters(name, equation.params)
    if not several:
        result = written(writer, name, params, values, _shaped(equation.outvars[0]))
        params.check_all_read()
        return [result]
    parts = movement.parts(name, params, values[0].shape)
    if parts is None:
        raise UnknownJaxpr(f"the JAX primitive {name} has no translation to JavaScript")
    params.check_all_read()
    pairs = zip(parts, equation.outvars, strict=True)
    return [writer.taken(values[0], places, _shaped(var)) for places, var in pairs]


def _while(writer: Writer, equation: JaxprEqn, values: list[Value]) -> list[Value]:
    loop = jaxprs.while_loop(equation)
    first, second = loop.condition_constants, loop.condition_constants + loop.body_constants
    carry = _carried(writer, loop.body, values[second:])
    writer.lines.append("for (;;) {")
    (going,) = _written(writer, loop.condition, [*values[:first], *carry])
    writer.lines.append(f"if (!{writer.text(going)}) break;")
    _turn(writer, loop.body, values[first:second], carry)
    return list(carry)


def _scan(writer: Writer, equation: JaxprEqn, values: list[Value]) -> list[Value]:
    """`scan` without arrays: `fori_loop` with known bounds."""
    loop = jaxprs.scan(equation)
    if not len(values) - loop.constants == loop.carried == len(equation.outvars):
        raise UnknownJaxpr("a JAX scan over arrays has no translation to JavaScript")
    constants = values[: loop.constants]
    carry = _carried(writer, loop.body, values[loop.constants :])
    writer.lines.append(f"for (let turn = 0; turn < {loop.length}; turn++) {{")
    _turn(writer, loop.body, constants, carry)
    return list(carry)


def _carried(writer: Writer, body: ClosedJaxpr, values: list[Value]) -> list[Variable]:
    """The carried values of a loop, separate from the results of its body."""
    results = jaxprs.unclosed(body)[0].outvars
    return [
        _variable_of(writer, value, _shaped(var))
        for value, var in zip(values, results, strict=True)
    ]


def _turn(
    writer: Writer, body: ClosedJaxpr, constants: list[Value], carry: Sequence[Variable]
) -> None:
    """Write the body of an open loop, the update of `carry`, and the end of the loop."""
    results = _written(writer, body, [*constants, *carry])
    held = {each.text for each in carry}
    for number, (old, new) in enumerate(zip(carry, results, strict=True)):
        text = writer.text(new)
        # Copy carried values first: one may be the source of another.
        copied = f"{text}.slice()" if old.shape and text in held else text
        writer.lines.append(f"const n{number} = {copied};")
    for number, old in enumerate(carry):
        writer.lines.append(_assigned(old, f"n{number}"))
    writer.lines.append("}")


def _branches(writer: Writer, equation: JaxprEqn, values: list[Value]) -> list[Value]:
    """`cond` and `switch`."""
    branches, (index, *arguments) = jaxprs.branches(equation), values
    if isinstance(index, np.ndarray):
        chosen = int(np.clip(index, 0, len(branches) - 1))
        return _written(writer, branches[chosen], arguments)
    results = [writer.fresh(_shaped(var)) for var in equation.outvars]
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


def _variable_of(writer: Writer, value: Value, aval: Shaped) -> Variable:
    """A variable of its own that holds a value and may change."""
    held = writer.fresh(aval)
    if not held.shape:
        writer.lines.append(f"let {held.text};")
    writer.lines.append(_assigned(held, writer.text(value)))
    return held


def _assigned(held: Value, text: str) -> str:
    assert isinstance(held, Variable)
    return f"{held.text}.set({text});" if held.shape else f"{held.text} = {text};"
