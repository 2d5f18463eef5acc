"""Reading jaxprs, the traces of JAX functions, and telling traced values from known ones.

JAX promises neither the names of primitives nor those of their parameters. What this package knows
about them, and how they differ between versions of JAX, stands here. Anything else is refused in
one line that names it and the version.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import jax
from jax.extend import core
from jax.extend.core import Jaxpr, JaxprEqn, Literal, Var
from jax.typing import ArrayLike

__all__ = [
    "ClosedJaxpr", "Jaxpr", "JaxprEqn", "Literal", "Parameters", "Scan", "UnknownJaxpr", "Var",
    "While", "branches", "called", "is_traced", "nested", "scan", "unclosed", "while_loop",
]  # fmt: skip

ClosedJaxpr: TypeAlias = Any
"""A jaxpr with its constants: a class of its own, or from jax 0.12 on `Jaxpr`."""
_Closed: type = getattr(core, "ClosedJaxpr", Jaxpr)

# Primitives that evaluate the jaxpr in this parameter, with the operands of the equation.
_CALLS = {
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vmap_call": "call",
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat2": "jaxpr",
}
# Parameters that say how a result is computed or where it lies, and nothing about its numbers.
_WITHOUT_EFFECT = {
    "accuracy", "index_dtype", "indices_are_sorted", "out_sharding", "precision",
    "preferred_element_type", "sharding", "unique_indices", "unroll", "update_consts",
    "update_jaxpr", "weak_type",
}  # fmt: skip


class UnknownJaxpr(ValueError):
    """A jaxpr that holds a primitive or a parameter that this package does not know."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} (jax {jax.__version__})")


class Parameters:
    """The parameters of one equation. Those that nobody has read must not change the result."""

    def __init__(self, primitive: str, values: Mapping[str, Any]) -> None:
        self._primitive, self._values = primitive, values
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            names = ", ".join(sorted(self._values)) or "none"
            raise UnknownJaxpr(
                f"the JAX primitive {self._primitive} has no parameter {name!r}, it has {names}"
            )
        self._read.add(name)
        return self._values[name]

    def fields(self, name: str, *expected: str) -> tuple[Any, ...]:
        """The fields of a parameter that is a named tuple with these fields and no others."""
        value = self[name]
        found = getattr(type(value), "_fields", ())
        if {*found} != {*expected}:
            raise UnknownJaxpr(
                f"the parameter {name!r} of the JAX primitive {self._primitive} has other fields"
                f" than {', '.join(expected)}: {', '.join(found) or 'none'}"
            )
        return tuple(getattr(value, each) for each in expected)

    def check_all_read(self) -> None:
        """Raise UnknownJaxpr if a parameter was not read, is not known to have no effect, and is
        not off: None, False or empty.
        """
        for name in sorted({*self._values} - self._read - _WITHOUT_EFFECT):
            value = self._values[name]
            if not (value is None or value is False or value == ()):
                raise UnknownJaxpr(
                    f"the JAX primitive {self._primitive} has an unknown parameter {name!r}"
                )


class While(NamedTuple):
    """A `while_loop` over operands in this order: those of the condition alone, those of the body
    alone, the carry.
    """

    condition: ClosedJaxpr
    condition_constants: int
    body: ClosedJaxpr
    body_constants: int


class Scan(NamedTuple):
    """A `scan` over operands in this order: constants of the body, the carry, arrays of which each
    turn takes a row.
    """

    body: ClosedJaxpr
    constants: int
    carried: int
    length: int
    reverse: bool


def is_traced(*values: object) -> bool:
    """Whether one of the values is known only when a compiled program runs."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def unclosed(jaxpr: ClosedJaxpr) -> tuple[Jaxpr, list[ArrayLike]]:
    """A jaxpr and the values of its `constvars`."""
    if isinstance(jaxpr, Jaxpr):
        return jaxpr, list(getattr(jaxpr, "consts", []))
    return jaxpr.jaxpr, list(jaxpr.consts)


def called(equation: JaxprEqn) -> ClosedJaxpr | None:
    """The jaxpr that an equation evaluates with its own operands, as `jit` does; None for others.

    Raises UnknownJaxpr where the operands do not fit it.
    """
    name = equation.primitive.name
    if name not in _CALLS:
        return None
    inner = Parameters(name, equation.params)[_CALLS[name]]
    if len(unclosed(inner)[0].invars) != len(equation.invars):
        raise UnknownJaxpr(f"the JAX primitive {name} has other operands than the jaxpr it calls")
    return inner


def while_loop(equation: JaxprEqn) -> While:
    """An equation of the primitive `while`."""
    given = Parameters("while", equation.params)
    names = ("cond_jaxpr", "cond_nconsts", "body_jaxpr", "body_nconsts")
    loop = While(*(given[name] for name in names))
    given.check_all_read()
    return loop


def scan(equation: JaxprEqn) -> Scan:
    """An equation of the primitive `scan`."""
    given = Parameters("scan", equation.params)
    if "ft_in" in equation.params:
        # From jax 0.12 on: the operands of each of the three kinds, as a tree.
        constants, carried, _ = map(len, given["ft_in"].unpack())
        # Those of the results, which the body tells.
        _ = given["ft_out"]
    else:
        constants, carried = given["num_consts"], given["num_carry"]
    loop = Scan(given["jaxpr"], constants, carried, given["length"], given["reverse"])
    given.check_all_read()
    return loop


def branches(equation: JaxprEqn) -> list[ClosedJaxpr]:
    """The jaxprs of the primitive `cond`, of which the first operand chooses one by number."""
    given = Parameters("cond", equation.params)
    found = list(given["branches"])
    given.check_all_read()
    return found


def nested(equation: JaxprEqn) -> Iterator[tuple[int, Jaxpr]]:
    """The jaxprs within an equation, each with how often it is evaluated at least."""
    name = equation.primitive.name
    times = Parameters(name, equation.params)["length"] if name == "scan" else 1
    for value in equation.params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, _Closed | Jaxpr):
                yield times, unclosed(each)[0]
