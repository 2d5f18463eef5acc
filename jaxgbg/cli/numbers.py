"""How the command line parses numbers."""

import contextlib

from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

NUMBERS = ConstructorRegistry()
"""The rules for tyro."""


def whole(text: str) -> int:
    """Parse a whole number, also 20_000 or 5e3; raises ValueError."""
    with contextlib.suppress(ValueError, OverflowError):
        if (number := float(text)).is_integer() and "e" in text.lower():
            return int(number)
    return int(text)


@NUMBERS.primitive_rule
def _whole_numbers(kind: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[int] | None:
    if kind.type is not int:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="N",
        instance_from_str=lambda words: whole(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    )


@NUMBERS.primitive_rule
def _numbers(kind: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[float] | None:
    if kind.type is not float:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="X",
        instance_from_str=lambda words: float(words[0]),
        is_instance=lambda value: isinstance(value, int | float),
        str_from_instance=lambda value: [str(value)],
    )
