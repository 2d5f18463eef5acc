"""Settings that check themselves: frozen dataclasses whose fields know their kind and their range.

The check stands with the number, so that Python, a flag and a sweep file end in the same line.
"""

import dataclasses
import functools
import json
import math
import numbers
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def setting(
    default: Any = dataclasses.MISSING,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    short: str | None = None,
) -> Any:
    """A field of a spec: its default and what it may be.

    Numbers, and those in a tuple, lie from `low` to `high`, or strictly `above` and `below`; texts
    are one of `choices`. `short` is what flags and columns use where it is not the field's name.
    """
    bounds = {"low": low, "high": high, "above": above, "below": below}
    metadata = {name: bound for name, bound in bounds.items() if bound is not None}
    return dataclasses.field(
        default=default, metadata={"bounds": metadata, "choices": choices, "short": short}
    )


@dataclasses.dataclass(frozen=True)
class Spec:
    """A part of a run, as settings: checked when made, told in a line, kept as plain JSON.

    A subclass is a frozen dataclass whose docstring has a line for each field under "Attributes:".
    One that a registry chooses among has a `kind`. Raises ValueError naming the setting.
    """

    kind: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type["Spec"]]]
    """Of a component with several kinds, all of them by name."""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            cls.kinds[cls.kind] = cls

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, self.check(field.name, getattr(self, field.name)))

    @classmethod
    def check(cls, name: str, value: Any) -> Any:
        """`value` as the setting `name` holds it; raises ValueError."""
        metadata = cls.__dataclass_fields__[name].metadata
        short = metadata.get("short") or name
        value = _of_kind(short, value, _hints(cls)[name])
        _check_range(short, value, metadata)
        return value

    def plain(self) -> dict[str, Any]:
        """All settings as JSON knows them."""
        kind = {"kind": self.kind} if self.kind else {}
        fields = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return json.loads(json.dumps({**kind, **fields}))

    def changed(self) -> dict[str, Any]:
        """What differs from the defaults, as JSON knows it; a new setting changes nothing here."""
        defaults = {f.name: plain(f.default) for f in dataclasses.fields(self)}
        return {
            name: value
            for name, value in self.plain().items()
            if name not in defaults or value != json.loads(json.dumps(defaults[name], default=str))
        }

    @classmethod
    def read(cls, content: Any) -> Self:
        """Undo `plain`; raises ValueError on what is no such spec."""
        spec = cls.of(content)
        if spec is not cls:
            return spec.read(content)
        fields = {name: value for name, value in content.items() if name != "kind"}
        for name, value in fields.items():
            part = cls.part(name)
            fields[name] = part.read(value) if part else value
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def of(cls, content: Any) -> type[Self]:
        """The spec, this or one of its kinds, that `read` makes of `content`; raises ValueError."""
        name = cls.__name__.removesuffix("Spec").lower()
        if not isinstance(content, Mapping):
            raise ValueError(f"{name} must be a table, not {content!r}")
        kinds = getattr(cls, "kinds", {cls.kind: cls})
        kind = content.get("kind", cls.kind)
        if not isinstance(kind, str) or kind not in kinds:
            raise ValueError(f"{name} must be one of {', '.join(kinds)}, not {kind!r}")
        return typing.cast(type[Self], kinds[kind])

    @classmethod
    def part(cls, name: str) -> "type[Spec] | None":
        """The spec that field `name` holds, if it does; raises ValueError for no such field."""
        if name not in _hints(cls):
            known = ", ".join(field.name for field in dataclasses.fields(cls))
            raise ValueError(f"unknown setting {name!r}; known are {known}")
        hint = _hints(cls)[name]
        return hint if isinstance(hint, type) and issubclass(hint, Spec) else None

    def describe(self) -> str:
        """One line: the kind, if any, and what differs from the defaults."""
        changed = [name for name in self.changed() if name != "kind"]
        settings = ", ".join(f"{name} {_words(getattr(self, name))}" for name in changed)
        return ": ".join(filter(None, (self.kind, settings))) or "all as by default"

    @classmethod
    def help(cls) -> dict[str, str]:
        """What each setting means, from the docstrings."""
        texts: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            attributes = (base.__doc__ or "").partition("Attributes:")[2]
            for name, text in re.findall(r"^ {6}(\w+): ((?:.|\n {8})+)", attributes, re.MULTILINE):
                texts[name] = " ".join(text.split())
        return texts


_hints: Any = functools.cache(typing.get_type_hints)


def plain(value: Any) -> Any:
    """A value of a setting as JSON knows it."""
    if isinstance(value, Spec):
        return value.plain()
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def _of_kind(name: str, value: Any, kind: Any) -> Any:
    """`value` as its annotation has it: tuples for lists, Python's numbers for NumPy's."""
    if isinstance(kind, types.UnionType):
        if value is None and types.NoneType in typing.get_args(kind):
            return None
        kind = next(each for each in typing.get_args(kind) if each is not types.NoneType)
    if typing.get_origin(kind) is tuple:
        kinds = typing.get_args(kind)
        if not isinstance(value, list | tuple | np.ndarray | range):
            raise ValueError(f"{name} must be a list, not {value!r}")
        if kinds[-1] is ...:
            kinds = (kinds[0],) * len(value)
        if len(kinds) != len(value):
            raise ValueError(f"{name} must be a list of {len(kinds)}, not {value!r}")
        return tuple(_of_kind(name, item, each) for item, each in zip(value, kinds, strict=True))
    if isinstance(value, bool | np.bool_):
        fits = kind is bool
    elif kind is int:
        fits = isinstance(value, numbers.Integral)
    elif kind is float:
        fits = isinstance(value, numbers.Real) and _is_finite(value)
    elif isinstance(kind, type):
        fits = isinstance(value, kind)
    else:
        return value
    if not fits:
        raise ValueError(f"{name} must be {_KINDS.get(kind, kind.__name__)}, not {value!r}")
    return kind(value) if kind in _KINDS else value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _check_range(name: str, value: Any, metadata: Mapping[str, Any]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _check_range(name, item, metadata)
        return
    choices, bounds = metadata.get("choices"), metadata.get("bounds", {})
    if choices and value is not None and value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    if not bounds or not isinstance(value, int | float) or isinstance(value, bool):
        return
    low, high = bounds.get("low", -math.inf), bounds.get("high", math.inf)
    above, below = bounds.get("above", -math.inf), bounds.get("below", math.inf)
    if not (low <= value <= high and above < value < below):
        raise ValueError(f"{name} must {_range_words(bounds)}, not {value}")


def _range_words(bounds: Mapping[str, float]) -> str:
    """The bounds in words: lie in [0, 1), be at least 1."""
    first, last = bounds.get("low", bounds.get("above")), bounds.get("high", bounds.get("below"))
    if first is not None and last is not None:
        opening, closing = "(["["low" in bounds], ")]"["high" in bounds]
        return f"lie in {opening}{first:,}, {last:,}{closing}"
    words = {"low": "be at least", "above": "be above", "high": "be at most", "below": "be below"}
    return " and ".join(f"{words[name]} {bound:,}" for name, bound in bounds.items())


def _words(value: Any) -> str:
    """A value as a person reads it: long lists by their length."""
    if isinstance(value, Spec):
        return f"({value.describe()})"
    if isinstance(value, tuple):
        if len(value) > 8 or any(isinstance(item, tuple) for item in value):
            return f"of {len(value)}"
        return " ".join(map(_words, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
