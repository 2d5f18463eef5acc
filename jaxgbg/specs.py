"""Settings that check themselves: frozen dataclasses whose fields know their kind and their range.

The check stands with the number, so that Python, a flag and a sweep file end in the same line.
"""

import dataclasses
import difflib
import functools
import inspect
import json
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, Self, SupportsFloat, TypeVar

import numpy as np

from jaxgbg.extensions import import_installed
from jaxgbg.types import JSON, SettingValue, TypeHint

LAST_SEED = 2**32 - 1
"""The greatest seed: random keys are made of 32 bits."""

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_MOST_SHOWN = 80
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a setting, or of an argument annotated with this (see `checked`).

    Numbers, and those in a list, lie from `low` to `high`, or strictly `above` and `below`; they
    and texts are one of `choices`, if there are any. A list has `most` entries at most.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[SettingValue, ...] = ()
    most: int | None = None

    def check(self, name: str, value: SettingValue) -> None:
        """Raise ValueError where `value`, of the right kind, is out of these limits."""
        if isinstance(value, tuple):
            for item in value:
                self.check(name, item)
            return
        if value is None or isinstance(value, bool):
            return
        if self.choices and value not in self.choices:
            known = ", ".join(map(str, self.choices))
            near = did_you_mean(value, self.choices)
            raise ValueError(f"{name} must be one of {known}, not {shown(value)}{near}")
        if isinstance(value, int | float) and not self._hold(value):
            raise ValueError(f"{name} must {self.words()}, not {shown(value)}")

    def _hold(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def words(self) -> str:
        """The bounds in words: lie in [0, 1), be at least 1."""
        first = self.low if self.low is not None else self.above
        last = self.high if self.high is not None else self.below
        if first is not None and last is not None:
            opening, closing = "(["[self.low is not None], ")]"[self.high is not None]
            return f"lie in {opening}{first:,}, {last:,}{closing}"
        words = {"low": "at least", "above": "above", "high": "at most", "below": "below"}
        bounds = {text: getattr(self, name) for name, text in words.items()}
        return " ".join(f"be {text} {b:,}" for text, b in bounds.items() if b is not None)


_NO_LIMITS = Limits()
Seed = Annotated[int, Limits(low=0, high=LAST_SEED)]
"""A seed as an argument of what is `checked`."""


def setting(
    default: object = dataclasses.MISSING,
    *,
    short: str | None = None,
    former: str | None = None,
    added: bool = False,
    **limits: Any,
) -> Any:
    """A field of a spec, or a parameter of a game: its default and its `Limits`.

    `short` is what flags and columns use where it is not the field's name. `former` is the name
    before it was changed: older files have it, and digests keep it. `added` is for a parameter that
    the game did not always have: files and digests leave it out at its default.
    """
    metadata = {"limits": Limits(**limits), "short": short, "former": former, "added": added}
    return dataclasses.field(default=default, metadata=metadata)


def limits_of(cls: type, name: str) -> Limits:
    """The limits of a dataclass field; of a Literal, its words are the choices."""
    field = cls.__dataclass_fields__[name]  # type: ignore[attr-defined]
    limits: Limits = field.metadata.get("limits", _NO_LIMITS)
    hint = _hints(cls)[name]
    if typing.get_origin(hint) is Literal:
        limits = dataclasses.replace(limits, choices=typing.get_args(hint))
    return limits


def kind_of(hint: TypeHint) -> TypeHint:
    """The type of an annotation without None; of a Literal the type of its words."""
    if isinstance(hint, types.UnionType):
        hint = next(each for each in typing.get_args(hint) if each is not types.NoneType)
    return type(typing.get_args(hint)[0]) if typing.get_origin(hint) is Literal else hint


def checked_field(cls: type, name: str, value: object) -> SettingValue:
    """`value` as field `name` of a dataclass holds it; raises ValueError that begins with it."""
    field = cls.__dataclass_fields__[name]  # type: ignore[attr-defined]
    short, limits = field.metadata.get("short") or name, limits_of(cls, name)
    value = _of_kind(short, value, _hints(cls)[name], limits.most)
    limits.check(short, value)
    return value


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function` with its arguments checked that are annotated as Annotated[kind, Limits(...)].

    It then raises ValueError, naming the argument, before anything is done.
    """
    signature = inspect.signature(function)
    # Those in quotes may not be known here, and have no limits.
    hints = inspect.get_annotations(function)

    @functools.wraps(function)
    def call(*arguments: _P.args, **options: _P.kwargs) -> _R:
        bound = signature.bind(*arguments, **options)
        for name, value in bound.arguments.items():
            kind, limits = _annotated(hints.get(name))
            if limits is not None:
                bound.arguments[name] = _of_kind(name, value, kind, limits.most)
                limits.check(name, bound.arguments[name])
        return function(*bound.args, **bound.kwargs)

    return call


def _annotated(hint: TypeHint) -> tuple[TypeHint, Limits | None]:
    """The type and the limits of an annotation, which may also allow None."""
    for note in getattr(hint, "__metadata__", ()):
        if isinstance(note, Limits):
            return hint.__origin__, note
    if typing.get_origin(hint) is Annotated:
        return _annotated(hint.__origin__)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        for each in typing.get_args(hint):
            kind, limits = _annotated(each)
            if limits is not None:
                return kind | None, limits
    return hint, None


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
        if not cls.kind:
            return
        old = cls.kinds.get(cls.kind, cls)
        # The same class, defined again as when a notebook cell is run twice, replaces the first.
        if (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"{cls.__qualname__}: the kind {cls.kind!r} is {old.__qualname__}'s")
        cls.kinds[cls.kind] = cls

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, self.check(field.name, getattr(self, field.name)))

    @classmethod
    def check(cls, name: str, value: object) -> SettingValue:
        """`value` as the setting `name` holds it; raises ValueError."""
        return checked_field(cls, name, value)

    def plain(self) -> dict[str, JSON]:
        """All settings as JSON knows them."""
        kind = {"kind": self.kind} if self.kind else {}
        fields = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return json.loads(json.dumps({**kind, **fields}))

    def changed(self) -> dict[str, JSON]:
        """The settings that differ from the defaults, as JSON: new settings change no digest."""
        defaults = {f.name: plain(f.default) for f in dataclasses.fields(self)}
        return {
            name: value
            for name, value in self.plain().items()
            if name not in defaults or value != json.loads(json.dumps(defaults[name], default=str))
        }

    def digested(self) -> dict[str, JSON]:
        """`changed` by former names: a new name changes no digest."""
        former = {new: old for old, new in self._former_names().items()}
        return {former.get(name, name): value for name, value in self.changed().items()}

    @classmethod
    def renamed(cls, content: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return settings by today's names; older files may have former ones."""
        today = {old: new for old, new in cls._former_names().items() if new not in content}
        return {today.get(name, name): value for name, value in content.items()}

    @classmethod
    def _former_names(cls) -> dict[str, str]:
        """Today's names of settings by their former ones."""
        fields = dataclasses.fields(cls)
        return {old: f.name for f in fields if (old := f.metadata.get("former"))}

    @classmethod
    def read(cls, content: JSON) -> Self:
        """Undo `plain`; raises ValueError on what is no such spec."""
        spec = cls.of(content)
        if spec is not cls:
            return spec.read(content)
        fields = cls.renamed({name: value for name, value in content.items() if name != "kind"})
        for name, value in fields.items():
            part = cls.part(name)
            fields[name] = part.read(value) if part else value
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def of(cls, content: JSON) -> type[Self]:
        """The spec, this or one of its kinds, that `read` makes of `content`; raises ValueError."""
        name = cls.__name__.removesuffix("Spec").lower()
        if not isinstance(content, Mapping):
            raise ValueError(f"{name} must be a table, not {shown(content)}")
        kinds = getattr(cls, "kinds", {cls.kind: cls})
        if "kind" in content and not any(kinds):
            # A spec of one kind has no field of this name: refuse it as any other unknown one.
            cls.part("kind")
        kind = content.get("kind", cls.kind)
        if kind not in tuple(kinds):
            import_installed()
        if not isinstance(kind, str) or kind not in kinds:
            near = did_you_mean(kind, kinds)
            raise ValueError(f"{name} must be one of {', '.join(kinds)}, not {shown(kind)}{near}")
        return typing.cast(type[Self], kinds[kind])

    @classmethod
    def part(cls, name: str) -> "type[Spec] | None":
        """The spec that field `name` holds, if it does; raises ValueError for no such field."""
        known = [field.name for field in dataclasses.fields(cls)]
        if name not in known:
            near = did_you_mean(name, known)
            raise ValueError(f"unknown setting {shown(name)}{near}; known are {', '.join(known)}")
        hint = _hints(cls)[name]
        return hint if isinstance(hint, type) and issubclass(hint, Spec) else None

    def describe(self) -> str:
        """One line: the kind, if any, and what differs from the defaults."""
        changed = [name for name in self.changed() if name != "kind"]
        settings = ", ".join(f"{name} {_words(getattr(self, name))}" for name in changed)
        return ": ".join(filter(None, (self.kind, settings))) or "all as by default"

    @classmethod
    def help(cls) -> dict[str, str]:
        """The description of each setting, from the docstrings."""
        texts: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            # From Python 3.13 on docstrings come without the indentation of the source.
            attributes = inspect.cleandoc(base.__doc__ or "").partition("Attributes:")[2]
            for name, text in re.findall(r"^ {2}(\w+): ((?:.|\n {4})+)", attributes, re.MULTILINE):
                texts[name] = " ".join(text.split())
        return texts


_hints: Callable[[type], dict[str, TypeHint]] = functools.cache(typing.get_type_hints)


def plain(value: SettingValue) -> JSON:
    """A value of a setting as JSON knows it."""
    if isinstance(value, Spec):
        return value.plain()
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def pluralize(number: int, what: str) -> str:
    """ "1 run", "2,000 runs": so many of what has a regular plural."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """ ": did you mean X?", where one of the known words is spelt nearly like `word`, else ""."""
    if not isinstance(word, str) or len(word) > _MOST_SHOWN:
        return ""
    names = {each.lower(): each for each in known if isinstance(each, str)}
    near = difflib.get_close_matches(word.lower(), names, 1)
    return f": did you mean {names[near[0]]}?" if near else ""


def printable(text: str) -> str:
    """`text` on one line, its control characters as escapes: none of them acts on a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object) -> str:
    """A value as a message has it: in one line, and what is long cut short."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):
        # Python writes no number of more than 4300 digits, and no list that is nested too deeply.
        return "a very long number" if isinstance(value, int) else "a deeply nested list"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _of_kind(
    name: str, value: SettingValue, kind: TypeHint, most: int | None = None
) -> SettingValue:
    """`value` as its annotation has it: tuples for lists, Python's numbers for NumPy's."""
    if value is None and types.NoneType in typing.get_args(kind):
        return None
    kind = kind_of(kind)
    if typing.get_origin(kind) is tuple:
        return _tuple_of_kind(name, value, typing.get_args(kind), most)
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
        raise ValueError(f"{name} must be {_KINDS.get(kind, kind.__name__)}, not {shown(value)}")
    return kind(value) if kind in _KINDS else value


def _tuple_of_kind(
    name: str, value: SettingValue, kinds: tuple[TypeHint, ...], most: int | None
) -> SettingValue:
    """A list as a tuple, its length checked before anything is done with its entries."""
    if not isinstance(value, list | tuple | np.ndarray | range) or (
        isinstance(value, np.ndarray) and not value.ndim
    ):
        raise ValueError(f"{name} must be a list, not {shown(value)}")
    # A range may be longer than Python can count.
    if most is not None and len(value[: most + 1]) > most:
        raise ValueError(f"{name} must have at most {most:,} entries")
    if kinds[-1] is ...:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise ValueError(f"{name} must be a list of {len(kinds)}, not {shown(value)}")
    return tuple(_of_kind(name, item, each) for item, each in zip(value, kinds, strict=True))


def _is_finite(value: SupportsFloat) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _words(value: SettingValue) -> str:
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
