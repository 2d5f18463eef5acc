"""The registry of searches: their settings, their text form, and what a search must do.

A search is one file: a `SearchSpec` with a `kind` and the `Search` that it builds. To define the
spec is to register it; every search is then named in the same text form, `NAME-N,key=value`, on the
command line, in sweep files, behind an agent's file, on the play page and in Python.
"""

import contextlib
import dataclasses
import re
import typing
from collections.abc import Iterable
from typing import ClassVar, NamedTuple, Protocol

import jax

from jaxgbg.games.core import Game
from jaxgbg.games.registry import is_redefined
from jaxgbg.learners.selection import BootstrapRule
from jaxgbg.search.tree import RootStatistics
from jaxgbg.specs import Spec, did_you_mean, kind_of, shown
from jaxgbg.types import Params, SettingValue, State, TypeHint
from jaxgbg.values.core import ValueFunction

_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


class Search(Protocol):
    """Chooses moves in a batch of states of one game.

    It is hashable, and two of the same settings are equal: compiled programs hold it as a constant.
    `traceable` says whether `choose` is pure JAX; if not, it is called with concrete arrays.
    """

    @property
    def traceable(self) -> bool: ...

    def choose(
        self, states: State, key: jax.Array, params: Params, valuation: BootstrapRule
    ) -> jax.Array:
        """Choose a legal action in each of states[B]; any action where the state is terminal.

        Args:
          states: The game's state with a leading axis B on every leaf.
          key: Source of all randomness: the same key gives the same moves.
          params: The parameters of the value function; () without an agent.
          valuation: How the agent counts values, for `learners.selection.action_values`.

        Returns:
          int32[B].
        """
        ...


class TrainingSearch(Search, Protocol):
    """A search whose statistics learners can learn from; see `search.in_training`."""

    def statistics(
        self, states: State, key: jax.Array, params: Params, valuation: BootstrapRule
    ) -> RootStatistics:
        """How often each action was tried and its mean gain; 0 for terminal states."""
        ...


class Switch(NamedTuple):
    """A boolean setting that the play page offers: its field, its label and a longer text."""

    field: str
    label: str
    title: str


@dataclasses.dataclass(frozen=True)
class SearchSpec(Spec):
    """The settings of a search; a subclass with a `kind` is in the registry."""

    kinds: ClassVar[dict[str, type[Spec]]] = {}
    strength: ClassVar[str] = "iterations"
    """The setting that N is in NAME-N."""
    with_agent: ClassVar[bool] = True
    """Whether agents can play by it: `--search NAME-N`."""
    alone: ClassVar[bool] = False
    """Whether it is a player without an agent: `--opponents NAME-N`."""
    trains: ClassVar[bool] = False
    """Whether it builds a `TrainingSearch`: `--train-search NAME-N`."""
    play_only: ClassVar[tuple[str, ...]] = ()
    """Settings that are of no use in training."""
    label: ClassVar[str] = ""
    """What the play page calls it; its kind if empty."""
    switch: ClassVar[Switch | None] = None
    """What the play page offers beside the strength."""

    def __init_subclass__(cls) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]*", cls.kind):
            raise ValueError(
                f"a search's name has letters, digits, _ and - only, not {shown(cls.kind)}"
            )
        old = cls.kinds.get(cls.kind)
        if old is not None and not is_redefined(old, cls):
            raise ValueError(f"{cls.kind}: another search of this name is registered already")
        super().__init_subclass__()

    def build(self, game: Game, value: ValueFunction) -> Search:
        """The search of `game` over an agent's value function; without an agent that is `Zero`.

        Raises ValueError where it cannot search this game or these values.
        """
        raise NotImplementedError

    @classmethod
    def parse(cls, text: str) -> "SearchSpec":
        """The search that `NAME-N,key=value` names, such as puct-200,exploration=2.

        N and the settings may be left out. A part without "=" continues the list before it:
        look-ahead-3,width=3,1. Raises ValueError.
        """
        if not isinstance(text, str):
            raise ValueError(f"search must be text, not {shown(text)}")
        head, *parts = text.split(",")
        kind = cls.named(head)
        if not kind:
            raise ValueError(_unknown(head))
        spec = typing.cast(type[SearchSpec], cls.kinds[kind])
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
        """The kind of search that a text in the form of `parse` begins with, "" if none."""
        head = text.partition(",")[0]
        known = [kind for kind in cls.kinds if head == kind or head.startswith(f"{kind}-")]
        return max(known, key=len, default="")

    @property
    def number(self) -> int:
        """The N of NAME-N."""
        return int(getattr(self, self.strength))

    @classmethod
    def usage(cls) -> str:
        """Its text form and its settings with their defaults, for help."""
        rest = [f for f in dataclasses.fields(cls) if f.name != cls.strength]
        defaults = ", ".join(f"{field.name}={_as_text(field.default)}" for field in rest)
        return f"{cls.kind}-N for N {cls.strength}" + (f" ({defaults})" if defaults else "")


def search_kinds(
    *, with_agent: bool = False, alone: bool = False, trains: bool = False
) -> dict[str, type[SearchSpec]]:
    """The registered searches by name that can do what is asked for."""
    kinds = typing.cast(dict[str, type[SearchSpec]], SearchSpec.kinds)
    return {
        kind: spec
        for kind, spec in kinds.items()
        if spec.with_agent >= with_agent and spec.alone >= alone and spec.trains >= trains
    }


def parse_for_agent(text: str, *, trains: bool = False) -> SearchSpec:
    """The search of that text by which an agent plays or, with `trains`, learns; or ValueError."""
    spec = SearchSpec.parse(text)
    known = search_kinds(with_agent=True, trains=trains)
    if spec.kind not in known:
        what = "gives learners no statistics" if trains and spec.with_agent else "uses no agent"
        forms = ", ".join(f"{kind}-N" for kind in known)
        raise ValueError(f"search {spec.kind} {what}: choose one of {forms}")
    return spec


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


def _unknown(head: str) -> str:
    kinds = list(SearchSpec.kinds)
    near = did_you_mean(head, kinds) or did_you_mean(head.rpartition("-")[0], kinds)
    if near:
        return f"unknown search {shown(head)}{near}"
    forms = ", ".join(f"{kind}-N" for kind in kinds)
    return (
        f"unknown search {shown(head)}: choose one of {forms}, or name the module of a search of"
        " your own: --import MODULE"
    )
