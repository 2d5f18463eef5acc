"""Specs that are chosen by a text, NAME-N,key=value: searches and evaluators."""

import contextlib
import dataclasses
import re
import typing
from collections.abc import Iterable
from typing import ClassVar, Self

from jaxgbg.extensions import import_installed, is_redefined
from jaxgbg.specs import Spec, did_you_mean, kind_of, shown
from jaxgbg.types import SettingValue, TypeHint

_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


@dataclasses.dataclass(frozen=True)
class TextSpec(Spec):
    """A spec with a text form; defining one with a `kind` registers it."""

    noun: ClassVar[str] = ""
    """What messages call it: search."""
    strength: ClassVar[str] = ""
    """The setting that N is in NAME-N; "" if the name takes no number."""

    def __init_subclass__(cls) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]*", cls.kind):
            raise ValueError(
                f"the name of a {cls.noun} has letters, digits, _ and - only, not {shown(cls.kind)}"
            )
        if cls.kind:
            old = cls.kinds.get(cls.kind)
            if old is not None and not is_redefined(old, cls):
                raise ValueError(
                    f"{cls.kind}: another {cls.noun} of this name is registered already"
                )
        super().__init_subclass__()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The spec that `NAME-N,key=value` names, such as puct-200,exploration=2.

        N and the settings may be left out. A part without "=" continues the list before it:
        look-ahead-3,width=3,1. Raises ValueError.
        """
        if not isinstance(text, str):
            raise ValueError(f"{cls.noun} must be text, not {shown(text)}")
        head, *parts = text.split(",")
        kind = cls.named(head)
        if not kind:
            import_installed()
            kind = cls.named(head)
        if not kind:
            raise ValueError(cls._unknown(head))
        spec = typing.cast(type[Self], cls.kinds[kind])
        entries: list[str] = []
        for part in parts:
            if "=" in part or not entries:
                entries.append(part)
            else:
                entries[-1] += f",{part}"
        number = [] if head == kind else [f"{spec.strength}={head[len(kind) + 1 :]}"]
        try:
            return spec(**fields_of_text(spec, [*number, *entries]))
        except ValueError as error:
            raise ValueError(f"{shown(text)}: {error}") from None

    @classmethod
    def named(cls, text: str) -> str:
        """The kind that a text in the form of `parse` begins with, "" if none."""
        head = text.partition(",")[0]
        known = [
            kind
            for kind, spec in cls.kinds.items()
            if head == kind or (head.startswith(f"{kind}-") and _takes_number(spec))
        ]
        return max(known, key=len, default="")

    def text(self) -> str:
        """Its text form, NAME-N, with the settings that differ from the defaults."""
        number = f"-{self.number}" if self.strength else ""
        rest = [name for name in self.changed() if name not in ("kind", self.strength)]
        entries = [f"{name}={_as_text(getattr(self, name))}" for name in rest]
        return ",".join([self.kind + number, *entries])

    @property
    def number(self) -> int:
        """The N of NAME-N."""
        return int(getattr(self, self.strength))

    @classmethod
    def form(cls) -> str:
        """Its text form without settings: NAME-N, or NAME."""
        return f"{cls.kind}-N" if cls.strength else cls.kind

    @classmethod
    def usage(cls) -> str:
        """Its text form and its settings with their defaults, for help."""
        rest = [f for f in dataclasses.fields(cls) if f.name != cls.strength]
        defaults = ", ".join(f"{field.name}={_as_text(field.default)}" for field in rest)
        number = f" for N {cls.strength}" if cls.strength else ""
        return f"{cls.form()}{number}" + (f" ({defaults})" if defaults else "")

    @classmethod
    def _unknown(cls, head: str) -> str:
        kinds = list(cls.kinds)
        near = did_you_mean(head, kinds) or did_you_mean(head.rpartition("-")[0], kinds)
        if near:
            return f"unknown {cls.noun} {shown(head)}{near}"
        forms = ", ".join(typing.cast(type[TextSpec], spec).form() for spec in cls.kinds.values())
        return (
            f"unknown {cls.noun} {shown(head)}: choose one of {forms}, or name the module of one of"
            " your own: --import MODULE"
        )


def _takes_number(spec: type[Spec]) -> bool:
    return bool(typing.cast(type[TextSpec], spec).strength)


def fields_of_text(spec: type[Spec], entries: Iterable[str]) -> dict[str, SettingValue]:
    """The settings of a spec that texts as "key=value" name; the spec itself checks the values."""
    fields: dict[str, SettingValue] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, not {shown(entry)}")
        name = name.replace("-", "_")
        spec.part(name)
        if name in fields:
            raise ValueError(f"{name} is given twice")
        hint = kind_of(typing.get_type_hints(spec)[name])
        if typing.get_origin(hint) is tuple:
            element = typing.get_args(hint)[0]
            fields[name] = tuple(_of_text(element, word) for word in text.split(",") if text)
        else:
            fields[name] = _of_text(hint, text)
    return fields


def _of_text(kind: TypeHint, text: str) -> SettingValue:
    """A number or a switch, or the text itself where it is none: the spec's check refuses it."""
    if kind is bool:
        return _BOOLEANS.get(text, text)
    if kind in (int, float) and text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _as_text(value: SettingValue) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(map(_as_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
